"""The choices that mining offers, without heavy imports: the command line's help shows them."""

from __future__ import annotations

import re
from enum import StrEnum

from seesay.registry import unknown

MIN_SEEN, MIN_RELATION, MIN_ANSWERS = 100, 10, 10
"""How often a pair, a relation in a scene and the colours of an object must be seen: ViPhy's
published values."""

SIZE_CLASSES = 5
"""ViPhy's number of size classes of a picture."""

MIN_REGIONS = SIZE_CLASSES + 1
"""Regions that a picture needs for sizes (published)."""

PART_SIZE = 10_000
"""Pictures per part, the unit of work."""


class MiningChoice(StrEnum):
    """A choice; an unknown name is rejected with the names that there are."""

    @classmethod
    def _missing_(cls, value: object) -> None:
        kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", cls.__name__).lower()
        raise unknown(kind, str(value), cls, "seesay mine --help")


class SizeRule(MiningChoice):
    """How a region's area is scaled by its depth (`seesay.mining.sizes`)."""

    PAPER = "paper"
    PUBLISHED = "published"
    BOXES = "boxes"
    PINHOLE = "pinhole"


class SpaceRule(MiningChoice):
    """Which regions are compared by height (`seesay.mining.places`)."""

    PAPER = "paper"
    APART = "apart"
    PUBLISHED = "published"
    BOXES = "boxes"


class SubtypeRule(MiningChoice):
    """Which names are subtypes of which (`seesay.mining.subtypes`)."""

    PAPER = "paper"
    PUBLISHED = "published"


class LabelRule(MiningChoice):
    """Whether a typical label reaches its minimum (published) or exceeds it
    (`seesay.metrics.typical_labels`)."""

    PUBLISHED = "published"
    PAPER = "paper"


class Lexicon(MiningChoice):
    """Sources of further subtypes."""

    CONCEPTNET = "conceptnet"
    WORDNET = "wordnet"
