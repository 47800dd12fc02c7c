"""Numbers that people type, and numbers that options say."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(?:[.,][0-9]{1,9})?")
NUMBER_WORDS = {word: float(n) for n, word in enumerate((
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
))}  # fmt: skip


def parse_number(text: str) -> float | None:
    """A typed number, with a point or a comma; None where the text is none.

    >>> parse_number(" 2,5 "), parse_number("two")
    (2.5, None)
    """
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return float(text.replace(",", "."))
    return None


def parse_whole(text: str) -> int | None:
    """A whole number of up to nine digits, None for any other text. `int` fails on thousands of
    digits."""
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else None


def option_number(option: str) -> float | None:
    """The number that an option says, in digits or in English up to twenty."""
    word = option.strip().lower()
    return NUMBER_WORDS.get(word, parse_number(word))
