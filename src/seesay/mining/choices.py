"""The choices that mining offers, without heavy imports: the command line's help shows them."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from seesay.registry import unknown


class SizeRule(StrEnum):
    """How a region's area is scaled by its depth (`seesay.mining.sizes`)."""

    PAPER = "paper"
    PUBLISHED = "published"
    BOXES = "boxes"
    PINHOLE = "pinhole"


class SpaceRule(StrEnum):
    """Which regions are compared by height (`seesay.mining.places`)."""

    PAPER = "paper"
    APART = "apart"
    PUBLISHED = "published"
    BOXES = "boxes"


class SubtypeRule(StrEnum):
    """Which names are subtypes of which (`seesay.mining.subtypes`)."""

    PAPER = "paper"
    PUBLISHED = "published"


class Lexicon(StrEnum):
    """Sources of further subtypes."""

    CONCEPTNET = "conceptnet"
    WORDNET = "wordnet"


class Engine(StrEnum):
    """Where the work runs: on this machine or on a Ray cluster."""

    LOCAL = "local"
    RAY = "ray"


Choice = TypeVar("Choice", bound=StrEnum)


def choose(kind: str, choices: type[Choice], name: str) -> Choice:
    """The choice of this name; an unknown name is rejected.

    >>> choose("size rule", SizeRule, "boxes")
    <SizeRule.BOXES: 'boxes'>
    """
    if name not in [*choices]:
        raise unknown(kind, name, choices, "seesay mine --help")
    return choices(name)
