"""Text sources: the name of a column, or a text with columns in braces.

`{fruit}` is the column's value, `{Fruit}` the same with a capital, `{a fruit}` and `{A fruit}` with
its article. There are no expressions: a name in braces is looked up, and nothing else is done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from string import Formatter
from typing import Any

from seesay.data.cells import BadValueError
from seesay.questions import SEPARATOR, SLOT
from seesay.registry import did_you_mean

LONGEST = 20_000
_SYNTAX = re.compile(r"[.\[\]]")
_AN = re.compile(r"(?:[aeio]|u(?!ni|se|ti|k|r[aie]))|(?:hour|honest|hono|heir)", re.IGNORECASE)
_A = re.compile(r"(?:eu|ewe|one\b|once|ouija)", re.IGNORECASE)
# line ends, tabs and spaces of other widths
_HARMLESS = str.maketrans("\n\t\u00a0\u2009\u202f", "     ")
_HAS_ARTICLE = re.compile(r"(?:an?|the) ", re.IGNORECASE)

Cells = Mapping[str, Any]
Getter = Callable[[Cells], str | None]


def article(noun: str) -> str:
    """The indefinite article of a noun.

    >>> [article(noun) for noun in ("lemon", "egg", "hour", "unicorn", "umbrella", "eucalyptus")]
    ['a', 'an', 'an', 'a', 'an', 'a']
    """
    return "an" if _AN.match(noun) and not _A.match(noun) else "a"


def with_article(noun: str) -> str:
    """The noun with its article, unless it has one.

    >>> with_article("apple"), with_article("the sky")
    ('an apple', 'the sky')
    """
    if _HAS_ARTICLE.match(noun):
        return noun
    return f"{article(noun)} {noun}"


def capital(text: str) -> str:
    """The text as it opens a sentence."""
    return text[:1].upper() + text[1:]


def references(text: str) -> list[str]:
    """The names in a text's braces, each once. A text whose braces cannot be read is a
    ValueError."""
    names: dict[str, None] = {}
    try:
        parts = list(Formatter().parse(text))
    except ValueError:
        raise ValueError(
            f"the braces of {text!r} do not match: write {{{{ and }}}} for braces that stay"
        ) from None
    for _, name, spec, conversion in parts:
        if name is None:
            continue
        if spec or conversion or not name or _SYNTAX.search(name):
            shown = (
                "{"
                + name
                + (f":{spec}" if spec else "")
                + (f"!{conversion}" if conversion else "")
                + "}"
            )
            if name in ("a", "A") and spec:
                article_hint = f": write {{{name} {spec}}}"
            else:
                article_hint = ""
            raise ValueError(f"{shown} is not a column's name{article_hint}")
        names[name] = None
    return list(names)


def column_of(reference: str, columns: Collection[str]) -> str | None:
    """The column that a name in braces refers to, or None."""
    if reference in columns:
        return reference
    if reference[:2] in ("a ", "A "):
        return column_of(reference[2:], columns)
    lowered = reference[:1].lower() + reference[1:]
    return lowered if lowered in columns else None


def unknown_columns(source: str, columns: Collection[str]) -> list[str]:
    """What is wrong with a text source: columns that do not exist, braces that cannot be read."""
    return unknown_in_text(source if "{" in source or "}" in source else f"{{{source}}}", columns)


def unknown_in_text(text: str, columns: Collection[str]) -> list[str]:
    """The same for a text whose words are words, whether it has braces or not."""
    try:
        names = references(text)
    except ValueError as error:
        return [str(error)]
    return [no_column(name, columns) for name in names if column_of(name, columns) is None]


def no_column(name: str, columns: Collection[str]) -> str:
    """That there is no such column, and which one may be meant."""
    return f"there is no column '{name}'{did_you_mean(name, columns)}"


def reference_getter(reference: str, columns: Collection[str]) -> Getter:
    """A function from a row to what a name in braces stands for; None where the row has no such
    cell."""
    column = column_of(reference, columns)
    if column is None:
        raise KeyError(reference)
    if column == reference:

        def plain(cells: Cells) -> str | None:
            value = cells.get(column)
            return value if type(value) is str else _text(cells, column)

        return plain
    articled = reference[:2] in ("a ", "A ")
    capitals = reference[:1].isupper()

    def formed(cells: Cells) -> str | None:
        value = _text(cells, column)
        if not value:
            return value
        value = with_article(value) if articled else value
        return capital(value) if capitals else value

    return formed


def source_getter(source: str, columns: Collection[str]) -> Getter:
    """A function from a row to the text of a text source. In a text with braces, runs of spaces
    become one."""
    if "{" not in source:
        return reference_getter(source, columns)
    getters = {name: reference_getter(name, columns) for name in references(source)}

    def filled(cells: Cells) -> str | None:
        values = {name: getter(cells) for name, getter in getters.items()}
        if None in values.values():
            return None
        return " ".join(source.format_map(values).split())

    return filled


def _text(cells: Cells, column: str) -> str | None:
    value = cells.get(column)
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadValueError(
            f"'{column}' is a {'list' if isinstance(value, list) else 'mapping'}, not a text"
        )
    return value


def usable(value: str, name: str, *, empty: bool = False) -> str:
    """A text that may stand in a prompt: not empty, not endless, without control characters and
    slots."""
    # nearly every text: the rest takes longer
    if value.isprintable() and 0 < len(value) < 200 and "[" not in value:
        return value
    if not value and not empty:
        raise BadValueError(f"'{name}' is empty")
    if len(value) > LONGEST:
        raise BadValueError(f"'{name}' is longer than {LONGEST:,} characters")
    if not value.translate(_HARMLESS).isprintable():
        raise BadValueError(f"'{name}' holds control characters")
    if SLOT in value or SEPARATOR in value:
        raise BadValueError(f"'{name}' holds {SLOT} or {SEPARATOR}")
    return value
