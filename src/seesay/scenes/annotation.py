"""The published annotation: `{"index": [scene, {"objects": […]}, {"captions": [true, false]}, …]}`, all strings.

Written files have the published keys and two more, which the published ones lack and readers of them pass over: a
triangle's or rectangle's `turn`, and the `level` of a thing that does not shine fully.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.questions import BadRow
from seesay.scenes import labels
from seesay.scenes.config import Recipe
from seesay.scenes.labels import Label
from seesay.scenes.placement import Stone, touch
from seesay.scenes.raster import palette, patches
from seesay.scenes.sentences import say
from seesay.scenes.world import CANVAS, COLOURS, LEVELS, SHAPES, TALL, WIDE, Scene, Thing, anchor, area, areas, extent

LARGEST_FILE = 2 << 30
MOST_OBJECTS = 1000


@dataclass(frozen=True, slots=True)
class Annotated:
    """One scene of an annotation file: its key, its picture's name, what is in it, and what the file says of it."""

    index: str
    image: str
    scene: Scene
    labels: tuple[Label, ...]
    captions: tuple[tuple[str, str], ...]


def entry(recipe: Recipe, scene: Scene, image: str, pair: tuple[int, int] | None = None) -> list[Any]:
    """The value of one index. `pair` are the two things that a comparative compares."""
    things, sizes = scene.things, areas(scene.things)
    judged = labels.judge(scene, recipe.kind, recipe.words, recipe.line)
    about = {
        "image_id": image.removesuffix(".png"),
        "image_url": image,
        "n_objects": str(len(things)),
        "n_colors": str(len({thing.colour for thing in things})),
        "max_radius": str(max(thing.radius for thing in things)),
        "min_radius": str(min(thing.radius for thing in things)),
        "max_area": str(max(sizes)),
        "min_area": str(min(sizes)),
        "total_area_px": str(sum(sizes)),
        "avg_area_px": str(round(sum(sizes) / len(sizes), 4)),
    }
    objects = [_object(i, thing, label, scene.k) for i, (thing, label) in enumerate(zip(things, judged, strict=True))]
    return [about, {"objects": objects}, *({"captions": both} for both in _captions(recipe, scene, judged, pair))]


def _object(number: int, thing: Thing, label: Label, k: float | None) -> dict[str, str]:
    row, column = str(thing.row), str(thing.column)
    if thing.shape == "rectangle":  # the published files store the middle of the short side as a float
        row, column = (f"{thing.row}.0", column) if thing.turn == WIDE else (row, f"{thing.column}.0")
    found = {
        "object_id": str(number),
        "shape": thing.shape,
        "color": thing.colour,
        "radius": str(thing.radius),
        "area": str(area(thing.shape, thing.radius)),
        "rr": row,
        "cc": column,
        "size": label.word,
    }
    if k is not None and label.prob is not None:
        found |= {
            "k": _decimal(k),
            "prob": _decimal(label.prob),
            "thresh_dist": _decimal(label.distance),
            "vagueness": _vagueness(label),
        }
    if thing.shape in ("rectangle", "triangle"):
        found["turn"] = str(thing.turn)
    if thing.level != LEVELS:
        found["level"] = str(thing.level)
    return found


def _captions(
    recipe: Recipe, scene: Scene, judged: Sequence[Label], pair: tuple[int, int] | None
) -> list[list[dict[str, str]]]:
    kind, words, things = recipe.kind, recipe.words, scene.things
    if pair is not None:
        first, second = things[pair[0]], things[pair[1]]
        more = words.measure(first) > words.measure(second)
        true, false = (say(kind, words, first, more == holds, second) for holds in (True, False))
        return [[{"caption_true": true}, {"caption_false": false}]]
    found = []
    for i in labels.askable(scene, kind, words):
        label = judged[i]
        high = label.word in (words.positive[0], words.superlative[0])
        true, false = (say(kind, words, things[i], high == holds) for holds in (True, False))
        both: list[dict[str, str]] = [{"caption_true": true}, {"caption_false": false}]
        if scene.k is not None and label.prob is not None:
            shared = {"k": _decimal(scene.k), "vagueness": _vagueness(label)}
            distance = _decimal(label.distance)
            both[0] |= {**shared, "prob_RH_R_true": _decimal(label.prob), "dist_from_thresh:": distance}
            both[1] |= {**shared, "prob_RH_R_false": _decimal(1 - label.prob), "dist_from_thresh": distance}
        found.append(both)
    return found


def _decimal(value: float | None) -> str:
    return "nan" if value is None else str(round(value, 4))


def _vagueness(label: Label) -> str:
    return "different" if label.vague else "same"


def read(path: Path) -> tuple[list[Annotated], list[BadRow]]:
    """All scenes of an annotation file in the order of their indices, and those that cannot be used."""
    scenes, bad = [], []
    raw = load_json(path)
    if not isinstance(raw, dict):
        raise UserError(f"'{path}' is no annotation of scenes: expected an object of index to scene.")
    order = sorted(raw, key=lambda key: (not key.isdigit(), int(key) if key.isdigit() else 0, key))
    for number, key in enumerate(order):
        try:
            scenes.append(parse(key, raw[key]))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
            bad.append(BadRow(number, f"scene {key!r}: {type(error).__name__} {error}"))
    if not scenes:
        raise UserError(f"'{path}' has no scene that can be read{f': {bad[0].reason}' if bad else ''}.")
    return scenes, bad


def load_json(path: Path) -> Any:
    """A JSON file of somebody else's: bounded, and its faults told in one sentence."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise UserError(f"'{path}' is larger than {LARGEST_FILE >> 30} GB: split it.")
        return json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise UserError(f"There is no file '{path}'.") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"'{path}' is not JSON: {error}.") from error


def parse(key: str, value: Sequence[Mapping[str, Any]]) -> Annotated:
    """One scene. A triangle whose turn is not told gets the one that fits between the others."""
    objects = value[1]["objects"]
    if not 0 < len(objects) <= MOST_OBJECTS:
        raise ValueError(f"{len(objects)} objects")
    things = tuple(_thing(o) for o in objects)
    unknown = [i for i, o in enumerate(objects) if o["shape"] == "triangle" and "turn" not in o]
    k = float(objects[0]["k"]) if "k" in objects[0] else None
    if k is not None and not np.isfinite(k):
        raise ValueError(f"k is {k}")
    said = []
    for pair in value[2:]:
        true, false = pair["captions"]
        said.append((str(true["caption_true"]), str(false["caption_false"])))
    judged = tuple(_label(o) for o in objects)
    return Annotated(str(key), str(value[0]["image_url"]), Scene(fit_turns(things, unknown), k), judged, tuple(said))


def _thing(o: Mapping[str, str]) -> Thing:
    shape, colour, radius, level = o["shape"], o["color"], int(o["radius"]), int(o.get("level", LEVELS))
    if shape not in SHAPES or colour not in COLOURS:
        raise ValueError(f"{colour} {shape}")
    if not 1 <= radius <= CANVAS // 4 or not 1 <= level <= LEVELS:
        raise ValueError(f"radius {radius}, level {level}")
    turn = int(o["turn"]) if "turn" in o else TALL if shape == "rectangle" and "." in str(o["cc"]) else WIDE
    thing = Thing(shape, colour, radius, int(float(o["rr"])), int(float(o["cc"])), turn, level)
    if turn not in (WIDE, TALL) or not (_inside(thing) or (shape == "triangle" and _inside(replace(thing, turn=TALL)))):
        raise ValueError(f"a {shape} at ({thing.row}, {thing.column}) leaves the canvas")
    if "area" in o and int(o["area"]) != area(shape, radius):
        raise ValueError(f"a {shape} of radius {radius} has {area(shape, radius)} pixels, not {o['area']}")
    return thing


def _label(o: Mapping[str, str]) -> Label:
    if "prob" not in o:
        return Label(str(o["size"]))
    distance = None if o["thresh_dist"] == "nan" else float(o["thresh_dist"])
    return Label(str(o["size"]), float(o["prob"]), distance, o["vagueness"] == "different")


def _inside(thing: Thing) -> bool:
    down, right = anchor(thing.shape, thing.radius, thing.turn)
    rows, columns = extent(thing.shape, thing.radius, thing.turn)
    top, left = thing.row - down, thing.column - right
    return top >= 0 and left >= 0 and top + rows <= CANVAS and left + columns <= CANVAS


def _stone(thing: Thing) -> Stone:
    down, right = anchor(thing.shape, thing.radius, thing.turn)
    return thing.shape, thing.radius, thing.turn, thing.row - down, thing.column - right


def fit_turns(things: tuple[Thing, ...], unknown: Sequence[int]) -> tuple[Thing, ...]:
    """Give every triangle of unknown turn one in which it stays on the canvas and touches nothing that is known.

    Where both do, the annotation cannot tell: it is taken to lie. `match_picture` asks the picture.
    """
    known = [_stone(thing) for i, thing in enumerate(things) if i not in unknown]
    fitted = list(things)
    for i in unknown:
        turns = [replace(things[i], turn=turn) for turn in (WIDE, TALL)]
        fits = [t for t in turns if _inside(t) and not any(touch(_stone(t), other) for other in known)]
        fitted[i] = next(iter(fits), fitted[i]) if fits else next(filter(_inside, turns), fitted[i])
    return tuple(fitted)


def match_picture(scene: Scene, picture: NDArray[np.uint8]) -> Scene:
    """Turn the triangles as the picture (rows, columns, at least RGB) shows them."""
    size, colours = picture.shape[0], palette(LEVELS)

    def shown(thing: Thing) -> bool:
        top, left, covered, index = next(patches(Scene((thing,)), size))
        window = picture[top : top + covered.shape[0], left : left + covered.shape[1], :3]
        return bool((window[covered] == colours[index]).all())

    turned = []
    for thing in scene.things:
        ways = [replace(thing, turn=turn) for turn in (WIDE, TALL)] if thing.shape == "triangle" else [thing]
        turned.append(next((way for way in ways if _inside(way) and shown(way)), thing))
    return replace(scene, things=tuple(turned))
