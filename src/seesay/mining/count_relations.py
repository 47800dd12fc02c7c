"""Parts of annotated pictures → counts of relations, part by part, by any number of workers.

Everything that changes the counts is in a `CountingConfig`; thresholds are applied later, so that
other thresholds need no new counting. A folder keeps the counts of every finished part, so that a
stopped run can be resumed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from seesay import cluster
from seesay.data.knowledge import COLORS
from seesay.digests import json_digest
from seesay.files import atomic_write, read_state, refuse_other_settings, write_json
from seesay.metrics.base import IntArray
from seesay.mining import fingerprints, places, sizes
from seesay.mining.choices import MIN_REGIONS, SIZE_CLASSES, SizeRule, SpaceRule
from seesay.mining.observations import COUNTS, Observations, count
from seesay.mining.records import DELETE_WORK, read_batches
from seesay.mining.region_names import NameRules, rename_regions
from seesay.mining.regions import flatten, with_names_of
from seesay.mining.visual_features import VisualFeatureExtractor
from seesay.progress import ProgressCallback

BATCH = 1 << 15
"""Pictures whose relations a worker holds in memory."""
ROW_GROUP = 1 << 16
"""Counts of which some can be read without the others: those of a range of first names."""
SETTINGS = "counting.json"


@dataclass(frozen=True, slots=True)
class CountingConfig:
    """Everything that the counts depend on besides the pictures.

    `depth`: "" (columns of the parts, if any), "given" (files named in the annotation),
    "fastdepth", or a model's folder or Hub id. `colors`: "" (none), "pixels", or a visual question
    answering model. `select`: "" (names as annotated), or a dual encoder that selects the subtype
    which a region shows; its colours and places are then those of the subtype, its size remains
    that of the annotated name. `classes`: size classes.
    """

    size_rule: str = SizeRule.PAPER
    space_rule: str = SpaceRule.PAPER
    depth: str = ""
    colors: str = ""
    select: str = ""
    min_regions: int = MIN_REGIONS
    classes: int = SIZE_CLASSES

    @property
    def size_measure(self) -> sizes.SizeMeasure:
        """What the size rule measures; an unknown rule is rejected."""
        return sizes.RULES[SizeRule(self.size_rule)]

    @property
    def depth_partitions(self) -> places.DepthPartitions:
        """How the space rule divides depth; an unknown rule is rejected."""
        return places.RULES[SpaceRule(self.space_rule)]

    @property
    def needs_depth(self) -> bool:
        """Whether a rule needs depth."""
        return self.size_measure.needs_depth or self.depth_partitions.needs_depth


@dataclass(frozen=True, slots=True)
class _Done:
    """`PART.done.json`: what was counted."""

    pictures: int
    bad: dict[str, int]


@dataclass(frozen=True, slots=True)
class CountedParts:
    """The tables of counts of all parts, the number of pictures, what could not be used, by reason,
    and how many pictures were counted by this run, not by an earlier one."""

    tables: list[Path]
    pictures: int
    bad: Counter[str]
    counted_now: int = 0


def count_parts(
    parts: Sequence[Path],
    folder: Path,
    config: CountingConfig,
    engine: str = cluster.Engine.LOCAL,
    workers: int = 1,
    progress: ProgressCallback = lambda done, total: None,
    names: NameRules | None = None,
) -> CountedParts:
    """Count every part that `folder` has no counts of yet."""
    names = names or NameRules()
    rows = {path: pq.read_metadata(path).num_rows for path in parts}
    total = sum(rows.values())
    check_settings(folder, config, names, parts)
    left = [path for path in parts if not _is_done(folder, path)]
    counted_now = sum(rows[path] for path in left)
    progress(total - counted_now, total)
    make_counter = partial(PartCounter, folder, config, names)
    for path, _ in cluster.map_parts(make_counter, left, workers, engine=engine, what="Mining"):
        progress(rows[path], total)
    bad: Counter[str] = Counter()
    for path in parts:
        bad.update(read_state(_note_path(folder, path), _Done, DELETE_WORK).bad)
    return CountedParts([_table_path(folder, path) for path in parts], total, bad, counted_now)


class PartCounter:
    """A worker: counts parts and writes the counts of each. Models are loaded when it is
    created."""

    def __init__(self, folder: Path, config: CountingConfig, names: NameRules) -> None:
        self._folder = folder
        self._config = config
        self._names = names
        self._extract = VisualFeatureExtractor(
            config.depth, config.colors, config.select, names.subtypes
        )

    def __call__(self, path: Path) -> None:
        bad: Counter[str] = Counter()
        pictures = 0
        with (
            atomic_write(_table_path(self._folder, path)) as unfinished,
            pq.ParquetWriter(unfinished, COUNTS, write_statistics=["kind", "a"]) as writer,
        ):
            for batch in read_batches(path, rows=BATCH):
                pictures += batch.num_rows
                for counts in self._count(pa.Table.from_batches([batch]), bad):
                    writer.write_table(counts, ROW_GROUP)
        note = {"pictures": pictures, "bad": bad}
        write_json(_note_path(self._folder, path), note)  # last: it marks the part as done

    def _count(self, table: pa.Table, bad: Counter[str]) -> list[pa.Table]:
        """The counts of a batch, one table of each kind; adds to `bad` what could not be used."""
        config = self._config
        annotated = rename_regions(table, self._names.renamed)
        table, colors, unusable = self._extract(annotated)
        bad.update(unusable)
        regions = flatten(table)
        if config.needs_depth and not self._extract.opens_files:
            bad["no depth is known"] += int(np.isnan(regions.nearest).sum())
        sized = with_names_of(regions, annotated) if config.select else regions
        measure = config.size_measure
        partitions = config.depth_partitions
        larger = sizes.compare(sized, measure, config.min_regions, config.classes)
        above = places.compare(regions, partitions)
        counts = [
            count("sizes", larger, sized, once_per_picture=measure.once_per_picture),
            count(
                "places",
                above,
                regions,
                by_scene=True,
                once_per_picture=partitions.once_per_picture,
            ),
        ]
        if colors is not None:
            counts.append(
                count(
                    "colors", [_color_observations(colors, regions.offsets, regions.names)], regions
                )
            )
        return counts


def _color_observations(
    colors: Sequence[Sequence[tuple[str, ...]]], offsets: IntArray, names: IntArray
) -> Observations:
    """Every region's colours as `Observations` of a name with itself."""
    index = {color: i for i, color in enumerate(COLORS)}
    rows = [
        (picture, offsets[picture] + place, label)
        for picture, answers in enumerate(colors)
        for place, answer in enumerate(answers)
        if answer and names[offsets[picture] + place] >= 0
        for label in (*(index[color] for color in answer), len(COLORS))
    ]
    picture, region, label = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Observations(picture, names[region], names[region], label)


def _is_done(folder: Path, part: Path) -> bool:
    """Whether a part was counted, and its counts are still there."""
    return _note_path(folder, part).is_file() and _table_path(folder, part).is_file()


def _note_path(folder: Path, part: Path) -> Path:
    return folder / f"{part.stem}.done.json"


def _table_path(folder: Path, part: Path) -> Path:
    return folder / f"{part.stem}.counts.parquet"


def check_settings(
    folder: Path, config: CountingConfig, names: NameRules, parts: Sequence[Path]
) -> None:
    """Refuse to mix counts of different settings, models or names."""
    models = {
        kind: fingerprints.model(getattr(config, kind)) for kind in ("depth", "colors", "select")
    }
    subtypes = {name: list(subtypes) for name, subtypes in names.subtypes.items()}
    settings = {
        **asdict(config),
        **{f"{kind}_model": digest for kind, digest in models.items() if digest},
        "region_names": json_digest(dict(names.renamed), sort_keys=True),
        "subtypes": json_digest(subtypes, sort_keys=True) if config.select else "",
        "parts": [path.stem for path in parts],
    }
    hint = "give another folder, or delete it"
    refuse_other_settings(
        folder / SETTINGS, settings, what=f"The counting in '{folder}'", hint=hint
    )
