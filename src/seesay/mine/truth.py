"""How well mined knowledge agrees with a known truth: precision and recall of facts, and of single pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seesay.data.knowledge import COLORS, PLACES, SIZES, ColorFact, PlaceFact, SizeFact
from seesay.metrics.typical_labels import typical_labels, typical_size_labels, typical_space_labels
from seesay.mine.aggregate import Counts
from seesay.mine.facts import PUBLISHED


@dataclass(frozen=True, slots=True)
class Score:
    """How many were said, how many there are to be said, and how many of those said are right."""

    said: int
    true: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.said if self.said else float("nan")

    @property
    def recall(self) -> float:
        return self.right / self.true if self.true else float("nan")


def size_score(facts: Sequence[SizeFact], truth: Mapping[str, Any], least: int = PUBLISHED.size) -> Score:
    """Size facts beside `truth.json` of generated rooms.

    There is a fact to be found of every pair that occurs often enough and of which one is larger in 70 % or more. A
    fact about any other pair is wrong.
    """
    rows = [row for row in truth["sizes"] if row["larger"] + row["smaller"] >= least]
    labels = typical_size_labels(_shares([[row["larger"], row["smaller"]] for row in rows]))
    true = {(r["a"], r["b"]): SIZES[int(kept.argmax())] for r, kept in zip(rows, labels, strict=True) if kept.any()}
    said = {(fact.a, fact.b): fact.typical[0] for fact in facts if fact.a < fact.b and fact.typical}
    return Score(len(said), len(true), sum(true.get(pair) == label for pair, label in said.items()))


def place_score(
    facts: Sequence[PlaceFact],
    truth: Mapping[str, Any],
    least: int = PUBLISHED.place,
    relation: int = PUBLISHED.relation,
) -> Score:
    """Place facts likewise: right, if the commonest label is a typical one in truth.

    A pair of which all three are typical is nothing to be found, and a fact about it is wrong.
    """
    names = ("above", "level", "below")
    true = {}
    for row in truth["places"]:
        counts = [row[name] if row[name] >= relation else 0 for name in names]
        if sum(counts) >= least:
            kept = typical_space_labels(_shares([counts]))[0] > 0
            if not kept.all():
                true[row["scene"], row["a"], row["b"]] = {PLACES[i] for i in np.flatnonzero(kept)}
    said = {
        (fact.scene, fact.a, fact.b): PLACES[int(np.argmax([fact.above, fact.level, fact.below]))]
        for fact in facts
        if fact.a < fact.b and len(fact.typical) < len(PLACES)
    }
    return Score(len(said), len(true), sum(label in true.get(key, ()) for key, label in said.items()))


def color_score(facts: Sequence[ColorFact], truth: Mapping[str, Any], least: int = PUBLISHED.color) -> Score:
    """Typical colours of things, each colour of each thing by itself."""
    rows = {name: [colors.get(color, 0) for color in COLORS] for name, colors in truth["colors"].items()}
    often = {name: row for name, row in rows.items() if sum(row) >= least}
    true = {
        (name, COLORS[i]) for name, row in often.items() for i in np.flatnonzero(typical_labels(_shares([row]))[0] > 0)
    }
    said = {(fact.object, color) for fact in facts for color in fact.typical}
    return Score(len(said), len(true), len(said & true))


def statement_score(counts: Counts, labels: Sequence[str], truth: Mapping[tuple[str, str], str]) -> Score:
    """What single pictures say, thing by thing: every thing has a name of its own, `truth` the label of every pair."""
    _, a, b, label = counts.fields()
    said = zip(a.tolist(), b.tolist(), label.tolist(), strict=True)
    right = sum(truth[counts.names[i], counts.names[j]] == labels[which] for i, j, which in said)
    return Score(len(a), len(truth), right)


def _shares(counts: Iterable[Sequence[int]]) -> NDArray[np.float64]:
    rows = np.asarray(list(counts), dtype=np.float64)
    rows = rows.reshape(len(rows), -1)
    return np.asarray(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1))
