"""How long annotations take to be read, by one worker and by two.

    python benchmarks/reading.py [--pictures 20000] [--workers 2]

The same synthetic pictures (11 regions each on average, with polygons, without files) in every
format. Both read into new folders, one after the other; the parts are compared byte by byte.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from seesay.mining.readers import to_parquet
from seesay.mining.records import SCHEMA

NAMES = 80


def main() -> None:
    """Print the seconds of both, and their ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rows", type=int, default=2_000)
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, pyarrow {pa.__version__}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for spec in write_annotations(folder, options.pictures):
            seconds = []
            contents = []
            for workers in (1, options.workers):
                output = folder / f"{workers}-workers"
                start = time.perf_counter()
                parts, _ = to_parquet(spec, output, options.rows, workers=workers)
                seconds.append(time.perf_counter() - start)
                contents.append([part.read_bytes() for part in parts])
                for file in output.iterdir():
                    file.unlink()
            rates = [f"{options.pictures / each:,.0f}" for each in seconds]
            print(
                f"{spec.replace(name, '')}: {rates[0]} pictures a second by one, {rates[1]} by "
                f"{options.workers}: {seconds[0] / seconds[1]:.2f} times; equal parts: "
                f"{'yes' if contents[0] == contents[1] else 'NO'}",
                flush=True,
            )


def write_annotations(folder: Path, count: int) -> list[str]:
    """Write so many pictures in every format, and return what to read."""
    numbers = random.Random(0)
    (folder / "ade").mkdir()
    (folder / "genome").mkdir()
    rows: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    objects: list[dict[str, Any]] = []
    for i in range(count):
        regions = [_region(numbers) for _ in range(numbers.randint(6, 16))]
        row = {"id": str(i), "width": 640, "height": 480, "scene": "kitchen", "regions": regions}
        rows.append(row)
        of_picture = []
        ade: list[dict[str, Any]] = []
        for region in regions:
            number = int(region["name"].split()[1])
            box = region["box"]
            points = region["polygon"]
            annotations.append(
                {"image_id": i, "category_id": number, "bbox": box, "segmentation": [points]}
            )
            of_picture.append({"names": [region["name"]], **dict(zip("xywh", box, strict=True))})
            polygon = {"x": points[::2], "y": points[1::2]}
            ade.append({"id": len(ade), "raw_name": region["name"], "polygon": polygon})
        objects.append({"image_id": i, "objects": of_picture})
        document = {"annotation": {"imsize": [480, 640, 3], "scene": ["kitchen"], "object": ade}}
        (folder / f"ade/{i:07}.json").write_text(json.dumps(document))
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), folder / "rows.parquet")
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    coco = {
        "images": [{"id": i, "width": 640, "height": 480} for i in range(count)],
        "annotations": annotations,
        "categories": [{"id": i, "name": f"thing {i}"} for i in range(NAMES)],
    }
    (folder / "coco.json").write_text(json.dumps(coco))
    images = [{"image_id": i, "width": 640, "height": 480} for i in range(count)]
    (folder / "genome/image_data.json").write_text(json.dumps(images))
    (folder / "genome/objects.json").write_text(json.dumps(objects))
    return [
        f"plain:{folder}/rows.parquet",
        f"plain:{folder}/rows.jsonl",
        f"ade20k:{folder}/ade",
        f"coco:{folder}/coco.json",
        f"visual-genome:{folder}/genome",
    ]


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
