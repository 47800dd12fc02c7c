"""From counts to knowledge: thresholds, typical labels, complements, subtypes left out, transitive closure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from seesay.data.knowledge import PLACES, SIZES, PlaceFact, SizeFact
from seesay.metrics.base import FloatArray, IntArray
from seesay.metrics.typical_labels import typical_size_labels, typical_space_labels
from seesay.mine.aggregate import Counts


@dataclass(frozen=True, slots=True)
class Thresholds:
    """How often things must be seen (ViPhy's published figures).

    `size` and `place`: a pair, in all; `relation`: one relation of a pair in a scene, below which it counts as never
    seen; `color`: answers about a name.
    """

    size: int = 100
    place: int = 100
    relation: int = 10
    color: int = 10


PUBLISHED = Thresholds()


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """One row a pair: its scene and names, how often each label was given, and the labels that are typical."""

    scene: list[str]
    a: list[str]
    b: list[str]
    counts: IntArray
    typical: FloatArray
    examples: list[tuple[str, ...]]


def size_facts(counts: Counts, least: int = PUBLISHED.size, subtypes: Collection[str] = ()) -> list[SizeFact]:
    """Pairs seen often enough of which one is larger in 70 % or more, each from both sides, in order of names.

    Subtypes are things of which a commoner name is known; pairs with one are left out, as published.
    """
    found = _pairs(counts, least, 0, typical_size_labels)
    facts = []
    for a, b, (more, less), kept, seen in zip(
        found.a, found.b, found.counts.tolist(), found.typical > 0, found.examples, strict=True
    ):
        if kept.any() and a not in subtypes and b not in subtypes:
            label, other = (SIZES[0], SIZES[1]) if kept[0] else (SIZES[1], SIZES[0])
            facts.append(SizeFact(a, b, more, less, (label,), seen))
            facts.append(SizeFact(b, a, less, more, (other,), seen))
    return sorted(facts, key=lambda fact: (fact.a, fact.b))


def place_facts(counts: Counts, least: int = PUBLISHED.place, relation: int = PUBLISHED.relation) -> list[PlaceFact]:
    """Pairs seen often enough in a kind of scene, each from both sides, in order of scene and names."""
    found = _pairs(counts, least, relation, typical_space_labels)
    facts = []
    for scene, a, b, (up, level, down), kept, seen in zip(
        found.scene, found.a, found.b, found.counts.tolist(), found.typical > 0, found.examples, strict=True
    ):
        typical = tuple(label for label, stays in zip(PLACES, kept, strict=True) if stays)
        mirrored = tuple(label for label, stays in zip(PLACES, kept[::-1], strict=True) if stays)
        facts.append(PlaceFact(scene, a, b, up, level, down, typical, seen))
        facts.append(PlaceFact(scene, b, a, down, level, up, mirrored, seen))
    return sorted(facts, key=lambda fact: (fact.scene, fact.a, fact.b))


def transitive(facts: Sequence[SizeFact]) -> list[SizeFact]:
    """What follows from size facts without being one: a < b and b < c, hence a < c, however long the chain.

    Counts of majorities need not be consistent: where a pair follows both ways, nothing is said of it. Only the
    smaller one's side is given, as in ViPhy's transitive test; no picture says it, so counts are 0.
    """
    names = sorted({fact.a for fact in facts})
    number = {name: i for i, name in enumerate(names)}
    smaller = np.zeros((len(names), len(names)), dtype=bool)
    for fact in facts:
        if fact.typical == (SIZES[1],):
            smaller[number[fact.a], number[fact.b]] = True
    reached = smaller
    while True:
        step = reached.astype(np.float32)
        longer = reached | ((step @ step) > 0)
        if (longer == reached).all():
            break
        reached = longer
    fresh = reached & ~reached.T & ~smaller & ~smaller.T
    return [SizeFact(names[i], names[j], 0, 0, (SIZES[1],)) for i, j in zip(*np.nonzero(fresh), strict=True)]


def _pairs(counts: Counts, least: int, relation: int, typical: Callable[[FloatArray], FloatArray]) -> _Pairs:
    """The pairs that are seen often enough. Examples are those of the commonest label."""
    pair = counts.keys // counts.labels
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    of = np.cumsum(np.diff(pair, prepend=-1) != 0) - 1
    table = np.zeros((len(first), counts.labels), dtype=np.int64)
    scene, a, b, label = counts.fields()
    table[of, label] = np.where(counts.counts >= relation, counts.counts, 0)
    kept = np.flatnonzero(table.sum(axis=1) >= max(least, 1))
    rows = table[kept]
    where = np.full(table.shape, -1)
    where[of, label] = np.arange(len(of))
    shown = where[kept, rows.argmax(axis=1)]
    spans = zip(counts.starts[shown].tolist(), counts.starts[shown + 1].tolist(), strict=True)
    chosen = first[kept]
    return _Pairs(
        [counts.scenes[i] for i in scene[chosen]],
        [counts.names[i] for i in a[chosen]],
        [counts.names[i] for i in b[chosen]],
        rows,
        typical(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)),
        [tuple(counts.examples.slice(start, end - start).to_pylist()) for start, end in spans],
    )
