"""Which of two objects in a picture is above the other, taking depth into account (ViPhy).

Heights in a picture mislead across depths: a far rug lies higher in the picture than a near table.
So heights are compared only between objects at similar depth (section 2.2). The rules:

- `paper`: three partitions of the picture's range of distances, of uniform size and overlap
  (appendix A.1), each sharing half with the next (the paper gives no figure). Inside a partition
  heights are compared; across partitions relations are transitive through the objects that belong
  to two partitions (figure 4): above what is above (or level with) another. If these disagree,
  there is no relation. Distances are metres, or 1 − nearness where the source has no scale;
- `apart`: the same without overlap, so no relation across partitions: `paper` minus `apart` is the
  overlap's effect;
- `published`: bins of int(255 / k) of nearness from 0 to 255, k = 2 (bathroom 1), no overlap, pairs
  of regions counted;
- `boxes`: no depth, every pair compared.

An object whose lowest point is above another's centroid is above it (appendix A.3); it is below if
the reverse holds, else both are at a similar level. The published code uses the highest point
instead (below, if it is under the other's centroid), and the mean of a polygon's corners as its
centroid.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seesay.metrics.base import BoolArray, IntArray
from seesay.mining.choices import SpaceRule
from seesay.mining.observations import Observations, observe_pairs, pairs
from seesay.mining.regions import PictureBlock, RegionArrays, blocks

LEVEL = 1
"""Labels are indices into `knowledge.PLACES`: 0 above, 1 at a similar level, 2 below."""
MAX_NEARNESS = 255
BINS = {"bathroom": 1}
"""Published number of nearness bins by scene; 2 in all others."""


@dataclass(frozen=True, slots=True)
class DepthPartitions:
    """How a rule divides the depth of a picture."""

    partitions: int = 3
    overlap: float = 0.5
    """The share of a partition that overlaps the next."""
    published: bool = False
    """Whether bins, heights and counts are those of the published code."""

    @property
    def needs_depth(self) -> bool:
        """Whether pictures need depth: a single partition holds everything."""
        return self.partitions > 1

    @property
    def once_per_picture(self) -> bool:
        """Whether a pair of names counts once per picture, whatever the number of its regions."""
        return not self.published


RULES = {
    SpaceRule.PAPER: DepthPartitions(),
    SpaceRule.APART: DepthPartitions(overlap=0.0),
    SpaceRule.PUBLISHED: DepthPartitions(
        partitions=2,
        overlap=0.0,
        published=True,
    ),
    SpaceRule.BOXES: DepthPartitions(partitions=1),
}


def compare(regions: RegionArrays, rule: DepthPartitions) -> Iterator[Observations]:
    """Yield the pairs of a batch that can be compared.

    An object of unknown depth belongs to no partition.
    """
    for block in blocks(regions):
        member = np.where(block.mask, _partition_bits(regions, block, rule), 0).astype(np.uint8)
        # (n, n, B): whether the first object is above the second. y grows downwards, so the lowest
        # point has the greatest y.
        if rule.published:
            above = block.take(regions.top)[None] > block.take(regions.corner_mean)[:, None]
        else:
            above = block.take(regions.lowest)[:, None] < block.take(regions.centroid)[None]
        first, second = pairs(len(member))
        comparable = (member[first] & member[second]) != 0
        label = LEVEL + above[second, first].view(np.int8) - above[first, second].view(np.int8)
        if rule.overlap:
            _relate_partitions(member, above, rule.partitions, comparable, label)
        names = block.take_names(regions.names)
        yield observe_pairs(block.pictures, names, label, comparable, 3)


def _partition_bits(
    regions: RegionArrays,
    block: PictureBlock,
    rule: DepthPartitions,
) -> IntArray:
    """Return (n, B): the partitions that an object belongs to, as bits.

    A place is where an object is between the picture's nearest point (0) and its farthest (1). It
    is NaN, and in no partition, where depth is not known.
    """
    if not rule.needs_depth:
        return np.ones(block.mask.shape, dtype=np.int64)
    if rule.published:
        return _published_bits(regions, block)
    near = regions.nearest[block.pictures]
    far = regions.farthest[block.pictures]
    with np.errstate(invalid="ignore", divide="ignore"):
        place = np.where(far > near, (block.take(regions.distance) - near) / (far - near), 0.0)
    place = np.clip(np.where(np.isnan(near) | np.isnan(far), np.nan, place), 0.0, 1.0)
    starts, ends = np.transpose(partition_ranges(rule))[:, :, None, None]
    # The last has no upper bound: rounding may put its end below 1.
    ends[-1] = np.inf
    inside = (place >= starts) & (place < ends)
    return np.asarray((inside << np.arange(rule.partitions)[:, None, None]).sum(axis=0))


def partition_ranges(rule: DepthPartitions) -> list[tuple[float, float]]:
    """Return where each partition begins and ends between the nearest point (0) and the farthest
    (1).

    >>> partition_ranges(DepthPartitions())
    [(0.0, 0.5), (0.25, 0.75), (0.5, 1.0)]
    """
    # Partitions of this width, each shifted by what the one before does not share, fill 0 to 1.
    width = 1 / (rule.partitions - (rule.partitions - 1) * rule.overlap)
    starts = [number * (1 - rule.overlap) * width for number in range(rule.partitions)]
    return [(start, start + width) for start in starts]


def _published_bits(regions: RegionArrays, block: PictureBlock) -> IntArray:
    """Return one bit per object: the bins [0, 127), [127, 255), and [0, 255) in a bathroom."""
    bins_of_scene = np.array([BINS.get(name, 2) for name in regions.scene_names])
    bins = bins_of_scene[regions.scenes[block.pictures]]
    value = np.floor(block.take(regions.nearness) * MAX_NEARNESS)
    # False where depth is not known, and for the nearest point, 255, which is in no bin.
    is_inside = (value >= 0) & (value < MAX_NEARNESS)
    whole = np.where(is_inside, value, 0).astype(np.int64)
    # 254 // 127 would be a third bin.
    number = np.minimum(whole // (MAX_NEARNESS // bins), bins - 1)
    return np.where(is_inside, 1 << number, 0)


def _relate_partitions(
    member: IntArray,
    above: BoolArray,
    partitions: int,
    comparable: BoolArray,
    label: IntArray,
) -> None:
    """Derive relations across partitions, and write them into `comparable` and `label`.

    They lead through the objects that belong to two partitions (bridges). The relations of an
    object to the bridges are bit sets: up[:, i, b] holds the bridges that i is above. Each round
    extends them by those of the bridges to one another, so that two rounds reach from the first
    partition to the third.

    `member`: (n, B), the partitions of an object, as bits.
    `above`: (n, n, B), whether the first object is above the second in the picture.
    `comparable`, `label`: over the pairs of objects; filled where a partition is shared.
    """
    # A number minus 1 changes its lowest bit: something remains if it has two.
    bridge = ((member & (member - 1)) != 0)[None]
    shares_partition = (member[:, None] & member[None]) != 0
    near = shares_partition & bridge
    rises = near & above
    falls = near & above.swapaxes(0, 1)
    stays = near & ~rises & ~falls
    sets = [_pack_bits(flags) for flags in (rises, stays, falls)]
    for _ in range(partitions - 2):
        is_open = ~shares_partition & bridge & (member != 0)[:, None]
        relations = _compose(sets)
        sets = [
            bits | _pack_bits(is_open & relation)
            for bits, relation in zip(sets, relations, strict=True)
        ]
    pair = pairs(len(member))
    rises, stays, falls = (relation[pair] for relation in _compose(sets))
    across = ~comparable & (rises | stays | falls)
    np.copyto(label, LEVEL + falls.view(np.int8) - rises.view(np.int8), where=across)
    comparable |= across


def _compose(sets: list[IntArray]) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Return (n, n, B): whether an object is above, level with or below another by their bridges.

    None of the three holds where bridges disagree. `sets`: the bridges that each object is above,
    level with, and below.
    """
    up, level, down = sets
    # a over bridge over b; a over bridge level with b; a level with bridge over b
    over = up[:, :, None] & (down | level)[:, None]
    rises = _any_bit(over | (level[:, :, None] & down[:, None]))
    falls = rises.swapaxes(0, 1)
    stays = _any_bit(level[:, :, None] & level[:, None])
    rises_only = rises & ~falls & ~stays
    stays_only = stays & ~rises & ~falls
    return rises_only, stays_only, rises_only.swapaxes(0, 1)


def _any_bit(sets: IntArray) -> BoolArray:
    """Return whether any of the words of a set has a bit."""
    return np.asarray(np.bitwise_or.reduce(sets) != 0)


def _pack_bits(flags: BoolArray) -> IntArray:
    """Return (n, m, B) flags as bit sets (words, n, B), in the narrowest words that hold them.

    Composing relations is then one operation on a word instead of one on each flag.
    """
    n, bits, pictures = flags.shape
    size = next((size for size in (1, 2, 4) if bits <= 8 * size), 8)
    words = math.ceil(bits / (8 * size))
    result = np.zeros((words, n, pictures), dtype=f"u{size}")
    for bit in range(bits):
        word, place = divmod(bit, 8 * size)
        flag = flags[:, bit].view(np.uint8)
        result[word] |= np.left_shift(flag, place, dtype=result.dtype)
    return result
