"""What a cell of somebody else's table may hold.

A check returns the value, or raises an error that says why its row cannot be used.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from seesay.questions import SEPARATOR, SLOT

Cells = Mapping[str, Any]
"""A row: the values by the names of their columns, or of the keys of a JSON object."""

LONGEST_TEXT = 100
JOINERS = "\u200c\u200d"
"""Invisible, and part of words: Persian and Indic scripts need them, and emoji of several signs."""
# Line ends, tabs and spaces of other widths are not printable, but do no harm in a prompt.
_SPACES = "\n\t\u00a0\u2009\u202f"
_WITHOUT_JOINERS = str.maketrans("", "", JOINERS)
_WITHOUT_SPACES = str.maketrans("", "", JOINERS + _SPACES)


class BadValueError(ValueError):
    """Why a row cannot be used."""


def text_field(
    cells: Cells,
    name: str,
    *,
    empty: bool = False,
) -> str:
    """Return a short text that can stand in a prompt."""
    value = _field(cells, name)
    if not isinstance(value, str):
        raise BadValueError(f"'{name}' is not a text")
    return prompt_text(value, name, empty=empty)


def prompt_text(
    value: str,
    name: str,
    *,
    empty: bool = False,
) -> str:
    """Return a text without the spaces around it, if it can stand in a prompt.

    It is short, printable and without the marks of templates, and only with `empty` may it be
    empty.
    """
    value = value.strip()
    if len(value) > LONGEST_TEXT:
        raise BadValueError(f"'{name}' is longer than {LONGEST_TEXT} characters")
    if not value and not empty:
        raise BadValueError(f"'{name}' is empty")
    if holds_controls(value):
        raise BadValueError(f"'{name}' holds control characters")
    # A second slot in a prompt would be asked about instead of the template's own.
    if SLOT in value or SEPARATOR in value:
        raise BadValueError(f"'{name}' holds {SLOT} or {SEPARATOR}")
    return value


def holds_controls(text: str, *, spaces: bool = False) -> bool:
    """Return whether a text holds characters that control a terminal or hide what it says.

    With `spaces`, line ends, tabs and spaces of other widths are none.
    """
    harmless = _WITHOUT_SPACES if spaces else _WITHOUT_JOINERS
    return not text.isprintable() and not text.translate(harmless).isprintable()


def one_line(text: str) -> str:
    """Return a text whose control characters and line breaks of all kinds are spaces."""
    if text.isprintable():
        return text
    return "".join(" " if _breaks_line(char) else char for char in text)


def _breaks_line(char: str) -> bool:
    """Return whether a character is a control, a line break, or half a surrogate pair."""
    if char in JOINERS:
        return False
    return unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def whole_number(
    cells: Cells,
    name: str,
    low: int,
    high: int,
) -> int:
    """Return a whole number within bounds."""
    value = _field(cells, name)
    # JSON's true and false are whole numbers to Python.
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:
        raise BadValueError(f"'{name}' is not a whole number from {low} to {high}")
    return int(value)


def one_of(
    value: str,
    allowed: Iterable[str],
    name: str,
) -> str:
    """Return the value, if it is one of the words that the column may hold."""
    words = list(allowed)
    if value not in words:
        raise BadValueError(f"'{name}' is {value!r}, not one of {', '.join(map(repr, words))}")
    return value


def split_words(
    cell: str,
    name: str,
    separator: str,
) -> tuple[str, ...]:
    """Return the parts of a cell that lists several words with a separator between them."""
    parts = tuple(part.strip() for part in cell.split(separator))
    if not all(parts):
        raise BadValueError(f"'{name}' has an empty part: {cell!r}")
    if len(set(parts)) < len(parts):
        raise BadValueError(f"'{name}' names a word twice: {cell!r}")
    return parts


def _field(cells: Cells, name: str) -> Any:
    """Return a cell that must be there, whatever it holds."""
    if name not in cells:
        raise BadValueError(f"'{name}' is missing")
    return cells[name]
