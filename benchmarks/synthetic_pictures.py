"""Random annotated pictures without pixels: objects of fixed size at random places before a pinhole camera.

Array operations make a million pictures in seconds. Names follow Zipf's law, as names in captions do.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from seesay.mine.records import REGION, SCHEMA
from seesay.mine.regions import DEPTHS

SCENES = ("bathroom", "bedroom", "kitchen", "living_room", "office")
NAMES = 2000
WIDTH, HEIGHT = 640, 480


def pictures(count: int, seed: int = 0, first: int = 0, names: int = NAMES, mean: float = 11.0) -> pa.Table:
    """A table of `count` pictures with the columns of `SCHEMA` and `DEPTHS`; `first` is the number of the first."""
    rng = np.random.default_rng((seed, first))
    lengths = np.clip(rng.poisson(mean, count), 1, 60)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    total = int(offsets[-1])
    weights = 1 / np.arange(1, names + 1)
    name = rng.choice(names, total, p=weights / weights.sum())
    sizes = np.random.default_rng(seed).lognormal(-0.7, 0.9, names)  # metres
    distance = rng.uniform(1.0, 8.0, total)
    side = sizes[name] * rng.lognormal(0.0, 0.15, total) * 300 / distance
    width = np.clip(side * rng.uniform(0.6, 1.6, total), 2, WIDTH - 1)
    height = np.clip(side, 2, HEIGHT - 1)
    left, top = rng.uniform(0, WIDTH - width), rng.uniform(0, HEIGHT - height)
    boxes = np.stack([left, top, width, height], axis=1).round(1)
    inverse = (1 / distance - 1 / 9.0) / (1 - 1 / 9.0)
    words = pa.array([f"thing {i:04d}" for i in range(names)]).take(pa.array(name))
    box = pa.FixedSizeListArray.from_arrays(pa.array(boxes.ravel()), 4)
    no_polygons = pa.ListArray.from_arrays(pa.array(np.zeros(total + 1, dtype=np.int32)), pa.array([], pa.float64()))
    region = pa.StructArray.from_arrays([words, box.cast(REGION.field("box").type), no_polygons], fields=list(REGION))
    starts = pa.array(offsets)
    empty = pa.array([""] * count)
    columns = [
        pa.array([f"{first + i:08d}" for i in range(count)]),
        pa.array(np.full(count, WIDTH, dtype=np.int32)),
        pa.array(np.full(count, HEIGHT, dtype=np.int32)),
        pa.ListArray.from_arrays(starts, region),
        pa.ListArray.from_arrays(pa.array(np.zeros(count + 1, dtype=np.int32)), pa.array([], pa.string())),
        pa.array(np.array(SCENES)[rng.integers(0, len(SCENES), count)]),
        empty,
        empty,
        pa.ListArray.from_arrays(starts, pa.array(distance)),
        pa.ListArray.from_arrays(starts, pa.array(inverse)),
        pa.array(np.full(count, 1.0)),
        pa.array(np.full(count, 9.0)),
    ]
    return pa.Table.from_arrays(columns, schema=pa.schema([*SCHEMA, *DEPTHS]))


def write_parts(folder: Path, count: int, rows: int, seed: int = 0) -> list[Path]:
    """The same as Parquet parts of `rows` pictures each."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, first in enumerate(range(0, count, rows)):
        path = folder / f"part-{number:05d}.parquet"
        pq.write_table(pictures(min(rows, count - first), seed, first), path, compression="zstd")
        paths.append(path)
    return paths
