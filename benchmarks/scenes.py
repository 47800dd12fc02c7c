"""Scenes a second: seesay beside drawing whole pictures and discarding what does not fit.

    python benchmarks/scenes.py [ITEMS]

The published generator made 0.285 SET+POS scenes a second (its authors' data, one core). It is not at hand here; its
way of working is: draw every thing on the canvas, throw the picture away at the first pixel of overlap, and keep a
picture only where something of the class that is still wanted may be asked about. `discarding` does that, plainly.
"""

from __future__ import annotations

import io
import os
import platform
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from seesay.scenes import Output, Recipe, Scene, Thing, askable, batches, judge, make, make_plan, paint, rgb
from seesay.scenes.recipe import cells
from seesay.scenes.world import CANVAS, COLOURS, RADII, SHAPES, anchor, extent

PUBLISHED_RATE = 0.285
SIZE = 1478


def main() -> None:
    """Print one line a way."""
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000
    cores = os.cpu_count() or 1
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {cores} cores, SET+POS")
    print(f"{'way':<58}{'scenes/s':>10}{'x published':>13}{'x discarding':>14}{'peak MB':>9}")
    slow = discarding(12)
    line("drawing and discarding, RGBA PNG of 1478 px, 1 process", slow, slow)
    with tempfile.TemporaryDirectory() as folder:
        for count in (items // 4, items):
            rate = timed(count, Output(Path(folder) / f"png-{count}"), cores)
            line(f"make, PNG of 1478 px, all formats, {count:,} items", rate, slow)
        rate = timed(items, Output(Path(folder) / "arrays", None, 224, ("json",)), cores)
        line(f"make, 224 px arrays on disk and annotation, {items:,} items", rate, slow)
    plan, began = make_plan("set+pos", items), time.perf_counter()
    made = sum(len(batch.sentences) for batch in batches(Recipe("set+pos"), plan, "train", size=224))
    line(f"batches, 224 px arrays in memory, 1 process, {made:,} items", made / (time.perf_counter() - began), slow)


def line(name: str, rate: float, slow: float) -> None:
    """One row of the table. Peak memory is that of the largest process so far."""
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) // 1024
    print(f"{name:<58}{rate:>10.1f}{rate / PUBLISHED_RATE:>13,.0f}{rate / slow:>14,.0f}{peak:>9}", flush=True)


def timed(count: int, output: Output, workers: int) -> float:
    """Items a second, from nothing to a finished data set, start of the workers included."""
    began = time.perf_counter()
    make(Recipe("set+pos"), make_plan("set+pos", count), output, workers=workers)
    return count / (time.perf_counter() - began)


def discarding(count: int) -> float:
    """Items a second by drawing whole pictures until one fits; every class in turn."""
    recipe, rng, every = Recipe("set+pos"), np.random.default_rng(0), cells()
    began, kept = time.perf_counter(), 0
    while kept < count:
        scene = _drawn(rng)
        if scene is None:
            continue
        wanted, words = every[kept % len(every)], [label.word for label in judge(scene, recipe.kind)]
        for i in askable(scene, recipe.kind):
            thing = scene.things[i]
            if (thing.colour, thing.shape, words[i] == "big") == (wanted.colour, wanted.shape, wanted.high):
                picture = np.dstack([rgb(scene, SIZE), np.full((SIZE, SIZE), 255, dtype=np.uint8)])
                Image.fromarray(picture).save(io.BytesIO(), "PNG")
                kept += 1
                break
    return count / (time.perf_counter() - began)


def _drawn(rng: np.random.Generator) -> Scene | None:
    canvas, things = np.zeros((CANVAS, CANVAS), dtype=np.uint8), []
    for _ in range(rng.integers(5, 10)):
        shape, radius, turn = str(rng.choice(SHAPES)), int(rng.choice(RADII)), int(rng.integers(2))
        turn = turn if shape in ("rectangle", "triangle") else 0
        (rows, columns), (down, right) = extent(shape, radius, turn), anchor(shape, radius, turn)
        row, column = int(rng.integers(CANVAS - rows)) + down, int(rng.integers(CANVAS - columns)) + right
        thing = Thing(shape, str(rng.choice(COLOURS)), radius, row, column, turn)
        painted = paint(Scene((thing,)))
        if (canvas.astype(bool) & painted.astype(bool)).any():
            return None
        canvas += painted
        things.append(thing)
    return Scene(tuple(things), float(rng.normal(0.29, 0.066)))


if __name__ == "__main__":
    main()
