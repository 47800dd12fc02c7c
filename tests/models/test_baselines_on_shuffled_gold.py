"""No baseline sees the gold answer: where gold answers are drawn at random, it is at chance."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.export.test_export import available

from seesay.errors import UserError
from seesay.models import load_model
from seesay.models.baselines import _CORE, baseline_cards
from seesay.questions import Task
from seesay.runs.ask import Settings, run
from seesay.tasks import TASKS, load_task

QUESTIONS = 1_000
# there are some 300 checks: with an error rate of 0.05, 15 would fail by chance
ERROR_RATE = 1e-4


def draw_gold(task: Task) -> Task:
    """Return some of the task's questions, each with one gold answer that is drawn at random."""
    draw = random.Random(0)
    questions = draw.sample(task.questions, min(QUESTIONS, len(task.questions)))
    return replace(
        task,
        questions=tuple(
            # an object of its own: the interval is that of independent draws
            replace(question, gold={draw.choice(question.options): 1.0}, object=question.id)
            for question in questions
        ),
        templates=task.templates[:1],
        metrics=("accuracy",),
        nested_by="",
        neutral={},
        published=(),
    )


def assert_chance(name: str, task: Task, folder: Path) -> None:
    shuffled = draw_gold(task)
    try:
        answered = run(load_model(name), shuffled, folder, Settings(resamples=100))
    except UserError:
        # a rule of an instrument answers the questions of that instrument
        assert name.removeprefix("baseline:") not in _CORE
        return
    accuracy = next(figure.value for figure in answered.figures if figure.slice is None)
    sizes = [len(question.options) for question in answered.task.questions]
    chance = sum(1 / size for size in sizes) / len(sizes)
    # the majority is the best of as many constant rules as there are options
    rules = max(sizes) if name == "baseline:majority" else 1
    # Chernoff's bound on the tail of a binomial, which holds for questions of several chances, too
    log_tail = -len(sizes) * divergence(accuracy, chance)
    assert log_tail > math.log(ERROR_RATE / rules), (name, accuracy, chance)


def divergence(share: float, chance: float) -> float:
    """Return how far a share is from chance, in nats (Kullback and Leibler)."""
    total = 0.0
    for observed, expected in ((share, chance), (1 - share, 1 - chance)):
        if observed > 0:
            total += observed * math.log(observed / expected)
    return total


@pytest.mark.seconds
@pytest.mark.parametrize("task_name", TASKS.ours)
def test_every_built_in_task(task_name: str, tmp_path: Path) -> None:
    task = available(task_name, tmp_path / "norms")
    for name in (*(f"baseline:{name}" for name in baseline_cards()), "mock"):
        assert_chance(name, task, tmp_path)


def shared_options(number: int) -> dict[str, Any]:
    return {"thing": f"thing {number}", "gold": ("red", "green", "blue")[number % 3]}


def own_options(number: int) -> dict[str, Any]:
    return {
        "goal": f"goal {number}",
        "one": f"first way {number}",
        "two": f"second way {number}",
        "gold": number % 2,
    }


def pairs_of_things(number: int) -> dict[str, Any]:
    """Things that recur: which of two is larger."""
    draw = random.Random(number)
    things = draw.sample([f"thing {i}" for i in range(300)], 2)
    return {"n": str(number), "options": things, "gold": things[0]}


def minimal_pairs(number: int) -> dict[str, Any]:
    return {"good": f"The cats {number} sleep.", "bad": f"The cats {number} sleeps."}


def sets_of_options(number: int) -> dict[str, Any]:
    kind = ("color", "size")[number % 2]
    label = {"color": "red", "size": "large"}[kind]
    return {"thing": f"thing {number}", "kind": kind, "gold": label}


SHAPES: dict[Callable[[int], dict[str, Any]], str] = {
    shared_options: """
options: [red, green, blue]
gold: gold
templates: "A {thing} is [MASK]."
""",
    own_options: """
options: {columns: [one, two]}
gold: {column: gold, says: index}
templates: "To reach {goal}, [MASK]."
""",
    pairs_of_things: """
options: {column: options}
gold: gold
templates: "Of two things ({n}), the larger one is [MASK]."
""",
    minimal_pairs: """
pairs: {good: good, bad: bad}
""",
    sets_of_options: """
options: {by: kind, sets: {color: [red, green], size: [large, small, tiny]}}
gold: gold
templates: "A {thing} is [MASK]."
""",
}


@pytest.mark.seconds
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_task_files_of_every_shape(shape: Callable[[int], dict[str, Any]], tmp_path: Path) -> None:
    rows = [shape(number) for number in range(600)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "shape.yaml").write_text(f"title: A shape\nrows: rows.jsonl\n{SHAPES[shape]}")
    task = load_task(str(tmp_path / "shape.yaml"))
    assert len(task.questions) == 600
    for name in (*(f"baseline:{name}" for name in _CORE), "mock"):
        assert_chance(name, task, tmp_path / "runs")
