"""English for numbers of things, and for several of them."""

from __future__ import annotations

from collections.abc import Sequence


def quantity(n: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun, in the singular or the plural.

    >>> quantity(1, "model"), quantity(1200, "question"), quantity(2, "try", "tries")
    ('1 model', '1,200 questions', '2 tries')
    """
    if n == 1:
        return f"{n:,} {noun}"
    return f"{n:,} {plural or noun + 's'}"


def file_size(count: int) -> str:
    """A number of bytes in the unit that suits it.

    >>> file_size(48_000), file_size(2_000_000), file_size(1_240_000_000)
    ('48.0 kB', '2.0 MB', '1.2 GB')
    """
    power, unit = next(
        (step for step in ((9, "GB"), (6, "MB")) if count >= 10 ** step[0]), (3, "kB")
    )
    return f"{count / 10**power:,.1f} {unit}"


def listed(parts: Sequence[str]) -> str:
    """Return parts as a list in a sentence.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *others, last = parts
    if not others:
        return last
    return f"{', '.join(others)} and {last}"
