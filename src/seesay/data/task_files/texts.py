"""Text sources: the name of a column, or a text with columns in braces.

`{fruit}` is the column's value, `{Fruit}` the same with a capital, `{a fruit}` and `{A fruit}` with
its article. There are no expressions: a name in braces is looked up, and nothing else is done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from seesay.braces import fill, references
from seesay.data.cells import BadValueError, holds_controls
from seesay.questions import SEPARATOR, SLOT
from seesay.registry import did_you_mean

LONGEST = 20_000
# By sound, not by letter: an hour, but a unicorn, a European, a one-way street.
_AN = re.compile(r"(?:[aeio]|u(?!ni|se|ti|k|r[aie]))|(?:hour|honest|hono|heir)", re.IGNORECASE)
_A = re.compile(r"(?:eu|ewe|one\b|once|ouija)", re.IGNORECASE)
_HAS_ARTICLE = re.compile(r"(?:an?|the) ", re.IGNORECASE)

Cells = Mapping[str, Any]
Getter = Callable[[Cells], str | None]


def article(noun: str) -> str:
    """Return the indefinite article of a noun.

    >>> [article(noun) for noun in ("lemon", "egg", "hour", "unicorn", "umbrella", "eucalyptus")]
    ['a', 'an', 'an', 'a', 'an', 'a']
    """
    if _AN.match(noun) and not _A.match(noun):
        return "an"
    return "a"


def with_article(noun: str) -> str:
    """Return the noun with its article, unless it has one.

    >>> with_article("apple"), with_article("the sky")
    ('an apple', 'the sky')
    """
    if _HAS_ARTICLE.match(noun):
        return noun
    return f"{article(noun)} {noun}"


def capital(text: str) -> str:
    """Return the text as it opens a sentence."""
    return text[:1].upper() + text[1:]


def column_of(reference: str, columns: Collection[str]) -> str | None:
    """Return the column that a name in braces refers to, or None."""
    if reference in columns:
        return reference
    if reference[:2] in ("a ", "A "):
        return column_of(reference[2:], columns)
    uncapitalised = reference[:1].lower() + reference[1:]
    if uncapitalised in columns:
        return uncapitalised
    return None


def unknown_columns(source: str, columns: Collection[str]) -> list[str]:
    """Return what is wrong with a text source: unknown columns, or braces that cannot be read."""
    if _is_column(source):
        source = f"{{{source}}}"
    return unknown_in_text(source, columns)


def _is_column(source: str) -> bool:
    """Whether a text source is the name of a column, and not a text with braces."""
    return "{" not in source and "}" not in source


def unknown_in_text(text: str, columns: Collection[str]) -> list[str]:
    """Return what is wrong with the braces of a text: unknown columns, or unreadable braces.

    Without braces a text is only words: nothing is wrong with it.
    """
    try:
        names = references(text)
    except ValueError as error:
        return [str(error)]
    return [no_column(name, columns) for name in names if column_of(name, columns) is None]


def no_column(name: str, columns: Collection[str]) -> str:
    """Return the message that there is no such column, and which one may be meant."""
    return f"there is no column '{name}'{did_you_mean(name, columns)}"


def reference_getter(reference: str, columns: Collection[str]) -> Getter:
    """Return a function from a row to what a name in braces stands for.

    It gives None where the row has no such cell.
    """
    column = column_of(reference, columns)
    if column is None:
        raise KeyError(reference)
    if column == reference:

        def get_plain(cells: Cells) -> str | None:
            # Called for every field of every row: nearly all cells are texts already.
            value = cells.get(column)
            return value if type(value) is str else _text(cells, column)

        return get_plain
    has_article = reference[:2] in ("a ", "A ")
    has_capital = reference[:1].isupper()

    def get_formed(cells: Cells) -> str | None:
        value = _text(cells, column)
        if not value:
            return value
        if has_article:
            value = with_article(value)
        if has_capital:
            value = capital(value)
        return value

    return get_formed


def source_getter(source: str, columns: Collection[str]) -> Getter:
    """Return a function from a row to the text of a text source.

    In a text with braces, runs of spaces become one: an empty cell leaves no gap.
    """
    if _is_column(source):
        return reference_getter(source, columns)
    getters = {name: reference_getter(name, columns) for name in references(source)}

    def get_filled(cells: Cells) -> str | None:
        values = {}
        for name, getter in getters.items():
            value = getter(cells)
            if value is None:
                return None
            values[name] = value
        return " ".join(fill(source, values).split())

    return get_filled


def _text(cells: Cells, column: str) -> str | None:
    """Return a cell as a text, None where the row has no such cell."""
    value = cells.get(column)
    if value is None or isinstance(value, str):
        return value
    kind = "list" if isinstance(value, list) else "mapping"
    raise BadValueError(f"'{column}' is a {kind}, not a text")


def check_text(
    value: str,
    name: str,
    *,
    empty: bool = False,
) -> str:
    """Return a text that may stand in a prompt, or raise BadValueError.

    It is not empty, not endless, and without control characters and slots.
    """
    # Nearly every text passes here: the checks below take longer.
    if value.isprintable() and 0 < len(value) < 200 and "[" not in value:
        return value
    if not value and not empty:
        raise BadValueError(f"'{name}' is empty")
    if len(value) > LONGEST:
        raise BadValueError(f"'{name}' is longer than {LONGEST:,} characters")
    if holds_controls(value, spaces=True):
        raise BadValueError(f"'{name}' holds control characters")
    if SLOT in value or SEPARATOR in value:
        raise BadValueError(f"'{name}' holds {SLOT} or {SEPARATOR}")
    return value
