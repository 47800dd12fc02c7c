"""Colour words of people and models, mapped to the eleven colours that are counted."""

from __future__ import annotations

from seesay.data.knowledge import COLORS

SYNONYMS = {
    word: tuple(colors.split())
    for words, colors in (
        ("gold golden blond blonde cream", "yellow"),
        ("wooden tan bronze copper", "brown"),
        ("beige", "yellow brown"),
        ("grey silver metal steel", "gray"),
        ("peach", "yellow pink"),
        ("violet", "purple"),
        ("maroon", "red"),
        ("turquoise", "blue"),
        ("teal", "blue green"),
    )
    for word in words.split()
}
"""ViPhy's list."""

WORDS: dict[str, tuple[str, ...]] = {**{color: (color,) for color in COLORS}, **SYNONYMS}
