"""The inspect export, run by the real inspect_ai against a real server with SmolLM2."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.export.test_export import HOSTILE, hostile_task
from tests.needs import absent

from seesay import metrics
from seesay.export import export, right_labels
from seesay.metrics import ScoredItems
from seesay.questions import Task
from seesay.runs.ask import limit_questions
from seesay.tasks import load_task

try:
    import inspect_ai
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
except ImportError:
    absent("inspect-ai is not installed")

QUESTIONS = 40


def mock_model(*replies: str) -> Any:
    """A model that gives these replies in turn."""
    outputs = []
    for text in replies:
        output = ModelOutput.from_content("mockllm/model", text)
        output.usage = ModelUsage()  # else tokens are counted, by a table that is downloaded
        outputs.append(output)
    return get_model("mockllm/model", custom_outputs=outputs)


def evaluate(file: str, model: Any, **settings: Any) -> Any:
    """The log of an exported task, in the folder in which this is called."""
    (log,) = inspect_ai.eval(
        file,
        model=model,
        max_samples=1,
        max_connections=1,
        display="none",
        log_dir="logs",
        **settings,
    )
    assert log.status == "success", log.error
    return log


def few_options(task: Task) -> Task:
    """Four options at most, so that a model of 135 million parameters is sometimes right."""
    questions = []
    for question in task.questions:
        right = right_labels(task, question)
        labels = [*right, *(label for label in task.labels if label not in right)][:4]
        questions.append(
            replace(question, options=tuple(label for label in task.labels if label in labels))
        )
    return replace(task, questions=tuple(questions))


@pytest.mark.slow
def test_inspect_runs_the_export_and_gives_the_same_accuracy(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    monkeypatch.setenv("LOCAL_BASE_URL", address)
    monkeypatch.setenv("INSPECT_EVAL_LOG_FILE_PATTERN", "{task}")
    task = few_options(limit_questions(load_task("core-color"), QUESTIONS, 0))
    export(task, tmp_path / "exported", "inspect")
    monkeypatch.chdir(tmp_path / "exported")
    log = evaluate("core_color.py", "openai-api/local/smollm2", max_tokens=32, temperature=0.0)
    assert log.results.completed_samples == len(task.questions)
    (score,) = log.results.scores
    inspect_accuracy = score.metrics["accuracy"].value

    questions = {question.id: question for question in task.questions}
    scores, gold = [], []
    for sample in log.samples:
        question = questions[sample.metadata["question"]]
        right = right_labels(task, question)
        (judged,) = sample.scores.values()
        wrong = [label for label in question.options if label not in right]
        letter = judged.answer if judged.answer in tuple("ABCD") else None  # none, or several
        answer = question.options["ABCD".index(letter)] if letter else wrong[0]
        scores.append([0.0 if label == answer else -9.0 for label in question.options])
        gold.append([question.gold.get(label, 0.0) for label in question.options])
    accuracy = metrics.get("relaxed_accuracy")(ScoredItems(np.array(scores), np.array(gold)))
    assert inspect_accuracy == pytest.approx(accuracy, abs=1e-12)
    answered = [
        judged.answer
        for sample in log.samples
        for judged in sample.scores.values()
        if judged.answer
    ]
    assert len(answered) > QUESTIONS / 2


@pytest.mark.seconds
@pytest.mark.parametrize("text", ["", "".join(HOSTILE)])
def test_inspect_clusters_by_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Two templates about one thing are no independent answers, whatever the tags are called."""
    export(hostile_task(text), tmp_path / "exported", "inspect")
    monkeypatch.chdir(tmp_path / "exported")
    # in the order of the samples: both templates right about the apple, both wrong about the leaf
    log = evaluate("small_one.py", mock_model(*(f"ANSWER: {letter}" for letter in "AABB")))
    (score,) = log.results.scores
    assert score.metrics["accuracy"].value == 0.5
    # by hand: two clusters whose deviations add up to +1 and -1, and C / (C - 1) = 2
    assert score.metrics["stderr"].value == pytest.approx((2 * 2) ** 0.5 / 4)
    ids = {sample.metadata["question"] for sample in log.samples}
    assert ids == {question.id for question in hostile_task(text).questions}


@pytest.mark.seconds
def test_nested_questions_are_never_put_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each set of them has its accuracy; there is none over all."""
    task = hostile_task("")
    questions = [
        replace(question, tags={"seen": value})
        for question, value in zip(task.questions, ("no", "yes"), strict=True)
    ]
    nested = replace(task, questions=tuple(questions), nested_by="seen")
    export(nested, tmp_path / "exported", "inspect")
    monkeypatch.chdir(tmp_path / "exported")
    log = evaluate("small_one.py", mock_model(*(f"ANSWER: {letter}" for letter in "AABA")))
    (score,) = log.results.scores
    figures = {name: metric.value for name, metric in score.metrics.items()}
    assert figures == {"no accuracy": 1.0, "yes accuracy": 0.5, "no stderr": 0.0, "yes stderr": 0.0}
