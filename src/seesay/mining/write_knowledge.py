"""Merges mined counts and writes the knowledge tables."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seesay.cluster import Engine
from seesay.data import knowledge
from seesay.data.knowledge import COLORS, FILES, ColorFact, PlaceFact, SizeFact
from seesay.digests import json_digest
from seesay.files import damage_as_user_error
from seesay.mining import engine as engines
from seesay.mining.aggregate import RelationCounts
from seesay.mining.colors import color_facts
from seesay.mining.count_relations import DELETE_WORK, CountedParts
from seesay.mining.facts import Thresholds, place_facts, size_facts, transitive_sizes, without_subtypes
from seesay.mining.merge import RUN_ROWS, merge, sorted_tables, with_examples
from seesay.mining.spill import write_batches

MERGED_HERE = 100_000
"""The counts of this many pictures are merged faster than workers start."""


def write_facts(
    folder: Path,
    counts: CountedParts,
    thresholds: Thresholds,
    subtypes: Mapping[str, Sequence[str]] | None = None,
    subtypes_by_ending: Collection[str] = (),
    *,
    transitive: bool = False,
    engine: str = Engine.LOCAL,
    workers: int = 1,
) -> tuple[dict[str, int], Counter[str]]:
    """Write the knowledge tables; returns the number of facts in each, and how many were left out, by reason.

    `subtypes`: those of each name, itself included; `subtypes_by_ending`: the names that are subtypes by their ending.
    """
    runs = _merge_slices(counts, thresholds, engine, workers)
    seen: Counter[str] = Counter()

    def sizes() -> Iterator[pa.Table]:
        for table in sorted_tables(runs["sizes"]):
            rest = without_subtypes(table, subtypes_by_ending)
            seen["of subtypes"] += table.num_rows - rest.num_rows
            yield rest

    def places() -> Iterator[pa.Table]:
        for table in sorted_tables(runs["places"]):
            seen["with a scene"] += pc.sum(pc.not_equal(table["scene"], "")).as_py() or 0
            yield table

    with damage_as_user_error(counts.folder, DELETE_WORK), _system_memory():
        written = {
            "sizes": knowledge.write_tables(folder, sizes(), SizeFact),
            "places": knowledge.write_tables(folder, places(), PlaceFact),
        }
        written["places_in_scenes"] = seen["with a scene"]
        colors = _merge_colors(counts)
    if len(colors.keys):
        facts = _color_facts(colors, subtypes or {}, thresholds)
        knowledge.write(folder, facts, ColorFact)
        written["colors"] = len(facts)
    else:
        (folder / FILES[ColorFact]).unlink(missing_ok=True)  # of an earlier run
    (folder / "transitive" / FILES[SizeFact]).unlink(missing_ok=True)
    if transitive:
        inferred = transitive_sizes(knowledge.read(folder, SizeFact))
        knowledge.write(folder / "transitive", inferred, SizeFact)
        written["transitive_sizes"] = len(inferred)
    for merged in counts.folder.glob("merged-*"):
        shutil.rmtree(merged)
    return written, +Counter({"the size of a subtype, which its parent's size stands for": seen["of subtypes"] // 2})


@contextmanager
def _system_memory() -> Iterator[None]:
    """Let Arrow use the system's allocator: its own keeps what is freed, so that memory would grow with the tables."""
    usual = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(usual)


def _merge_slices(counts: CountedParts, thresholds: Thresholds, engine: str, workers: int) -> dict[str, list[Path]]:
    """Merge every slice that is not merged yet, and return the sorted facts of all slices, by kind."""
    folder = counts.folder / f"merged-{json_digest(asdict(thresholds))}"
    folder.mkdir(exist_ok=True)
    slices = {
        kind: [f"{kind}.{number}" for number in range(counts.spilled[kind].slices)] for kind in ("sizes", "places")
    }
    paths = {name: folder / f"{name}.arrow" for names in slices.values() for name in names}
    create_task = partial(SliceMerger, counts, thresholds, folder)
    here = counts.pictures <= MERGED_HERE
    engines.run(
        list(paths), create_task, lambda name: paths[name].is_file(),
        engine=Engine.LOCAL if here else engine, workers=1 if here else workers,
    )  # fmt: skip
    return {kind: [paths[name] for name in names] for kind, names in slices.items()}


class SliceMerger:
    """A worker's task: merge a slice of the counts of all parts and write the facts that follow, sorted."""

    def __init__(self, counts: CountedParts, thresholds: Thresholds, folder: Path) -> None:
        self._counts, self._thresholds, self._folder = counts, thresholds, folder
        self._words: dict[str, tuple[list[str], list[str]]] = {}

    def __call__(self, name: str) -> None:
        kind, number = name.split(".")
        with damage_as_user_error(self._counts.folder, DELETE_WORK):
            table = self._facts(kind, int(number))
        rows = max(RUN_ROWS // self._counts.spilled[kind].slices, 1)
        write_batches(self._folder / f"{name}.arrow", table.schema, table.to_batches(rows))

    def _facts(self, kind: str, number: int) -> pa.Table:
        spilled, thresholds = self._counts.spilled[kind], self._thresholds
        if kind not in self._words:
            self._words[kind] = spilled.words()
        merged = merge(spilled, number, *self._words[kind])
        examples = partial(with_examples, spilled=spilled, number=number)
        if kind == "sizes":
            return size_facts(merged, thresholds.size, strict=thresholds.strict, with_examples=examples)
        return place_facts(
            merged, thresholds.place, thresholds.relation, strict=thresholds.strict, with_examples=examples
        )


def _merge_colors(counts: CountedParts) -> RelationCounts:
    spilled = counts.spilled["colors"]
    merged = merge(spilled, 0, *spilled.words())
    return with_examples(merged, np.arange(len(merged.keys)), spilled, 0)


def _color_facts(
    counts: RelationCounts, subtypes: Mapping[str, Sequence[str]], thresholds: Thresholds
) -> list[ColorFact]:
    color_counts: dict[str, list[int]] = {}
    answers: dict[str, int] = {}
    examples: dict[str, list[str]] = {}
    _, names, _, labels = counts.fields()
    rows = zip(names.tolist(), labels.tolist(), counts.counts.tolist(), strict=True)
    for i, (name_index, label, count) in enumerate(rows):
        name = counts.names[name_index]
        row = color_counts.setdefault(name, [0] * len(COLORS))
        if label == len(COLORS):
            answers[name] = count
            examples[name] = counts.examples[counts.starts[i] : counts.starts[i + 1]].to_pylist()
        else:
            row[label] = count
    return color_facts(
        color_counts, answers, subtypes, examples, min_answers=thresholds.color, strict=thresholds.strict
    )
