"""Real captions as a diet: what they state about the colours of chosen things, edited.

A statement is a colour before a thing's name (`seesay.language.training.statements`), as in "a red
shirt", or several of them, as in "a red and white shirt". It is removed ("a shirt"), swapped for
another colour, the same one wherever the thing had it, or thinned, so that only so many are left of
each thing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from seesay.data.captions import Corpus, distinct_sources
from seesay.data.lines import LONGEST_LINE
from seesay.errors import UserError
from seesay.files import write_json, write_text
from seesay.language.training.captions import read_captions
from seesay.language.training.statements import COLORS

_BETWEEN = r"[\s,&/-]+(?:(?:and|or)[\s-]+)?"
"""What stands between two colours of one thing."""


class Edit(StrEnum):
    """What is done to the statements of a thing."""

    REMOVED = "removed"
    SWAPPED = "swapped"
    THINNED = "thinned"


class CaptionEditor:
    """Edits captions one by one, and counts what it does."""

    def __init__(self, things: Sequence[str], edit: Edit, *, keep: int = 0, seed: int = 0) -> None:
        self._edit = edit
        self._keep = keep
        # the longest first: of two names that begin alike it is the one that stands there
        longest_first = sorted(things, key=len, reverse=True)
        names = "|".join(map(re.escape, longest_first))
        color = rf"\b(?:{'|'.join(COLORS)})\b"
        self._color = re.compile(color, re.IGNORECASE)
        # "black and white dog" is one statement: without "white" alone, a "black and dog" is left
        colors = rf"{color}(?:{_BETWEEN}{color})*"
        # with the space that follows, so that removing it leaves one
        self._statement = re.compile(rf"({colors})\s+(?=({names})s?\b)", re.IGNORECASE)
        self._swaps: dict[str, dict[str, str]] = {}
        self.stated: dict[str, Counter[str]] = {}
        self.remaining: dict[str, Counter[str]] = {}
        for number, thing in enumerate(things):
            self._swaps[thing] = _swaps(seed, number)
            self.stated[thing] = Counter()
            self.remaining[thing] = Counter()

    def change(self, caption: str) -> str:
        """Return the caption with its statements edited."""
        return self._statement.sub(self._replace, caption)

    def _replace(self, match: re.Match[str]) -> str:
        """Return what stands in the place of the colours before a thing."""
        colors = self._color.findall(match[1].lower())
        thing = match[2].lower()
        remaining = self.remaining[thing]
        swaps = self._swaps[thing]
        self.stated[thing].update(colors)
        if self._edit is Edit.SWAPPED:
            remaining.update(swaps[color] for color in colors)
            return self._color.sub(lambda color: swaps[color[0].lower()], match[0])
        if self._edit is Edit.THINNED and remaining.total() + len(colors) <= self._keep:
            remaining.update(colors)
            return match[0]
        return ""


def _swaps(seed: int, number: int) -> dict[str, str]:
    """Return another colour for each, no two the same."""
    generator = np.random.default_rng([seed, number])
    turn = int(generator.integers(1, len(COLORS)))
    turned = [*COLORS[turn:], *COLORS[:turn]]
    return dict(zip(COLORS, turned, strict=True))


def edit_corpora(
    paths: Iterable[Path],
    folder: Path,
    things: Sequence[str],
    edit: Edit,
    *,
    keep: int = 0,
    seed: int = 0,
) -> dict[str, Any]:
    """Write `captions.txt` and `card.json`, which says of each thing what was stated and what is
    left; return the card."""
    editor = CaptionEditor([thing.lower() for thing in things], edit, keep=keep, seed=seed)
    texts = []
    for path in distinct_sources(list(paths)):
        with Corpus(path, longest=LONGEST_LINE) as corpus:
            texts += [editor.change(caption.text) for caption in read_captions(corpus)]
    rows = {}
    for thing, stated in editor.stated.items():
        if not stated:
            raise UserError(
                f"The captions never state the colour of '{thing}': name other --things."
            )
        remaining = editor.remaining[thing]
        changed = stated.total()
        if edit is not Edit.SWAPPED:
            changed -= remaining.total()
        rows[thing] = {"stated": dict(stated), "left": dict(remaining), "changed": changed}
    card = {"edit": str(edit), "seed": seed, "captions": len(texts), "things": rows}
    write_text(folder / "captions.txt", "".join(f"{' '.join(text.split())}\n" for text in texts))
    write_json(folder / "card.json", card)
    return card
