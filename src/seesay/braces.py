"""Texts with names in braces: templates, words of options, sources of fields.

Anybody may have written them, so that a name is looked up and nothing else is done: no attribute or
index is followed, no value is padded, and what comes out has a bounded length.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from string import Formatter

from seesay.errors import UserError

LONGEST_FILLED = 1 << 20
"""A few names, each of which stands in a text many times, would fill the memory."""
_SYNTAX = re.compile(r"[.\[\]]")

Piece = tuple[str, str | None]
"""A text that stays, and the name after it; the last one may have none."""


def references(text: str) -> list[str]:
    """Return the names in a text's braces, each once.

    A text whose braces cannot be read is a ValueError.
    """
    return list(dict.fromkeys(name for _, name in _parse(text) if name is not None))


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return the text with values for the names in its braces; `{{` and `}}` are braces that stay.

    >>> fill("{a thing} {{is}} red", {"a thing": "an apple"})
    'an apple {is} red'
    """
    parts = []
    for literal, name in _parse(text):
        parts.append(literal)
        if name is None:
            continue
        if name not in values:
            raise UserError(f"There is no field '{name}' for the text {text[:200]!r}.")
        parts.append(values[name])
    if sum(map(len, parts)) > LONGEST_FILLED:
        raise UserError(
            f"The text {text[:200]!r} becomes longer than {LONGEST_FILLED:,} characters."
        )
    return "".join(parts)


def double_braces(text: str) -> str:
    """Return a text that `fill` gives back as it is, whatever it holds."""
    return text.replace("{", "{{").replace("}", "}}")


@lru_cache(maxsize=1 << 12)  # a template is filled once for each question
def _parse(text: str) -> tuple[Piece, ...]:
    """Return the pieces of a text, or raise a ValueError for braces that hold no plain name."""
    try:
        parts = list(Formatter().parse(text))
    except ValueError:
        raise ValueError(
            f"the braces of {text!r} do not match: write {{{{ and }}}} for braces that stay"
        ) from None
    for _, name, spec, conversion in parts:
        if name is None:
            continue
        # Python would follow `{x.y}` and `{x[0]}` into the value: here a name is only looked up.
        if spec or conversion or not name or _SYNTAX.search(name):
            raise ValueError(_not_a_name(name, spec, conversion))
    return tuple((literal, name) for literal, name, _, _ in parts)


def _not_a_name(
    name: str,
    spec: str | None,
    conversion: str | None,
) -> str:
    """Return the message about braces that hold more than a name."""
    reference = name
    if spec:
        reference += f":{spec}"
    if conversion:
        reference += f"!{conversion}"
    hint = ""
    if name in ("a", "A") and spec:
        hint = f": write {{{name} {spec}}}"
    return f"{{{reference}}} is not a column's name{hint}"
