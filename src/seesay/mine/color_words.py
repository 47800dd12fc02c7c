"""The words for colours that people and models use, as the eleven that are counted."""

from __future__ import annotations

import re

from seesay.data.knowledge import COLORS

SYNONYMS = {
    "gold": ("yellow",),
    "golden": ("yellow",),
    "blond": ("yellow",),
    "blonde": ("yellow",),
    "cream": ("yellow",),
    "wooden": ("brown",),
    "tan": ("brown",),
    "bronze": ("brown",),
    "copper": ("brown",),
    "beige": ("yellow", "brown"),
    "grey": ("gray",),
    "silver": ("gray",),
    "metal": ("gray",),
    "steel": ("gray",),
    "peach": ("yellow", "pink"),
    "violet": ("purple",),
    "maroon": ("red",),
    "turquoise": ("blue",),
    "teal": ("blue", "green"),
}
"""ViPhy's list."""

WORDS = {**{color: (color,) for color in COLORS}, **SYNONYMS}


def colors_in(text: str) -> tuple[str, ...]:
    """The colours that a text names, word by word: "colored" is not red.

    >>> colors_in("A teal and white, multi-colored cup")
    ('green', 'blue', 'white')
    """
    found = {color for word in re.findall(r"[a-z]+", text.lower()) for color in WORDS.get(word, ())}
    return tuple(color for color in COLORS if color in found)
