"""Which pictures there are: things in every condition, pairs of things in every order of size, and
shapes as control.

Everything follows from the seed. Recoloured things are balanced over the colours: each takes the
colour, of those that it may have, that was used least so far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from seesay.data.colors import COLORS
from seesay.pictures.recolor import others
from seesay.pictures.things import Thing, color_things, size_things

COUNTERFACTUALS = 2
"""Pictures of each thing in a colour that is not typical of it."""
PAIRS = 180
MIN_RATIO = 2.0
"""How much longer one thing of a pair is, at least."""
HELD_OUT = 0.2
"""The share of the things that reasoners never meet in training."""
SHAPES = ("circle", "rectangle", "square", "triangle")
"""MALeViC's shapes: they have no typical colour or size."""
LARGER, SMALLER, EQUAL = "larger", "smaller", "equal"
SIZES = (LARGER, SMALLER, EQUAL)
_OPPOSITE = {LARGER: SMALLER, SMALLER: LARGER, EQUAL: EQUAL}


@dataclass(frozen=True, slots=True)
class ColorPicture:
    """A thing (or a shape, by its name) shown in a colour. `condition` is typical, counterfactual,
    gray, silhouette or control; `name` is the file's, and `stream` seeds its layout and shade."""

    name: str
    subject: Thing | str
    condition: str
    color: str
    stream: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SizePicture:
    """Two things (or shapes) side by side, the first on the left; `shown` says how the first is
    drawn relative to the second, `usual` how it is in the world ("" for shapes). `condition` is
    world, reversed, equal or control."""

    name: str
    first: Thing | str
    second: Thing | str
    condition: str
    shown: str
    usual: str
    stream: tuple[int, ...]


Picture = ColorPicture | SizePicture


def color_pictures(seed: int = 0) -> list[ColorPicture]:
    """Every thing in every condition that applies to it, then the control."""
    generator = np.random.default_rng([seed, 0])
    chosen = recolored(color_things() * COUNTERFACTUALS, generator)
    pictures = []
    for place, thing in enumerate(color_things()):
        shown = [("typical", thing.colors[0])]
        shown += [("counterfactual", colors) for colors in chosen[place :: len(color_things())]]
        if "gray" not in thing.colors:
            shown.append(("gray", "gray"))
        if "black" not in thing.colors:
            shown.append(("silhouette", "black"))
        for number, (condition, color) in enumerate(shown):
            name = f"{thing.name.replace(' ', '-')}-{condition}-{color}"
            pictures.append(ColorPicture(name, thing, condition, color, (seed, 1, place, number)))
    for place, shape in enumerate(SHAPES):
        for number, color in enumerate(COLORS):
            pictures.append(
                ColorPicture(
                    f"{shape}-control-{color}", shape, "control", color, (seed, 2, place, number)
                )
            )
    return pictures


def recolored(things: Sequence[Thing], generator: np.random.Generator) -> list[str]:
    """A colour for each thing that is not typical of it and not gray; the same thing never gets a
    colour twice while there are others."""
    used = Counter[str]()
    by_thing = Counter[tuple[str, str]]()
    colors = [""] * len(things)
    for place in generator.permutation(len(things)).tolist():
        thing = things[place]
        allowed = generator.permutation(others(thing.colors)).tolist()
        color = min(allowed, key=lambda color: (by_thing[thing.name, color], used[color]))
        used[color] += 1
        by_thing[thing.name, color] += 1
        colors[place] = color
    return colors


def is_held_out(thing: Thing) -> bool:
    """Whether reasoners never meet the thing in training; always the same things."""
    return thing.name in _held_out()


@cache
def _held_out() -> frozenset[str]:
    names = [thing.name for thing in color_things()]
    drawn = np.random.default_rng(0).permutation(len(names))[: round(HELD_OUT * len(names))]
    return frozenset(names[place] for place in drawn)


def size_pairs(seed: int = 0) -> list[tuple[Thing, Thing]]:
    """Pairs of things of which one is at least twice as long, in either order, every thing about
    equally often."""
    generator = np.random.default_rng([seed, 3])
    things = [thing for thing in size_things() if thing.metres]
    used = Counter[str]()
    pairs = dict[frozenset[str], tuple[Thing, Thing]]()
    while len(pairs) < PAIRS:
        first = min(
            generator.permutation(len(things)).tolist(), key=lambda place: used[things[place].name]
        )
        fits = [
            place
            for place in generator.permutation(len(things)).tolist()
            if _ratio(things[first], things[place]) >= MIN_RATIO
            and frozenset((things[first].name, things[place].name)) not in pairs
        ]
        second = min(fits, key=lambda place: used[things[place].name])
        if generator.integers(2):
            pair = (things[first], things[second])
        else:
            pair = (things[second], things[first])
        pairs[frozenset(thing.name for thing in pair)] = pair
        used.update(thing.name for thing in pair)
    return list(pairs.values())


def _ratio(first: Thing, second: Thing) -> float:
    lengths = sorted((first.metres or 0.0, second.metres or 0.0))
    return lengths[1] / lengths[0]


def size_pictures(seed: int = 0) -> list[SizePicture]:
    """Every pair as in the world, reversed and equally large, then the control."""
    pictures = []
    for place, (first, second) in enumerate(size_pairs(seed)):
        usual = LARGER if (first.metres or 0) > (second.metres or 0) else SMALLER
        for number, (condition, shown) in enumerate(
            (("world", usual), ("reversed", _OPPOSITE[usual]), ("equal", EQUAL))
        ):
            name = f"{first.name}-{second.name}-{condition}".replace(" ", "-")
            pictures.append(
                SizePicture(name, first, second, condition, shown, usual, (seed, 4, place, number))
            )
    shapes = [(first, second) for first in SHAPES for second in SHAPES if first != second]
    for place, (left, right) in enumerate(shapes):
        for number, shown in enumerate(SIZES):
            name = f"{left}-{right}-control-{shown}"
            pictures.append(
                SizePicture(name, left, right, "control", shown, "", (seed, 5, place, number))
            )
    return pictures
