"""Two tasks of another package: fruit named in a text, and colors shown in a picture."""

from __future__ import annotations

from pathlib import Path

from seesay.questions import Question, Task, Template
from seesay_fruit import COLORS

OPTIONS = tuple(COLORS)


def load_fruit(data: Path | None) -> Task:
    """Which color has it? Of nine fruits a color, five are to train a probe on, two to choose it by, two to test."""
    return Task(
        name="plugin-task",
        version="1",
        title="The colors of fruit",
        templates=(
            Template("plain", "The color of a {object} is [MASK]."),
            Template("ripe", "A ripe {object} is usually [MASK]."),
        ),
        questions=tuple(
            Question(fruit, {"object": fruit}, OPTIONS, {color: 1.0}, object=fruit, tags={"color": color})
            for color, fruits in COLORS.items()
            for fruit in fruits
        ),
        metrics=("accuracy", "true_confidence"),
        neutral={"object": "thing"},
    )


def load_pictures(data: Path | None) -> Task:
    """Which color is shown?"""
    return Task(
        name="plugin-pictures",
        version="1",
        title="Colors in pictures",
        templates=(Template("plain", "The picture is [MASK]."),),
        questions=tuple(
            Question(
                color, {}, OPTIONS, {color: 1.0}, object=color, picture=str(Path(__file__).with_name(f"{color}.png"))
            )
            for color in OPTIONS
        ),
        metrics=("accuracy",),
    )
