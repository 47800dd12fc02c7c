"""From counts to knowledge: thresholds, typical labels, complements, subtypes left out, transitive closure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seesay.data.knowledge import PLACES, SIZES, PlaceFact, SizeFact
from seesay.metrics.base import BoolArray, FloatArray, IntArray
from seesay.metrics.typical_labels import typical_size_labels, typical_space_labels
from seesay.mine.aggregate import Counts
from seesay.tasks.viphy.derived_sets import smaller_pairs


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


def size_facts(counts: Counts, least: int = PUBLISHED.size) -> list[SizeFact]:
    """Pairs seen often enough of which one is larger in 70 % or more, each from both sides, in order of names."""
    found = _pairs(counts, least, 0, typical_size_labels)
    facts = []
    for a, b, (more, less), kept, seen in zip(
        found.a, found.b, found.counts.tolist(), found.typical > 0, found.examples, strict=True
    ):
        if kept.any():
            label, other = (SIZES[0], SIZES[1]) if kept[0] else (SIZES[1], SIZES[0])
            facts.append(SizeFact(a, b, more, less, (label,), seen))
            facts.append(SizeFact(b, a, less, more, (other,), seen))
    return sorted(facts, key=lambda fact: (fact.a, fact.b))


def without_subtypes(facts: Sequence[SizeFact], subtypes: Collection[str]) -> list[SizeFact]:
    """As published, no pair with a subtype: "kitchen table" is named after what it is, so "table" has its size.

    Only names that end with another's are meant. A lexicon's kinds have sizes of their own: that a bus is a vehicle and
    a cup a container is no reason to say nothing of them.
    """
    return [fact for fact in facts if fact.a not in subtypes and fact.b not in subtypes]


def place_facts(counts: Counts, least: int = PUBLISHED.place, relation: int = PUBLISHED.relation) -> list[PlaceFact]:
    """Pairs seen often enough in a kind of scene, each from both sides, in order of scene and names.

    A pair of which all three labels are typical says nothing, and is dropped, as published.
    """
    found = _pairs(counts, least, relation, typical_space_labels)
    facts = []
    for scene, a, b, (up, level, down), kept, seen in zip(
        found.scene, found.a, found.b, found.counts.tolist(), found.typical > 0, found.examples, strict=True
    ):
        if kept.all():
            continue
        typical = tuple(label for label, stays in zip(PLACES, kept, strict=True) if stays)
        mirrored = tuple(label for label, stays in zip(PLACES, kept[::-1], strict=True) if stays)
        facts.append(PlaceFact(scene, a, b, up, level, down, typical, seen))
        facts.append(PlaceFact(scene, b, a, down, level, up, mirrored, seen))
    return sorted(facts, key=lambda fact: (fact.scene, fact.a, fact.b))


def closure(facts: Sequence[SizeFact]) -> list[SizeFact]:
    """What follows from size facts without being one: a < b and b < c, hence a < c, however long the chain.

    (ViPhy's transitive test, `seesay.tasks.viphy.derived_sets`, takes chains of two steps.) Counts of majorities need
    not be consistent: where a pair follows both ways, nothing is said of it. Only the smaller one's side is given; no
    picture says it, so counts are 0. Warshall's algorithm on rows of bits: n names take n²/8 bytes.
    """
    known = list(smaller_pairs(facts))
    names = sorted({name for pair in known for name in pair})
    number = {name: i for i, name in enumerate(names)}
    direct: list[set[int]] = [set() for _ in names]
    for a, b in known:
        direct[number[a]].add(number[b])
        direct[number[b]].add(number[a])
    larger = np.zeros((len(names), len(names) // 8 + 1), dtype=np.uint8)
    for a, b in known:
        larger[number[a], number[b] >> 3] |= 1 << (number[b] & 7)
    for through in range(len(names)):
        larger[_has(larger, through)] |= larger[through]
    found = []
    for i, name in enumerate(names):
        above = np.unpackbits(larger[i], bitorder="little", count=len(names)).astype(bool)
        above &= ~_has(larger, i)
        found += [SizeFact(name, names[j], 0, 0, (SIZES[1],)) for j in np.flatnonzero(above) if j not in direct[i]]
    return found


def _has(rows: NDArray[np.uint8], column: int) -> BoolArray:
    """Which rows have this bit."""
    return np.asarray(rows[:, column >> 3] >> (column & 7) & 1, dtype=bool)


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
