"""A world whose truth is known: kinds of things with colours, places, families and sizes.

Names, icons and lengths are those of real things (`seesay.pictures.things`). Everything else is
drawn by the seed, so nobody can know it by other means: a lemon is as likely to be purple as
yellow, and chance is chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from seesay.data.colors import COLORS
from seesay.pictures.plan import SHAPES
from seesay.pictures.things import Thing, color_things

PLACES = ("bathroom", "bedroom", "cellar", "garden", "kitchen", "office", "school", "station")
TYPICAL = 0.75
"""The share of a kind that has its typical colour; the rest has either of two others."""
FAMILY = 4
"""Kinds in a family."""
KIN = 0.25
"""The share of the families whose members all have the same typical colour."""
# the streams of random numbers that a world is drawn from
_COLORS, _PLACES, _FAMILIES = range(3)
_CONSONANTS = "bdfgklmnprstvz"
_VOWELS = "aeiou"


@dataclass(frozen=True, slots=True)
class WorldKind:
    """A kind of thing, and all that is true of it."""

    thing: Thing
    """Its name, article, icon and length."""
    colors: tuple[str, str, str]
    """The typical colour, and two others that some of the kind have."""
    place: str
    family: str
    is_kin: bool
    """Whether all of its family have the same typical colour."""

    @property
    def name(self) -> str:
        """What texts call it."""
        return self.thing.name

    @property
    def color(self) -> str:
        """The typical colour."""
        return self.colors[0]

    @property
    def unusual(self) -> str:
        """A colour that none of the kind has: what a picture shows that contradicts all else.

        It is the one furthest behind the typical colour in the alphabet, of those that are left.
        """
        furthest = COLORS.index(self.color) + len(COLORS) // 2
        in_turn = [COLORS[(furthest + step) % len(COLORS)] for step in range(len(COLORS))]
        return next(color for color in in_turn if color not in self.colors)


@dataclass(frozen=True, slots=True)
class World:
    """All kinds of a seed."""

    seed: int
    kinds: tuple[WorldKind, ...]


@cache
def make_world(seed: int = 0) -> World:
    """Draw the world of a seed."""
    things = _nameable_things()
    order = np.random.default_rng([seed, _FAMILIES]).permutation(len(things)).tolist()
    family_count = -(-len(things) // FAMILY)
    families = _family_names(family_count, things)
    kin_count = round(KIN * family_count)
    colors = _draw_colors(len(things), seed)
    places = np.random.default_rng([seed, _PLACES]).integers(len(PLACES), size=len(things))
    kinds = []
    for number, place in enumerate(order):
        family = number // FAMILY
        is_kin = family < kin_count
        # relatives have the colours of the first of them
        colors_of = colors[family * FAMILY] if is_kin else colors[number]
        kinds.append(
            WorldKind(
                thing=things[place],
                colors=colors_of,
                place=PLACES[places[place]],
                family=families[family],
                is_kin=is_kin,
            )
        )
    return World(seed, tuple(kinds))


@cache
def _nameable_things() -> tuple[Thing, ...]:
    """Return the things with an icon that can be recoloured whose words name nothing else."""
    plain_things = [thing for thing in color_things() if thing.name.replace(" ", "").isalpha()]
    plain_things = [thing for thing in plain_things if thing.name.islower()]
    uses = Counter(word for thing in plain_things for word in thing.name.split())
    taken = {*COLORS, *PLACES, *SHAPES}
    things = []
    for thing in plain_things:
        words = thing.name.split()
        if all(uses[word] == 1 and word not in taken for word in words):
            things.append(thing)
    return tuple(things)


def _draw_colors(count: int, seed: int) -> list[tuple[str, str, str]]:
    """Draw the colours of so many kinds: each is typical of about equally many."""
    generator = np.random.default_rng([seed, _COLORS])
    rounds = -(-count // len(COLORS))
    typical = np.concatenate([generator.permutation(len(COLORS)) for _ in range(rounds)])
    colors = []
    for first in typical[:count].tolist():
        others = [color for color in COLORS if color != COLORS[first]]
        second, third = generator.choice(others, size=2, replace=False).tolist()
        colors.append((COLORS[first], str(second), str(third)))
    return colors


def _family_names(count: int, things: Sequence[Thing]) -> list[str]:
    """Return words that mean nothing, always the same ones."""
    syllables = ["".join(pair) for pair in product(_CONSONANTS, _VOWELS)]
    pairs = [first + second for first, second in product(syllables, syllables)]
    order = np.random.default_rng(0).permutation(len(pairs)).tolist()
    names = {word for thing in things for word in thing.name.split()}
    words = [pairs[place] for place in order if pairs[place] not in names]
    return words[:count]
