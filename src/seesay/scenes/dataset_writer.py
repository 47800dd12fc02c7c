"""`seesay scenes make`: a data set on disk, by several workers, and after a kill without loss.

Items are made in chunks. A worker writes a chunk's pictures, then its rows into `parts/`, under a name that only a
whole chunk gets. A second run skips the chunks that are there: every item depends on the config and its own index
alone, so it does not matter who makes it when. At the end the rows are streamed into the files of each format.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from seesay.errors import UserError
from seesay.scenes import annotation, published
from seesay.scenes.config import SceneConfig
from seesay.scenes.plan import ScenePlan
from seesay.scenes.png import encode_halves, encode_indices, encode_rgb, workspace
from seesay.scenes.raster import PUBLISHED, check_size, paint, paint_halves, palette, rgb
from seesay.scenes.sampling import SceneItem, draw
from seesay.scenes.sentences import sentence
from seesay.scenes.world import CANVAS, LEVELS

CHUNK = 200
FORMATS = ("json", "h5", "parquet")
MANIFEST = "scenes.json"


@dataclass(frozen=True, slots=True)
class SceneOutput:
    """What is written: PNGs of `picture` pixels (None: no PNG), RGB arrays of `array` pixels, and question files."""

    folder: Path
    picture: int | None = PUBLISHED
    array: int | None = None
    formats: tuple[str, ...] = FORMATS


@dataclass(frozen=True, slots=True)
class _Job:
    config: SceneConfig
    plan: ScenePlan
    output: SceneOutput
    split: str
    start: int
    stop: int

    @property
    def part(self) -> Path:
        return self.output.folder / "parts" / f"{self.split}-{self.start:08d}.tsv"


def write_dataset(
    config: SceneConfig,
    plan: ScenePlan,
    output: SceneOutput,
    *,
    workers: int | None = None,
    command: str = "",
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, int]:
    """Make the data set, or finish one that was begun; gives the number of items of every split."""
    _check(output)
    settings = _settings(config, plan, output)
    total = sum(plan.splits().values())
    if not _begin(output.folder, settings):
        advance(total, total)
        return plan.splits()
    try:
        with FileLock(output.folder / "parts" / "lock", timeout=0):
            _make_all(config, plan, output, workers, command, advance)
    except Timeout as error:
        raise UserError(f"Another process is making '{output.folder}': wait for it.") from error
    published.write_json(output.folder / MANIFEST, settings | {"complete": True})
    shutil.rmtree(output.folder / "parts", ignore_errors=True)
    return plan.splits()


def _make_all(
    config: SceneConfig,
    plan: ScenePlan,
    output: SceneOutput,
    workers: int | None,
    command: str,
    advance: Callable[[int, int], None],
) -> None:
    total = sum(plan.splits().values())
    _prepare(plan, output)
    jobs = [
        _Job(config, plan, output, split, start, min(start + CHUNK, size))
        for split, size in plan.splits().items()
        for start in range(0, size, CHUNK)
    ]
    waiting = [job for job in jobs if not job.part.exists()]
    advance(total - sum(job.stop - job.start for job in waiting), total)
    for job in _run(waiting, min(workers or os.cpu_count() or 1, max(len(waiting), 1))):
        advance(job.stop - job.start, total)
    _finish(config, plan, output, jobs, command)


def _check(output: SceneOutput) -> None:
    for size in (output.picture, output.array):
        if size is not None:
            check_size(size)
    strangers = set(output.formats) - set(FORMATS)
    if strangers:
        raise UserError(f"No format '{min(strangers)}': choose among {', '.join(FORMATS)}.")
    if "h5" in output.formats:
        published.require_h5py()


def _settings(config: SceneConfig, plan: ScenePlan, output: SceneOutput) -> dict[str, Any]:
    shape = {"picture": output.picture, "array": output.array, "formats": sorted(output.formats)}
    made = {"name": plan.name, "splits": plan.splits(), "recipe": config.settings(), **shape}
    return dict(json.loads(json.dumps(made)))


def _begin(folder: Path, settings: dict[str, Any]) -> bool:
    """Whether there is anything left to do. A folder with another data set, or with other files, is left alone."""
    manifest = folder / MANIFEST
    if folder.exists() and not folder.is_dir():
        raise UserError(f"'{folder}' is a file: choose a folder.")
    if not manifest.exists():
        if folder.exists() and any(folder.iterdir()):
            raise UserError(f"'{folder}' holds other files: choose an empty or a new folder.")
        (folder / "parts").mkdir(parents=True, exist_ok=True)
        published.write_json(manifest, settings | {"complete": False})
        return True
    found = annotation.load_json(manifest)
    if not isinstance(found, dict) or {**found, "complete": None} != {**settings, "complete": None}:
        raise UserError(
            f"'{folder}' holds a data set made with other settings (see {MANIFEST}): choose another folder."
        )
    if found.get("complete"):
        shutil.rmtree(folder / "parts", ignore_errors=True)
        return False
    (folder / "parts").mkdir(exist_ok=True)
    return True


def _prepare(plan: ScenePlan, output: SceneOutput) -> None:
    for split, size in plan.splits().items():
        if output.picture is not None:
            (output.folder / "images" / split).mkdir(parents=True, exist_ok=True)
        if output.array is not None:
            path = output.folder / "arrays" / f"{split}.npy"
            path.parent.mkdir(exist_ok=True)
            if not path.exists():
                beside = path.with_suffix(".part")
                np.lib.format.open_memmap(beside, "w+", np.uint8, (size, output.array, output.array, 3))
                beside.replace(path)


def _run(jobs: list[_Job], workers: int) -> Iterator[_Job]:
    """The jobs as they get done."""
    if workers == 1:
        for job in jobs:
            _make_chunk(job)
            yield job
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_die_with_parent) as pool:
        try:
            running = {pool.submit(_make_chunk, job): job for job in jobs[: 2 * workers]}
            later = iter(jobs[2 * workers :])
            while running:
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    done.result()
                    yield running.pop(done)
                    running |= {pool.submit(_make_chunk, job): job for job in [next(later, None)] if job is not None}
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _die_with_parent() -> None:
    """A killed parent cannot tell its workers: each watches for it."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _make_chunk(job: _Job) -> None:
    array = None
    if job.output.array is not None:
        array = np.lib.format.open_memmap(job.output.folder / "arrays" / f"{job.split}.npy", "r+")
    lines = []
    for place, cell, stream, index in job.plan.items(job.split, job.start, job.stop):
        item = draw(job.config, cell, job.config.generator(stream, index))
        if job.output.picture is not None:
            path = job.output.folder / "images" / job.split / f"{place}.png"
            path.write_bytes(png(item, job.output.picture))
        if array is not None:
            rgb(item.scene, array.shape[1], out=array[place])
        lines.append(_row(job.config, item, place, job.split))
    beside = job.part.with_suffix(".part")
    beside.write_text("\n".join(lines) + "\n", encoding="utf-8")
    beside.replace(job.part)


def png(item: SceneItem, size: int) -> bytes:
    """The item's picture: with a palette where the pixels are exact, in full color where they are means."""
    if size not in (CANVAS, PUBLISHED):
        return encode_rgb(rgb(item.scene, size))
    if any(obj.level != LEVELS for obj in item.scene.objects):
        return encode_indices(paint(item.scene, size), palette(LEVELS))
    halves = workspace(size, size // 2)
    paint_halves(item.scene, size, halves)
    return encode_halves(halves, palette())


def _row(config: SceneConfig, item: SceneItem, place: int, split: str) -> str:
    """The item's question and its annotation, two JSON texts with a tab between them."""
    pair = None if item.other is None else (item.target, item.other)
    asked = published.record(place, sentence(config, item), item.cell.answer, item.cell.positive, split)
    return f"{json.dumps(asked)}\t{json.dumps(annotation.entry(config, item.scene, f'{place}.png', pair))}"


def _finish(config: SceneConfig, plan: ScenePlan, output: SceneOutput, jobs: list[_Job], command: str) -> None:
    """The files of each format, from the parts."""
    from seesay.scenes import hub  # pyarrow, which no worker needs

    folder, formats = output.folder, output.formats
    for name in ("dataset", "annotation", *(["data"] if "parquet" in formats else [])):
        (folder / name).mkdir(exist_ok=True)
    sentences = {json.loads(asked)["question"] for split in plan.splits() for asked, _ in _rows(jobs, split)}
    vocab, length = published.vocabulary(sentences), 2 + max(len(text.split()) for text in sentences)
    published.write_json(folder / "dataset" / "vocab.json", vocab)
    for split, count in plan.splits().items():
        questions = folder / "dataset" / f"{split}.json"
        published.stream_json(
            questions, '{"info": {}, "questions": [', (asked for asked, _ in _rows(jobs, split)), "]}"
        )
        scenes = (f'"{number}": {scene}' for number, (_, scene) in enumerate(_rows(jobs, split)))
        published.stream_json(folder / "annotation" / f"{split}_annotation.json", "{", scenes, "}")
        if "h5" in formats:
            records = (json.loads(asked) for asked, _ in _rows(jobs, split))
            target = folder / "dataset" / f"{split}_questions.h5"
            published.write_h5(target, records, vocab, count=count, length=length)
        if "parquet" in formats:
            pictures = folder / "images" / split if output.picture is not None else None
            rows = (_flat(json.loads(asked), scene) for asked, scene in _rows(jobs, split))
            hub.write_parquet(folder / "data" / f"{split}.parquet", rows, pictures)
    if "parquet" in formats:
        text = hub.card(plan.name, plan.splits(), config.settings(), output.picture, command)
        (folder / "README.md").write_text(text, encoding="utf-8")


def _rows(jobs: list[_Job], split: str) -> Iterator[tuple[str, str]]:
    """Question and annotation of every item of a split, as JSON texts, in order."""
    for job in jobs:
        if job.split == split:
            with job.part.open(encoding="utf-8") as lines:
                for line in lines:
                    asked, _, scene = line.rstrip("\n").partition("\t")
                    yield asked, scene


def _flat(asked: dict[str, Any], scene: str) -> dict[str, Any]:
    label = published.ANSWERS.index(asked["answer"])
    return {"sentence": asked["question"], "label": label, "index": asked["image_index"], "annotation": scene}
