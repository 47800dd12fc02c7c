"""Minimal pairs: two whole sentences that differ in one respect.

One of them is acceptable, or fits the picture (the shape of BLiMP, SugarCrepe and What's Up).
The two stand as first and second by a digest of the question's name, so that neither place is the
right one more often.
"""

from __future__ import annotations

import hashlib
from typing import Any

from seesay.data.task_files.schema_base import Column, Part
from seesay.questions import SLOT

PLACES = ("first", "second")
STANDS_FOR = (
    "gold",
    "options",
    "templates",
    "words",
    "choice_templates",
    "qa_templates",
    "neutral",
)


class Pairs(Part):
    """Two sentences per row, of which a model should find the good one likelier."""

    good: Column
    """The column with the sentence that is acceptable, or fits the picture."""
    bad: Column
    """The column with the sentence that is not, or does not."""
    after: Column = ""
    """A column with what follows either of the two, which are then its contexts; with `--scope
    rest` it alone is scored."""


def expand_pairs(fields: Any) -> Any:
    """Return a task file that declares `pairs`, with the fields that this stands for."""
    if not isinstance(fields, dict) or "pairs" not in fields:
        return fields
    superfluous = [name for name in STANDS_FOR if name in fields]
    if superfluous:
        raise ValueError(f"'pairs' says what is asked: leave out {', '.join(superfluous)}")
    pairs = fields["pairs"]
    # Whatever is wrong with `pairs` is reported there, and not as a fault of a gold nobody wrote.
    gold: Any = "good"
    if isinstance(pairs, dict) and isinstance(pairs.get("good"), str):
        gold = {"column": pairs["good"]}
    # Each option is a whole sentence of the row, which fills the slot by itself.
    words = {place: f"{{{place}}}" for place in PLACES}
    text = SLOT
    if isinstance(pairs, dict) and pairs.get("after"):
        text = f"{SLOT} {{{pairs['after']}}}"
    return {
        **fields,
        "options": list(PLACES),
        "gold": gold,
        "templates": {"sentence": {"text": text, "words": words}},
    }


def order_sentences(
    key: str,
    good: str,
    bad: str,
) -> tuple[dict[str, str], dict[str, float]]:
    """Return the two sentences as fields, and which of them is gold."""
    # A digest and not a draw: the order stays when rows are added or left out.
    digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=1).digest()
    good_place = digest[0] % 2
    sentences = [bad, good] if good_place else [good, bad]
    fields = dict(zip(PLACES, sentences, strict=True))
    return fields, {PLACES[good_place]: 1.0}
