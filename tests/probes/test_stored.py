"""Stored answers get the figures of the model that gave them, and whatever does not fit is
reported."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seesay import api
from seesay.errors import UserError
from seesay.models import load_model
from seesay.questions import Task
from seesay.runs.run import Run
from seesay.runs.store import ANSWERS
from seesay.tasks import load_task

RESAMPLES = 100


@pytest.fixture(scope="module")
def task() -> Task:
    whole = load_task("core-color")
    return replace(whole, questions=whole.questions[:30], templates=whole.templates[:2], neutral={})


@pytest.fixture(scope="module")
def answered(task: Task, tmp_path_factory: pytest.TempPathFactory) -> Run:
    output = tmp_path_factory.mktemp("mock")
    return api.probe("mock", task, resamples=RESAMPLES, output=output).runs[0]


def scored(path: Path, task: Task, output: Path, **more: Any) -> Run:
    (run,) = api.probe(f"answers:{path}", task, resamples=RESAMPLES, output=output, **more).runs
    return run


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def values(run: Run) -> list[tuple[object, ...]]:
    return [
        (f.metric, f.template, f.slice, f.value, f.low, f.high)
        for f in run.figures
        if f.metric != "vocabulary_accuracy"
    ]


def as_rows(run: Run) -> list[dict[str, Any]]:
    return [
        {
            "question": a.question,
            "template": a.template,
            "logp": dict(zip(a.options, a.scores.logp, strict=True)),
        }
        for a in run.answers
    ]


def test_stored_log_probabilities_give_the_same_figures(
    task: Task, answered: Run, tmp_path: Path
) -> None:
    rows = as_rows(answered)
    run = scored(lines(tmp_path / "answers.jsonl", rows[::-1]), task, tmp_path)
    assert values(run) == values(answered)
    assert run.manifest.family == "stored"
    assert not run.manifest.notes
    listed = [{**row, "logp": list(row["logp"].values())} for row in rows]
    pq.write_table(pa.Table.from_pylist(listed), tmp_path / "listed.parquet")
    assert values(scored(tmp_path / "listed.parquet", task, tmp_path)) == values(answered)
    # a run's own table
    assert values(scored(answered.folder / ANSWERS, task, tmp_path)) == values(answered)
    (comparison, *_) = api.Results((answered, run)).compare(resamples=RESAMPLES)
    assert comparison.difference == 0
    assert comparison.n == 30


def test_texts_are_matched_like_free_answers(task: Task, tmp_path: Path) -> None:
    rows = [
        {"id": q.id, "answer": f"I would say it is {q.best_label}." if i % 2 else "No idea."}
        for i, q in enumerate(task.questions)
    ]
    run = scored(lines(tmp_path / "texts.jsonl", rows), task, tmp_path)
    headline = next(f for f in run.figures if f.metric == "relaxed_accuracy")
    assert headline.value == pytest.approx(0.5)
    # texts give no probabilities
    assert {figure.metric for figure in run.figures} == {"relaxed_accuracy"}
    sampled = [
        {"id": q.id, "answer": [q.best_label, q.best_label, "no idea"]} for q in task.questions
    ]
    run = scored(lines(tmp_path / "samples.jsonl", sampled), task, tmp_path)
    assert next(f for f in run.figures if f.metric == "relaxed_accuracy").value == 1.0
    assert any(figure.metric == "true_confidence" for figure in run.figures)


def test_rows_that_do_not_fit_are_reported(task: Task, answered: Run, tmp_path: Path) -> None:
    rows = as_rows(answered)
    rows[1] = {**rows[1], "logp": {"green": -1.0}}  # other options
    rows[2] = {**rows[2], "logp": dict.fromkeys(rows[2]["logp"], 0.5)}  # no log-probability
    rows[3] = {"template": "x", "answer": "red"}
    path = lines(tmp_path / "damaged.jsonl", [*rows[:-1], {"question": "nobody", "answer": "red"}])
    with path.open("a") as file:
        file.write("{not json\n")
    run = scored(path, task, tmp_path)
    notes = "\n".join(run.manifest.notes)
    assert "4 of 60 questions have no stored answer and count as wrong" in notes
    assert "1 of 58 stored answers are to no question of 'core-color' (nobody)" in notes
    assert "1 stored answers have other options" in notes
    assert "3 rows cannot be read" in notes
    assert "above 0" in notes
    assert "not JSON" in notes


def test_an_unanswered_template_is_left_out(task: Task, answered: Run, tmp_path: Path) -> None:
    first = task.templates[0].name
    rows = [row for row in as_rows(answered) if row["template"] == first]
    run = scored(lines(tmp_path / "one.jsonl", rows), task, tmp_path)
    assert run.manifest.templates == [first]
    assert not run.manifest.notes


def test_user_mistakes_are_refused(task: Task, tmp_path: Path) -> None:
    other = lines(tmp_path / "other.jsonl", [{"question": "nobody", "answer": "red"}])
    for path, message in (
        (tmp_path / "none.jsonl", "no file"),
        (lines(tmp_path / "empty.jsonl", []), "no stored answer"),
        (other, "no answer to a question"),
    ):
        with pytest.raises(UserError, match=message):
            scored(path, task, tmp_path)
    with pytest.raises(UserError, match="named by their file"):
        load_model("answers:")
    known = lines(
        tmp_path / "known.jsonl", [{"question": q.id, "answer": "red"} for q in task.questions]
    )
    with pytest.raises(UserError, match="answers that exist"):
        scored(known, task, tmp_path, how="choice")


def test_logged_samples_of_lm_eval(task: Task, tmp_path: Path) -> None:
    """Lines as lm-eval 0.4.13 writes them (`tests/export/test_lm_eval.py` runs the program
    itself)."""
    rows = []
    for number, question in enumerate(task.questions):
        prompt = task.templates[1].ask(question)
        scores = [-1.0 if option == question.best_label else -2.0 for option in question.options]
        context = prompt.parts[0]
        arguments = {
            f"gen_args_{i}": {"arg_0": context, "arg_1": o} for i, o in enumerate(prompt.options)
        }
        rows.append(
            {
                "doc_id": number,
                "doc": {"id": question.id, "context": context},
                "target": "0",
                "arguments": arguments,
                "resps": [[[str(s), "False"]] for s in scores],
                "filtered_resps": [[str(s), "False"] for s in scores],
            }
        )
    lines(tmp_path / "samples_core_color_x_2026.jsonl", rows)
    (tmp_path / "results_2026.json").write_text("{}")
    run = scored(tmp_path, task, tmp_path / "runs")
    assert run.manifest.templates == [task.templates[1].name]
    assert not run.manifest.notes
    assert next(f for f in run.figures if f.metric == "relaxed_accuracy").value == 1.0
