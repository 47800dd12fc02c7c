"""The choices that mining offers, without heavy imports: the command line's help shows them."""

from __future__ import annotations

import re
from enum import StrEnum

from seesay.registry import unknown

MIN_SEEN = 100
"""How often a pair must be seen (published)."""

MIN_RELATION = 10
"""How often a relation must be seen in a scene (published)."""

MIN_ANSWERS = 10
"""How many answers the colours of an object need (published)."""

SIZE_CLASSES = 5
"""Size classes of a picture (ViPhy, appendix A.1)."""

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
