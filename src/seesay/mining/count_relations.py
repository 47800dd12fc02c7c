"""Parts of annotated pictures → counts of relations, part by part, by any number of workers.

Everything that changes the counts is in a `CountingConfig`; thresholds are applied later, so that other thresholds need
no new counting. A folder keeps the counts of every finished part, so that a stopped run can be resumed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from seesay.data.knowledge import COLORS
from seesay.digests import json_digest
from seesay.files import damage_as_user_error, read_state, refuse_other_settings, write_json
from seesay.metrics.base import IntArray
from seesay.mining import aggregate, fingerprints, places, sizes
from seesay.mining import engine as engines
from seesay.mining.aggregate import Observations, RelationCounts, combine, empty_counts
from seesay.mining.choices import MIN_REGIONS, SIZE_CLASSES, SizeRule, SpaceRule
from seesay.mining.region_names import NameRules, rename_regions
from seesay.mining.regions import flatten, with_names_of
from seesay.mining.spill import SpilledCounts
from seesay.mining.visual_features import VisualFeatureExtractor
from seesay.progress import ProgressCallback

BATCH = 1 << 15
"""Pictures that a worker holds in memory; 64 where picture files are opened."""
LABELS = {"sizes": 2, "places": 3, "colors": len(COLORS) + 1}
"""Number of labels by kind of counts. The last label of colours counts answers, since one may name two colours."""
SETTINGS = "counting.json"
DELETE_WORK = "delete the folder work and run the same command again"
MIN_SLICES, PICTURES_PER_SLICE = 8, 500_000
"""Slices in which counts are merged."""


@dataclass(frozen=True, slots=True)
class CountingConfig:
    """Everything that the counts depend on besides the pictures.

    `depth`: "" (columns of the parts, if any), "given" (files named in the annotation), "fastdepth", or a model's
    folder or Hub id. `colors`: "" (none), "pixels", or a visual question answering model. `select`: "" (names as
    annotated), or a dual encoder that selects the subtype which a region shows; its colours and places are then those
    of the subtype, its size remains that of the annotated name. `classes`: size classes.
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


@dataclass(frozen=True, slots=True, eq=False)
class MinedCounts:
    """The counts of one part, the number of pictures, and what could not be used, by reason."""

    sizes: RelationCounts
    places: RelationCounts
    colors: RelationCounts
    pictures: int
    bad: Counter[str]


@dataclass(frozen=True, slots=True)
class CountedParts:
    """Where the counts of all parts are, by kind, the number of pictures, what could not be used, by reason, and how
    many pictures were counted by this run, not by an earlier one."""

    folder: Path
    spilled: Mapping[str, SpilledCounts]
    pictures: int
    bad: Counter[str]
    counted_now: int = 0


def spilled_counts(folder: Path, stems: Sequence[str], pictures: int) -> dict[str, SpilledCounts]:
    """Where the counts of parts are, by kind.

    The more pictures, the more slices, so that one is merged in the same memory; there are few counts of colours.
    """
    slices = MIN_SLICES + pictures // PICTURES_PER_SLICE
    return {
        kind: SpilledCounts(folder, stems, kind, labels, 1 if kind == "colors" else slices)
        for kind, labels in LABELS.items()
    }


def count_part(
    path: Path, config: CountingConfig, names: NameRules | None = None, extract: VisualFeatureExtractor | None = None
) -> MinedCounts:
    """Count one part, batch by batch. `extract` can be created beforehand if there are many parts."""
    names = names or NameRules()
    extract = extract or VisualFeatureExtractor(config.depth, config.colors, config.select, names.subtypes)
    size_measure, depth_partitions = config.size_measure, config.depth_partitions
    counts: dict[str, list[RelationCounts]] = {kind: [empty_counts(labels)] for kind, labels in LABELS.items()}
    bad: Counter[str] = Counter()
    pictures = 0
    for table in _batches(path, 64 if extract.opens_files else BATCH):
        pictures += table.num_rows
        annotated = rename_regions(table, names.renamed)
        table, colors, unusable = extract(annotated)
        bad += unusable
        regions = flatten(table)
        if config.needs_depth and not extract.opens_files:
            bad["no depth is known"] += int(np.isnan(regions.nearest).sum())
        sized = with_names_of(regions, annotated) if config.select else regions
        by_kind: dict[str, tuple[Iterable[Observations], bool]] = {
            "sizes": (
                sizes.compare(sized, size_measure, config.min_regions, config.classes),
                size_measure.once_per_picture,
            ),
            "places": (places.compare(regions, depth_partitions), depth_partitions.once_per_picture),
        }
        if colors is not None:
            by_kind["colors"] = ([_color_observations(colors, regions.offsets, regions.names)], False)
        for kind, (observations, once) in by_kind.items():
            counts[kind].append(
                aggregate.count(
                    observations, sized if kind == "sizes" else regions, LABELS[kind],
                    by_scene=kind == "places", once_per_picture=once,
                )
            )  # fmt: skip
    return MinedCounts(combine(counts["sizes"]), combine(counts["places"]), combine(counts["colors"]), pictures, bad)


def count_parts(
    parts: Sequence[Path], folder: Path, config: CountingConfig, engine: str = "local", workers: int = 1,
    progress: ProgressCallback = lambda done, total: None, names: NameRules | None = None,
) -> CountedParts:  # fmt: skip
    """Count every part that `folder` has no counts of yet."""
    names = names or NameRules()
    rows = {path.stem: pq.read_metadata(path).num_rows for path in parts}
    total = sum(rows.values())
    check_settings(folder, config, names, parts)
    paths = {path.stem: str(path) for path in parts}
    spilled = spilled_counts(folder, list(paths), total)
    create_task = partial(PartCounter, paths, spilled, folder, config, names)
    is_done = partial(_is_done, spilled, folder)
    counted = sum(rows[stem] for stem in filter(is_done, paths))
    progress(counted, total)
    engines.run(
        list(paths), create_task, is_done,
        engine=engine, workers=workers, finished=lambda stem: progress(rows[stem], total),
    )  # fmt: skip
    bad: Counter[str] = Counter()
    for stem in paths:
        bad.update(read_state(folder / f"{stem}.done.json", _Done, DELETE_WORK).bad)
    return CountedParts(folder, spilled, total, bad, total - counted)


class PartCounter:
    """A worker's task: count a part and write the counts. Models are loaded when it is created."""

    def __init__(
        self, parts: Mapping[str, str], spilled: Mapping[str, SpilledCounts], folder: Path,
        config: CountingConfig, names: NameRules,
    ) -> None:  # fmt: skip
        self._parts, self._spilled, self._folder, self._config, self._names = parts, spilled, folder, config, names
        self._extract = VisualFeatureExtractor(config.depth, config.colors, config.select, names.subtypes)

    def __call__(self, stem: str) -> None:
        counts = count_part(Path(self._parts[stem]), self._config, self._names, self._extract)
        for kind, spilled in self._spilled.items():
            spilled.write(getattr(counts, kind), stem)
        note = {"pictures": counts.pictures, "bad": counts.bad}
        write_json(self._folder / f"{stem}.done.json", note)  # last: it marks the part as done


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
    return Observations(picture, names[region], names[region], label, np.ones(len(label), dtype=bool))


def _batches(path: Path, rows: int) -> Iterator[pa.Table]:
    with damage_as_user_error(path, DELETE_WORK), pq.ParquetFile(path) as file:
        for batch in file.iter_batches(rows):
            yield pa.Table.from_batches([batch])


def _is_done(spilled: Mapping[str, SpilledCounts], folder: Path, stem: str) -> bool:
    """Whether a part was counted, and its counts are still there."""
    return (folder / f"{stem}.done.json").is_file() and all(kind.exists(stem) for kind in spilled.values())


def check_settings(folder: Path, config: CountingConfig, names: NameRules, parts: Sequence[Path]) -> None:
    """Refuse to mix counts of different settings, models or names."""
    models = {kind: fingerprints.model(getattr(config, kind)) for kind in ("depth", "colors", "select")}
    subtypes = {name: list(subtypes) for name, subtypes in names.subtypes.items()}
    settings = {
        **asdict(config),
        **{f"{kind}_model": digest for kind, digest in models.items() if digest},
        "region_names": json_digest(dict(names.renamed), sort_keys=True),
        "subtypes": json_digest(subtypes, sort_keys=True) if config.select else "",
        "parts": [path.stem for path in parts],
    }
    hint = "give another folder, or delete it"
    refuse_other_settings(folder / SETTINGS, settings, what=f"The counting in '{folder}'", hint=hint)
