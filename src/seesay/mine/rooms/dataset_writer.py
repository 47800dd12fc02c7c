"""Rooms as files: pictures, depth maps, the truth, and the annotation in our own format, Visual Genome's and COCO's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from seesay.errors import UserError, missing_extra
from seesay.files import write_json
from seesay.mine.records import SCHEMA, Picture, Region, to_row
from seesay.mine.rooms.captions import describe
from seesay.mine.rooms.kinds import KINDS, SCENES
from seesay.mine.rooms.raster import RoomView, render
from seesay.mine.rooms.sampling import Room, RoomObject, draw
from seesay.mine.rooms.truth import RoomTruth
from seesay.progress import ProgressCallback

LEAST_PIXELS = 24
LEAST_VISIBLE = 0.5
OUTLINE_ROWS = 12
ROWS = 256


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A room as seen: the annotated picture and, region by region, the things and captions (by region) behind it."""

    picture: Picture
    room: Room
    view: RoomView
    things: tuple[RoomObject, ...]
    phrases: tuple[tuple[int, str], ...]


def snapshots(count: int, seed: int = 0, width: int = 320, height: int = 240) -> Iterator[Snapshot]:
    """Rooms one by one, the scenes in turn. Picture n is the same whatever the count."""
    for index in range(count):
        yield snapshot(index, seed, width, height)


def snapshot(index: int, seed: int = 0, width: int = 320, height: int = 240) -> Snapshot:
    """The room with this index: what is more than half hidden, or cut off by the frame, is not annotated."""
    rng = np.random.default_rng((seed, index))
    scene = list(SCENES)[index % len(SCENES)]
    room = draw(rng, scene)
    view = render(room, width, height, rng)
    regions, seen = [], []
    for i, thing in enumerate(room.things):
        mask = view.ids == i
        if mask.sum() >= max(LEAST_PIXELS, LEAST_VISIBLE * view.covered[i]):
            regions.append(_region(thing.name, mask))
            seen.append(i)
    phrases = describe(rng, scene, room.things, seen)
    place = {thing: region for region, thing in enumerate(seen)}
    picture = Picture(
        id=str(index + 1),
        width=width,
        height=height,
        regions=tuple(regions),
        captions=tuple(text for _, text in phrases),
        scene=scene,
        path=f"images/{index + 1}.jpg",
        depth=f"depth/{index + 1}.png",
    )
    things = tuple(room.things[i] for i in seen)
    return Snapshot(picture, room, view, things, tuple((place[i], text) for i, text in phrases))


def write_rooms(
    folder: Path, count: int, seed: int = 0, *, width: int = 320, height: int = 240, pictures: bool = True,
    progress: ProgressCallback = lambda done, total: None,
) -> Path:  # fmt: skip
    """Write `count` rooms and their truth into a new folder; `pictures=False` leaves out the JPEG and depth files.

    Depth maps are 16-bit PNGs in millimetres along the camera's axis. `things.jsonl` holds the true size, height and
    colour of the object in each region, `truth.json` the counts over all pictures.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"'{folder}' is not empty: name a new folder.")
    try:
        from PIL import Image
    except ImportError as error:
        raise missing_extra("Making rooms", "mine", error) from error

    for part in ("images", "depth", "visual_genome", "coco"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    truth, rows = RoomTruth(), []
    with _Files(folder) as files, pq.ParquetWriter(folder / "annotations.parquet", SCHEMA) as parquet:
        for done, shot in enumerate(snapshots(count, seed, width, height), start=1):
            picture = shot.picture
            if pictures:
                Image.fromarray(shot.view.rgb).save(folder / picture.path, quality=92)
                millimetres = np.minimum(shot.view.depth * 1000, 65535).astype(np.uint16)
                Image.fromarray(millimetres).save(folder / picture.depth, compress_level=1)
            truth.add(picture.scene, shot.things)
            rows.append(to_row(picture))
            files.add(shot, rows[-1])
            if len(rows) == ROWS or done == count:
                parquet.write_batch(pa.RecordBatch.from_pylist(rows, schema=SCHEMA))
                rows = []
            progress(1, count)
    write_json(folder / "truth.json", truth.to_json(), indent=1)
    return folder


class _Files:
    """The text files, written picture by picture; JSON arrays are opened, filled and closed by hand."""

    LISTS = ("visual_genome/objects", "visual_genome/region_descriptions", "visual_genome/image_data")

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, TextIO] = {}
        self._coco: dict[str, list[dict[str, Any]]] = {"images": [], "annotations": [], "captions": []}
        self._count = 0

    def __enter__(self) -> _Files:
        for name in (*(f"{name}.json" for name in self.LISTS), "annotations.jsonl", "things.jsonl"):
            self._open[name] = (self._folder / name).open("w", encoding="utf-8")
        return self

    def add(self, shot: Snapshot, row: dict[str, Any]) -> None:
        picture, number = shot.picture, int(shot.picture.id)
        self._open["annotations.jsonl"].write(json.dumps(row) + "\n")
        self._open["things.jsonl"].write(
            json.dumps({"id": picture.id, "things": [_true(t) for t in shot.things]}) + "\n"
        )
        boxes = [region.box for region in picture.regions]
        first = number * 1000
        objects = [
            {"object_id": first + i, "names": [r.name], "synsets": [], **dict(zip("xywh", r.box, strict=True))}
            for i, r in enumerate(picture.regions)
        ]
        described = [
            {"region_id": first + i, "image_id": number, "phrase": text, **_sides(boxes[region])}
            for i, (region, text) in enumerate(shot.phrases)
        ]
        size = {"width": picture.width, "height": picture.height}
        self._append(self.LISTS[0], {"image_id": number, "image_url": "", "objects": objects})
        self._append(self.LISTS[1], {"id": number, "regions": described})
        self._append(self.LISTS[2], {"image_id": number, "url": "", **size, "coco_id": None, "flickr_id": None})
        self._count += 1
        self._coco["images"].append({"id": number, "file_name": f"{number}.jpg", **size})
        for i, region in enumerate(picture.regions):
            self._coco["annotations"].append(
                {
                    "id": first + i, "image_id": number, "category_id": CATEGORIES[region.name], "iscrowd": 0,
                    "bbox": list(region.box), "area": region.box[2] * region.box[3],
                    "segmentation": [list(region.polygon)],
                }
            )  # fmt: skip
        for i, text in enumerate(picture.captions):
            self._coco["captions"].append({"id": first + i, "image_id": number, "caption": text})

    def _append(self, name: str, entry: dict[str, Any]) -> None:
        self._open[f"{name}.json"].write((",\n" if self._count else "[") + json.dumps(entry))

    def __exit__(self, *_: object) -> None:
        for name, file in self._open.items():
            if name.endswith(".json"):
                file.write("]" if self._count else "[]")
            file.close()
        images = self._coco["images"]
        categories = [{"id": number, "name": name} for name, number in CATEGORIES.items()]
        instances = {"images": images, "annotations": self._coco["annotations"], "categories": categories}
        captions = {"images": images, "annotations": self._coco["captions"]}
        (self._folder / "coco/instances.json").write_text(json.dumps(instances))
        (self._folder / "coco/captions.json").write_text(json.dumps(captions))


CATEGORIES = {name: number for number, name in enumerate(KINDS, start=1)}


def _sides(box: tuple[float, float, float, float]) -> dict[str, float]:
    return dict(zip(("x", "y", "width", "height"), box, strict=True))


def _true(thing: RoomObject) -> dict[str, Any]:
    return {
        "name": thing.name,
        "subtype": thing.subtype,
        "color": thing.color,
        "size": [round(s, 4) for s in thing.size],
        "lowest": round(thing.lowest, 4),
        "centroid": round(thing.centroid, 4),
        "distance": round(thing.at[2], 4),
    }


def _region(name: str, mask: NDArray[np.bool_]) -> Region:
    """The box and the outline of what is seen: left edges downwards, right edges back up, on a dozen rows."""
    rows = np.flatnonzero(mask.any(axis=1))
    columns = np.flatnonzero(mask.any(axis=0))
    box = (float(columns[0]), float(rows[0]), float(columns[-1] + 1 - columns[0]), float(rows[-1] + 1 - rows[0]))
    some = rows[np.unique(np.linspace(0, len(rows) - 1, OUTLINE_ROWS).astype(int))]
    left = mask[some].argmax(axis=1)
    right = mask.shape[1] - mask[some][:, ::-1].argmax(axis=1)
    y = some + np.linspace(0, 1, len(some))  # from the top edge of the first row to the foot of the last
    outline = np.concatenate([np.stack([left, y], axis=1), np.stack([right, y], axis=1)[::-1]])
    return Region(name, box, tuple(round(float(v), 2) for v in outline.ravel()))
