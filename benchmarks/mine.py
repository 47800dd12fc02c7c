"""Size and space over synthetic annotated pictures: seesay beside a plain loop over pictures with
jenkspy.

    python benchmarks/mine.py [--images 1000000 …] [--peer-images 3000] [--workers 2]

Both read the same Parquet parts, apply the paper's rules and count the relations of every pair. The
loop (the best of three runs) runs on a sample, since its time grows with the number of pictures; on
that sample the counts of both are compared, pair by pair.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import jenkspy
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from seesay.mining import count_relations, write_knowledge
from seesay.mining.facts import Thresholds
from seesay.mining.observations import LABELS
from seesay.mining.records import REGION, SCHEMA
from seesay.mining.region_names import NameRules
from seesay.mining.regions import DEPTHS

ROWS = 20_000
SCENES = ("bathroom", "bedroom", "kitchen", "living_room", "office")
NAMES = 2000
WIDTH, HEIGHT = 640, 480
Key = tuple[str, str, str, str]


def main() -> None:
    """Print both rates, their ratio, processor time, and the memory of the largest processes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--peer-images", type=int, default=3_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--engine", default="local", choices=("local", "ray"))
    parser.add_argument(
        "--folder",
        type=Path,
        help="keep the parts and the counts here, and use those that are there",
    )
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        sample = write_parts(folder / "sample", options.peer_images, options.peer_images)[0]
        rules_time, peer_time, plain = min(
            (peer(sample) for _ in range(3)), key=lambda result: result[1]
        )
        times = []
        count_part = count_relations.PartCounter(
            folder, count_relations.CountingConfig(), NameRules()
        )
        for _ in range(3):
            start = time.perf_counter()
            count_part(sample)
            times.append(time.perf_counter() - start)
        ours = {
            kind: pq.read_table(folder / f"{sample.stem}.{kind}.parquet").to_pylist()
            for kind in LABELS
        }
        same = as_counter(ours, "sizes") == plain[0] and as_counter(ours, "places") == plain[1]
        print(
            f"{options.peer_images:,} pictures: the same counts of every pair: "
            f"{'yes' if same else 'NO'}"
        )
        each = peer_time / options.peer_images
        line("plain loop with jenkspy, rules alone", options.peer_images, rules_time)
        line("plain loop with jenkspy, from the file", options.peer_images, peer_time)
        line("seesay, one process, the same pictures", options.peer_images, min(times), each)
        for images in options.images:
            parts = write_parts(folder / f"parts-{images}", images, ROWS)
            size = sum(path.stat().st_size for path in parts) / 2**20
            workers = f"{options.workers} workers, {options.engine}"
            print(f"{images:,} pictures in {len(parts)} parts, {size:,.0f} MiB; {workers}")
            # a process that did nothing else
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                mined = pool.submit(
                    mine, parts, folder / f"k-{images}", options.engine, options.workers
                )
                count, whole, facts = mined.result()
            line("seesay, parts to counts", images, count.seconds, each)
            line("seesay, parts to knowledge", images, whole.seconds, each)
            line(
                "  over the loop's rules alone",
                images,
                whole.seconds,
                rules_time / options.peer_images,
            )
            print(f"facts: {facts['sizes']:,} of sizes, {facts['places']:,} of places")
            print(
                f"processor seconds: {count.processor:.1f} to counts, {whole.processor:.1f} to "
                "knowledge"
            )
            print(
                f"largest memory: a worker that counts {count.worker:,.0f} MiB, any worker "
                f"{whole.worker:,.0f} MiB, "
                f"the process that gathers {whole.own:,.0f} MiB"
            )


class Usage(NamedTuple):
    """Seconds and processor seconds since the start, and the largest memory of this process and of
    a worker, in MiB."""

    seconds: float
    processor: float
    own: float
    worker: float


def mine(
    parts: list[Path], folder: Path, engine: str, workers: int
) -> tuple[Usage, Usage, dict[str, int]]:
    """What it takes to count the parts, and to write the knowledge, and the number of facts."""
    start = time.perf_counter()

    def usage() -> Usage:
        own, children = (
            resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        processor = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
        return Usage(time.perf_counter() - start, processor, own_peak(), children.ru_maxrss / 1024)

    counts = count_relations.count_parts(
        parts, folder, count_relations.CountingConfig(), engine, workers
    )
    counted = usage()
    facts, _ = write_knowledge.write_facts(folder, counts, Thresholds(), workers=workers)
    return counted, usage(), facts


def own_peak() -> float:
    """The largest memory of this process in MiB; getrusage would count that of the program which
    started it."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s*(\d+)", status)[0]) / 1024


def line(case: str, images: int, seconds: float, against: float | None = None) -> None:
    """Print one line: pictures per second, and the ratio to the loop."""
    ratio = f"{against * images / seconds:>8.1f}x" if against else ""
    print(f"{case:<44}{seconds:>9.2f} s{images / seconds:>12,.0f} pictures/s{ratio}")


def peer(path: Path) -> tuple[float, float, tuple[Counter[Key], Counter[Key]]]:
    """Seconds of the rules alone and including reading the file, and both counts."""
    start = time.perf_counter()
    rows = pq.read_table(path).to_pylist()
    began = time.perf_counter()
    sizes: Counter[Key] = Counter()
    places: Counter[Key] = Counter()
    for row in rows:
        sizes.update(set(size_relations(row)))
        places.update(set(space_relations(row)))
    end = time.perf_counter()
    return end - began, end - start, (sizes, places)


def size_relations(row: dict[str, Any], classes: int = 5) -> Iterable[Key]:
    """The paper's rule as a plain loop: a label for every pair of names in alphabetical order."""
    regions = row["regions"]
    if len(regions) <= classes:
        return
    sizes = [r["box"][2] * r["box"][3] * d for r, d in zip(regions, row["distances"], strict=True)]
    distinct = len(set(sizes))
    breaks = jenkspy.jenks_breaks(sizes, classes) if distinct > classes else sorted(set(sizes))
    inner = breaks[1:-1] if distinct > classes else breaks[:-1]
    of = [sum(value > limit for limit in inner) for value in sizes]
    for i, j in combinations(range(len(regions)), 2):
        a, b = regions[i]["name"], regions[j]["name"]
        if a != b and of[i] != of[j]:
            if a > b:
                a, b, i, j = b, a, j, i
            yield "", a, b, ">" if of[i] > of[j] else "<"


def space_relations(
    row: dict[str, Any], partitions: int = 3, overlap: float = 0.5
) -> Iterable[Key]:
    """The paper's rule as a plain loop: heights inside a partition, bridges across partitions."""
    regions, near, far = row["regions"], row["nearest"], row["farthest"]
    width = 1 / (partitions - (partitions - 1) * overlap)
    member = []
    for distance in row["distances"]:
        place = min(max((distance - near) / (far - near), 0.0), 1.0)
        starts = [p * (1 - overlap) * width for p in range(partitions)]
        inside = {
            p
            for p, s in enumerate(starts)
            if place >= s and (p == partitions - 1 or place < s + width)
        }
        member.append(inside)
    n = len(regions)
    low = [r["box"][1] + r["box"][3] for r in regions]
    centre = [(r["box"][1] + r["box"][1] + r["box"][3]) / 2 for r in regions]
    bridges = [k for k in range(n) if len(member[k]) > 1]
    direct = {
        (i, j): 1 if low[i] < centre[j] else -1 if low[j] < centre[i] else 0
        for i in range(n)
        for j in range(n)
        if i != j and member[i] & member[j]
    }
    relations = dict(direct)
    for _ in range(partitions - 2):
        learned = {
            (i, k): through(i, k, bridges, relations)
            for i in range(n)
            for k in bridges
            if (i, k) not in direct
        }
        relations |= {
            pair: sign for pair, sign in learned.items() if sign is not None and pair[0] != pair[1]
        }
    for i, j in combinations(range(n), 2):
        sign = direct[i, j] if (i, j) in direct else through(i, j, bridges, relations)
        a, b = regions[i]["name"], regions[j]["name"]
        if a != b and sign is not None:
            yield (row["scene"], a, b, "=><"[sign]) if a < b else (row["scene"], b, a, "=><"[-sign])


def through(
    i: int, j: int, bridges: list[int], relations: dict[tuple[int, int], int]
) -> int | None:
    """The relation of two objects by their bridges, if these agree."""
    signs = set()
    for k in bridges:
        if (i, k) in relations and (j, k) in relations:
            first, second = relations[i, k], -relations[j, k]
            if first * second != -1:
                signs.add(first or second)
    return signs.pop() if len(signs) == 1 else None


def as_counter(counts: dict[str, list[dict[str, Any]]], kind: str) -> Counter[Key]:
    """Our counts in the loop's format."""
    signs = "><" if LABELS[kind] == 2 else ">=<"
    rows = counts[kind]
    return Counter(
        {(row["scene"], row["a"], row["b"], signs[row["label"]]): row["count"] for row in rows}
    )


def random_pictures(
    count: int, seed: int = 0, first: int = 0, names: int = NAMES, mean: float = 11.0
) -> pa.Table:
    """`count` pictures without pixels: objects of fixed size at random places before a pinhole
    camera.

    Names follow Zipf's law, as names in captions do. `first` is the number of the first picture.
    """
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
    no_polygons = pa.ListArray.from_arrays(
        pa.array(np.zeros(total + 1, dtype=np.int32)), pa.array([], pa.float64())
    )
    region = pa.StructArray.from_arrays(
        [words, box.cast(REGION.field("box").type), no_polygons], fields=list(REGION)
    )
    starts = pa.array(offsets)
    empty = pa.array([""] * count)
    columns = [
        pa.array([f"{first + i:08d}" for i in range(count)]),
        pa.array(np.full(count, WIDTH, dtype=np.int32)),
        pa.array(np.full(count, HEIGHT, dtype=np.int32)),
        pa.ListArray.from_arrays(starts, region),
        pa.ListArray.from_arrays(
            pa.array(np.zeros(count + 1, dtype=np.int32)), pa.array([], pa.string())
        ),
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
        if not path.exists():
            pq.write_table(
                random_pictures(min(rows, count - first), seed, first), path, compression="zstd"
            )
        paths.append(path)
    return paths


if __name__ == "__main__":
    main()
