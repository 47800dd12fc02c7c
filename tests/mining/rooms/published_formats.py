"""Rooms in the formats of Visual Genome and COCO: their readers are compared with ours."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seesay.mining.rooms import Snapshot
from seesay.mining.rooms.kinds import KINDS

CATEGORIES = {name: number for number, name in enumerate(KINDS, start=1)}
"""COCO's numbers of the kinds of objects."""

Rows = list[dict[str, Any]]


def write_published_formats(folder: Path, shots: Iterable[Snapshot]) -> None:
    """Write the annotation of rooms into the folders `visual_genome` and `coco`."""
    lists: defaultdict[str, Rows] = defaultdict(list)
    for shot in shots:
        _add_visual_genome(shot, lists)
        _add_coco(shot, lists)
    instances = {
        "images": lists["images"],
        "annotations": lists["annotations"],
        "categories": [{"id": number, "name": name} for name, number in CATEGORIES.items()],
    }
    captions = {"images": lists["images"], "annotations": lists["captions"]}
    files: dict[str, object] = {"coco/instances": instances, "coco/captions": captions}
    for name in ("objects", "region_descriptions", "image_data"):
        files[f"visual_genome/{name}"] = lists[name]
    for name, content in files.items():
        path = folder / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))


def _add_visual_genome(shot: Snapshot, lists: dict[str, Rows]) -> None:
    """Add a picture to Visual Genome's lists: objects, region descriptions and image data.

    Ids are the picture's number and three digits, so that no two pictures share one.
    """
    picture = shot.picture
    number = int(picture.id)
    objects = []
    for key, region in enumerate(picture.regions, number * 1000):
        x, y, width, height = region.box
        objects.append(
            {
                "object_id": key,
                "names": [region.name],
                "synsets": [],
                "x": x,
                "y": y,
                "w": width,
                "h": height,
            }
        )
    descriptions = []
    for key, (place, text) in enumerate(shot.phrases, number * 1000):
        box = dict(zip(("x", "y", "width", "height"), picture.regions[place].box, strict=True))
        descriptions.append(
            {
                "region_id": key,
                "image_id": number,
                "phrase": text,
                **box,
            }
        )
    lists["objects"].append(
        {
            "image_id": number,
            "image_url": "",
            "objects": objects,
        }
    )
    lists["region_descriptions"].append({"id": number, "regions": descriptions})
    lists["image_data"].append(
        {
            "image_id": number,
            "url": "",
            "width": picture.width,
            "height": picture.height,
            "coco_id": None,
            "flickr_id": None,
        }
    )


def _add_coco(shot: Snapshot, lists: dict[str, Rows]) -> None:
    """Add a picture to COCO's lists: images, annotations and captions.

    Ids are the picture's number and three digits, so that no two pictures share one.
    """
    picture = shot.picture
    number = int(picture.id)
    for key, region in enumerate(picture.regions, number * 1000):
        lists["annotations"].append(
            {
                "id": key,
                "image_id": number,
                "category_id": CATEGORIES[region.name],
                "iscrowd": 0,
                "bbox": list(region.box),
                "area": region.box[2] * region.box[3],
                "segmentation": [list(region.polygon)],
            }
        )
    for key, (_, text) in enumerate(shot.phrases, number * 1000):
        lists["captions"].append(
            {
                "id": key,
                "image_id": number,
                "caption": text,
            }
        )
    lists["images"].append(
        {
            "id": number,
            "file_name": f"{number}.jpg",
            "width": picture.width,
            "height": picture.height,
        }
    )
