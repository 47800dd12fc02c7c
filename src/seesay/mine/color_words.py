"""Colour words of people and models, mapped to the eleven colours that are counted."""

from __future__ import annotations

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

WORDS: dict[str, tuple[str, ...]] = {**{color: (color,) for color in COLORS}, **SYNONYMS}
