"""Facts from counts: thresholds, typical labels, complements, exclusion of subtypes, transitive closure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from seesay.data.knowledge import PLACES, SIZES, PlaceFact, SizeFact
from seesay.metrics.base import BoolArray, FloatArray
from seesay.metrics.typical_labels import typical_size_labels, typical_space_labels
from seesay.mining.aggregate import RelationCounts
from seesay.mining.choices import LabelRule
from seesay.tasks.viphy.derived_sets import smaller_pairs


@dataclass(frozen=True, slots=True)
class Thresholds:
    """How often something must be observed (defaults: ViPhy's published values).

    `size` and `place`: a pair in total; `relation`: one relation of a pair in a scene, rarer ones are ignored; `color`:
    answers about a name. `label_rule`: whether a typical label reaches its minimum or exceeds it.
    """

    size: int = 100
    place: int = 100
    relation: int = 10
    color: int = 10
    label_rule: str = LabelRule.PUBLISHED

    @property
    def strict(self) -> bool:
        """Whether a typical label must exceed its minimum; an unknown rule is rejected."""
        return LabelRule(self.label_rule) is LabelRule.PAPER


PUBLISHED = Thresholds()


_Pair = tuple[str, str, str, list[int], BoolArray, tuple[str, ...]]
"""Scene, two names, how often each label was observed, which labels are typical, and examples."""


def size_facts(counts: RelationCounts, min_count: int = PUBLISHED.size, *, strict: bool = False) -> list[SizeFact]:
    """Frequent pairs of which one is larger in 70 % or more of the cases, in both directions, sorted by name."""
    facts = []
    typical = partial(typical_size_labels, strict=strict)
    for _, a, b, (larger, smaller), is_typical, examples in _frequent_pairs(counts, min_count, 0, typical):
        if is_typical.any():
            label, complement = (SIZES[0], SIZES[1]) if is_typical[0] else (SIZES[1], SIZES[0])
            facts.append(SizeFact(a, b, larger, smaller, (label,), examples))
            facts.append(SizeFact(b, a, smaller, larger, (complement,), examples))
    return sorted(facts, key=lambda fact: (fact.a, fact.b))


def without_subtypes(facts: Sequence[SizeFact], subtypes: Collection[str]) -> list[SizeFact]:
    """As published, the facts without subtypes: "kitchen table" ends in "table", whose size stands for it.

    This holds only for names that end in their parent's. A lexicon's subtypes keep their sizes: a bus is a vehicle and
    a cup is a container, but each has a size of its own.
    """
    return [fact for fact in facts if fact.a not in subtypes and fact.b not in subtypes]


def place_facts(
    counts: RelationCounts, min_count: int = PUBLISHED.place, min_relation: int = PUBLISHED.relation,
    *, strict: bool = False,
) -> list[PlaceFact]:  # fmt: skip
    """Frequent pairs of a scene, in both directions, sorted by scene and name.

    A pair of which all three labels are typical, or none, carries no information and is dropped, as published.
    """
    facts = []
    pairs = _frequent_pairs(counts, min_count, min_relation, partial(typical_space_labels, strict=strict))
    for scene, a, b, (above, level, below), is_typical, examples in pairs:
        if is_typical.all() or not is_typical.any():
            continue
        typical = tuple(compress(PLACES, is_typical))
        mirrored = tuple(compress(PLACES, is_typical[::-1]))
        facts.append(PlaceFact(scene, a, b, above, level, below, typical, examples))
        facts.append(PlaceFact(scene, b, a, below, level, above, mirrored, examples))
    return sorted(facts, key=lambda fact: (fact.scene, fact.a, fact.b))


def transitive_sizes(facts: Sequence[SizeFact]) -> list[SizeFact]:
    """Size facts that follow from others by a chain of any length: a < b and b < c, hence a < c.

    (ViPhy's transitive test, `seesay.tasks.viphy.derived_sets`, uses chains of two steps.) Majorities need not be
    consistent: a pair that follows in both directions is left out. Only the direction `<` is listed; no picture shows
    it, so the counts are 0. Warshall's algorithm on rows of bits: n names take n²/8 bytes.
    """
    direct_pairs = list(smaller_pairs(facts))
    names = sorted({name for pair in direct_pairs for name in pair})
    number = {name: i for i, name in enumerate(names)}
    direct: list[set[int]] = [set() for _ in names]
    larger = np.zeros((len(names), len(names) // 8 + 1), dtype=np.uint8)
    for a, b in ((number[a], number[b]) for a, b in direct_pairs):
        direct[a].add(b)
        direct[b].add(a)
        larger[a, b >> 3] |= 1 << (b & 7)
    for through in range(len(names)):
        larger[_has(larger, through)] |= larger[through]
    inferred = []
    for i, name in enumerate(names):
        above = np.unpackbits(larger[i], bitorder="little", count=len(names)).astype(bool)
        above &= ~_has(larger, i)
        inferred += [SizeFact(name, names[j], 0, 0, (SIZES[1],)) for j in np.flatnonzero(above) if j not in direct[i]]
    return inferred


def _has(rows: NDArray[np.uint8], column: int) -> BoolArray:
    """Which rows have this bit."""
    return np.asarray(rows[:, column >> 3] >> (column & 7) & 1, dtype=bool)


def _frequent_pairs(
    counts: RelationCounts, min_count: int, min_relation: int, typical: Callable[[FloatArray], FloatArray]
) -> Iterator[_Pair]:
    """The pairs that are frequent enough, with examples of their most frequent label."""
    pair = counts.keys // counts.labels
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    of = np.cumsum(np.diff(pair, prepend=-1) != 0) - 1
    table = np.zeros((len(first), counts.labels), dtype=np.int64)
    scene, a, b, label = counts.fields()
    table[of, label] = np.where(counts.counts >= min_relation, counts.counts, 0)
    frequent = np.flatnonzero(table.sum(axis=1) >= max(min_count, 1))
    rows = table[frequent]
    key_index = np.full(table.shape, -1)
    key_index[of, label] = np.arange(len(of))
    top = key_index[frequent, rows.argmax(axis=1)]
    is_typical = typical(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)) > 0
    for key, example, row, flags in zip(first[frequent], top, rows.tolist(), is_typical, strict=True):
        examples = counts.examples[counts.starts[example] : counts.starts[example + 1]].to_pylist()
        yield counts.scenes[scene[key]], counts.names[a[key]], counts.names[b[key]], row, flags, tuple(examples)
