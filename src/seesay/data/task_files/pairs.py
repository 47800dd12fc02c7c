"""Minimal pairs: two whole sentences that differ in one respect, of which one is acceptable or fits
the picture (the shape of BLiMP, SugarCrepe and What's Up).

The two stand as first and second by a digest of the question's name, so that neither place is the
right one more often.
"""

from __future__ import annotations

import hashlib
from typing import Any

from seesay.data.task_files.schema_base import Column, Part
from seesay.questions import SLOT

PLACES = ("first", "second")
STANDS_FOR = ("gold", "options", "templates", "words", "choice_templates", "neutral")


class Pairs(Part):
    """Two sentences per row, of which a model should find the good one likelier."""

    good: Column
    """The column with the sentence that is acceptable, or fits the picture."""
    bad: Column
    """The column with the sentence that is not, or does not."""


def expanded(fields: Any) -> Any:
    """A task file that declares `pairs`, with the fields that this stands for."""
    if not isinstance(fields, dict) or "pairs" not in fields:
        return fields
    if superfluous := [name for name in STANDS_FOR if name in fields]:
        raise ValueError(f"'pairs' says what is asked: leave out {', '.join(superfluous)}")
    pairs = fields["pairs"]
    words = {place: f"{{{place}}}" for place in PLACES}
    return {
        **fields,
        "options": list(PLACES),
        "gold": {"column": pairs["good"]}
        if isinstance(pairs, dict) and isinstance(pairs.get("good"), str)
        else "good",
        "templates": {"sentence": {"text": SLOT, "words": words}},
    }


def in_order(key: str, good: str, bad: str) -> tuple[dict[str, str], dict[str, float]]:
    """The two sentences as fields, and which of them is gold."""
    digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=1).digest()
    place = digest[0] % 2
    sentences = (good, bad) if place == 0 else (bad, good)
    return dict(zip(PLACES, sentences, strict=True)), {PLACES[place]: 1.0}
