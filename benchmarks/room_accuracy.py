"""How well mined knowledge agrees with the truth of generated rooms: precision and recall of facts and observations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seesay.data.knowledge import COLORS, PLACES, SIZES, ColorFact, PlaceFact, SizeFact
from seesay.metrics.typical_labels import typical_labels, typical_size_labels, typical_space_labels
from seesay.mine.aggregate import RelationCounts
from seesay.mine.facts import PUBLISHED


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    """The number of predictions, of facts to be found, and of correct predictions."""

    predicted: int
    actual: int
    correct: int

    @property
    def precision(self) -> float:
        return self.correct / self.predicted if self.predicted else float("nan")

    @property
    def recall(self) -> float:
        return self.correct / self.actual if self.actual else float("nan")


def size_accuracy(
    facts: Sequence[SizeFact], truth: Mapping[str, Any], min_count: int = PUBLISHED.size
) -> PrecisionRecall:
    """Size facts against `truth.json` of generated rooms.

    Every pair that occurs often enough, and of which one is larger in 70 % or more, is a fact to be found. A fact about
    any other pair is wrong.
    """
    rows = [row for row in truth["sizes"] if row["larger"] + row["smaller"] >= min_count]
    labels = typical_size_labels(_shares([[row["larger"], row["smaller"]] for row in rows]))
    actual = {(r["a"], r["b"]): SIZES[int(row.argmax())] for r, row in zip(rows, labels, strict=True) if row.any()}
    predicted = {(fact.a, fact.b): fact.typical[0] for fact in facts if fact.a < fact.b and fact.typical}
    correct = sum(actual.get(pair) == label for pair, label in predicted.items())
    return PrecisionRecall(len(predicted), len(actual), correct)


def place_accuracy(
    facts: Sequence[PlaceFact],
    truth: Mapping[str, Any],
    min_count: int = PUBLISHED.place,
    min_relation: int = PUBLISHED.relation,
) -> PrecisionRecall:
    """Place facts likewise: correct if the most frequent label is typical in truth.

    A pair of which all three labels are typical is not a fact to be found, and a fact about it is wrong.
    """
    names = ("above", "level", "below")
    actual = {}
    for row in truth["places"]:
        counts = [row[name] if row[name] >= min_relation else 0 for name in names]
        if sum(counts) >= min_count:
            is_typical = typical_space_labels(_shares([counts]))[0] > 0
            if not is_typical.all():
                actual[row["scene"], row["a"], row["b"]] = {PLACES[i] for i in np.flatnonzero(is_typical)}
    predicted = {
        (fact.scene, fact.a, fact.b): PLACES[int(np.argmax([fact.above, fact.level, fact.below]))]
        for fact in facts
        if fact.a < fact.b and len(fact.typical) < len(PLACES)
    }
    correct = sum(label in actual.get(key, ()) for key, label in predicted.items())
    return PrecisionRecall(len(predicted), len(actual), correct)


def color_accuracy(
    facts: Sequence[ColorFact], truth: Mapping[str, Any], min_count: int = PUBLISHED.color
) -> PrecisionRecall:
    """Typical colours of objects: each colour of each object is one prediction."""
    rows = {name: [colors.get(color, 0) for color in COLORS] for name, colors in truth["colors"].items()}
    frequent = {name: row for name, row in rows.items() if sum(row) >= min_count}
    actual = {
        (name, COLORS[i])
        for name, row in frequent.items()
        for i in np.flatnonzero(typical_labels(_shares([row]))[0] > 0)
    }
    predicted = {(fact.object, color) for fact in facts for color in fact.typical}
    return PrecisionRecall(len(predicted), len(actual), len(predicted & actual))


def statement_accuracy(
    counts: RelationCounts, labels: Sequence[str], truth: Mapping[tuple[str, str], str]
) -> PrecisionRecall:
    """Relations in single pictures: every object has a name of its own, and `truth` has the label of every pair."""
    _, a, b, label = counts.fields()
    rows = zip(a.tolist(), b.tolist(), label.tolist(), strict=True)
    correct = sum(truth[counts.names[i], counts.names[j]] == labels[index] for i, j, index in rows)
    return PrecisionRecall(len(a), len(truth), correct)


def _shares(counts: Iterable[Sequence[int]]) -> NDArray[np.float64]:
    rows = np.asarray(list(counts), dtype=np.float64)
    rows = rows.reshape(len(rows), -1)
    return np.asarray(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1))
