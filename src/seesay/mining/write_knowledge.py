"""Counts of all parts → the tables of knowledge, row by row, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from seesay.data import knowledge
from seesay.data.knowledge import FILES, ColorFact, Fact, PlaceFact, SizeFact
from seesay.files import damage_as_user_error
from seesay.mining.count_relations import CountedParts
from seesay.mining.facts import (
    Thresholds,
    count_colors,
    pair_facts,
    transitive_sizes,
    without_subtypes,
)
from seesay.mining.queries import open_database
from seesay.mining.records import DELETE_WORK


def write_facts(
    folder: Path,
    counts: CountedParts,
    thresholds: Thresholds,
    subtypes: Mapping[str, Sequence[str]] | None = None,
    subtypes_by_ending: Collection[str] = (),
    *,
    transitive: bool = False,
    workers: int = 1,
) -> tuple[dict[str, int], Counter[str]]:
    """Write the knowledge tables.

    Returns the number of facts in each, and how many were left out, by reason.

    `subtypes`: those of each name, itself included.
    `subtypes_by_ending`: the names that are subtypes by their ending.
    `transitive`: whether sizes that follow from others are written too.
    """
    # Counted while tables stream by, since they need not fit into memory.
    totals: Counter[str] = Counter()

    def facts(kind: str, fact_type: type[Fact]) -> Iterator[pa.Table]:
        # What DuckDB holds of one table is freed before the next.
        with open_database(count_folder, workers) as connection:
            yield from pair_facts(connection, counts.tables[kind], fact_type, thresholds)

    def sizes() -> Iterator[pa.Table]:
        for table in facts("sizes", SizeFact):
            without = without_subtypes(table, subtypes_by_ending)
            totals["of subtypes"] += table.num_rows - without.num_rows
            yield without

    def places() -> Iterator[pa.Table]:
        for table in facts("places", PlaceFact):
            has_scene = pc.not_equal(table["scene"], "")
            totals["with a scene"] += pc.sum(has_scene).as_py() or 0
            yield table

    count_folder = counts.tables["sizes"][0].parent
    with damage_as_user_error(count_folder, DELETE_WORK):
        fact_counts = {
            "sizes": knowledge.write_tables(folder, sizes(), SizeFact),
            "places": knowledge.write_tables(folder, places(), PlaceFact),
        }
        with open_database(count_folder, workers) as connection:
            colors = count_colors(connection, counts.tables["colors"], subtypes or {}, thresholds)
    fact_counts["places_in_scenes"] = totals["with a scene"]
    # An earlier run with other options may have written tables that this one does not.
    for table in (FILES[ColorFact], f"transitive/{FILES[SizeFact]}"):
        (folder / table).unlink(missing_ok=True)
    if colors is not None:
        knowledge.write(folder, colors, ColorFact)
        fact_counts["colors"] = len(colors)
    if transitive:
        inferred = transitive_sizes(knowledge.read(folder, SizeFact))
        knowledge.write(folder / "transitive", inferred, SizeFact)
        fact_counts["transitive_sizes"] = len(inferred)
    # A pair and its complement are two rows.
    excluded_pairs = totals["of subtypes"] // 2
    reason = "the size of a subtype, which its parent's size stands for"
    return fact_counts, +Counter({reason: excluded_pairs})
