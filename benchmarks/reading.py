"""How long annotations take to be read, by one worker and by two.

    python benchmarks/reading.py [--pictures 20000] [--workers 2] [--formats coco plain …]

The same synthetic pictures (11 regions each on average, with polygons, without files) in every
format. Both read into new folders, one after the other; the parts are compared byte by byte.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from seesay.mining.readers import to_parquet
from seesay.mining.records import SCHEMA

NAMES = 80
ROW_GROUP = 20_000
"""Pictures in memory while they are written."""


def main() -> None:
    """Print the seconds of both, and their ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--formats", nargs="+", default=["plain", "ade20k", "coco", "visual"])
    parser.add_argument(
        "--folder", type=Path, help="keep the annotations here, and use those that are there"
    )
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, pyarrow {pa.__version__}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        if not (folder / "finished").is_file():
            write_annotations(folder, options.pictures)
        for spec in annotation_specs(folder):
            if not spec.startswith(tuple(options.formats)):
                continue
            seconds = []
            contents = []
            for workers in (1, options.workers):
                output = folder / f"{workers}-workers"
                # What an interrupted run has left would not be read again.
                shutil.rmtree(output, ignore_errors=True)
                # A process that did nothing else, whose children are the workers.
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                    future = pool.submit(read, spec, output, options.rows, workers)
                    clock, own, others = future.result()
                seconds.append(clock)
                print(
                    f"  {workers}: {clock:.1f} s; processor seconds: {own:.1f} of the process "
                    f"that splits, {others:.1f} of workers",
                    flush=True,
                )
                contents.append(
                    [part.read_bytes() for part in sorted(output.glob("part-*.parquet"))]
                )
                shutil.rmtree(output)
            rates = [f"{options.pictures / each:,.0f}" for each in seconds]
            print(
                f"{spec.replace(str(folder), '')}: {rates[0]} pictures a second by one, {rates[1]} "
                f"by {options.workers}: {seconds[0] / seconds[1]:.2f} times; equal parts: "
                f"{'yes' if contents[0] == contents[1] else 'NO'}",
                flush=True,
            )


def read(spec: str, output: Path, rows: int, workers: int) -> tuple[float, float, float]:
    """Read an annotation; return the seconds by the clock, and the processor seconds of this
    process and of its workers."""
    start = time.perf_counter()
    before = time.process_time()
    to_parquet(spec, output, rows, workers=workers)
    seconds = time.perf_counter() - start
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, time.process_time() - before, others.ru_utime + others.ru_stime


def annotation_specs(folder: Path) -> list[str]:
    """Return what to read of what was written to a folder."""
    return [
        f"plain:{folder}/rows.parquet",
        f"plain:{folder}/rows.jsonl",
        f"ade20k:{folder}/ade",
        f"coco:{folder}/coco.json",
        f"visual-genome:{folder}/genome",
    ]


def write_annotations(folder: Path, count: int) -> None:
    """Write so many pictures in every format."""
    (folder / "ade").mkdir(parents=True)
    (folder / "genome").mkdir()
    with ExitStack() as files:

        def open_text(name: str) -> Any:
            return files.enter_context((folder / name).open("w", encoding="utf-8"))

        parquet = files.enter_context(pq.ParquetWriter(folder / "rows.parquet", SCHEMA))
        json_lines = open_text("rows.jsonl")
        coco = open_text("coco.json")
        genome = open_text("genome/objects.json")
        images = [{"id": i, "width": 640, "height": 480} for i in range(count)]
        categories = [{"id": i, "name": f"thing {i}"} for i in range(NAMES)]
        coco.write(f'{{"images": {json.dumps(images)}, "categories": {json.dumps(categories)}')
        opening = ', "annotations": ['
        genome_opening = "["
        rows: list[dict[str, Any]] = []
        for i, regions in enumerate(_pictures(count)):
            row = {"id": str(i), "width": 640, "height": 480, "scene": "kitchen"}
            rows.append(row | {"regions": regions})
            json_lines.write(f"{json.dumps(rows[-1])}\n")
            if len(rows) == ROW_GROUP or i == count - 1:
                parquet.write_table(pa.Table.from_pylist(rows, schema=SCHEMA))
                rows.clear()
            objects = []
            ade: list[dict[str, Any]] = []
            for region in regions:
                number = int(region["name"].split()[1])
                box = region["box"]
                points = region["polygon"]
                annotation = {"image_id": i, "category_id": number, "bbox": box}
                coco.write(opening + json.dumps(annotation | {"segmentation": [points]}))
                opening = ", "
                objects.append({"names": [region["name"]], **dict(zip("xywh", box, strict=True))})
                polygon = {"x": points[::2], "y": points[1::2]}
                ade.append({"id": len(ade), "raw_name": region["name"], "polygon": polygon})
            genome.write(genome_opening + json.dumps({"image_id": i, "objects": objects}))
            genome_opening = ", "
            document = {"annotation": {"imsize": [480, 640, 3], "scene": ["kitchen"]}}
            document["annotation"]["object"] = ade
            (folder / f"ade/{i:07}.json").write_text(json.dumps(document))
        coco.write("]}")
        genome.write("]")
        image_data = [{"image_id": i, "width": 640, "height": 480} for i in range(count)]
        open_text("genome/image_data.json").write(json.dumps(image_data))
    (folder / "finished").touch()


def _pictures(count: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the regions of so many pictures."""
    numbers = random.Random(0)
    for _ in range(count):
        yield [_region(numbers) for _ in range(numbers.randint(6, 16))]


def _region(numbers: random.Random) -> dict[str, Any]:
    left = numbers.randint(0, 400)
    top = numbers.randint(0, 300)
    width = numbers.randint(5, 200)
    height = numbers.randint(5, 150)
    polygon = [left, top, left + width, top, left + width, top + height, left, top + height]
    name = f"thing {numbers.randrange(NAMES)}"
    return {"name": name, "box": [left, top, width, height], "polygon": polygon}


if __name__ == "__main__":
    main()
