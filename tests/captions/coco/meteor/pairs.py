"""Two texts as METEOR's matchers take them."""

from __future__ import annotations

import numpy as np

from seesay.captions.coco.meteor.alignment import RawMatch
from seesay.captions.coco.meteor.matches import Matcher
from seesay.captions.coco.meteor.resources import MeteorResources
from seesay.captions.coco.ngrams import number_words


def matched(
    resources: MeteorResources, hypothesis: list[str], reference: list[str]
) -> list[list[RawMatch]]:
    """The matches that begin at each word of the reference."""
    words = number_words([" ".join(hypothesis), " ".join(reference)])
    return Matcher(resources, words, np.zeros(1, np.int64)).matches(range(1)).rows()[0]
