"""What is said of a scene."""

from __future__ import annotations

import re

from seesay.scenes.adjectives import ADJECTIVES, Adjective
from seesay.scenes.config import Recipe
from seesay.scenes.sampling import Item
from seesay.scenes.task_kinds import Kind
from seesay.scenes.world import COLOURS, SHAPES, Thing


def say(kind: Kind, words: Adjective, thing: Thing, positive: bool, other: Thing | None = None) -> str:
    """The sentence, without a full stop, as the published data writes it."""
    subject = f"The {thing.colour} {thing.shape} is"
    which = 0 if positive else 1
    if kind.degree == "superlative":
        return f"{subject} the {words.superlative[which]} {thing.shape}"
    if kind.degree == "comparative":
        if other is None:
            raise ValueError("a comparative needs a second thing")
        return f"{subject} {words.comparative[which]} than the {other.colour} {other.shape}"
    return f"{subject} a {words.positive[which]} {kind.noun or thing.shape}"


def sentence(recipe: Recipe, item: Item) -> str:
    """The item's sentence."""
    things = item.scene.things
    other = things[item.other] if item.other is not None else None
    return say(recipe.kind, recipe.words, things[item.target], item.cell.positive, other)


_NAMED = re.compile(
    rf"The ({'|'.join(COLOURS)}) ({'|'.join(SHAPES)}) is (?:(?:a|the) )?(\w+)"
    rf"(?: than the ({'|'.join(COLOURS)}) ({'|'.join(SHAPES)})| \w+)\.?$"
)


def parse(text: str) -> tuple[str, str, Adjective, str, bool, tuple[str, str] | None] | None:
    """Colour, shape, adjective, degree, whether it is the positive member, and the thing compared with.

    None where the text is no sentence of a scene task.
    """
    found = _NAMED.match(text)
    if not found:
        return None
    colour, shape, word, other_colour, other_shape = found.groups()
    other = (other_colour, other_shape) if other_colour else None
    for adjective in ADJECTIVES.values():
        for degree in ("positive", "comparative", "superlative"):
            pair = getattr(adjective, degree)
            if word in pair and (degree == "comparative") == (other is not None):
                return colour, shape, adjective, degree, word == pair[0], other
    return None
