"""Facts from counts: thresholds, typical labels, complements, exclusion of subtypes, transitive
closure.

Counts are tables with the columns of `observations.COUNTS`, one of each part, of which DuckDB holds
no more in memory than it is allowed to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seesay.data import knowledge
from seesay.data.knowledge import COLORS, PLACES, SIZES, ColorFact, Fact, PlaceFact, SizeFact
from seesay.metrics.base import FloatArray
from seesay.metrics.typical_labels import typical_size_labels, typical_space_labels
from seesay.mining.choices import MIN_ANSWERS, MIN_RELATION, MIN_SEEN, LabelRule
from seesay.mining.colors import color_facts
from seesay.mining.observations import MAX_EXAMPLES
from seesay.mining.pair_counts import WORD_BITS, group_pairs
from seesay.tasks.viphy.derived_sets import smaller_pairs

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

BATCH = 1 << 14
"""Facts in memory."""
# Each part's list of examples is sorted. The three smallest ids of all are within the three lists
# that begin with the smallest ids, so DuckDB need not keep more of them.
EXAMPLES = (
    f"list_sort(flatten(min(examples, {MAX_EXAMPLES}) FILTER (label = {len(COLORS)})))"
    f"[:{MAX_EXAMPLES}]"
)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """How often something must be observed (defaults: ViPhy's published values)."""

    size: int = MIN_SEEN
    """A pair of objects whose sizes are compared."""
    place: int = MIN_SEEN
    """A pair of objects whose heights are compared, in a scene."""
    relation: int = MIN_RELATION
    """One relation of a pair in a scene; rarer ones are ignored."""
    color: int = MIN_ANSWERS
    """Answers about a name."""
    label_rule: str = LabelRule.PUBLISHED
    """Whether a typical label reaches its minimum or exceeds it."""

    @property
    def strict(self) -> bool:
        """Whether a typical label must exceed its minimum, as in appendix A.2."""
        # The enumeration rejects an unknown rule.
        return LabelRule(self.label_rule) is LabelRule.PAPER


PUBLISHED = Thresholds()


class _PairTable(NamedTuple):
    """How a table of pairs is made of counts."""

    columns: tuple[str, ...]
    """The columns, one per label, from a label to its opposite."""
    labels: tuple[str, ...]
    """The labels as facts write them."""
    typical: Callable[..., FloatArray]
    """Returns the typical labels of rows of shares."""


_PAIR_TABLES: dict[type, _PairTable] = {
    SizeFact: _PairTable(("larger", "smaller"), SIZES, typical_size_labels),
    PlaceFact: _PairTable(("above", "level", "below"), PLACES, typical_space_labels),
}


def pair_facts(
    connection: DuckDBPyConnection,
    tables: Sequence[Path],
    fact_type: type[Fact],
    thresholds: Thresholds = PUBLISHED,
) -> Iterator[pa.Table]:
    """Yield frequent pairs with their typical labels, in both directions, by scene and name.

    A pair of which all labels are typical, or none, carries no information and is dropped, as
    published. Tables are of bounded size, since there are millions of pairs in a large corpus.
    """
    pair_table = _PAIR_TABLES[fact_type]
    columns = pair_table.columns
    minima = (thresholds.place, thresholds.relation)
    if fact_type is SizeFact:
        minima = (thresholds.size, 0)
    words = group_pairs(connection, tables, columns, *minima)
    mask = (1 << WORD_BITS) - 1
    # The complement of each pair is added, as published (section 3.2): labels are balanced.
    complement = (
        f"(((pair >> {2 * WORD_BITS} << {WORD_BITS}) | (pair & {mask})) << {WORD_BITS})"
        f" | (pair >> {WORD_BITS} & {mask})"
    )
    query = f"""
        FROM (
            SELECT pair, {", ".join(columns)}, examples FROM pairs
            UNION ALL
            SELECT {complement}, {", ".join(reversed(columns))}, examples FROM pairs
        ) WHERE pair >= $first AND pair < $following
    """
    all_pairs = f"SELECT pair FROM frequent UNION ALL SELECT {complement} FROM frequent"
    sorted_pairs = np.sort(connection.sql(all_pairs).fetchnumpy()["pair"])
    firsts: list[int] = sorted_pairs[::BATCH].tolist()
    del sorted_pairs
    schema = knowledge.schema(fact_type)
    # Sorted a batch at a time, since what DuckDB sorts is in memory.
    for first, following in pairwise([*firsts, np.iinfo(np.int64).max]):
        limits = {"first": first, "following": following}
        table = connection.sql(query, params=limits).to_arrow_table().sort_by("pair")
        observed = np.column_stack([table.column(name) for name in columns])
        shares = observed / observed.sum(axis=1, keepdims=True)
        is_typical = pair_table.typical(shares, strict=thresholds.strict) > 0
        is_informative = is_typical.any(axis=1) & ~is_typical.all(axis=1)
        ends = np.cumsum(is_typical.sum(axis=1), dtype=np.int32)
        typical_labels = pa.array(np.take(pair_table.labels, np.nonzero(is_typical)[1]))
        typical = pa.ListArray.from_arrays(np.append(np.int32(0), ends), typical_labels)
        table = table.append_column("typical", typical)
        pair = table.column("pair").to_numpy()
        for i, name in enumerate(("b", "a", "scene")):
            table = table.append_column(name, words.take(pa.array(pair >> i * WORD_BITS & mask)))
        yield table.filter(pa.array(is_informative)).select(schema.names).cast(schema)


def count_colors(
    connection: DuckDBPyConnection,
    tables: Sequence[Path],
    subtypes: Mapping[str, Sequence[str]],
    thresholds: Thresholds = PUBLISHED,
) -> list[ColorFact] | None:
    """Return the colours of objects; None where no colours were counted."""
    # The label after all colours counts answers, since one may name two colours.
    sums = [f"sum(if(label = {label}, count, 0))::BIGINT" for label in range(len(COLORS) + 1)]
    query = f"""
        SELECT a, [{", ".join(sums)}], {EXAMPLES}
        FROM read_parquet($tables) GROUP BY a
    """
    rows = connection.execute(query, {"tables": list(map(str, tables))}).fetchall()
    if not rows:
        return None
    return color_facts(
        {name: counts[:-1] for name, counts, _ in rows},
        {name: counts[-1] for name, counts, _ in rows},
        subtypes,
        {name: pictures for name, _, pictures in rows},
        min_answers=thresholds.color,
        strict=thresholds.strict,
    )


def without_subtypes(facts: pa.Table, subtypes: Collection[str]) -> pa.Table:
    """Return the facts without subtypes, as published (section 3.2).

    "kitchen table" ends in "table", whose size stands for it. This holds only for names that end in
    their parent's. A lexicon's subtypes keep their sizes: a bus is a vehicle and a cup is a
    container, but each has a size of its own.
    """
    names = pa.array(sorted(subtypes), pa.string())
    has_subtype = pc.or_(pc.is_in(facts["a"], names), pc.is_in(facts["b"], names))
    return facts.filter(pc.invert(has_subtype))


def transitive_sizes(facts: Sequence[SizeFact]) -> list[SizeFact]:
    """Return size facts that follow from others by a chain of any length.

    a < b and b < c, hence a < c. (ViPhy's transitive test, `seesay.tasks.viphy.derived_sets`, uses
    chains of two steps.) Majorities need not be consistent: a pair that follows in both directions
    is left out. Only the direction `<` is listed; no picture shows it, so the counts are 0.
    Warshall's algorithm on rows of bits; at its end n names take n² bytes.
    """
    direct_pairs = np.array(list(smaller_pairs(facts)), dtype=str).reshape(-1, 2)
    names, numbers = np.unique(direct_pairs, return_inverse=True)
    direct = np.zeros((len(names), len(names)), dtype=bool)
    direct[tuple(numbers.reshape(-1, 2).T)] = True
    bits = np.packbits(direct, axis=1)
    # Whatever is smaller than `through` is smaller than all that is larger than it.
    for through in range(len(names)):
        byte, bit = divmod(through, 8)
        is_smaller = bits[:, byte] >> (7 - bit) & 1 == 1
        bits[is_smaller] |= bits[through]
    follows = np.unpackbits(bits, axis=1, count=len(names)).astype(bool)
    # A pair that follows in both directions is a contradiction.
    is_new = follows & ~follows.T & ~direct & ~direct.T
    new_pairs = names[np.argwhere(is_new)].tolist()
    return [SizeFact(a, b, 0, 0, (SIZES[1],)) for a, b in new_pairs]
