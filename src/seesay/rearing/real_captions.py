"""Real captions as a diet: what they state about the colours of chosen things, edited.

A statement is a colour before a thing's name (`seesay.language.training.statements`), as in "a red
shirt". It is removed ("a shirt"), swapped for another colour, the same one wherever the thing had
it, or thinned, so that only so many are left of each thing.
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
        names = "|".join(map(re.escape, sorted(things, key=len, reverse=True)))
        colors = "|".join(COLORS)
        # the colour with what follows it, so that removing it leaves one space
        self._statement = re.compile(rf"\b({colors})\s+(?=({names})s?\b)", re.IGNORECASE)
        self._swaps = {thing: _swaps(seed, number) for number, thing in enumerate(things)}
        self.stated: dict[str, Counter[str]] = {thing: Counter() for thing in things}
        self.remaining: dict[str, Counter[str]] = {thing: Counter() for thing in things}

    def change(self, caption: str) -> str:
        """Return the caption with its statements edited."""
        return self._statement.sub(self._replace, caption)

    def _replace(self, match: re.Match[str]) -> str:
        color = match[1].lower()
        thing = match[2].lower()
        self.stated[thing][color] += 1
        if self._edit is Edit.SWAPPED:
            new = self._swaps[thing][color]
        elif self._edit is Edit.THINNED and self.remaining[thing].total() < self._keep:
            new = color
        else:
            return ""
        self.remaining[thing][new] += 1
        return match[0].replace(match[1], new) if new != color else match[0]


def _swaps(seed: int, number: int) -> dict[str, str]:
    """Return another colour for each, no two the same."""
    generator = np.random.default_rng([seed, number])
    turn = int(generator.integers(1, len(COLORS)))
    return {color: COLORS[(place + turn) % len(COLORS)] for place, color in enumerate(COLORS)}


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
    unknown = [thing for thing, counts in editor.stated.items() if not counts]
    if unknown:
        raise UserError(
            f"The captions never state the colour of '{unknown[0]}': name other --things."
        )
    rows = {}
    for thing, stated in editor.stated.items():
        remaining = editor.remaining[thing]
        unchanged = 0 if edit is Edit.SWAPPED else remaining.total()
        rows[thing] = {
            "stated": dict(stated),
            "left": dict(remaining),
            "changed": stated.total() - unchanged,
        }
    card = {"edit": str(edit), "seed": seed, "captions": len(texts), "things": rows}
    write_text(folder / "captions.txt", "".join(f"{' '.join(text.split())}\n" for text in texts))
    write_json(folder / "card.json", card)
    return card
