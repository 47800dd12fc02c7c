"""Rooms as files: pictures, depth maps, the truth, and the annotation in our own format, Visual
Genome's and COCO's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from seesay.errors import missing_extra
from seesay.files import (
    atomic_write,
    lock_folder,
    refuse_foreign_folder,
    refuse_other_settings,
    write_json,
    write_json_lines,
)
from seesay.mining.records import SCHEMA, Picture, Region, to_row
from seesay.mining.rooms.captions import describe
from seesay.mining.rooms.kinds import KINDS, SCENES
from seesay.mining.rooms.raster import RoomView, render
from seesay.mining.rooms.sampling import Room, RoomObject, sample_room
from seesay.mining.rooms.truth import RoomTruth
from seesay.progress import ProgressCallback

MIN_PIXELS = 24
MIN_VISIBLE = 0.5
OUTLINE_ROWS = 12
BATCH = 256
SETTINGS = "settings.json"
CATEGORIES = {name: number for number, name in enumerate(KINDS, start=1)}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A room as seen: the annotated picture and, for each of its regions, the object; captions with
    their region."""

    picture: Picture
    room: Room
    view: RoomView
    objects: tuple[RoomObject, ...]
    phrases: tuple[tuple[int, str], ...]


def snapshots(count: int, seed: int = 0, width: int = 320, height: int = 240) -> Iterator[Snapshot]:
    """Rooms one by one, the scenes in turn. Picture n is the same whatever the count."""
    for index in range(count):
        yield snapshot(index, seed, width, height)


def snapshot(index: int, seed: int = 0, width: int = 320, height: int = 240) -> Snapshot:
    """The room with this index. Objects that are more than half hidden or outside the frame are not
    annotated."""
    rng = np.random.default_rng((seed, index))
    scene = list(SCENES)[index % len(SCENES)]
    room = sample_room(rng, scene)
    view = render(room, width, height, rng)
    regions = []
    visible = []
    for i, room_object in enumerate(room.objects):
        mask = view.ids == i
        if mask.sum() >= max(MIN_PIXELS, MIN_VISIBLE * view.covered[i]):
            regions.append(_region(room_object.name, mask))
            visible.append(i)
    phrases = describe(rng, scene, room.objects, visible)
    region_of = {object_index: region for region, object_index in enumerate(visible)}
    captions = tuple(text for _, text in phrases)
    files = (f"images/{index + 1}.jpg", f"depth/{index + 1}.png")
    picture = Picture(str(index + 1), width, height, tuple(regions), captions, scene, *files)
    objects = tuple(room.objects[i] for i in visible)
    return Snapshot(
        picture, room, view, objects, tuple((region_of[i], text) for i, text in phrases)
    )


def write_rooms(
    folder: Path,
    count: int,
    seed: int = 0,
    *,
    width: int = 320,
    height: int = 240,
    pictures: bool = True,
    progress: ProgressCallback = lambda done, total: None,
) -> Path:
    """Write `count` rooms and their truth into a new folder; `pictures=False` leaves out the JPEG
    and depth files.

    Depth maps are 16-bit PNGs in millimetres along the camera's axis. `things.jsonl` holds the true
    size, height and colour of the object in each region, `truth.json`, which is written last, the
    counts over all pictures. A folder in which the same rooms were begun before is finished; where
    they are finished, nothing is done.
    """
    try:
        from PIL import Image  # noqa: F401
    except ImportError as error:
        raise missing_extra("Making rooms", "mine", error) from error
    refuse_foreign_folder(folder, SETTINGS)
    with lock_folder(folder, hint="name a new folder"):
        settings = {
            "count": count,
            "seed": seed,
            "width": width,
            "height": height,
            "pictures": pictures,
        }
        refuse_other_settings(
            folder / SETTINGS,
            settings,
            what=f"Making rooms in '{folder}'",
            hint="name a new folder",
        )
        if (folder / "truth.json").is_file():
            progress(count, count)
            return folder
        _write(folder, count, snapshots(count, seed, width, height), pictures, progress)
    return folder


def _write(
    folder: Path, count: int, shots: Iterator[Snapshot], pictures: bool, progress: ProgressCallback
) -> None:
    from PIL import Image

    for part in ("images", "depth"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    truth = RoomTruth()
    lists: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for shot in shots:
        picture = shot.picture
        if pictures:
            Image.fromarray(shot.view.rgb).save(folder / picture.path, quality=92)
            millimetres = np.minimum(shot.view.depth * 1000, 65535).astype(np.uint16)
            Image.fromarray(millimetres).save(folder / picture.depth, compress_level=1)
        truth.add(picture.scene, shot.objects)
        lists["rows"].append(to_row(picture))
        lists["things"].append(
            {"id": picture.id, "things": [_true_values(o) for o in shot.objects]}
        )
        _add_published_formats(shot, lists)
        progress(1, count)
    write_json_lines(folder / "annotations.jsonl", lists["rows"])
    write_json_lines(folder / "things.jsonl", lists["things"])
    with atomic_write(folder / "annotations.parquet") as unfinished:
        pq.write_table(
            pa.Table.from_pylist(lists["rows"], schema=SCHEMA), unfinished, row_group_size=BATCH
        )
    for name in ("objects", "region_descriptions", "image_data"):
        write_json(folder / f"visual_genome/{name}.json", lists[name], indent=None)
    categories = [{"id": number, "name": name} for name, number in CATEGORIES.items()]
    instances = {
        "images": lists["images"],
        "annotations": lists["annotations"],
        "categories": categories,
    }
    captions = {"images": lists["images"], "annotations": lists["captions"]}
    write_json(folder / "coco/instances.json", instances, indent=None)
    write_json(folder / "coco/captions.json", captions, indent=None)
    write_json(folder / "truth.json", truth.to_json(), indent=1)


def _add_published_formats(shot: Snapshot, lists: dict[str, list[dict[str, Any]]]) -> None:
    """Visual Genome's objects, descriptions and image data; COCO's images, annotations and
    captions."""
    picture = shot.picture
    number = int(shot.picture.id)
    size = {"width": picture.width, "height": picture.height}
    objects = []
    for key, region in enumerate(picture.regions, number * 1000):
        x, y, width, height = region.box
        names = {"object_id": key, "names": [region.name], "synsets": []}
        objects.append({**names, "x": x, "y": y, "w": width, "h": height})
        lists["annotations"].append(
            {
                "id": key,
                "image_id": number,
                "category_id": CATEGORIES[region.name],
                "iscrowd": 0,
                "bbox": list(region.box),
                "area": width * height,
                "segmentation": [list(region.polygon)],
            }
        )
    descriptions = []
    for key, (place, text) in enumerate(shot.phrases, number * 1000):
        x, y, width, height = picture.regions[place].box
        box = {"x": x, "y": y, "width": width, "height": height}
        descriptions.append({"region_id": key, "image_id": number, "phrase": text, **box})
        lists["captions"].append({"id": key, "image_id": number, "caption": text})
    lists["objects"].append({"image_id": number, "image_url": "", "objects": objects})
    lists["region_descriptions"].append({"id": number, "regions": descriptions})
    lists["image_data"].append(
        {"image_id": number, "url": "", **size, "coco_id": None, "flickr_id": None}
    )
    lists["images"].append({"id": number, "file_name": f"{number}.jpg", **size})


def _true_values(o: RoomObject) -> dict[str, Any]:
    metres = {
        "lowest": round(o.lowest, 4),
        "centroid": round(o.centroid, 4),
        "distance": round(o.at[2], 4),
    }
    return {
        "name": o.name,
        "subtype": o.subtype,
        "color": o.color,
        "size": [round(s, 4) for s in o.size],
        **metres,
    }


def _region(name: str, mask: NDArray[np.bool_]) -> Region:
    """The box and the outline of the visible part: left edges downwards, right edges back up, on a
    dozen rows."""
    rows = np.flatnonzero(mask.any(axis=1))
    columns = np.flatnonzero(mask.any(axis=0))
    box = (
        float(columns[0]),
        float(rows[0]),
        float(columns[-1] + 1 - columns[0]),
        float(rows[-1] + 1 - rows[0]),
    )
    sampled = rows[np.unique(np.linspace(0, len(rows) - 1, OUTLINE_ROWS).astype(int))]
    left = mask[sampled].argmax(axis=1)
    right = mask.shape[1] - mask[sampled][:, ::-1].argmax(axis=1)
    # from the top edge of the first row to the bottom of the last
    y = sampled + np.linspace(0, 1, len(sampled))
    outline = np.concatenate([np.stack([left, y], axis=1), np.stack([right, y], axis=1)[::-1]])
    return Region(name, box, tuple(round(float(v), 2) for v in outline.ravel()))
