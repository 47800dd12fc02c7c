"""The same small pictures in every format of annotations, with a bad region in each."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from seesay.mining.records import SCHEMA

NAMES = ("cup", "table", "lamp", "sofa", "door", "plates")


def write_annotations(folder: Path, count: int) -> dict[str, str]:
    """Write so many pictures in all formats, and return what to mine by the name of the format."""
    numbers = random.Random(0)
    for name in ("ade", "genome"):
        (folder / name).mkdir(parents=True)
    rows: list[dict[str, Any]] = []
    regions: list[dict[str, Any]] = []
    objects: list[dict[str, Any]] = []
    for i in range(count):
        boxes = []
        for _ in range(8):
            name = numbers.choice(NAMES)
            left, top = numbers.randrange(50), numbers.randrange(40)
            side = 2 + 7 * NAMES.index(name) + numbers.randrange(9)
            # one box in twenty is empty
            height = side if numbers.randrange(20) else 0
            boxes.append((name, [left, top, side, height]))
        rows.append(
            {
                "id": str(i),
                "width": 100,
                "height": 80,
                "scene": "kitchen",
                "regions": [{"name": name, "box": box, "polygon": []} for name, box in boxes],
            }
        )
        regions += [
            {"image_id": i, "category_id": NAMES.index(name), "bbox": box} for name, box in boxes
        ]
        of_picture = [
            {"names": [name], **dict(zip("xywh", box, strict=True))} for name, box in boxes
        ]
        objects.append({"image_id": i, "objects": of_picture})
        _write_ade(folder / f"ade/{i:03}.json", boxes)
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), folder / "rows.parquet")
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    sizes = [{"id": i, "width": 100, "height": 80} for i in range(count)]
    categories = [{"id": i, "name": name} for i, name in enumerate(NAMES)]
    coco = {"images": sizes, "annotations": regions, "categories": categories}
    (folder / "coco.json").write_text(json.dumps(coco))
    images = [{"image_id": row["id"], "width": 100, "height": 80} for row in sizes]
    (folder / "genome/image_data.json").write_text(json.dumps(images))
    (folder / "genome/objects.json").write_text(json.dumps(objects))
    return {
        "parquet": f"plain:{folder / 'rows.parquet'}",
        "lines": f"plain:{folder / 'rows.jsonl'}",
        "coco": f"coco:{folder / 'coco.json'}",
        "genome": f"visual-genome:{folder / 'genome'}",
        "ade": f"ade20k:{folder / 'ade'}",
    }


def _write_ade(path: Path, boxes: list[tuple[str, list[int]]]) -> None:
    objects = []
    for number, (name, (left, top, width, height)) in enumerate(boxes):
        x, y = [left, left + width, left + width], [top, top, top + height]
        objects.append({"id": number, "raw_name": name, "polygon": {"x": x, "y": y}})
    annotation = {"imsize": [80, 100, 3], "scene": ["kitchen"], "object": objects}
    path.write_text(json.dumps({"annotation": annotation}))
