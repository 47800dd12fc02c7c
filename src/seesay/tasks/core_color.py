"""core-color: the colours of everyday things."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seesay.data import core
from seesay.data.cells import Cells, one_of, split_words
from seesay.data.colors import COLORS
from seesay.data.rows import parse_table
from seesay.data.task_files.texts import capital
from seesay.questions import Question, Task, Template
from seesay.tasks._core import core_task, filled, noun_phrase

# No verb agrees with the thing, so that every template fits singular, plural and mass nouns.
TEMPLATES = (
    Template("color-of", "The color of {thing} is [MASK]."),
    Template("question", "Q: What is the color of {thing}? A: [MASK]."),
    Template("opening", "[MASK] is the usual color of {thing}."),
    Template("should-be", "{Thing} should normally be [MASK] in color."),
    Template("paint", "You need [MASK] paint to paint a picture of {thing}."),
    Template("picture", "The picture shows {thing} in the usual [MASK] color."),
)
CHOICE = (Template("question", "What is the color of {thing}? [MASK]"),)
LINEAR_TEXT = "the color of {thing}"


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    phrase: str
    colors: tuple[str, ...]
    category: str


def load(data: Path | None = None) -> Task:
    """The task from the embedded table, or from a table of the same columns."""
    rows, bad = parse_table(
        data or core.path("colors"), core.COLUMNS["colors"], _parse, key=lambda row: row.name.casefold()
    )
    return core_task(
        "core-color",
        [_question(row) for row in rows.values()],
        templates=TEMPLATES,
        choice_templates=CHOICE,
        linear_text=LINEAR_TEXT,
        metrics=("relaxed_accuracy", "true_confidence", "macro_f1"),
        neutral={"thing": "something", "Thing": "Something"},
        bad_rows=tuple(bad),
    )


def _parse(cells: Cells) -> _Row:
    colors = split_words(filled(cells, "colors"), "colors")
    for color in colors:
        one_of(color, COLORS, "colors")
    return _Row(cells["object"], noun_phrase(cells, "object"), colors, filled(cells, "category"))


def _question(row: _Row) -> Question:
    return Question(
        id=row.name,
        fields={"thing": row.phrase, "Thing": capital(row.phrase)},
        options=COLORS,
        gold={color: 1 / len(row.colors) for color in row.colors},
        object=row.name,
        tags={"category": row.category, "cardinality": str(len(row.colors))},
    )
