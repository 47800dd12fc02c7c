"""Two tasks of another package: fruit named in a text, and colors shown in a picture."""

from __future__ import annotations

from pathlib import Path

from seesay.questions import Question, Splits, Task, Template, Training
from seesay_fruit import COLORS

OPTIONS = tuple(COLORS)
SPLITS = {"train": slice(0, 4), "validation": slice(4, 6), "test": slice(6, 9)}
"""Of the nine fruits of each color."""


def load_fruit(data: Path | None) -> Task:
    """Which color has it? Asked as cloze, by choice, and of a probe that is trained on some of the
    fruits."""
    questions = {
        color: [
            Question(
                fruit, {"object": fruit}, OPTIONS, {color: 1.0}, object=fruit, tags={"color": color}
            )
            for fruit in fruits
        ]
        for color, fruits in COLORS.items()
    }

    def load_splits() -> Splits:
        return {
            name: tuple(q for same in questions.values() for q in same[part])
            for name, part in SPLITS.items()
        }

    return Task(
        name="plugin-task",
        version="1",
        title="The colors of fruit",
        templates=(
            Template("plain", "The color of a {object} is [MASK]."),
            Template("ripe", "A ripe {object} is usually [MASK]."),
        ),
        questions=tuple(question for same in questions.values() for question in same),
        metrics=("accuracy", "true_confidence"),
        neutral={"object": "thing"},
        choice_templates=(Template("choice", "What is the color of a {object}? [MASK]"),),
        training=Training("the color of a {object}", load_splits=load_splits),
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
                color,
                {},
                OPTIONS,
                {color: 1.0},
                object=color,
                picture=str(Path(__file__).with_name(f"{color}.png")),
            )
            for color in OPTIONS
        ),
        metrics=("accuracy",),
    )
