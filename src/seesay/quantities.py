"""English for numbers of things."""

from __future__ import annotations


def quantity(n: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun, in the singular or the plural.

    >>> quantity(1, "model"), quantity(1200, "question"), quantity(2, "try", "tries")
    ('1 model', '1,200 questions', '2 tries')
    """
    if n == 1:
        return f"{n:,} {noun}"
    return f"{n:,} {plural or noun + 's'}"
