"""Data sets of scenes on disk, written by several workers, and resumed after a kill without loss.

Items are made in chunks. A worker writes a chunk's pictures, then its rows into `parts/`, under a
name that only a complete chunk gets. A second run skips the chunks that exist: every item depends
only on the config and its own index, so it does not matter which process makes it, or when. At the
end the rows are streamed into the files of each format.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from seesay.cluster import map_parts
from seesay.data.rows import load_json
from seesay.errors import UserError
from seesay.files import (
    atomic_write,
    lock_folder,
    refuse_foreign_folder,
    refuse_newer,
    remove_unfinished,
    write_text,
)
from seesay.processors import count_processors
from seesay.progress import Kept, ProgressCallback
from seesay.scenes import annotation, published
from seesay.scenes.config import SceneConfig
from seesay.scenes.defaults import ADJECTIVE, OBJECTS, THRESHOLD
from seesay.scenes.plan import ScenePlan, make_plan
from seesay.scenes.png import encode_halves, encode_indices, encode_rgb, workspace
from seesay.scenes.raster import PUBLISHED, check_size, paint, paint_changes, palette, rgb
from seesay.scenes.sampling import SceneItem
from seesay.scenes.scene_batches import scene_items
from seesay.scenes.sentences import sentence
from seesay.scenes.world import CANVAS, LEVELS

log = logging.getLogger(__name__)

CHUNK = 200
FORMATS = ("json", "h5", "parquet")
MANIFEST = "scenes.json"
FORMAT = 1
_CROWDED = 12


@dataclass(frozen=True, slots=True)
class SceneOutput:
    """What is written, and where."""

    folder: Path
    picture: int | None = PUBLISHED
    """Pixels per side of the PNGs; None for none."""
    array: int | None = None
    """Pixels per side of RGB arrays; None for none."""
    formats: tuple[str, ...] = FORMATS
    """Formats of the question files."""


@dataclass(frozen=True, slots=True)
class SceneDataset:
    """A data set on disk: its folder, the number of items of each split, and its config."""

    folder: Path
    splits: dict[str, int]
    config: SceneConfig


def make_scenes(  # noqa: PLR0913 - an argument for every option of the command
    task: str,
    n: int | None,
    output: Path | str,
    *,
    seed: int = 0,
    image_size: int | None = PUBLISHED,
    array_size: int | None = None,
    formats: Sequence[str] | None = None,
    objects: tuple[int, int] = OBJECTS,
    adjective: str = ADJECTIVE,
    threshold: str = THRESHOLD,
    k_mean: float | None = None,
    k_deviation: float | None = None,
    workers: int | None = None,
    command: str = "",
    progress: ProgressCallback = lambda done, total: None,
) -> SceneDataset:
    """Make a balanced data set, or finish one that was begun.

    It has `n` items, by default as many as published. `task` is a scene task, `compositional` or a
    mixture. `image_size` and `array_size` are pixels per side of the PNGs and of memory-mapped
    arrays (None: none are written). `formats` are question files besides JSON, by default all that
    the installed packages can write.
    """
    if workers is not None and workers < 1:
        raise UserError(f"The number of workers is {workers}: give 1 or more.")
    plan = make_plan(task, n)
    config = SceneConfig(
        plan.task,
        seed,
        objects,
        adjective,
        threshold,
        k_mean,
        k_deviation,
    )
    if formats is None:
        formats = _available_formats()
    target = SceneOutput(
        folder=Path(output),
        picture=image_size,
        array=array_size,
        formats=tuple(dict.fromkeys(["json", *formats])),
    )
    splits = write_dataset(
        config,
        plan,
        target,
        workers=workers,
        command=command,
        progress=progress,
    )
    return SceneDataset(target.folder, splits, config)


def _available_formats() -> list[str]:
    """Return the formats that the installed packages can write; warn where one is missing."""
    if find_spec("h5py"):
        return list(FORMATS)
    log.warning("h5py is not installed, so no .h5 files are written: pip install 'seesay[scenes]'.")
    return [name for name in FORMATS if name != "h5"]


@dataclass(frozen=True, slots=True)
class _Job:
    """A chunk of a split: items start … stop − 1."""

    config: SceneConfig
    plan: ScenePlan
    output: SceneOutput
    split: str
    start: int
    stop: int

    @property
    def part(self) -> Path:
        """Return the file of the chunk's rows, which exists once the chunk is complete."""
        return self.output.folder / "parts" / f"{self.split}-{self.start:08d}.tsv"


def write_dataset(
    config: SceneConfig,
    plan: ScenePlan,
    output: SceneOutput,
    *,
    workers: int | None = None,
    command: str = "",
    progress: ProgressCallback = lambda done, total: None,
) -> dict[str, int]:
    """Write the data set, or finish one that was begun.

    Returns the number of items of each split.
    """
    _check(output)
    settings = _settings(config, plan, output)
    total = sum(plan.splits().values())
    if not _begin(output.folder, settings):
        progress(Kept(total), total)
        return plan.splits()
    with lock_folder(output.folder / "parts"):
        for name in ("", "dataset", "annotation", "data", "arrays"):
            remove_unfinished(output.folder / name)
        _prepare(plan, output)
        jobs = []
        for split, size in plan.splits().items():
            for start in range(0, size, CHUNK):
                stop = min(start + CHUNK, size)
                jobs.append(_Job(config, plan, output, split, start, stop))
        waiting = [job for job in jobs if not job.part.exists()]
        if kept := total - sum(job.stop - job.start for job in waiting):
            progress(Kept(kept), total)
        processes = workers or count_processors()
        for job, _ in map_parts(_chunk_maker, waiting, processes, unit="chunks"):
            progress(job.stop - job.start, total)
        _finish(config, plan, output, jobs, command)
    # last of all: until it says so, a second run looks for what is missing
    _write_manifest(output.folder, settings, complete=True)
    shutil.rmtree(output.folder / "parts", ignore_errors=True)
    return plan.splits()


def _check(output: SceneOutput) -> None:
    """Refuse sizes and formats that cannot be written, before anything is."""
    for size in (output.picture, output.array):
        if size is not None:
            check_size(size)
    unknown = set(output.formats) - set(FORMATS)
    if unknown:
        raise UserError(f"Unknown format '{min(unknown)}': choose one of {', '.join(FORMATS)}.")
    if "h5" in output.formats:
        published.require_h5py()


def _settings(config: SceneConfig, plan: ScenePlan, output: SceneOutput) -> dict[str, Any]:
    """Return what the manifest records."""
    settings = {
        "format": FORMAT,
        "name": plan.name,
        "splits": plan.splits(),
        "recipe": config.settings(),
        "picture": output.picture,
        "array": output.array,
        "formats": sorted(output.formats),
    }
    # as it is read again: tuples become lists
    return dict(json.loads(json.dumps(settings)))


def _write_manifest(folder: Path, settings: dict[str, Any], *, complete: bool) -> None:
    text = json.dumps(settings | {"complete": complete}, ensure_ascii=False)
    write_text(folder / MANIFEST, text)


def _begin(folder: Path, settings: dict[str, Any]) -> bool:
    """Begin or resume a data set; return whether anything remains to be done.

    A folder with another data set, or with other files, is refused.
    """
    manifest = folder / MANIFEST
    refuse_foreign_folder(folder, MANIFEST)
    if not manifest.exists():
        # before all other files: it marks the folder as ours
        _write_manifest(folder, settings, complete=False)
    existing = load_json(manifest)
    refuse_newer(existing, FORMAT, f"The data set in '{folder}'")
    complete = isinstance(existing, dict) and existing.get("complete")
    if existing != settings | {"complete": complete}:
        raise UserError(
            f"'{folder}' holds a data set made with other settings (see {MANIFEST}): choose "
            "another folder."
        )
    if complete:
        shutil.rmtree(folder / "parts", ignore_errors=True)
        return False
    (folder / "parts").mkdir(exist_ok=True)
    return True


def _prepare(plan: ScenePlan, output: SceneOutput) -> None:
    """Make the folders of pictures, and arrays that workers fill."""
    for split, size in plan.splits().items():
        if output.picture is not None:
            (output.folder / "images" / split).mkdir(parents=True, exist_ok=True)
        if output.array is not None:
            path = output.folder / "arrays" / f"{split}.npy"
            shape = (size, output.array, output.array, 3)
            if not path.exists():
                with atomic_write(path) as unfinished:
                    np.lib.format.open_memmap(unfinished, "w+", np.uint8, shape)


def _chunk_maker() -> Callable[[_Job], None]:
    """Return what every worker does with its jobs."""
    return _make_chunk


def _make_chunk(job: _Job) -> None:
    """Write the pictures and arrays of a chunk, and then its rows."""
    folder = job.output.folder
    array = None
    if job.output.array is not None:
        array = np.lib.format.open_memmap(folder / "arrays" / f"{job.split}.npy", "r+")
    items = scene_items(job.config, job.plan, job.split, job.start, job.stop)
    lines = []
    for place, item in enumerate(items, job.start):
        if job.output.picture is not None:
            path = folder / "images" / job.split / f"{place}.png"
            path.write_bytes(png(item, job.output.picture))
        if array is not None:
            rgb(item.scene, array.shape[1], out=array[place])
        lines.append(_row(job.config, item, place, job.split))
    write_text(job.part, "\n".join(lines) + "\n")


def png(item: SceneItem, size: int) -> bytes:
    """Return the item's picture as a PNG.

    It has a palette where the pixels are exact, and full color where they are means.
    """
    if size not in (CANVAS, PUBLISHED):
        return encode_rgb(rgb(item.scene, size))
    # dimmer levels have more than the 16 colors of 4 bits
    if any(obj.level != LEVELS for obj in item.scene.objects):
        return encode_indices(paint(item.scene, size), palette(LEVELS))
    lines = workspace(size, size // 2 + 1)
    paint_changes(item.scene, size, lines[:, 1:])
    crowded = len(item.scene.objects) > _CROWDED
    return encode_halves(lines, palette(), crowded=crowded)


def _row(config: SceneConfig, item: SceneItem, place: int, split: str) -> str:
    """Return the item's question and its annotation, two JSON texts with a tab between them."""
    pair = None
    if item.other is not None:
        pair = (item.target, item.other)
    question = published.record(
        place,
        sentence(config, item),
        item.cell.answer,
        item.cell.positive,
        split,
    )
    scene = annotation.entry(config, item.scene, f"{place}.png", pair)
    return f"{json.dumps(question)}\t{json.dumps(scene)}"


def _finish(
    config: SceneConfig,
    plan: ScenePlan,
    output: SceneOutput,
    jobs: list[_Job],
    command: str,
) -> None:
    """Write the files of each format from the parts."""
    from seesay.scenes import hub  # pyarrow, which no worker needs

    folder = output.folder
    formats = output.formats
    sentences: set[str] = set()
    for split in plan.splits():
        sentences.update(json.loads(question)["question"] for question, _ in _rows(jobs, split))
    vocab = published.vocabulary(sentences)
    # START, the longest sentence, END
    length = 2 + max(len(text.split()) for text in sentences)
    write_text(folder / "dataset" / "vocab.json", json.dumps(vocab, ensure_ascii=False))
    for split, count in plan.splits().items():
        _write_json(folder, split, jobs)
        if "h5" in formats:
            records = (json.loads(question) for question, _ in _rows(jobs, split))
            path = folder / "dataset" / f"{split}_questions.h5"
            published.write_h5(path, records, vocab, count=count, length=length)
        if "parquet" in formats:
            pictures = None
            if output.picture is not None:
                pictures = folder / "images" / split
            rows = (_flat(json.loads(question), scene) for question, scene in _rows(jobs, split))
            hub.write_parquet(folder / "data" / f"{split}.parquet", rows, pictures)
    if "parquet" in formats:
        card = hub.card(plan, config.settings(), output.picture, command)
        write_text(folder / "README.md", card)


def _write_json(folder: Path, split: str, jobs: list[_Job]) -> None:
    """Write the questions and the annotation of a split in the published layout."""
    questions = (question for question, _ in _rows(jobs, split))
    path = folder / "dataset" / f"{split}.json"
    _stream_json(path, '{"info": {}, "questions": [', questions, "]}")
    scenes = (f'"{number}": {scene}' for number, (_, scene) in enumerate(_rows(jobs, split)))
    path = folder / "annotation" / f"{split}_annotation.json"
    _stream_json(path, "{", scenes, "}")


def _rows(jobs: list[_Job], split: str) -> Iterator[tuple[str, str]]:
    """Yield question and annotation of every item of a split, as JSON texts, in order."""
    for job in jobs:
        if job.split == split:
            with job.part.open(encoding="utf-8") as lines:
                for line in lines:
                    question, _, scene = line.rstrip("\n").partition("\t")
                    yield question, scene


def _flat(record: dict[str, Any], scene: str) -> dict[str, Any]:
    """Return the Parquet row of an item."""
    label = published.ANSWERS.index(record["answer"])
    return {
        "sentence": record["question"],
        "label": label,
        "index": record["image_index"],
        "annotation": scene,
    }


def _stream_json(path: Path, before: str, texts: Iterator[str], after: str) -> None:
    """Write a large JSON file from the JSON texts of its members."""
    with atomic_write(path) as unfinished, unfinished.open("w", encoding="utf-8") as file:
        file.write(before)
        for number, text in enumerate(texts):
            file.write(f", {text}" if number else text)
        file.write(after)
