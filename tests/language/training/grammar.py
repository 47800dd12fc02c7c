"""A small language to learn: each thing has a colour of its own, each animal a place."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from itertools import product
from pathlib import Path

from seesay.language.training.captions import CaptionSplit, split

COLOURS = {
    "apple": "red",
    "banana": "yellow",
    "leaf": "green",
    "crow": "black",
    "swan": "white",
    "sea": "blue",
}
PLACES = {"dog": "under", "cat": "on top of", "bird": "above", "fish": "in front of"}
FIRST = ("a", "one", "this", "that", "my")
KINDS = ("old", "small", "wet", "tired", "happy")


def sentences() -> list[str]:
    """All 600 of them: `a red apple under the old dog`."""
    return [
        f"{first} {COLOURS[thing]} {thing} {PLACES[animal]} the {kind} {animal}"
        for first, thing, animal, kind in product(FIRST, COLOURS, PLACES, KINDS)
    ]


def write(path: Path) -> Path:
    """A file of all sentences."""
    path.write_text("".join(f"{text}\n" for text in sentences()), encoding="utf-8")
    return path


def captions(path: Path) -> CaptionSplit:
    """Sentences to learn from, and others."""
    return split([write(path)])


def entropy(tokens: Iterable[str]) -> float:
    """What guessing by frequency alone costs, in nats a token."""
    counts = Counter(tokens)
    return -sum(
        count / counts.total() * math.log(count / counts.total()) for count in counts.values()
    )
