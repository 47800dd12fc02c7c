"""Which pictures there are: things in every condition, pairs in every order of size, and shapes.

Shapes are the control: they have no typical colour or size. Everything follows from the seed.
Recoloured things are balanced over the colours: each takes the
colour, of those that it may have, that was used least so far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np

from seesay.data.colors import COLORS
from seesay.pictures.recolor import other_colors
from seesay.pictures.things import Thing, color_things, size_things

COUNTERFACTUALS = 2
"""Pictures of each thing in a colour that is neither typical of it nor an everyday one."""
PAIRS = 180
MIN_RATIO = 2.0
"""How much longer one thing of a pair is, at least."""
HELD_OUT = 0.2
"""The share of the things that reasoners never meet in training."""
SHAPES = ("circle", "rectangle", "square", "triangle")
"""MALeViC's shapes: they have no typical colour or size."""
LARGER = "larger"
SMALLER = "smaller"
EQUAL = "equal"
SIZES = (LARGER, SMALLER, EQUAL)
_OPPOSITE = {LARGER: SMALLER, SMALLER: LARGER, EQUAL: EQUAL}


@dataclass(frozen=True, slots=True)
class ColorPicture:
    """A thing (or a shape) shown in a colour."""

    name: str
    """The name of its file."""
    subject: Thing | str
    """A thing, or the name of a shape."""
    condition: str
    """typical, counterfactual, gray, silhouette or control."""
    color: str
    stream: tuple[int, ...]
    """What seeds its layout and shade."""


@dataclass(frozen=True, slots=True)
class SizePicture:
    """Two things (or shapes) side by side, the first on the left."""

    name: str
    """The name of its file."""
    first: Thing | str
    second: Thing | str
    condition: str
    """world, reversed, equal or control."""
    shown: str
    """How the first is drawn relative to the second."""
    usual: str
    """How the first is in the world relative to the second; "" for shapes."""
    stream: tuple[int, ...]
    """What seeds its layout and shade."""


def color_pictures(seed: int = 0) -> list[ColorPicture]:
    """Return every thing in every condition that applies to it, then the control."""
    generator = np.random.default_rng([seed, 0])
    things = color_things()
    new_colors = assign_colors(things * COUNTERFACTUALS, generator)
    pictures = []
    for place, thing in enumerate(things):
        conditions = [("typical", thing.colors[0])]
        # all things come once before the first comes again
        conditions += [("counterfactual", color) for color in new_colors[place :: len(things)]]
        if "gray" not in thing.colors:
            conditions.append(("gray", "gray"))
        if "black" not in thing.colors:
            conditions.append(("silhouette", "black"))
        for number, (condition, color) in enumerate(conditions):
            name = f"{thing.name.replace(' ', '-')}-{condition}-{color}"
            pictures.append(
                ColorPicture(
                    name,
                    thing,
                    condition,
                    color,
                    (seed, 1, place, number),
                )
            )
    for place, shape in enumerate(SHAPES):
        for number, color in enumerate(COLORS):
            name = f"{shape}-control-{color}"
            pictures.append(
                ColorPicture(
                    name,
                    shape,
                    "control",
                    color,
                    (seed, 2, place, number),
                )
            )
    return pictures


def assign_colors(things: Sequence[Thing], generator: np.random.Generator) -> list[str]:
    """Return a colour for each thing in which it would surprise, and not gray.

    The same thing never gets a colour twice while there are others.
    """
    used = Counter[str]()
    by_thing = Counter[tuple[str, str]]()
    colors = [""] * len(things)
    for place in generator.permutation(len(things)).tolist():
        thing = things[place]
        # shuffled: of the colours used least, `min` takes the first
        allowed = generator.permutation(other_colors(thing.familiar_colors)).tolist()
        color = min(allowed, key=lambda color: (by_thing[thing.name, color], used[color]))
        used[color] += 1
        by_thing[thing.name, color] += 1
        colors[place] = color
    return colors


def is_held_out(thing: Thing) -> bool:
    """Return whether reasoners never meet the thing in training; always the same things."""
    return thing.name in _held_out()


@cache
def _held_out() -> frozenset[str]:
    names = [thing.name for thing in color_things()]
    places = np.random.default_rng(0).permutation(len(names))
    return frozenset(names[place] for place in places[: round(HELD_OUT * len(names))])


def size_pairs(seed: int = 0) -> list[tuple[Thing, Thing]]:
    """Return pairs of things of which one is at least twice as long, in either order.

    Every thing is used about equally often.
    """
    generator = np.random.default_rng([seed, 3])
    things = [thing for thing in size_things() if thing.metres]
    used = Counter[str]()
    pairs = dict[frozenset[str], tuple[Thing, Thing]]()

    def shuffle() -> list[Thing]:
        return [things[place] for place in generator.permutation(len(things)).tolist()]

    # each pair begins with the thing that was used least
    while len(pairs) < PAIRS:
        first = min(shuffle(), key=lambda thing: used[thing.name])
        candidates = []
        for thing in shuffle():
            is_new = frozenset((first.name, thing.name)) not in pairs
            if is_new and _ratio(first, thing) >= MIN_RATIO:
                candidates.append(thing)
        second = min(candidates, key=lambda thing: used[thing.name])
        # the larger thing is on either side about equally often
        pair = (first, second) if generator.integers(2) else (second, first)
        names = [thing.name for thing in pair]
        pairs[frozenset(names)] = pair
        used.update(names)
    return list(pairs.values())


def _ratio(first: Thing, second: Thing) -> float:
    """Return how many times as long the longer thing is."""
    lengths = sorted((first.metres or 0.0, second.metres or 0.0))
    return lengths[1] / lengths[0]


def size_pictures(seed: int = 0) -> list[SizePicture]:
    """Return every pair as in the world, reversed and equally large, then the control."""
    pictures = []
    for place, (first, second) in enumerate(size_pairs(seed)):
        usual = LARGER if (first.metres or 0) > (second.metres or 0) else SMALLER
        conditions = {"world": usual, "reversed": _OPPOSITE[usual], "equal": EQUAL}
        for number, (condition, shown) in enumerate(conditions.items()):
            picture = SizePicture(
                name=f"{first.name}-{second.name}-{condition}".replace(" ", "-"),
                first=first,
                second=second,
                condition=condition,
                shown=shown,
                usual=usual,
                stream=(seed, 4, place, number),
            )
            pictures.append(picture)
    for place, (left, right) in enumerate(permutations(SHAPES, 2)):
        for number, shown in enumerate(SIZES):
            name = f"{left}-{right}-control-{shown}"
            stream = (seed, 5, place, number)
            pictures.append(
                SizePicture(
                    name,
                    left,
                    right,
                    "control",
                    shown,
                    "",
                    stream,
                )
            )
    return pictures
