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


@dataclass(frozen=True, slots=True)
class Dispute:
    """A disputed item: how often each set of labels was named, the most frequent first."""

    item: StudyItem
    answers: tuple[tuple[str, int], ...]


def disputed_items(judgements: Sequence[Judgement]) -> list[Dispute]:
    """The disputed items of a study with labels, from the judgements that count; the most disputed
    first."""
    labelled = [
        judgement
        for judgement in judgements
        if judgement.item.has_labels and not judgement.item.control
    ]
    disputes: list[tuple[float, Dispute]] = []
    for group in by_item(labelled).values():
        counts = Counter("; ".join(judgement.labels) for judgement in group).most_common()
        share = counts[0][1] / len(group)
        if len(group) >= _MIN_JUDGEMENTS and share <= _AGREED:
            disputes.append((share, Dispute(group[0].item, tuple(counts))))
    return [dispute for _, dispute in sorted(disputes, key=lambda pair: (pair[0], pair[1].item.id))]


def read_rulings(tx: Transaction) -> dict[str, tuple[str, ...]]:
    """The labels that a researcher ruled to be right, by item."""
    return {
        str(item): tuple(json.loads(labels))
        for item, labels in tx.execute("SELECT item, labels FROM ruling")
    }


def save_ruling(tx: Transaction, item: StudyItem, labels: Sequence[str], now: float) -> None:
    """Store what a researcher rules on an item; without labels an earlier ruling is taken back."""
    tx.execute("DELETE FROM ruling WHERE item = ?", item.id)
    if labels:
        tx.execute(
            "INSERT INTO ruling (item, labels, given) VALUES (?, ?, ?)",
            item.id,
            json.dumps(list(labels)),
            now,
        )


def with_rulings(
    judgements: Sequence[Judgement], rulings: Mapping[str, Sequence[str]]
) -> list[Judgement]:
    """The judgements without those on ruled items that name anything else than the ruling does."""
    return [
        j
        for j in judgements
        if j.item.id not in rulings or set(j.labels) == set(rulings[j.item.id])
    ]
