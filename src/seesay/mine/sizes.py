"""Which of two things in a picture is larger: size classes by natural breaks, compared pair by pair (ViPhy).

A picture shows near things large. Through a pinhole camera, a thing of area A at distance d covers A / d² of the
picture, so its box says how large it is only once it is scaled by its distance. The rules differ in how:

- `paper`: box area × mean distance of the region, as the paper words it ("scaled by the mean depth");
- `published`: relative box area × (1 − mean nearness), nearness being DPT's inverse depth from 0 to 1: likewise larger
  for far things. Pairs of regions are counted, not pictures;
- `boxes`: box area alone, for pictures without depth;
- `pinhole`: box area × distance², the camera's own law, for metric depth.

Five classes by natural breaks; every thing of a lower class is smaller than every thing of a higher one, and things of
one class are not compared. A picture with fewer than six regions has no classes worth the name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from seesay.metrics.base import FloatArray
from seesay.mine.aggregate import Seen, pairs
from seesay.mine.natural_breaks import CLASSES, natural_breaks
from seesay.mine.regions import Regions, blocks

MINIMUM = CLASSES + 1
"""Regions a picture needs (published)."""
LARGER, SMALLER = 0, 1
"""Labels, as they stand in `knowledge.SIZES`."""


@dataclass(frozen=True, slots=True)
class SizeRule:
    """A size for every region, whether it takes depth, and what is counted."""

    of: Callable[[Regions], FloatArray]
    depth: bool = True
    pictures: bool = True


RULES = {
    "paper": SizeRule(lambda regions: regions.area * regions.distance),
    "published": SizeRule(lambda regions: regions.area * (1 - regions.nearness), pictures=False),
    "boxes": SizeRule(lambda regions: regions.area, depth=False),
    "pinhole": SizeRule(lambda regions: regions.area * np.square(regions.distance)),
}


def compare(regions: Regions, rule: SizeRule, minimum: int = MINIMUM) -> Iterator[Seen]:
    """The pairs of a batch whose size classes differ. A picture with a region of unknown depth says nothing."""
    size = rule.of(regions)
    for block in blocks(regions, minimum):
        values = block.take(size)
        known = np.asarray((np.isfinite(values) | ~block.there).all(axis=1))
        classes = natural_breaks(np.where(known[:, None], values, np.nan)).astype(np.int8)
        named = block.named(regions.names)
        first, second = pairs(values.shape[1])
        a, b = np.take(classes, first, axis=1), np.take(classes, second, axis=1)
        label = (a < b).view(np.int8)  # LARGER is 0, SMALLER 1
        told = (a != b) & (np.minimum(a, b) >= 0)
        yield Seen.of(block.pictures, named, label, told, flip=(SMALLER, LARGER))
