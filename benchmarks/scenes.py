"""Scenes a second: seesay beside drawing whole pictures and discarding what does not fit.

    python benchmarks/scenes.py [ITEMS]

The published generator made 0.285 SET+POS scenes a second (its authors' data, one core). It is not
at hand here; its way of working is: draw every object on the canvas, throw the picture away at the
first pixel of overlap, and keep a picture only where something of the class that is still wanted
may be asked about. `discarding` does that, plainly.
"""

from __future__ import annotations

import io
import os
import platform
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from seesay.scenes import (
    Scene,
    SceneConfig,
    SceneObject,
    SceneOutput,
    batches,
    eligible_targets,
    label_objects,
    make_plan,
    paint,
    rgb,
    write_dataset,
)
from seesay.scenes.config import design_cells
from seesay.scenes.world import CANVAS, RADII, SCENE_COLORS, SHAPES, anchor, extent

PUBLISHED_RATE = 0.285
SIZE = 1478


def main() -> None:
    """Print one line a way."""
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000
    cores = os.cpu_count() or 1
    load = os.getloadavg()[0]
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, {cores} cores, load "
        f"{load:.1f}, SET+POS"
    )
    print(
        f"{'way':<60}{'scenes/s':>9}{'a core-s':>9}"
        f"{'x published':>12}{'x discarding':>13}{'peak MB':>8}"
    )
    slow = line("drawing and discarding, RGBA PNG of 1478 px, 1 process", 12, discarding)
    with tempfile.TemporaryDirectory() as folder:

        def png(count: int) -> None:
            complete(count, SceneOutput(Path(folder) / f"png-{count}"), cores)

        def arrays(count: int) -> None:
            complete(count, SceneOutput(Path(folder) / "arrays", None, 224, ("json",)), cores)

        line(f"make, PNG of 1478 px, all formats, {cores} processes", items // 4, png, slow)
        line(f"make, PNG of 1478 px, all formats, {cores} processes", items, png, slow)
        line(f"make, 224 px arrays on disk and annotation, {cores} processes", items, arrays, slow)
    line("batches, 224 px arrays in memory, 1 process", items, in_memory, slow)


def line(name: str, count: int, work: Callable[[int], None], slow: float | None = None) -> float:
    """One row of the table: by the clock, by the seconds that cores worked (what others run does
    not matter there)."""
    began, worked = time.perf_counter(), _worked()
    work(count)
    rate, per_core = count / (time.perf_counter() - began), count / (_worked() - worked)
    peak = (
        max(
            resource.getrusage(who).ru_maxrss
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        // 1024
    )
    ratios = f"{rate / PUBLISHED_RATE:>12,.0f}{rate / (slow or rate):>13,.0f}"
    print(f"{f'{name}, {count:,}':<60}{rate:>9.1f}{per_core:>9.1f}{ratios}{peak:>8}", flush=True)
    return rate


def _worked() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def complete(count: int, output: SceneOutput, workers: int) -> None:
    """From nothing to a finished data set, start of the workers included."""
    write_dataset(SceneConfig("set+pos"), make_plan("set+pos", count), output, workers=workers)


def in_memory(count: int) -> None:
    """Arrays as training takes them."""
    plan = make_plan("set+pos", count)
    for split in plan.splits():
        for _ in batches(SceneConfig("set+pos"), plan, split, size=224):
            pass


def discarding(count: int) -> None:
    """Whole pictures, drawn until one fits; every class in turn."""
    config, rng, every = SceneConfig("set+pos"), np.random.default_rng(0), design_cells()
    kept = 0
    while kept < count:
        scene = _drawn(rng)
        if scene is None:
            continue
        wanted, words = (
            every[kept % len(every)],
            [label.word for label in label_objects(scene, config.kind)],
        )
        for i in eligible_targets(scene, config.kind):
            obj = scene.objects[i]
            if (obj.color, obj.shape, words[i] == "big") == (
                wanted.color,
                wanted.shape,
                wanted.high,
            ):
                picture = np.dstack([rgb(scene, SIZE), np.full((SIZE, SIZE), 255, dtype=np.uint8)])
                Image.fromarray(picture).save(io.BytesIO(), "PNG")
                kept += 1
                break


def _drawn(rng: np.random.Generator) -> Scene | None:
    canvas, objects = np.zeros((CANVAS, CANVAS), dtype=np.uint8), []
    for _ in range(rng.integers(5, 10)):
        shape, radius, turn = str(rng.choice(SHAPES)), int(rng.choice(RADII)), int(rng.integers(2))
        turn = turn if shape in ("rectangle", "triangle") else 0
        (rows, columns), (down, right) = extent(shape, radius, turn), anchor(shape, radius, turn)
        row, column = (
            int(rng.integers(CANVAS - rows)) + down,
            int(rng.integers(CANVAS - columns)) + right,
        )
        obj = SceneObject(shape, str(rng.choice(SCENE_COLORS)), radius, row, column, turn)
        painted = paint(Scene((obj,)))
        if (canvas.astype(bool) & painted.astype(bool)).any():
            return None
        canvas += painted
        objects.append(obj)
    return Scene(tuple(objects), float(rng.normal(0.29, 0.066)))


if __name__ == "__main__":
    main()
