"""Mining in generated rooms, where the truth is known: the effect of depth, its scaling and
overlapping partitions.

    python benchmarks/rooms.py [--pictures 2000] [--seed 0] [--no-fastdepth]

Prints three Markdown tables. "Statements": relations of two objects in a single picture, compared
with the truth of these objects. "Facts": relations mined from all pictures, compared with the truth
of names that occur together. Colours: each region's colour by its pixels, compared with the
object's true colour, and typical colours of objects.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from seesay.data import knowledge
from seesay.data.knowledge import COLORS, PLACES, SIZES, ColorFact, PlaceFact, SizeFact
from seesay.metrics.typical_labels import typical_labels, typical_size_labels, typical_space_labels
from seesay.mining import places as place_rules
from seesay.mining import sizes as size_rules
from seesay.mining.choices import SizeRule, SpaceRule
from seesay.mining.colors import color_facts, colors_by_pixels
from seesay.mining.depth_maps import region_depths
from seesay.mining.facts import PUBLISHED, Thresholds, pair_facts
from seesay.mining.observations import count
from seesay.mining.queries import open_database
from seesay.mining.records import SCHEMA
from seesay.mining.regions import DEPTHS, flatten
from seesay.mining.rooms import RoomTruth, elevation, larger, snapshots

MIN_SEEN, MIN_RELATION = 30, 3
"""Minimum counts: a hundred, as published, is too many for two thousand pictures."""
SIZE_CASES = (
    ("boxes alone", "boxes", "true"),
    ("× distance (paper), true depth", "paper", "true"),
    ("× (1 − nearness) (published), true depth", "published", "true"),
    ("× distance² (pinhole), true depth", "pinhole", "true"),
    ("× distance (paper), FastDepth", "paper", "fastdepth"),
    ("× (1 − nearness) (published), FastDepth", "published", "fastdepth"),
    ("× distance² (pinhole), FastDepth", "pinhole", "fastdepth"),
)
SPACE_CASES = (
    ("boxes alone: every pair compared", "boxes", "true"),
    ("partitions without overlap, true depth", "apart", "true"),
    ("overlapping partitions (paper), true depth", "paper", "true"),
    ("published bins and rule, true depth", "published", "true"),
    ("partitions without overlap, FastDepth", "apart", "fastdepth"),
    ("overlapping partitions (paper), FastDepth", "paper", "fastdepth"),
    ("published bins and rule, FastDepth", "published", "fastdepth"),
)


@dataclass
class World:
    """The pictures as tables, by source of depth: as they are, and with a unique name for each
    object."""

    tables: dict[str, pa.Table] = field(default_factory=dict)
    apart: dict[str, pa.Table] = field(default_factory=dict)
    truth: RoomTruth = field(default_factory=RoomTruth)
    sizes: dict[tuple[str, str], str] = field(default_factory=dict)
    places: dict[tuple[str, str], str] = field(default_factory=dict)
    colors: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    """Every object's name, its true colour, and the colours by its pixels."""


def main() -> None:
    """Make the rooms and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-fastdepth", action="store_true")
    options = parser.parse_args()
    start = time.perf_counter()
    world = make(options.pictures, options.seed, fastdepth=not options.no_fastdepth)
    seconds = time.perf_counter() - start
    print(
        f"{options.pictures:,} rooms, seed {options.seed}, made in {seconds:.0f} s; facts from "
        f"{MIN_SEEN} pictures on\n"
    )
    truth = world.truth.to_json()
    head("size rule")
    for name, rule, source in SIZE_CASES:
        if source in world.tables:
            facts = facts_of(sizes(world.tables[source], rule), SizeFact)
            each = statement_accuracy(sizes(world.apart[source], rule), SIZES, world.sizes)
            row(name, each, size_accuracy(facts, truth, MIN_SEEN))
    print()
    head("space rule")
    for name, rule, source in SPACE_CASES:
        if source in world.tables:
            place_list = facts_of(places(world.tables[source], rule), PlaceFact)
            each = statement_accuracy(places(world.apart[source], rule), PLACES, world.places)
            row(name, each, place_accuracy(place_list, truth, MIN_SEEN, MIN_RELATION))
    print()
    print_colors(world, truth)


def print_colors(world: World, truth: dict[str, Any]) -> None:
    """The share of regions whose colour is correct, by colour and in total; and the typical colours
    of objects."""
    print("| true colour | regions | named that alone | among the named |")
    print("|---|---|---|---|")
    for color in (*COLORS, "all"):
        regions_of_color = [
            (true, named) for _, true, named in world.colors if color in (true, "all")
        ]
        if regions_of_color:
            alone = sum(named == (true,) for true, named in regions_of_color) / len(
                regions_of_color
            )
            among = sum(true in named for true, named in regions_of_color) / len(regions_of_color)
            print(
                f"| {color} | {len(regions_of_color):,} | {100 * alone:.1f} | {100 * among:.1f} |"
            )
    named_colors: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for thing, _, named in world.colors:
        named_colors[thing].update(named)
    seen = Counter(thing for thing, _, named in world.colors if named)
    counts = {thing: [colors[color] for color in COLORS] for thing, colors in named_colors.items()}
    score = color_accuracy(color_facts(counts, seen, {}, {}, min_answers=MIN_SEEN), truth, MIN_SEEN)
    print(
        f"\ntypical colours of objects: {score.predicted} predicted of {score.actual}, "
        f"precision {100 * score.precision:.1f}, recall {100 * score.recall:.1f}"
    )


def make(pictures: int, seed: int, *, fastdepth: bool) -> World:
    """Rooms with depth, and the true relations of every pair of objects."""
    from PIL import Image

    world = World()
    columns: dict[str, list[dict[str, object]]] = {"true": []}
    model = None
    if fastdepth:
        from seesay.mining.depth import FastDepth

        model, columns["fastdepth"] = FastDepth(), []
    unique_names: list[list[str]] = []
    for shot in snapshots(pictures, seed):
        picture = shot.picture
        world.truth.add(picture.scene, shot.objects)
        names = [f"{picture.id}/{i:03d}" for i in range(len(shot.objects))]
        unique_names.append(names)
        for (a, first), (b, second) in combinations(zip(names, shot.objects, strict=True), 2):
            world.sizes[a, b], world.places[a, b] = larger(first, second), elevation(first, second)
        for thing, named in zip(
            shot.objects, colors_by_pixels(shot.view.rgb, picture.regions), strict=True
        ):
            world.colors.append((thing.name, thing.color, named))
        maps = {"true": shot.view.depth}
        if model is not None:
            maps["fastdepth"] = model.estimate(Image.fromarray(shot.view.rgb))
        for source, depth_map in maps.items():
            depths = region_depths(depth_map, picture.width, picture.height, picture.regions)
            columns[source].append({**asdict(picture), **asdict(depths)})
    schema = pa.schema([*SCHEMA, *DEPTHS])
    for source, rows in columns.items():
        world.tables[source] = pa.Table.from_pylist(rows, schema=schema)
        renamed = [
            {
                **r,
                "regions": [
                    {**region, "name": n} for region, n in zip(regions_of(r), names, strict=True)
                ],
            }
            for r, names in zip(rows, unique_names, strict=True)
        ]
        world.apart[source] = pa.Table.from_pylist(renamed, schema=schema)
    return world


def regions_of(row: dict[str, object]) -> list[dict[str, object]]:
    """A row's regions."""
    regions = row["regions"]
    assert isinstance(regions, list | tuple)
    return list(regions)


def sizes(table: pa.Table, rule: str) -> pa.Table:
    """Counts by a size rule, batch by batch."""
    chosen = size_rules.RULES[SizeRule(rule)]
    counts = [
        count(
            "sizes",
            size_rules.compare(regions, chosen),
            regions,
            once_per_picture=chosen.once_per_picture,
        )
        for regions in map(flatten, batches(table))
    ]
    return pa.concat_tables(counts).unify_dictionaries()


def places(table: pa.Table, rule: str) -> pa.Table:
    """Counts by a space rule, batch by batch."""
    chosen = place_rules.RULES[SpaceRule(rule)]
    once = chosen.once_per_picture
    counts = [
        count(
            "places",
            place_rules.compare(regions, chosen),
            regions,
            by_scene=True,
            once_per_picture=once,
        )
        for regions in map(flatten, batches(table))
    ]
    return pa.concat_tables(counts).unify_dictionaries()


def facts_of(counts: pa.Table, fact_type: type[knowledge.Fact]) -> list[knowledge.Fact]:
    """What follows from the counts."""
    thresholds = Thresholds(MIN_SEEN, MIN_SEEN, MIN_RELATION)
    with TemporaryDirectory() as name:
        path = Path(name) / "counts.parquet"
        pq.write_table(counts, path)
        with open_database(path.parent) as connection:
            tables = list(pair_facts(connection, [path], fact_type, thresholds))
    return [fact for table in tables for fact in knowledge.from_table(table, fact_type)]


def batches(table: pa.Table, rows: int = 1000) -> Iterator[pa.Table]:
    """The table in slices."""
    for start in range(0, table.num_rows, rows):
        yield table.slice(start, rows)


def head(name: str) -> None:
    """The head of a Markdown table."""
    print(f"| {name} | statements | precision | recall | facts | precision | recall |")
    print("|---|---|---|---|---|---|---|")


def row(name: str, each: PrecisionRecall, facts: PrecisionRecall) -> None:
    """A row of it."""
    cells = [
        f"{s.predicted:,} | {100 * s.precision:.1f} | {100 * s.recall:.1f}" for s in (each, facts)
    ]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


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

    Every pair that occurs often enough, and of which one is larger in 70 % or more, is a fact to be
    found. A fact about any other pair is wrong.
    """
    rows = [row for row in truth["sizes"] if row["larger"] + row["smaller"] >= min_count]
    labels = typical_size_labels(_shares([[row["larger"], row["smaller"]] for row in rows]))
    actual = {
        (r["a"], r["b"]): SIZES[int(row.argmax())]
        for r, row in zip(rows, labels, strict=True)
        if row.any()
    }
    predicted = {
        (fact.a, fact.b): fact.typical[0] for fact in facts if fact.a < fact.b and fact.typical
    }
    correct = sum(actual.get(pair) == label for pair, label in predicted.items())
    return PrecisionRecall(len(predicted), len(actual), correct)


def place_accuracy(
    facts: Sequence[PlaceFact],
    truth: Mapping[str, Any],
    min_count: int = PUBLISHED.place,
    min_relation: int = PUBLISHED.relation,
) -> PrecisionRecall:
    """Place facts likewise: correct if the most frequent label is typical in truth.

    A pair of which all three labels are typical is not a fact to be found, and a fact about it is
    wrong.
    """
    names = ("above", "level", "below")
    actual = {}
    for row in truth["places"]:
        counts = [row[name] if row[name] >= min_relation else 0 for name in names]
        if sum(counts) >= min_count:
            is_typical = typical_space_labels(_shares([counts]))[0] > 0
            if not is_typical.all():
                actual[row["scene"], row["a"], row["b"]] = {
                    PLACES[i] for i in np.flatnonzero(is_typical)
                }
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
    rows = {
        name: [colors.get(color, 0) for color in COLORS] for name, colors in truth["colors"].items()
    }
    frequent = {name: row for name, row in rows.items() if sum(row) >= min_count}
    actual = {
        (name, COLORS[i])
        for name, row in frequent.items()
        for i in np.flatnonzero(typical_labels(_shares([row]))[0] > 0)
    }
    predicted = {(fact.object, color) for fact in facts for color in fact.typical}
    return PrecisionRecall(len(predicted), len(actual), len(predicted & actual))


def statement_accuracy(
    counts: pa.Table, labels: Sequence[str], truth: Mapping[tuple[str, str], str]
) -> PrecisionRecall:
    """Relations in single pictures: every object has a name of its own, and `truth` has the label
    of every pair."""
    rows = counts.to_pylist()
    correct = sum(truth[row["a"], row["b"]] == labels[row["label"]] for row in rows)
    return PrecisionRecall(len(rows), len(truth), correct)


def _shares(counts: Iterable[Sequence[int]]) -> NDArray[np.float64]:
    rows = np.asarray(list(counts), dtype=np.float64)
    rows = rows.reshape(len(rows), -1)
    return np.asarray(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1))


if __name__ == "__main__":
    main()
