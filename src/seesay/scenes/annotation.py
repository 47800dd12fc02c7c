"""The published annotation: `{"index": [scene, {"objects": […]}, {"captions": [true, false]}, …]}`,
all strings.

Written files have the published keys and two more, which the published ones lack and readers of
them pass over: a triangle's or rectangle's `turn`, and the `level` of an object that does not shine
fully.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from seesay.data.rows import load_json
from seesay.errors import UserError
from seesay.questions import BadRow
from seesay.scenes import labels
from seesay.scenes.config import SceneConfig
from seesay.scenes.labels import Label
from seesay.scenes.placement import touch
from seesay.scenes.raster import palette, patches
from seesay.scenes.sentences import compose
from seesay.scenes.world import (
    CANVAS,
    LEVELS,
    SCENE_COLORS,
    SHAPES,
    TALL,
    WIDE,
    Scene,
    SceneObject,
    anchor,
    area,
    extent,
)

T = TypeVar("T")

LARGEST_FILE = 2 << 30
MOST_OBJECTS = 1000
_MOST_DIGITS = 20


@dataclass(frozen=True, slots=True)
class AnnotatedScene:
    """One scene of an annotation file: its key, its picture's name, what is in it, and what the
    file says of it."""

    index: str
    image: str
    scene: Scene
    labels: tuple[Label, ...]
    captions: tuple[tuple[str, str], ...]

    def sentences(self) -> list[tuple[str, bool]]:
        """Every sentence of the captions, and whether it is true."""
        return [
            (text, holds)
            for pair in self.captions
            for text, holds in zip(pair, (True, False), strict=True)
        ]


def entry(
    config: SceneConfig, scene: Scene, image: str, pair: tuple[int, int] | None = None
) -> list[Any]:
    """The value of one index. `pair` is the places of the two objects that a comparative
    compares."""
    objects = scene.objects
    sizes = [area(obj.shape, obj.radius) for obj in scene.objects]
    object_labels = labels.label_objects(scene, config.kind, config.adjectives, config.threshold_fn)
    about = {
        "image_id": image.removesuffix(".png"),
        "image_url": image,
        "n_objects": str(len(objects)),
        "n_colors": str(len({obj.color for obj in objects})),
        "max_radius": str(max(obj.radius for obj in objects)),
        "min_radius": str(min(obj.radius for obj in objects)),
        "max_area": str(max(sizes)),
        "min_area": str(min(sizes)),
        "total_area_px": str(sum(sizes)),
        "avg_area_px": str(round(sum(sizes) / len(sizes), 4)),
    }
    rows = [
        _object(i, obj, label, scene.k)
        for i, (obj, label) in enumerate(zip(objects, object_labels, strict=True))
    ]
    return [
        about,
        {"objects": rows},
        *({"captions": both} for both in _captions(config, scene, object_labels, pair)),
    ]


def _object(number: int, obj: SceneObject, label: Label, k: float | None) -> dict[str, str]:
    row = str(obj.row)
    column = str(obj.column)
    # the published files store the middle of the short side as a float
    if obj.shape == "rectangle":
        row, column = (f"{obj.row}.0", column) if obj.turn == WIDE else (row, f"{obj.column}.0")
    fields = {
        "object_id": str(number),
        "shape": obj.shape,
        "color": obj.color,
        "radius": str(obj.radius),
        "area": str(area(obj.shape, obj.radius)),
        "rr": row,
        "cc": column,
        "size": label.word,
    }
    if k is not None and label.prob is not None:
        fields |= {"k": _decimal(k), "prob": _decimal(label.prob)}
        fields |= {"thresh_dist": _decimal(label.distance), "vagueness": _vagueness(label)}
    if obj.shape in ("rectangle", "triangle"):
        fields["turn"] = str(obj.turn)
    if obj.level != LEVELS:
        fields["level"] = str(obj.level)
    return fields


def _captions(
    config: SceneConfig, scene: Scene, object_labels: Sequence[Label], pair: tuple[int, int] | None
) -> list[list[dict[str, str]]]:
    kind = config.kind
    words = config.adjectives
    objects = scene.objects
    if pair is not None:
        first = objects[pair[0]]
        second = objects[pair[1]]
        more = words.measure(first) > words.measure(second)
        true, false = (
            compose(kind, words, first, more == holds, second) for holds in (True, False)
        )
        return [[{"caption_true": true}, {"caption_false": false}]]
    captions = []
    for i in labels.askable(scene, kind, words):
        label = object_labels[i]
        high = label.word in (words.positive[0], words.superlative[0])
        true, false = (compose(kind, words, objects[i], high == holds) for holds in (True, False))
        both: list[dict[str, str]] = [{"caption_true": true}, {"caption_false": false}]
        if scene.k is not None and label.prob is not None:
            shared = {"k": _decimal(scene.k), "vagueness": _vagueness(label)}
            distance = _decimal(label.distance)
            both[0] |= {
                **shared,
                "prob_RH_R_true": _decimal(label.prob),
                "dist_from_thresh:": distance,
            }
            both[1] |= {
                **shared,
                "prob_RH_R_false": _decimal(1 - label.prob),
                "dist_from_thresh": distance,
            }
        captions.append(both)
    return captions


def _decimal(value: float | None) -> str:
    return "nan" if value is None else str(round(value, 4))


def _vagueness(label: Label) -> str:
    return "different" if label.vague else "same"


def read(path: Path) -> tuple[list[AnnotatedScene], list[BadRow]]:
    """All scenes of an annotation file in the order of their indices, and those that cannot be
    used."""
    raw = load_json(path, LARGEST_FILE)
    if not isinstance(raw, dict):
        raise UserError(
            f"'{path}' is not an annotation of scenes: expected an object of index to scene."
        )
    numbers = {key: int(key) for key in raw if key.isdecimal() and len(key) <= _MOST_DIGITS}
    order = sorted(raw, key=lambda key: (key not in numbers, numbers.get(key, 0), key))
    return parse_each(path, "scene", parse, [(key, raw[key]) for key in order], "scene {!r}: ")


def parse_each(
    path: Path, what: str, parse: Callable[..., T], rows: Iterable[tuple[Any, ...]], label: str = ""
) -> tuple[list[T], list[BadRow]]:
    """What is made of each row of a file, and the rows that cannot be used; `label` begins their
    reasons."""
    parsed = []
    bad = []
    for number, row in enumerate(rows):
        try:
            parsed.append(parse(*row))
        except (
            KeyError,
            IndexError,
            TypeError,
            ValueError,
            AttributeError,
            OverflowError,
        ) as error:
            bad.append(BadRow(number, f"{label.format(*row)}{type(error).__name__} {error}"))
    if not parsed:
        raise UserError(
            f"'{path}' has no {what} that can be read{f': {bad[0].reason}' if bad else ''}."
        )
    return parsed, bad


def parse(key: str, value: Sequence[Mapping[str, Any]]) -> AnnotatedScene:
    """One scene. A triangle without a stored turn gets one that fits between the other objects."""
    rows = value[1]["objects"]
    if not 0 < len(rows) <= MOST_OBJECTS:
        raise ValueError(f"{len(rows)} objects")
    objects = tuple(_parse_object(row) for row in rows)
    unknown = [i for i, row in enumerate(rows) if row["shape"] == "triangle" and "turn" not in row]
    k = float(rows[0]["k"]) if "k" in rows[0] else None
    if k is not None and not np.isfinite(k):
        raise ValueError(f"k is {k}")
    both = [pair["captions"] for pair in value[2:]]
    captions = tuple(
        (str(true["caption_true"]), str(false["caption_false"])) for true, false in both
    )
    scene = Scene(fit_turns(objects, unknown), k)
    return AnnotatedScene(
        str(key), picture_name(value[0]["image_url"]), scene, tuple(map(_label, rows)), captions
    )


def picture_name(name: Any) -> str:
    """The name of a picture's file below its folder: no other file of the machine can be named."""
    path = PurePosixPath(str(name))
    if (
        path.is_absolute()
        or ".." in path.parts
        or "\0" in str(name)
        or "\\" in str(name)
        or not path.name
    ):
        raise ValueError(f"the picture's name {str(name)[:80]!r} leads out of its folder")
    return str(name)


def _parse_object(o: Mapping[str, str]) -> SceneObject:
    shape = o["shape"]
    color = o["color"]
    radius = int(o["radius"])
    level = int(o.get("level", LEVELS))
    if shape not in SHAPES or color not in SCENE_COLORS:
        raise ValueError(f"{color} {shape}")
    if not 1 <= radius <= CANVAS // 4 or not 1 <= level <= LEVELS:
        raise ValueError(f"radius {radius}, level {level}")
    if "turn" in o:
        turn = int(o["turn"])
    elif shape == "rectangle" and "." in str(o["cc"]):
        turn = TALL
    else:
        turn = WIDE
    obj = SceneObject(shape, color, radius, int(float(o["rr"])), int(float(o["cc"])), turn, level)
    if turn not in (WIDE, TALL) or not (
        _inside(obj) or (shape == "triangle" and _inside(replace(obj, turn=TALL)))
    ):
        raise ValueError(f"a {shape} at ({obj.row}, {obj.column}) leaves the canvas")
    if "area" in o and int(o["area"]) != area(shape, radius):
        raise ValueError(
            f"a {shape} of radius {radius} has {area(shape, radius)} pixels, not {o['area']}"
        )
    return obj


def _label(o: Mapping[str, str]) -> Label:
    if "prob" not in o:
        return Label(str(o["size"]))
    distance = None if o["thresh_dist"] == "nan" else float(o["thresh_dist"])
    return Label(str(o["size"]), float(o["prob"]), distance, o["vagueness"] == "different")


def _inside(obj: SceneObject) -> bool:
    down, right = anchor(obj.shape, obj.radius, obj.turn)
    top = obj.row - down
    left = obj.column - right
    rows, columns = extent(obj.shape, obj.radius, obj.turn)
    return top >= 0 and left >= 0 and top + rows <= CANVAS and left + columns <= CANVAS


def fit_turns(objects: tuple[SceneObject, ...], unknown: Sequence[int]) -> tuple[SceneObject, ...]:
    """Give every triangle of unknown turn one in which it stays on the canvas and touches nothing
    that is known.

    Where both fit, the annotation cannot decide: WIDE is assumed. `match_picture` compares with the
    picture.
    """
    known = [obj for i, obj in enumerate(objects) if i not in unknown]
    fitted = list(objects)
    for i in unknown:
        turns = [replace(objects[i], turn=turn) for turn in (WIDE, TALL)]
        fits = [t for t in turns if _inside(t) and not any(touch(t, other) for other in known)]
        fitted[i] = next(iter([*fits, *filter(_inside, turns)]), fitted[i])
    return tuple(fitted)


def match_picture(scene: Scene, picture: NDArray[np.uint8]) -> Scene:
    """Turn the triangles as the picture (rows, columns, at least RGB) shows them."""
    size = picture.shape[0]
    colors = palette(LEVELS)

    def shown(obj: SceneObject) -> bool:
        top, left, covered, index = next(patches(Scene((obj,)), size))
        window = picture[top : top + covered.shape[0], left : left + covered.shape[1], :3]
        return bool((window[covered] == colors[index]).all())

    turned = []
    for obj in scene.objects:
        if obj.shape == "triangle":
            ways = [replace(obj, turn=turn) for turn in (WIDE, TALL)]
        else:
            ways = [obj]
        turned.append(next((way for way in ways if _inside(way) and shown(way)), obj))
    return replace(scene, objects=tuple(turned))
