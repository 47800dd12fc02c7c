"""What the four tasks of the embedded battery share."""

from __future__ import annotations

from seesay.data.jsonl import BadValueError
from seesay.data.tables import Cells, one_of

VERSION = "1"
CITATION = "seesay core battery, CC0 1.0"
ARTICLES = ("a", "an", "the", "")


def filled(cells: Cells, column: str) -> str:
    """A cell that must not be empty. `|` stands between the names in an id, so no name may hold it."""
    if not cells[column]:
        raise BadValueError(f"'{column}' is empty")
    if "|" in cells[column]:
        raise BadValueError(f"'{column}' holds '|'")
    return cells[column]


def noun_phrase(cells: Cells, column: str) -> str:
    """The noun of a row with its article, where it takes one."""
    article, noun = one_of(cells["article"], ARTICLES, "article"), filled(cells, column)
    return f"{article} {noun}" if article else noun


def capital(text: str) -> str:
    """The text as it opens a sentence."""
    return text[:1].upper() + text[1:]
