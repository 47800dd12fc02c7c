"""Small annotated pictures for the rules of mining, and the relations that the rules give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from seesay.mining import places as place_rules
from seesay.mining import sizes as size_rules
from seesay.mining.aggregate import RelationCounts, count
from seesay.mining.choices import SizeRule, SpaceRule
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
    *regions: DepthRegion, name: str = "1", scene: str = "kitchen", near: float = 1.0, far: float = 9.0
) -> pa.Table:
    """A picture of 640 by 480 as a table of one row."""
    return table([row(regions, name, scene, near, far)])


def row(
    regions: Sequence[DepthRegion], name: str, scene: str = "kitchen", near: float = 1.0, far: float = 9.0
) -> dict[str, object]:
    """A picture as a row, nearness computed from the distances."""
    return {
        "id": name, "width": 640, "height": 480, "captions": [], "scene": scene, "path": "", "depth": "",
        "regions": [{"name": t.name, "box": t.box, "polygon": t.polygon} for t in regions],
        "distances": [t.distance for t in regions],
        "nearness": [(1 / t.distance - 1 / far) / (1 / near - 1 / far) for t in regions],
        "nearest": near, "farthest": far,
    }  # fmt: skip


def table(rows: Sequence[dict[str, object]]) -> pa.Table:
    """Pictures as a table."""
    return pa.Table.from_pylist(list(rows), schema=pa.schema([*SCHEMA, *DEPTHS]))


def sizes(pictures: pa.Table, rule: str = "paper") -> LabelCounts:
    """The relations by a size rule, scene "", names in alphabetical order."""
    return listed(size_counts(pictures, rule), "><")


def places(pictures: pa.Table, rule: str = "paper") -> LabelCounts:
    """The relations by a space rule."""
    regions = flatten(pictures)
    chosen = place_rules.RULES[SpaceRule(rule)]
    counts = count(
        place_rules.compare(regions, chosen), regions, 3, by_scene=True, once_per_picture=chosen.once_per_picture
    )
    return listed(counts, ">=<")


def size_counts(pictures: pa.Table, rule: str = "paper") -> RelationCounts:
    """Counts by a size rule."""
    regions = flatten(pictures)
    chosen = size_rules.RULES[SizeRule(rule)]
    return count(
        size_rules.compare(regions, chosen), regions, 2, by_scene=False, once_per_picture=chosen.once_per_picture
    )


def listed(counts: RelationCounts, signs: str) -> LabelCounts:
    """Counts as (scene, a, b, sign) → count."""
    rows = zip(*(field.tolist() for field in counts.fields()), counts.counts.tolist(), strict=True)
    return Counter({(counts.scenes[s], counts.names[a], counts.names[b], signs[l]): n for s, a, b, l, n in rows})  # noqa: E741


COLUMNS = ("scene", "a", "b", "label", "count", "examples")


def to_table(counts: RelationCounts) -> pa.Table:
    """Counts as a table with the columns `COLUMNS`."""
    scene, a, b, label = counts.fields()
    scenes, names = (np.array([*words, ""], dtype=object) for words in (counts.scenes, counts.names))
    examples = pa.ListArray.from_arrays(pa.array(counts.starts.astype(np.int32)), counts.examples.cast(pa.string()))
    return pa.table(
        dict(zip(COLUMNS, (scenes[scene], names[a], names[b], label, counts.counts, examples), strict=True))
    )


def from_table(table: pa.Table, labels: int) -> RelationCounts:
    """The counts of such a table, in which no key comes twice."""
    rows = table.to_pylist()
    scenes, names = sorted({row["scene"] for row in rows}), sorted({row[side] for row in rows for side in "ab"})
    keys = [
        ((scenes.index(row["scene"]) * len(names) + names.index(row["a"])) * len(names) + names.index(row["b"]))
        * labels
        + row["label"]
        for row in rows
    ]
    order = sorted(range(len(rows)), key=keys.__getitem__)
    examples = [rows[i]["examples"] for i in order]
    return RelationCounts(
        scenes, names, labels,
        np.array([keys[i] for i in order], dtype=np.int64),
        np.array([rows[i]["count"] for i in order], dtype=np.int64),
        np.cumsum([0, *map(len, examples)]),
        pa.array([each for listed in examples for each in listed], pa.string()).dictionary_encode(),
    )  # fmt: skip


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
