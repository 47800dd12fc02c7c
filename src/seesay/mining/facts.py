"""Facts from counts: thresholds, typical labels, complements, exclusion of subtypes, transitive closure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from seesay.data import knowledge
from seesay.data.knowledge import PLACES, SIZES, PlaceFact, SizeFact
from seesay.metrics.base import BoolArray, FloatArray, IntArray
from seesay.metrics.typical_labels import typical_size_labels, typical_space_labels
from seesay.mining.aggregate import RelationCounts
from seesay.mining.choices import MIN_ANSWERS, MIN_RELATION, MIN_SEEN, LabelRule
from seesay.mining.merge import ORDER
from seesay.tasks.viphy.derived_sets import smaller_pairs


@dataclass(frozen=True, slots=True)
class Thresholds:
    """How often something must be observed (defaults: ViPhy's published values).

    `size` and `place`: a pair in total; `relation`: one relation of a pair in a scene, rarer ones are ignored; `color`:
    answers about a name. `label_rule`: whether a typical label reaches its minimum or exceeds it.
    """

    size: int = MIN_SEEN
    place: int = MIN_SEEN
    relation: int = MIN_RELATION
    color: int = MIN_ANSWERS
    label_rule: str = LabelRule.PUBLISHED

    @property
    def strict(self) -> bool:
        """Whether a typical label must exceed its minimum; an unknown rule is rejected."""
        return LabelRule(self.label_rule) is LabelRule.PAPER


PUBLISHED = Thresholds()
WithExamples = Callable[[RelationCounts, IntArray], RelationCounts]
"""Some rows of counts, with their examples."""


class _Pairs(NamedTuple):
    """Pairs of which there are facts: how often each label was observed, which are typical, the most frequent's row."""

    observed: IntArray
    is_typical: BoolArray
    top: IntArray


def size_facts(
    counts: RelationCounts, min_count: int = PUBLISHED.size, *, strict: bool = False,
    with_examples: WithExamples = RelationCounts.select,
) -> pa.Table:  # fmt: skip
    """Frequent pairs of which one is larger in 70 % or more of the cases, in both directions, sorted by name."""
    typical = partial(typical_size_labels, strict=strict)
    pairs = _frequent_pairs(counts, min_count, 0, typical)
    return _facts(counts, knowledge.schema(SizeFact), SIZES, pairs, with_examples)


def place_facts(
    counts: RelationCounts, min_count: int = PUBLISHED.place, min_relation: int = PUBLISHED.relation,
    *, strict: bool = False, with_examples: WithExamples = RelationCounts.select,
) -> pa.Table:  # fmt: skip
    """Frequent pairs of a scene, in both directions, sorted by scene and name.

    A pair of which all three labels are typical, or none, carries no information and is dropped, as published.
    """
    typical = partial(typical_space_labels, strict=strict)
    pairs = _frequent_pairs(counts, min_count, min_relation, typical)
    return _facts(counts, knowledge.schema(PlaceFact), PLACES, pairs, with_examples)


def without_subtypes(facts: pa.Table, subtypes: Collection[str]) -> pa.Table:
    """As published, the facts without subtypes: "kitchen table" ends in "table", whose size stands for it.

    This holds only for names that end in their parent's. A lexicon's subtypes keep their sizes: a bus is a vehicle and
    a cup is a container, but each has a size of its own.
    """
    names = pa.array(sorted(subtypes), pa.string())
    return facts.filter(pc.invert(pc.or_(pc.is_in(facts["a"], names), pc.is_in(facts["b"], names))))


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
) -> _Pairs:
    """The pairs that are frequent enough and have typical labels, but not all of them."""
    pair = counts.keys // counts.labels
    is_first = np.diff(pair, prepend=-1) != 0
    of, label = np.cumsum(is_first) - 1, counts.keys - pair * counts.labels
    observed = np.zeros((int(is_first.sum()), counts.labels), dtype=np.int64)
    observed[of, label] = np.where(counts.counts >= min_relation, counts.counts, 0)
    row_of_label = np.full(observed.shape, -1)
    row_of_label[of, label] = np.arange(len(of))
    frequent = np.flatnonzero(observed.sum(axis=1) >= max(min_count, 1))
    observed = observed[frequent]
    is_typical = typical(observed / np.maximum(observed.sum(axis=1, keepdims=True), 1)) > 0
    says_something = is_typical.any(axis=1) & ~is_typical.all(axis=1)
    observed, is_typical, frequent = observed[says_something], is_typical[says_something], frequent[says_something]
    return _Pairs(observed, is_typical, row_of_label[frequent, observed.argmax(axis=1)])


def _facts(
    counts: RelationCounts, schema: pa.Schema, labels: Sequence[str], pairs: _Pairs, with_examples: WithExamples
) -> pa.Table:
    """The facts about pairs, in both directions, sorted by `ORDER`: their place among all scenes and pairs of names."""
    chosen = with_examples(counts, pairs.top)
    scene, a, b, _ = chosen.fields()
    scene, a, b = np.concatenate([scene, scene]), np.concatenate([a, b]), np.concatenate([b, a])
    place = (scene * len(counts.names) + a) * len(counts.names) + b
    order = np.argsort(place)
    observed = np.concatenate([pairs.observed, pairs.observed[:, ::-1]])[order]
    is_typical = np.concatenate([pairs.is_typical, pairs.is_typical[:, ::-1]])[order]
    scenes, names, label_names = (pa.array(words, pa.string()) for words in (counts.scenes, counts.names, labels))
    examples = _lists(chosen.starts, chosen.examples.cast(pa.string()))
    columns = [
        scenes.take(pa.array(scene[order])),
        names.take(pa.array(a[order])),
        names.take(pa.array(b[order])),
        *(pa.array(column) for column in observed.T),
        _lists(
            np.concatenate([[0], np.cumsum(is_typical.sum(axis=1))]),
            label_names.take(pa.array(np.nonzero(is_typical)[1])),
        ),
        examples.take(pa.array(order % max(len(pairs.top), 1))),
    ]
    table = pa.Table.from_arrays(columns[len(columns) - len(schema) :], schema=schema)  # sizes have no scene
    return table.append_column(ORDER, pa.array(place[order]))


def _lists(starts: IntArray, values: pa.Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(starts.astype(np.int32)), values)
