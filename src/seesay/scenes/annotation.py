"""The published annotation: `{"index": [scene, {"objects": […]}, {"captions": [true, false]}, …]}`,
all strings.

Written files have the published keys and two more, which the published ones lack and readers of
them ignore: the `turn` of a triangle or rectangle, and the `level` of an object that is not at full
brightness.
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
    """One scene of an annotation file."""

    index: str
    """Its key in the file."""
    image: str
    """The name of its picture."""
    scene: Scene
    labels: tuple[Label, ...]
    """The labels of its objects, as the file has them."""
    captions: tuple[tuple[str, str], ...]
    """Pairs of a true and a false sentence."""

    def sentences(self) -> list[tuple[str, bool]]:
        """Return every sentence of the captions, and whether it is true."""
        sentences = []
        for true, false in self.captions:
            sentences += [(true, True), (false, False)]
        return sentences


def entry(
    config: SceneConfig,
    scene: Scene,
    image: str,
    pair: tuple[int, int] | None = None,
) -> list[Any]:
    """Return the value of one index.

    `pair` is the places of the two objects that a comparative compares.
    """
    objects = scene.objects
    sizes = [area(obj.shape, obj.radius) for obj in objects]
    object_labels = labels.label_objects(
        scene,
        config.kind,
        config.adjectives,
        config.threshold_fn,
    )
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
    rows = []
    for number, (obj, label) in enumerate(zip(objects, object_labels, strict=True)):
        rows.append(_object(number, obj, label, scene.k))
    if pair is None:
        captions = _captions(config, scene, object_labels)
    else:
        captions = [_comparative_captions(config, objects[pair[0]], objects[pair[1]])]
    return [about, {"objects": rows}, *({"captions": both} for both in captions)]


def _object(
    number: int,
    obj: SceneObject,
    label: Label,
    k: float | None,
) -> dict[str, str]:
    """Return one object as the annotation stores it."""
    row = str(obj.row)
    column = str(obj.column)
    # the published files store the middle of a rectangle's short side as a float
    if obj.shape == "rectangle" and obj.turn == WIDE:
        row = f"{obj.row}.0"
    elif obj.shape == "rectangle":
        column = f"{obj.column}.0"
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
        fields["k"] = _decimal(k)
        fields["prob"] = _decimal(label.prob)
        fields["thresh_dist"] = _decimal(label.distance)
        fields["vagueness"] = _vagueness(label)
    if obj.shape in ("rectangle", "triangle"):
        fields["turn"] = str(obj.turn)
    if obj.level != LEVELS:
        fields["level"] = str(obj.level)
    return fields


def _comparative_captions(
    config: SceneConfig, first: SceneObject, second: SceneObject
) -> list[dict[str, str]]:
    """Return the true and the false sentence that compare two objects."""
    words = config.adjectives
    more = words.measure(first) > words.measure(second)
    true = compose(config.kind, words, first, more, second)
    false = compose(config.kind, words, first, not more, second)
    return [{"caption_true": true}, {"caption_false": false}]


def _captions(
    config: SceneConfig, scene: Scene, object_labels: Sequence[Label]
) -> list[list[dict[str, str]]]:
    """Return a true and a false sentence about every object that may be asked about."""
    words = config.adjectives
    captions = []
    for i in labels.eligible_targets(scene, config.kind, words):
        label = object_labels[i]
        high = label.word in (words.positive[0], words.superlative[0])
        true = {"caption_true": compose(config.kind, words, scene.objects[i], high)}
        false = {
            "caption_false": compose(
                config.kind,
                words,
                scene.objects[i],
                not high,
            )
        }
        if scene.k is not None and label.prob is not None:
            shared = {"k": _decimal(scene.k), "vagueness": _vagueness(label)}
            distance = _decimal(label.distance)
            true |= shared
            true["prob_RH_R_true"] = _decimal(label.prob)
            # the published key has this colon; that of the false caption has none
            true["dist_from_thresh:"] = distance
            false |= shared
            false["prob_RH_R_false"] = _decimal(1 - label.prob)
            false["dist_from_thresh"] = distance
        captions.append([true, false])
    return captions


def _decimal(value: float | None) -> str:
    """Return a number with the four decimals of the published files."""
    return "nan" if value is None else str(round(value, 4))


def _vagueness(label: Label) -> str:
    return "different" if label.vague else "same"


def read(path: Path) -> tuple[list[AnnotatedScene], list[BadRow]]:
    """Read all scenes of an annotation file in the order of their indices, and those that cannot be
    used.
    """
    raw = load_json(path, LARGEST_FILE)
    if not isinstance(raw, dict):
        raise UserError(
            f"'{path}' is not an annotation of scenes: expected an object of index to scene."
        )
    numbers = {key: int(key) for key in raw if key.isdecimal() and len(key) <= _MOST_DIGITS}
    # as numbers where they are some: "10" comes after "9"
    order = sorted(raw, key=lambda key: (key not in numbers, numbers.get(key, 0), key))
    rows = [(key, raw[key]) for key in order]
    return parse_each(path, "scene", parse, rows, "scene {!r}: ")


def parse_each(
    path: Path,
    what: str,
    parse: Callable[..., T],
    rows: Iterable[tuple[Any, ...]],
    label: str = "",
) -> tuple[list[T], list[BadRow]]:
    """Parse each row of a file; return the results, and the rows that cannot be used.

    `label` begins their reasons.
    """
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
        reason = f": {bad[0].reason}" if bad else ""
        raise UserError(f"'{path}' has no {what} that can be read{reason}.")
    return parsed, bad


def parse(key: str, value: Sequence[Mapping[str, Any]]) -> AnnotatedScene:
    """Parse one scene. A triangle without a stored turn gets one that fits between the others."""
    rows = value[1]["objects"]
    if not 0 < len(rows) <= MOST_OBJECTS:
        raise ValueError(f"{len(rows)} objects")
    objects = tuple(_parse_object(row) for row in rows)
    unknown = [i for i, row in enumerate(rows) if row["shape"] == "triangle" and "turn" not in row]
    k = float(rows[0]["k"]) if "k" in rows[0] else None
    if k is not None and not np.isfinite(k):
        raise ValueError(f"k is {k}")
    captions = []
    for pair in value[2:]:
        true, false = pair["captions"]
        captions.append((str(true["caption_true"]), str(false["caption_false"])))
    return AnnotatedScene(
        index=str(key),
        image=picture_name(value[0]["image_url"]),
        scene=Scene(fit_turns(objects, unknown), k),
        labels=tuple(map(_label, rows)),
        captions=tuple(captions),
    )


def picture_name(name: Any) -> str:
    """Return the name of a picture's file below its folder.

    No other file of the machine can be named: data sets come from anywhere.
    """
    text = str(name)
    path = PurePosixPath(text)
    leads_out = path.is_absolute() or ".." in path.parts or not path.name
    if leads_out or "\0" in text or "\\" in text:
        raise ValueError(f"the picture's name {text[:80]!r} leads out of its folder")
    return text


def _parse_object(row: Mapping[str, str]) -> SceneObject:
    shape = row["shape"]
    color = row["color"]
    radius = int(row["radius"])
    level = int(row.get("level", LEVELS))
    if shape not in SHAPES or color not in SCENE_COLORS:
        raise ValueError(f"{color} {shape}")
    if not 1 <= radius <= CANVAS // 4 or not 1 <= level <= LEVELS:
        raise ValueError(f"radius {radius}, level {level}")
    turn = _parse_turn(row)
    place = (int(float(row["rr"])), int(float(row["cc"])))
    obj = SceneObject(shape, color, radius, *place, turn, level)
    inside = _inside(obj)
    # a triangle of unknown turn may be meant with the other one
    if shape == "triangle":
        inside = inside or _inside(replace(obj, turn=TALL))
    if turn not in (WIDE, TALL) or not inside:
        raise ValueError(f"a {shape} at ({obj.row}, {obj.column}) leaves the canvas")
    pixels = area(shape, radius)
    if "area" in row and int(row["area"]) != pixels:
        raise ValueError(f"a {shape} of radius {radius} has {pixels} pixels, not {row['area']}")
    return obj


def _parse_turn(row: Mapping[str, str]) -> int:
    if "turn" in row:
        return int(row["turn"])
    # only the short side's middle of a rectangle is stored as a float (see `_object`)
    if row["shape"] == "rectangle" and "." in str(row["cc"]):
        return TALL
    return WIDE


def _label(row: Mapping[str, str]) -> Label:
    if "prob" not in row:
        return Label(str(row["size"]))
    distance = None if row["thresh_dist"] == "nan" else float(row["thresh_dist"])
    vague = row["vagueness"] == "different"
    return Label(str(row["size"]), float(row["prob"]), distance, vague)


def _inside(obj: SceneObject) -> bool:
    """Return whether the object's box is inside the canvas."""
    down, right = anchor(obj.shape, obj.radius, obj.turn)
    rows, columns = extent(obj.shape, obj.radius, obj.turn)
    top = obj.row - down
    left = obj.column - right
    return min(top, left) >= 0 and max(top + rows, left + columns) <= CANVAS


def fit_turns(objects: tuple[SceneObject, ...], unknown: Sequence[int]) -> tuple[SceneObject, ...]:
    """Turn every triangle of unknown turn so that it stays on the canvas and touches nothing.

    Only objects whose turn is known count. Where both turns fit, the annotation cannot decide: WIDE
    is assumed. `match_picture` compares with the picture.
    """
    others = [obj for i, obj in enumerate(objects) if i not in unknown]
    fitted = list(objects)
    for i in unknown:
        turned = [obj for obj in _both_turns(objects[i]) if _inside(obj)]
        free = [obj for obj in turned if not any(touch(obj, other) for other in others)]
        # where neither is free, it is at least on the canvas
        fitted[i] = next(iter([*free, *turned]), fitted[i])
    return tuple(fitted)


def _both_turns(obj: SceneObject) -> list[SceneObject]:
    return [replace(obj, turn=turn) for turn in (WIDE, TALL)]


def match_picture(scene: Scene, picture: NDArray[np.uint8]) -> Scene:
    """Turn the triangles as the picture (rows, columns, at least RGB) shows them."""
    turned = []
    for obj in scene.objects:
        choices = _both_turns(obj) if obj.shape == "triangle" else [obj]
        shown = [choice for choice in choices if _inside(choice) and _is_shown(choice, picture)]
        turned.append(shown[0] if shown else obj)
    return replace(scene, objects=tuple(turned))


def _is_shown(obj: SceneObject, picture: NDArray[np.uint8]) -> bool:
    """Return whether all pixels that the object covers have its color in the picture."""
    top, left, covered, index = next(patches(Scene((obj,)), picture.shape[0]))
    rows, columns = covered.shape
    window = picture[top : top + rows, left : left + columns, :3]
    return bool((window[covered] == palette(LEVELS)[index]).all())
