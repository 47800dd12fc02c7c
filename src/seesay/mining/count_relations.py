"""Parts of annotated pictures → counts of relations, part by part, by any number of workers.

Everything that changes the counts is in a `CountingConfig`; thresholds are applied later, so that
other thresholds need no new counting. A folder keeps the counts of every finished part, so that a
stopped run can be resumed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from seesay import cluster
from seesay.data.knowledge import COLORS
from seesay.digests import json_digest
from seesay.files import atomic_write, refuse_other_settings
from seesay.metrics.base import IntArray
from seesay.mining import fingerprints, places, sizes
from seesay.mining.choices import MIN_REGIONS, SIZE_CLASSES, SizeRule, SpaceRule
from seesay.mining.observations import (
    COUNTS,
    LABELS,
    SMALLEST_ID,
    WORDS_NOTE,
    Observations,
    count,
)
from seesay.mining.parts import has_note, read_note, write_note
from seesay.mining.records import read_batches
from seesay.mining.region_names import NameRules, rename_regions
from seesay.mining.regions import flatten, with_names_of
from seesay.mining.visual_features import ColorLists, VisualFeatureExtractor
from seesay.progress import Kept, ProgressCallback

BATCH = 1 << 15
"""Pictures whose relations a worker holds in memory."""
SETTINGS = "counting.json"


@dataclass(frozen=True, slots=True)
class CountingConfig:
    """Everything that the counts depend on besides the pictures."""

    size_rule: str = SizeRule.PAPER
    space_rule: str = SpaceRule.PAPER
    depth: str = ""
    """"" (columns of the parts, if any), "given" (files named in the annotation), "fastdepth", or a
    model's folder or Hub id."""
    colors: str = ""
    """"" (none), "pixels", or a visual question answering model."""
    select: str = ""
    """"" (names as annotated), or a dual encoder that selects the subtype which a region shows.

    Its colours and places are then those of the subtype; its size remains that of the annotated
    name, since ViPhy ignores contextual subtypes for sizes (section 3.2).
    """
    min_regions: int = MIN_REGIONS
    classes: int = SIZE_CLASSES
    """Size classes of a picture."""

    @property
    def size_measure(self) -> sizes.SizeMeasure:
        """Return what the size rule measures; reject an unknown rule."""
        return sizes.RULES[SizeRule(self.size_rule)]

    @property
    def depth_partitions(self) -> places.DepthPartitions:
        """Return how the space rule divides depth; reject an unknown rule."""
        return places.RULES[SpaceRule(self.space_rule)]

    @property
    def needs_depth(self) -> bool:
        """Whether a rule needs depth."""
        return self.size_measure.needs_depth or self.depth_partitions.needs_depth


@dataclass(frozen=True, slots=True)
class CountedParts:
    """The counts of all parts."""

    tables: dict[str, list[Path]]
    """By kind of counts."""
    pictures: int
    bad: Counter[str]
    """What could not be used, by reason."""
    counted_now: int = 0
    """How many pictures were counted by this run, not by an earlier one."""


def count_parts(
    parts: Sequence[Path],
    folder: Path,
    config: CountingConfig,
    engine: str = cluster.Engine.LOCAL,
    workers: int = 1,
    progress: ProgressCallback = lambda done, total: None,
    names: NameRules | None = None,
) -> CountedParts:
    """Count every part that `folder` has no counts of yet.

    `names`: how regions are named; by default as annotated.
    `progress`: is called with the pictures that were counted before, then part by part.
    """
    names = names or NameRules()
    rows = {path: pq.read_metadata(path).num_rows for path in parts}
    total = sum(rows.values())
    check_settings(folder, config, names)
    open_parts = [path for path in parts if not _is_done(folder, path, rows[path])]
    counted_now = sum(rows[path] for path in open_parts)
    if total > counted_now:
        progress(Kept(total - counted_now), total)
    finished_parts = cluster.map_parts(
        partial(PartCounter, folder, config, names),
        open_parts,
        workers,
        engine=engine,
        what="Mining",
    )
    for path, _ in finished_parts:
        progress(rows[path], total)
    # From the notes, so that what an earlier run could not use is reported too.
    bad: Counter[str] = Counter()
    for path in parts:
        bad.update(read_note(folder, path).bad)
    return CountedParts(
        tables={kind: [_table_path(folder, path, kind) for path in parts] for kind in LABELS},
        pictures=total,
        bad=bad,
        counted_now=counted_now,
    )


class PartCounter:
    """A worker that counts parts and writes the counts of each.

    Models are loaded when it is created: once per process, not once per part.
    """

    def __init__(
        self,
        folder: Path,
        config: CountingConfig,
        names: NameRules,
    ) -> None:
        self._folder = folder
        self._config = config
        self._names = names
        self._extract = VisualFeatureExtractor(
            config.depth,
            config.colors,
            config.select,
            names.subtypes,
        )

    def __call__(self, path: Path) -> None:
        bad: Counter[str] = Counter()
        pictures = 0
        smallest_ids = []
        # Sizes are of no scene.
        words = {""}
        with ExitStack() as files:
            writers = {}
            for kind in LABELS:
                table_path = _table_path(self._folder, path, kind)
                unfinished = files.enter_context(atomic_write(table_path))
                writer = pq.ParquetWriter(unfinished, COUNTS, write_statistics=False)
                writers[kind] = files.enter_context(writer)
            for batch in read_batches(path, rows=BATCH):
                pictures += batch.num_rows
                smallest_ids.append(pc.min(batch.column("id")).as_py())
                tables = self._count(pa.Table.from_batches([batch]), bad, words)
                for kind, counts in tables.items():
                    writers[kind].write_table(counts)
            notes = {
                SMALLEST_ID: min(smallest_ids, default=""),
                WORDS_NOTE: json.dumps(sorted(words)),
            }
            for writer in writers.values():
                writer.add_key_value_metadata(notes)
        write_note(self._folder, path, pictures, bad)

    def _count(self, table: pa.Table, bad: Counter[str], words: set[str]) -> dict[str, pa.Table]:
        """Return the counts of a batch by kind.

        Adds to `bad` what could not be used, by reason, and to `words` all names and scenes.
        """
        config = self._config
        annotated = rename_regions(table, self._names.new_names)
        table, colors, unusable = self._extract(annotated)
        bad.update(unusable)
        regions = flatten(table)
        if config.needs_depth and not self._extract.opens_files:
            bad["no depth is known"] += int(np.isnan(regions.nearest).sum())
        # Sizes are those of the annotated names, whatever subtypes were selected.
        sized = with_names_of(regions, annotated) if config.select else regions
        words.update(sized.vocabulary, regions.vocabulary, regions.scene_names)
        measure = config.size_measure
        partitions = config.depth_partitions
        counts = {
            "sizes": count(
                "sizes",
                sizes.compare(sized, measure, config.min_regions, config.classes),
                sized,
                once_per_picture=measure.once_per_picture,
            ),
            "places": count(
                "places",
                places.compare(regions, partitions),
                regions,
                by_scene=True,
                once_per_picture=partitions.once_per_picture,
            ),
        }
        if colors is not None:
            observations = _color_observations(colors, regions.offsets, regions.names)
            counts["colors"] = count("colors", [observations], regions)
        return counts


def _color_observations(colors: ColorLists, offsets: IntArray, names: IntArray) -> Observations:
    """Return every region's colours as `Observations` of a name with itself."""
    rows: list[tuple[int, int, int]] = []
    for i, answers in enumerate(colors):
        for j, answer in enumerate(answers, offsets[i]):
            if answer and names[j] >= 0:
                rows += [(i, j, COLORS.index(color)) for color in answer]
                # The label after all colours counts answers, since one may name two colours.
                rows.append((i, j, len(COLORS)))
    picture, region, label = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Observations(picture, names[region], names[region], label)


def _is_done(folder: Path, part: Path, pictures: int) -> bool:
    """Return whether a part was counted with all its pictures, and its counts are still there."""
    tables = [_table_path(folder, part, kind) for kind in LABELS]
    if not has_note(folder, part) or not all(table.is_file() for table in tables):
        return False
    # Shares of a mining have counted pictures that others have too; these are then dropped.
    return read_note(folder, part).pictures == pictures


def _table_path(folder: Path, part: Path, kind: str) -> Path:
    return folder / f"{part.stem}.{kind}.parquet"


def check_settings(
    folder: Path,
    config: CountingConfig,
    names: NameRules,
) -> None:
    """Refuse to mix counts of different settings, models or names."""
    settings: dict[str, Any] = asdict(config)
    # A model's folder may have other files than before under the same name.
    for kind in ("depth", "colors", "select"):
        if digest := fingerprints.model(settings[kind]):
            settings[f"{kind}_model"] = digest
    settings["subtypes"] = ""
    # Without selection the subtypes change no count.
    if config.select:
        settings["subtypes"] = json_digest(dict(names.subtypes), sort_keys=True)
    refuse_other_settings(
        folder / SETTINGS,
        settings,
        what=f"The counting in '{folder}'",
        hint="give another folder, or delete it",
    )
