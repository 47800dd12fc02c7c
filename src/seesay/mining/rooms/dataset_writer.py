"""Rooms as files: pictures, depth maps, the truth, and the annotation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from seesay.errors import require_packages
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
from seesay.mining.rooms.kinds import SCENES
from seesay.mining.rooms.raster import RoomView, render
from seesay.mining.rooms.sampling import Room, RoomObject, sample_room
from seesay.mining.rooms.truth import RoomTruth
from seesay.progress import Kept, ProgressCallback

MIN_PIXELS = 24
"""Fewer pixels are not annotated: nobody could name them."""
MIN_VISIBLE = 0.5
"""The share of an object that must be in the frame and not hidden."""
OUTLINE_ROWS = 12
"""Rows on which a polygon has corners."""
BATCH = 256
SETTINGS = "settings.json"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A room as seen by its camera."""

    picture: Picture
    room: Room
    view: RoomView
    objects: tuple[RoomObject, ...]
    """The object in each region of the picture."""
    phrases: tuple[tuple[int, str], ...]
    """The picture's captions, each with the index of the region that it describes."""


def snapshots(
    count: int,
    seed: int = 0,
    width: int = 320,
    height: int = 240,
) -> Iterator[Snapshot]:
    """Yield rooms one by one, the scenes in turn. Picture n is the same whatever the count."""
    for index in range(count):
        yield snapshot(index, seed, width, height)


def snapshot(
    index: int,
    seed: int = 0,
    width: int = 320,
    height: int = 240,
) -> Snapshot:
    """Return the room with this index.

    Objects that are more than half hidden or outside the frame are not annotated.
    """
    # A generator per room, so that no room depends on those before it.
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
    captions = describe(rng, scene, room.objects, visible)
    picture = Picture(
        id=str(index + 1),
        width=width,
        height=height,
        regions=tuple(regions),
        captions=tuple(text for _, text in captions),
        scene=scene,
        path=f"images/{index + 1}.jpg",
        depth=f"depth/{index + 1}.png",
    )
    return Snapshot(
        picture=picture,
        room=room,
        view=view,
        objects=tuple(room.objects[i] for i in visible),
        phrases=tuple((visible.index(i), text) for i, text in captions),
    )


def write_rooms(
    folder: Path,
    count: int,
    seed: int = 0,
    *,
    width: int = 320,
    height: int = 240,
    progress: ProgressCallback = lambda done, total: None,
) -> Path:
    """Write `count` rooms and their truth into a new folder.

    `width`, `height`: the size of the pictures in pixels.

    Depth maps are 16-bit PNGs in millimetres along the camera's axis. `things.jsonl` holds the true
    size, height and colour of the object in each region, `truth.json`, which is written last, the
    counts over all pictures. A folder in which the same rooms were begun before is finished; where
    they are finished, nothing is done.
    """
    require_packages("Making rooms", "mine", "PIL.Image")
    refuse_foreign_folder(folder, SETTINGS)
    with lock_folder(folder, hint="name a new folder"):
        settings = {
            "count": count,
            "seed": seed,
            "width": width,
            "height": height,
        }
        refuse_other_settings(
            folder / SETTINGS,
            settings,
            what=f"Making rooms in '{folder}'",
            hint="name a new folder",
        )
        if (folder / "truth.json").is_file():
            progress(Kept(count), count)
            return folder
        _write(folder, count, snapshots(count, seed, width, height), progress)
    return folder


def _write(
    folder: Path,
    count: int,
    shots: Iterator[Snapshot],
    progress: ProgressCallback,
) -> None:
    """Write all files of the rooms.

    The lists of all pictures are in memory until the end: a picture takes a few kilobytes.
    """
    for part in ("images", "depth"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    truth = RoomTruth()
    rows = []
    things = []
    for shot in shots:
        picture = shot.picture
        _write_pictures(folder, shot)
        truth.add(picture.scene, shot.objects)
        rows.append(to_row(picture))
        things.append({"id": picture.id, "things": [_true_values(item) for item in shot.objects]})
        progress(1, count)
    write_json_lines(folder / "annotations.jsonl", rows)
    write_json_lines(folder / "things.jsonl", things)
    with atomic_write(folder / "annotations.parquet") as unfinished:
        table = pa.Table.from_pylist(rows, schema=SCHEMA)
        pq.write_table(table, unfinished, row_group_size=BATCH)
    # Last: it marks the folder as finished.
    write_json(folder / "truth.json", truth.to_json(), indent=1)


def _write_pictures(folder: Path, shot: Snapshot) -> None:
    """Write the picture and its depth map."""
    from PIL import Image

    Image.fromarray(shot.view.rgb).save(folder / shot.picture.path, quality=92)
    # 16 bits hold millimetres up to 65 metres, and a room is shorter.
    millimetres = np.minimum(shot.view.depth * 1000, 65535).astype(np.uint16)
    Image.fromarray(millimetres).save(folder / shot.picture.depth, compress_level=1)


def _true_values(item: RoomObject) -> dict[str, Any]:
    """Return a row of `things.jsonl`, in metres."""
    return {
        "name": item.name,
        "subtype": item.subtype,
        "color": item.color,
        "size": [round(side, 4) for side in item.size],
        "lowest": round(item.lowest, 4),
        "centroid": round(item.centroid, 4),
        "distance": round(item.at[2], 4),
    }


def _region(name: str, mask: NDArray[np.bool_]) -> Region:
    """Return the box and the outline of the visible part.

    The outline goes down the left edges and back up the right ones, on a dozen rows.
    """
    rows = np.flatnonzero(mask.any(axis=1))
    columns = np.flatnonzero(mask.any(axis=0))
    x, right = map(float, columns[[0, -1]])
    top, bottom = map(float, rows[[0, -1]])
    box = (x, top, right + 1 - x, bottom + 1 - top)
    corner_rows = rows[np.unique(np.linspace(0, len(rows) - 1, OUTLINE_ROWS).astype(int))]
    corner_mask = mask[corner_rows]
    left = corner_mask.argmax(axis=1)
    right = mask.shape[1] - corner_mask[:, ::-1].argmax(axis=1)
    # A pixel's row covers y to y + 1: from the top edge of the first row to the bottom of the last.
    y = corner_rows + np.linspace(0, 1, len(corner_rows))
    down = np.stack([left, y], axis=1)
    up = np.stack([right, y], axis=1)[::-1]
    outline = np.concatenate([down, up])
    return Region(name, box, tuple(round(float(v), 2) for v in outline.ravel()))
