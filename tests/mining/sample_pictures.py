"""Small annotated pictures for the rules of mining, and the relations that the rules give."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from seesay.data.knowledge import Fact, schema
from seesay.mining import places as place_rules
from seesay.mining import sizes as size_rules
from seesay.mining.choices import SizeRule, SpaceRule
from seesay.mining.facts import Thresholds, pair_facts
from seesay.mining.observations import COUNTS, SMALLEST_ID, WORDS, WORDS_NOTE, count
from seesay.mining.queries import open_database
from seesay.mining.records import SCHEMA
from seesay.mining.regions import DEPTHS, flatten

LabelCounts = Counter[tuple[str, str, str, str]]


@dataclass(frozen=True)
class DepthRegion:
    """A region with its depth: `distance` in metres; the picture's range is 1 to 9."""

    name: str
    box: tuple[float, float, float, float]
    distance: float = 1.0
    polygon: tuple[float, ...] = ()


def picture(
    *regions: DepthRegion,
    name: str = "1",
    scene: str = "kitchen",
    near: float = 1.0,
    far: float = 9.0,
) -> pa.Table:
    """A picture of 640 by 480 as a table of one row."""
    return table([row(regions, name, scene, near, far)])


def row(
    regions: Sequence[DepthRegion],
    name: str,
    scene: str = "kitchen",
    near: float = 1.0,
    far: float = 9.0,
) -> dict[str, object]:
    """A picture as a row, nearness computed from the distances."""
    return {
        "id": name,
        "width": 640,
        "height": 480,
        "captions": [],
        "scene": scene,
        "path": "",
        "depth": "",
        "regions": [{"name": t.name, "box": t.box, "polygon": t.polygon} for t in regions],
        "distances": [t.distance for t in regions],
        "nearness": [(1 / t.distance - 1 / far) / (1 / near - 1 / far) for t in regions],
        "nearest": near,
        "farthest": far,
    }


def table(rows: Sequence[dict[str, object]]) -> pa.Table:
    """Pictures as a table."""
    return pa.Table.from_pylist(list(rows), schema=pa.schema([*SCHEMA, *DEPTHS]))


def sizes(pictures: pa.Table, rule: str = "paper") -> LabelCounts:
    """The relations by a size rule, scene "", names in alphabetical order."""
    return listed(size_counts(pictures, rule), "><")


def places(pictures: pa.Table, rule: str = "paper") -> LabelCounts:
    """The relations by a space rule."""
    regions = flatten(pictures)
    rule_partitions = place_rules.RULES[SpaceRule(rule)]
    observations = place_rules.compare(regions, rule_partitions)
    return listed(
        count(
            "places",
            observations,
            regions,
            by_scene=True,
            once_per_picture=rule_partitions.once_per_picture,
        ),
        ">=<",
    )


def size_counts(pictures: pa.Table, rule: str = "paper") -> pa.Table:
    """Counts by a size rule."""
    regions = flatten(pictures)
    measure = size_rules.RULES[SizeRule(rule)]
    observations = size_rules.compare(regions, measure)
    return count("sizes", observations, regions, once_per_picture=measure.once_per_picture)


def listed(counts: pa.Table, signs: str) -> LabelCounts:
    """Counts as (scene, a, b, sign) → count."""
    rows = counts.to_pylist()
    return Counter(
        {(row["scene"], row["a"], row["b"], signs[row["label"]]): row["count"] for row in rows}
    )


Row = tuple[str, str, str, int, int]


def counted(*rows: Row) -> pa.Table:
    """Counts of (scene, a, b, label, count), an example each."""
    names = ("scene", "a", "b", "label", "count")
    dicts = [{"examples": [f"{row[3]}.jpg"], **dict(zip(names, row, strict=True))} for row in rows]
    return pa.Table.from_pylist(dicts, schema=COUNTS)


def write_counts(path: Path, counts: pa.Table) -> None:
    """Write the counts of a part, with what its file says of them."""
    ids = counts["examples"].combine_chunks().flatten().to_pylist()
    words = set[str]()
    for column in counts.select(WORDS).itercolumns():
        for chunk in column.chunks:
            words.update(chunk.dictionary.to_pylist())
    notes = {SMALLEST_ID: min(ids, default=""), WORDS_NOTE: json.dumps(sorted(words))}
    pq.write_table(counts.replace_schema_metadata(notes), path)


def facts_of(
    fact_type: type[Fact], thresholds: Thresholds, *counts: pa.Table, workers: int = 1
) -> pa.Table:
    """The facts that follow from the counts of all parts, as one table."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        paths = [folder / f"{i}.parquet" for i in range(len(counts))]
        for path, part in zip(paths, counts, strict=True):
            write_counts(path, part)
        with open_database(folder, workers) as connection:
            tables = [schema(fact_type).empty_table()]
            tables += pair_facts(connection, paths, fact_type, thresholds)
            return pa.concat_tables(tables)


@st.composite
def pictures(draw: st.DrawFn, most: int = 12, names: str = "abcdefgh") -> pa.Table:
    """Up to six random pictures with up to `most` regions each."""
    number = st.integers(0, 40)
    rows = []
    for i in range(draw(st.integers(1, 6))):
        regions = [
            DepthRegion(
                draw(st.sampled_from(names)),
                (0.0, float(draw(number)), float(draw(number) + 1), float(draw(number) + 1)),
                draw(st.integers(2, 18)) / 2,
            )
            for _ in range(draw(st.integers(0, most)))
        ]
        rows.append(row(regions, f"{i:02d}", draw(st.sampled_from(["kitchen", "office", ""]))))
    return table(rows)
