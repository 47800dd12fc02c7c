"""Which of two objects in a picture is above the other, taking depth into account (ViPhy).

Heights in a picture mislead across depths: a far rug lies higher in the picture than a near table.
So heights are compared only between objects at similar depth. The rules:

- `paper`: three partitions of the picture's range of distances, of uniform size, each sharing half with the next (the
  paper gives no figure). Inside a partition heights are compared; across partitions relations are transitive through
  the objects that belong to two partitions: above what is above (or level with) another. If these disagree, there is
  no relation. Distances are metres, or 1 − nearness where the source has no scale;
- `apart`: the same without overlap, so no relation across partitions: `paper` minus `apart` is the overlap's effect;
- `published`: bins of int(255 / k) of nearness from 0 to 255, k = 2 (bathroom 1), no overlap, pairs of regions counted;
- `boxes`: no depth, every pair compared.

An object whose lowest point is above another's centroid is above it; it is below if the reverse
holds, else both are at a similar level. The published code uses the highest point instead (below,
if it is under the other's centroid), and the mean of a polygon's corners as its centroid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seesay.metrics.base import BoolArray, IntArray
from seesay.mining.choices import SpaceRule
from seesay.mining.observations import Observations, observe_pairs, pairs
from seesay.mining.regions import PictureBlock, RegionArrays, blocks

ABOVE, LEVEL, BELOW = 0, 1, 2
"""Labels: indices into `knowledge.PLACES`."""
MAX_NEARNESS = 255
BINS = {"bathroom": 1}
"""Published number of nearness bins by scene; 2 in all others."""


@dataclass(frozen=True, slots=True)
class DepthPartitions:
    """The number of partitions, the share of one that overlaps the next, and whether the published
    rules hold."""

    partitions: int = 3
    overlap: float = 0.5
    published: bool = False

    @property
    def needs_depth(self) -> bool:
        return self.partitions > 1

    @property
    def once_per_picture(self) -> bool:
        return not self.published


RULES = {
    SpaceRule.PAPER: DepthPartitions(),
    SpaceRule.APART: DepthPartitions(overlap=0.0),
    SpaceRule.PUBLISHED: DepthPartitions(partitions=2, overlap=0.0, published=True),
    SpaceRule.BOXES: DepthPartitions(partitions=1),
}


def compare(regions: RegionArrays, rule: DepthPartitions) -> Iterator[Observations]:
    """The pairs of a batch that can be compared. An object of unknown depth belongs to no
    partition."""
    for block in blocks(regions):
        member = np.where(block.mask, _members(regions, block, rule), 0).astype(np.uint8)
        # (n, n, B): whether the first object is above the second in the picture, where y grows
        # downwards
        if rule.published:
            above = block.take(regions.top)[None] > block.take(regions.corner_mean)[:, None]
        else:
            above = block.take(regions.lowest)[:, None] < block.take(regions.centroid)[None]
        first, second = pairs(len(member))
        comparable = (member[first] & member[second]) != 0
        label = LEVEL + above[second, first].view(np.int8) - above[first, second].view(np.int8)
        if rule.overlap:
            _propagate(member, above, rule.partitions, comparable, label)
        yield observe_pairs(block.pictures, block.take_names(regions.names), label, comparable, 3)


def _members(regions: RegionArrays, block: PictureBlock, rule: DepthPartitions) -> IntArray:
    """(n, B): the partitions that an object belongs to, as bits."""
    if not rule.needs_depth:
        return np.ones(block.mask.shape, dtype=np.int64)
    if rule.published:
        return _bins(regions, block)
    near = regions.nearest[block.pictures]
    far = regions.farthest[block.pictures]
    with np.errstate(invalid="ignore", divide="ignore"):
        place = np.where(far > near, (block.take(regions.distance) - near) / (far - near), 0.0)
    place = np.clip(np.where(np.isnan(near) | np.isnan(far), np.nan, place), 0.0, 1.0)
    width = 1 / (rule.partitions - (rule.partitions - 1) * rule.overlap)
    result = np.zeros(block.mask.shape, dtype=np.int64)
    for number in range(rule.partitions):
        start = number * (1 - rule.overlap) * width
        last = number == rule.partitions - 1
        inside = (place >= start) & (last | (place < start + width))
        result |= inside.astype(np.int64) << number
    return result


def _bins(regions: RegionArrays, block: PictureBlock) -> IntArray:
    """One bit per object: the published bins [0, 127), [127, 255), and [0, 255) in a bathroom."""
    bins = np.array([BINS.get(name, 2) for name in regions.scene_names])[
        regions.scenes[block.pictures]
    ]
    value = np.floor(block.take(regions.nearness) * MAX_NEARNESS)
    size = MAX_NEARNESS // bins
    number = np.minimum(np.where(np.isnan(value), 0, value).astype(np.int64) // size, bins - 1)
    return np.where((value >= 0) & (value < MAX_NEARNESS), 1 << number, 0)


def _propagate(
    member: IntArray, above: BoolArray, partitions: int, comparable: BoolArray, label: IntArray
) -> None:
    """Relations across partitions, through the objects that belong to two (bridges). Fills
    `comparable` and `label`.

    The relations of an object to the bridges are bit sets: up[:, i, b] holds the bridges that i is
    above. Each round extends them by those of the bridges to one another, so that two rounds reach
    from the first partition to the third.
    """
    bridge = ((member & (member - 1)) != 0)[None]
    reached = (member[:, None] & member[None]) != 0
    near = reached & bridge
    rises = near & above
    falls = near & above.swapaxes(0, 1)
    sets = tuple(_pack_bits(flags) for flags in (rises, near & ~rises & ~falls, falls))
    for _ in range(partitions - 2):
        fresh = ~reached & bridge & (member != 0)[:, None]
        sets = tuple(
            s | _pack_bits(fresh & relation)
            for s, relation in zip(sets, _compose(sets), strict=True)
        )
    pair = pairs(len(member))
    rises, stays, falls = (relation[pair] for relation in _compose(sets))
    across = ~comparable & (rises | stays | falls)
    np.copyto(label, LEVEL + falls.view(np.int8) - rises.view(np.int8), where=across)
    comparable |= across


def _compose(sets: tuple[IntArray, ...]) -> tuple[BoolArray, BoolArray, BoolArray]:
    """(n, n, B): the relation of two objects by their bridges: above, level, below; none where
    bridges disagree."""
    up, level, down = sets
    rises = _any((up[:, :, None] & (down | level)[:, None]) | (level[:, :, None] & down[:, None]))
    falls = rises.swapaxes(0, 1)
    stays = _any(level[:, :, None] & level[:, None])
    rises_only = rises & ~falls & ~stays
    return rises_only, stays & ~rises & ~falls, rises_only.swapaxes(0, 1)


def _any(sets: IntArray) -> BoolArray:
    return np.asarray(sets[0] != 0 if len(sets) == 1 else (sets != 0).any(axis=0))


def _pack_bits(flags: BoolArray) -> IntArray:
    """(n, m, B) flags as bit sets (words, n, B), in the narrowest words that hold them."""
    n, bits, pictures = flags.shape
    wide = next((width for width in (1, 2, 4) if bits <= 8 * width), 8)
    result = np.zeros((-(-bits // (8 * wide)), n, pictures), dtype=f"u{wide}")
    for bit in range(bits):
        word, place = divmod(bit, 8 * wide)
        result[word] |= np.left_shift(flags[:, bit].view(np.uint8), place, dtype=result.dtype)
    return result
