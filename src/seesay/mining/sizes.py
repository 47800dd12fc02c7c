"""Which of two objects in a picture is larger: size classes by natural breaks, compared pair by
pair (ViPhy).

Near objects look large. Seen by a pinhole camera, an object of area A at distance d covers A / d²
of the picture, so its box tells its size only when scaled by its distance. The rules differ in the
scaling:

- `paper`: box area × mean distance of the region: "scaled by mean depth of the region" (section
  2.2);
- `published`: relative box area × (1 − mean nearness), where nearness is DPT's inverse depth from 0
  to 1. Pairs of regions are counted, not pictures;
- `boxes`: box area alone, for pictures without depth;
- `pinhole`: box area × distance², the camera's law, for metric depth.

Natural breaks give five classes (appendix A.1), unless the user says otherwise; every object of a
lower class is smaller than every object of a higher one, and objects of one class are not compared.
Pictures with fewer than six regions are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from seesay.metrics.base import FloatArray
from seesay.mining.choices import MIN_REGIONS, SIZE_CLASSES, SizeRule
from seesay.mining.natural_breaks import natural_breaks
from seesay.mining.observations import Observations, observe_pairs, pairs
from seesay.mining.regions import RegionArrays, blocks


@dataclass(frozen=True, slots=True)
class SizeMeasure:
    """A rule of sizes."""

    measure: Callable[[RegionArrays], FloatArray]
    """Returns a size for every region."""
    needs_depth: bool = True
    once_per_picture: bool = True
    """Whether a pair of names counts once per picture, however many regions have these names."""


RULES = {
    SizeRule.PAPER: SizeMeasure(lambda regions: regions.area * regions.distance),
    SizeRule.PUBLISHED: SizeMeasure(
        lambda regions: regions.area * (1 - regions.nearness), once_per_picture=False
    ),
    SizeRule.BOXES: SizeMeasure(lambda regions: regions.area, needs_depth=False),
    SizeRule.PINHOLE: SizeMeasure(lambda regions: regions.area * np.square(regions.distance)),
}


def compare(
    regions: RegionArrays,
    rule: SizeMeasure,
    min_regions: int = MIN_REGIONS,
    classes: int = SIZE_CLASSES,
) -> Iterator[Observations]:
    """Yield the pairs of a batch whose size classes differ.

    A picture with a region of unknown depth is skipped: its breaks would be those of fewer regions.
    """
    sizes = rule.measure(regions)
    for block in blocks(regions, min_regions):
        values = block.take(sizes)
        is_known = np.asarray((np.isfinite(values) | ~block.mask).all(axis=0))
        rows = np.where(is_known, values, np.nan).T
        ranks = natural_breaks(rows, classes).T.astype(np.int16, order="C")
        first, second = pairs(len(values))
        a = ranks[first]
        b = ranks[second]
        # Labels are indices into `knowledge.SIZES`: 0 larger, 1 smaller.
        label = (a < b).view(np.int8)
        comparable = (a != b) & (a >= 0) & (b >= 0)
        names = block.take_names(regions.names)
        yield observe_pairs(block.pictures, names, label, comparable, 2)
