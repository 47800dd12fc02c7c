"""Numbers that people type, and numbers that options say."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(?:[.,][0-9]{1,9})?")
_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
NUMBER_WORDS = {word: float(number) for number, word in enumerate(_WORDS.split())}


def parse_number(text: str) -> float | None:
    """Return a typed number, with a point or a comma; None where the text is none.

    >>> parse_number(" 2,5 "), parse_number("two")
    (2.5, None)
    """
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return float(text.replace(",", "."))
    return None


def parse_whole(text: str) -> int | None:
    """Return a whole number of up to nine digits; None for any other text."""
    # `int` alone fails on thousands of digits, and accepts "1_0" and digits of other scripts.
    if not re.fullmatch("[0-9]{1,9}", text):
        return None
    return int(text)


def option_number(option: str) -> float | None:
    """Return the number that an option says, in digits or in English up to twenty."""
    word = option.strip().lower()
    return NUMBER_WORDS.get(word, parse_number(word))
