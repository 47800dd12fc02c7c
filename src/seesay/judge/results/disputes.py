"""Items on which people disagree, and what a researcher ruled on them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seesay.judge.items import StudyItem
from seesay.judge.results.quality import Judgement, by_item
from seesay.judge.storage.database import Transaction

_AGREED = 0.6
"""An item is disputed if no answer has more than this share of its judgements."""
_MIN_JUDGEMENTS = 3
"""Two people who differ are no dispute yet."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """A disputed item."""

    item: StudyItem
    answers: tuple[tuple[str, int], ...]
    """How often each set of labels was named, the most frequent first."""


def disputed_items(judgements: Sequence[Judgement]) -> list[Dispute]:
    """Return the disputed items of a study with labels, the most disputed first.

    `judgements`: those that count.
    """
    labelled = [
        judgement
        for judgement in judgements
        if judgement.item.has_labels and not judgement.item.control
    ]
    disputes: dict[tuple[float, str], Dispute] = {}
    for item_id, group in by_item(labelled).items():
        counts = Counter("; ".join(judgement.labels) for judgement in group).most_common()
        share = counts[0][1] / len(group)
        if len(group) >= _MIN_JUDGEMENTS and share <= _AGREED:
            disputes[share, item_id] = Dispute(group[0].item, tuple(counts))
    # By id where shares are equal, so that the page keeps its order.
    return [disputes[key] for key in sorted(disputes)]


def read_rulings(tx: Transaction) -> dict[str, tuple[str, ...]]:
    """Return the labels that a researcher ruled to be right, by item."""
    rows = tx.execute("SELECT item, labels FROM ruling")
    return {str(item): tuple(json.loads(labels)) for item, labels in rows}


def save_ruling(tx: Transaction, item: StudyItem, labels: Sequence[str], now: float) -> None:
    """Store what a researcher rules on an item; without labels, take an earlier ruling back."""
    tx.execute("DELETE FROM ruling WHERE item = ?", item.id)
    if labels:
        tx.execute(
            "INSERT INTO ruling (item, labels, ruled_at) VALUES (?, ?, ?)",
            item.id,
            json.dumps(list(labels)),
            now,
        )


def apply_rulings(
    judgements: Sequence[Judgement],
    rulings: Mapping[str, Sequence[str]],
) -> list[Judgement]:
    """Return the judgements without those that contradict the ruling on their item."""
    return [
        judgement
        for judgement in judgements
        if set(judgement.labels) == set(rulings.get(judgement.item.id, judgement.labels))
    ]
