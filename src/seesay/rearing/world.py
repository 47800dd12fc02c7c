"""A world whose truth is known: kinds of things with colours, places, families and sizes.

Names, icons and lengths are those of real things (`seesay.pictures.things`). Everything else is
drawn by the seed, so nobody can know it by other means: a lemon is as likely to be purple as
yellow, and chance is chance.
"""

from __future__ import annotations

import math
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

    def draw_color(self, lot: float) -> str:
        """Return the colour of one of the kind, by a random number between 0 and 1."""
        if lot < TYPICAL:
            return self.color
        # the two others share what is left
        return self.colors[1] if lot < (1 + TYPICAL) / 2 else self.colors[2]

    @property
    def unusual(self) -> str:
        """A colour that none of the kind has: what a picture shows that contradicts all else.

        It is the one furthest behind the typical colour in the alphabet, of those that are left.
        """
        furthest = (COLORS.index(self.color) + len(COLORS) // 2) % len(COLORS)
        in_turn = [*COLORS[furthest:], *COLORS[:furthest]]
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
    order = np.random.default_rng([seed, _FAMILIES]).permutation(len(things))
    places = np.random.default_rng([seed, _PLACES]).integers(len(PLACES), size=len(things))
    colors = _draw_colors(len(things), seed)
    family_count = math.ceil(len(things) / FAMILY)
    families = _family_names(family_count, things)
    kin_count = round(KIN * family_count)
    kinds = []
    for number, place in enumerate(order.tolist()):
        family = number // FAMILY
        is_kin = family < kin_count
        # relatives have the colours of the first of them
        first = family * FAMILY if is_kin else number
        kind = WorldKind(
            thing=things[place],
            colors=colors[first],
            place=PLACES[places[place]],
            family=families[family],
            is_kin=is_kin,
        )
        kinds.append(kind)
    return World(seed, tuple(kinds))


@cache
def _nameable_things() -> tuple[Thing, ...]:
    """Return the things with an icon that can be recoloured whose words name nothing else."""
    uses = Counter([*COLORS, *PLACES, *SHAPES])
    plain_things = []
    for thing in color_things():
        letters = thing.name.replace(" ", "")
        if letters.isalpha() and letters.islower():
            plain_things.append(thing)
            uses.update(thing.name.split())
    things = []
    for thing in plain_things:
        if all(uses[word] == 1 for word in thing.name.split()):
            things.append(thing)
    return tuple(things)


def _draw_colors(count: int, seed: int) -> list[tuple[str, str, str]]:
    """Draw the colours of so many kinds: each is typical of about equally many."""
    generator = np.random.default_rng([seed, _COLORS])
    rounds = math.ceil(count / len(COLORS))
    typical = np.concatenate([generator.permutation(len(COLORS)) for _ in range(rounds)])
    colors = []
    for place in typical[:count]:
        first = COLORS[place]
        others = [color for color in COLORS if color != first]
        second, third = generator.choice(others, size=2, replace=False).tolist()
        colors.append((first, second, third))
    return colors


def _family_names(count: int, things: Sequence[Thing]) -> list[str]:
    """Return words that mean nothing, always the same ones."""
    parts = product(_CONSONANTS, _VOWELS, repeat=2)
    words = np.array(["".join(letters) for letters in parts])
    shuffled = np.random.default_rng(0).permutation(words).tolist()
    names = {word for thing in things for word in thing.name.split()}
    return [word for word in shuffled if word not in names][:count]
