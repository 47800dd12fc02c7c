"""What the four tasks of the embedded battery have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seesay.data.cells import BadValueError, one_of
from seesay.data.splits import split_by_object
from seesay.questions import Question, Task

VERSION = "1"
CITATION = "seesay core battery, CC0 1.0"
ARTICLES = ("a", "an", "the", "")


def core_task(name: str, questions: Sequence[Question], **declared: Any) -> Task:
    """A task of the battery. Cloze asks every question; a linear probe trains on some of them and is asked the rest."""
    return Task(
        name=name,
        version=VERSION,
        title="",
        questions=tuple(questions),
        citation=CITATION,
        load_splits=lambda: split_by_object(questions),
        **declared,
    )


def filled(cells: Mapping[str, str], column: str) -> str:
    """A cell that must not be empty. `|` separates the names in an id, so no name may contain it."""
    if not cells[column]:
        raise BadValueError(f"'{column}' is empty")
    if "|" in cells[column]:
        raise BadValueError(f"'{column}' contains '|'")
    return cells[column]


def noun_phrase(cells: Mapping[str, str], column: str) -> str:
    """The noun of a row with its article, where it takes one."""
    article, noun = one_of(cells["article"], ARTICLES, "article"), filled(cells, column)
    return f"{article} {noun}" if article else noun
