"""Logged samples of lm-eval, those of the real program among them, and of lmms-eval."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.runs.logs.test_pairing import write

from seesay import api
from seesay.errors import UserError
from seesay.export import export
from seesay.runs.ask import Settings, limit_questions, run
from seesay.runs.logs.items import LogKeys
from seesay.runs.logs.read import read_log
from seesay.tasks import load_task

QUESTIONS = 24
SAMPLES = "samples_colors_2026-11-18T06-07-39.670878.jsonl"


def sample(number: int, *, right: bool, filter: str = "none", **more: Any) -> dict[str, Any]:
    logp = ["-1.0", "-2.0"] if right else ["-2.0", "-1.0"]
    return {
        "doc_id": number,
        "doc": {"question": f"Thing {number}?", "choices": {"text": ["red", "green"]}},
        "target": "0",
        "arguments": {
            "gen_args_0": {"arg_0": "Q:", "arg_1": " A"},
            "gen_args_1": {"arg_0": "Q:", "arg_1": " B"},
        },
        "filtered_resps": [[score, "False"] for score in logp],
        "filter": filter,
        "metrics": ["acc_norm", "acc"],
        "doc_hash": f"hash {number}",
        "acc": float(right),
        "acc_norm": 1.0,
        **more,
    }


def test_rows_are_read_and_the_reported_figures_checked(tmp_path: Path) -> None:
    rows = [sample(number, right=number % 2 == 0) for number in range(20)]
    rows += [sample(number, right=True, filter="strict") for number in range(20)]
    # edited after the fact
    rows[1]["acc"] = 1.0
    path = write(tmp_path / SAMPLES, rows)
    results = {"results": {"colors": {"acc,none": 0.5}}, "model_name": "gpt"}
    (tmp_path / "results_2026-11-18T06-07-39.670878.json").write_text(json.dumps(results))
    log = read_log(path, LogKeys())
    assert (log.program, log.model, log.task, log.metric) == ("lm-eval", "gpt", "colors", "acc")
    item = log.items[2]
    assert (item.id, item.text, item.score) == ("hash 2", "Thing 2?", 1.0)
    assert item.choices == ("red", "green")
    assert item.right == {"red"}
    (logged,) = api.results(path).runs
    assert logged.manifest.notes == [
        "the rows of the filter 'none' are read, and not those of strict",
        "in 1 rows `acc` is not what their log-probabilities give (hash 1)",
        "lm-eval reports 0.5 as acc, and the mean of its 20 items is 0.55",
    ]
    assert read_log(path, LogKeys(score="acc_norm")).items[1].score == 1.0


def test_a_line_that_is_cut_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path / SAMPLES, [sample(number, right=True) for number in range(3)])
    path.write_text(path.read_text()[:-50])
    log = read_log(path, LogKeys())
    assert len(log.items) == 2
    assert list(map(str, log.bad)) == ["row 3: not JSON"]


def test_samples_of_lmms_eval(tmp_path: Path) -> None:
    rows = [
        {
            "doc_id": number,
            "input": f"What is in picture {number}?",
            "filtered_resps": "A cat",
            "target": "cat",
            "doc_hash": f"hash {number}",
            "mmbench": {"question_id": number, "score": number % 2},
            "coco": [1, 2],
        }
        for number in range(6)
    ]
    path = write(tmp_path / "20261118_060739_samples_cats.jsonl", rows)
    figures = {"results": {"cats": {"mmbench,none": 50.0}}, "model_name": "vlm"}
    (tmp_path / "20261118_060739_results.json").write_text(json.dumps(figures))
    log = read_log(path, LogKeys())
    assert (log.program, log.model, log.task, log.metric) == ("lmms-eval", "vlm", "cats", "mmbench")
    assert [item.score for item in log.items] == [0, 1] * 3
    # a percentage
    (logged,) = api.results(path).runs
    assert logged.manifest.notes == []
    with pytest.raises(UserError, match="name one with --score"):
        read_log(write(tmp_path / "none.jsonl", [{**rows[0], "mmbench": {}}]), LogKeys())


@pytest.mark.slow
def test_logs_of_the_real_lm_eval_compare_as_our_own_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm_eval = pytest.importorskip("lm_eval")
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    whole = load_task("core-color")
    task = limit_questions(replace(whole, templates=whole.templates[:1]), QUESTIONS, 0)
    export(task, tmp_path / "exported", "lm-eval")
    manager = TaskManager(include_path=str(tmp_path / "exported"), include_defaults=False)
    paths: list[Path] = []
    runs = []
    for number in range(2):
        # made-up log-probabilities, other ones each time
        evaluated = lm_eval.simple_evaluate(
            "dummy",
            tasks=["core_color"],
            task_manager=manager,
            log_samples=True,
            bootstrap_iters=0,
            random_seed=number,
        )
        folder = tmp_path / f"logged-{number}"
        tracker = EvaluationTracker(output_path=str(folder))
        tracker.save_results_aggregated({"results": evaluated["results"]}, evaluated["samples"])
        for name, samples in evaluated["samples"].items():
            tracker.save_results_samples(name, samples)
        paths += folder.rglob("samples_*.jsonl")
        model = api.load_model(f"answers:{folder}")
        runs.append(run(model, task, tmp_path / "runs", Settings()))
    results = api.results(paths)
    assert [r.manifest.notes for r in results.runs] == [[], []]
    (comparison,) = results.compare(strict=True)
    ours = api.Results(tuple(runs)).compare(strict=True)[0]
    assert comparison.n == ours.n == QUESTIONS
    for name in ("value_a", "value_b", "difference", "low", "high", "p_signflip", "p_bootstrap"):
        assert getattr(comparison, name) == pytest.approx(getattr(ours, name), abs=1e-12), name
    assert comparison.p_mcnemar == pytest.approx(ours.p_mcnemar)
    # made up at random, they must differ somewhere
    assert comparison.low < comparison.high
