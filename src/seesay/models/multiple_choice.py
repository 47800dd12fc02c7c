"""Lettered options, as in an examination: "(a) red (b) orange"."""

from __future__ import annotations

from collections.abc import Sequence

from seesay.questions import SLOT

BLANK = "___"


def letter(index: int) -> str:
    """a, b, … z, aa, ab, …

    >>> [letter(i) for i in (0, 25, 26, 613)]
    ['a', 'z', 'aa', 'wp']
    """
    head, tail = divmod(index, 26)
    return (letter(head - 1) if head else "") + chr(ord("a") + tail)


def lettered(options: Sequence[str]) -> str:
    """The options in a row.

    >>> lettered(["red", "orange"])
    '(a) red (b) orange'
    """
    return " ".join(f"({letter(i)}) {option}" for i, option in enumerate(options))


def question(text: str) -> str:
    """The text to ask: a question whose slot is its answer as it is, any other text with a blank
    for the slot.

    >>> question("What is the color of a pig? [MASK]"), question("A pig is [MASK] in color.")
    ('What is the color of a pig?', 'A pig is ___ in color.')
    """
    before = text.removesuffix(SLOT).rstrip()
    if text.endswith(SLOT) and before.endswith("?"):
        return before
    return text.replace(SLOT, BLANK)


def with_options(text: str, options: Sequence[str]) -> str:
    """The question and its options as UnifiedQA reads them: in lower case, a backslash and an n
    between them.

    >>> print(with_options("What is the color of a pig? [MASK]", ["red", "pink"]))
    what is the color of a pig? \\n (a) red (b) pink
    """
    return f"{question(text)} \\n {lettered(options)}".lower()
