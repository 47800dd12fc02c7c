"""What is above what in a picture, with depth in mind (ViPhy).

Heights in a picture mislead between things at different depths: a far rug lies higher in the picture than a near table.
So heights are compared among things at similar depth only. The rules:

- `paper`: three partitions of the picture's range of distances, of uniform size, each sharing half with the next (the
  paper gives no figure). Inside a partition heights are compared; across partitions a relation holds if things
  that belong to two partitions hand it on: above what is above (or level with) another. Where they disagree, nothing.
  Distances are metres, or 1 − nearness where a source knows no more, so that partitions are uniform in what it sees;
- `apart`: the same without overlap, so nothing across: what the overlap brings is the difference to `paper`;
- `published`: bins of int(255 / k) of nearness from 0 to 255, k = 2 (bathroom 1), no overlap, pairs of regions counted;
- `boxes`: no depth, every pair compared.

A thing whose lowest point is above another's centroid is above it; below, if the reverse holds; else both are at a
similar level. The published code looks at the highest point instead (below, if it is under the other's centroid), and
takes the mean of a polygon's corners for its centroid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seesay.metrics.base import BoolArray, FloatArray, IntArray
from seesay.mine.aggregate import Seen, pairs
from seesay.mine.regions import Block, Regions, blocks

ABOVE, LEVEL, BELOW = 0, 1, 2
"""Labels, as they stand in `knowledge.PLACES`."""
NEARNESS_TOP = 255
BINS = {"bathroom": 1}
"""Published: bins of nearness by scene, 2 elsewhere."""


@dataclass(frozen=True, slots=True)
class SpaceRule:
    """How many partitions, what share of one is also the next one's, and what is counted."""

    partitions: int = 3
    overlap: float = 0.5
    published: bool = False

    @property
    def depth(self) -> bool:
        return self.partitions > 1

    @property
    def pictures(self) -> bool:
        return not self.published


RULES = {
    "paper": SpaceRule(),
    "apart": SpaceRule(overlap=0.0),
    "published": SpaceRule(partitions=2, overlap=0.0, published=True),
    "boxes": SpaceRule(partitions=1),
}


def compare(regions: Regions, rule: SpaceRule) -> Iterator[Seen]:
    """The pairs of a batch that can be compared. A thing of unknown depth belongs to no partition."""
    for block in blocks(regions):
        member = np.where(block.there, _members(regions, block, rule), 0).astype(np.uint8)
        if rule.published:
            above = _above(block.take(regions.corner_mean), block.take(regions.top), highest=True)
        else:
            above = _above(block.take(regions.centroid), block.take(regions.lowest), highest=False)
        first, second = pairs(member.shape[1])
        told = (np.take(member, first, axis=1) & np.take(member, second, axis=1)) != 0
        label = LEVEL + _of_pairs(above.transpose(0, 2, 1)).view(np.int8) - _of_pairs(above).view(np.int8)
        if rule.overlap:
            _hand_on(member, above, rule.partitions, told, label)
        named = block.named(regions.names)
        flip = (BELOW, LEVEL, ABOVE)
        yield Seen.of(block.pictures, named, label, told, flip=flip)


def _above(centroid: FloatArray, edge: FloatArray, *, highest: bool) -> BoolArray:
    """(B, n, n): whether the one thing is above the other in the picture, where y grows downwards."""
    if highest:
        return edge[:, None, :] > centroid[:, :, None]
    return edge[:, :, None] < centroid[:, None, :]


def _of_pairs(matrix: BoolArray) -> BoolArray:
    """(B, pairs) of (B, n, n)."""
    many, n = matrix.shape[:2]
    first, second = pairs(n)
    return np.asarray(np.take(matrix.reshape(many, n * n), first * n + second, axis=1))


def _members(regions: Regions, block: Block, rule: SpaceRule) -> IntArray:
    """(B, n): the partitions a thing belongs to, as bits."""
    if not rule.depth:
        return np.ones(block.there.shape, dtype=np.int64)
    if rule.published:
        return _bins(regions, block)
    near, far = regions.nearest[block.pictures, None], regions.farthest[block.pictures, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        place = np.where(far > near, (block.take(regions.distance) - near) / (far - near), 0.0)
    place = np.clip(np.where(np.isnan(near) | np.isnan(far), np.nan, place), 0.0, 1.0)
    width = 1 / (rule.partitions - (rule.partitions - 1) * rule.overlap)
    result = np.zeros(block.there.shape, dtype=np.int64)
    for number in range(rule.partitions):
        start = number * (1 - rule.overlap) * width
        last = number == rule.partitions - 1
        inside = (place >= start) & (last | (place < start + width))
        result |= inside.astype(np.int64) << number
    return result


def _bins(regions: Regions, block: Block) -> IntArray:
    """One bit a thing: the published bins [0, 127), [127, 255), and [0, 255) in a bathroom."""
    many = np.array([BINS.get(name, 2) for name in regions.scene_names])[regions.scenes[block.pictures], None]
    value = np.floor(block.take(regions.nearness) * NEARNESS_TOP)
    size = NEARNESS_TOP // many
    number = np.minimum(np.where(np.isnan(value), 0, value).astype(np.int64) // size, many - 1)
    return np.where((value >= 0) & (value < NEARNESS_TOP), 1 << number, 0)


def _hand_on(member: IntArray, above: BoolArray, partitions: int, told: BoolArray, label: IntArray) -> None:
    """Relations across partitions, through the things that belong to two. Fills `told` and `label`.

    What is known of a thing and the bridges is kept in sets of bits: up[b, i] holds the bridges that i is above. Each
    round lets bridges learn of one another, so that two rounds reach from the first partition to the third.
    """
    bridge = ((member & (member - 1)) != 0)[:, None, :]
    reached = (member[:, :, None] & member[:, None, :]) != 0
    below = above.transpose(0, 2, 1)
    near = reached & bridge
    rises, falls = near & above, near & below
    sets = tuple(_bits(flags) for flags in (rises, near & ~rises & ~falls, falls))
    for _ in range(partitions - 2):
        fresh = ~reached & bridge & (member != 0)[:, :, None]
        sets = tuple(s | _bits(fresh & said) for s, said in zip(sets, _composed(sets), strict=True))
    rises, stays, falls = (_of_pairs(said) for said in _composed(sets))
    across = ~told & (rises | stays | falls)
    np.copyto(label, LEVEL + falls.view(np.int8) - rises.view(np.int8), where=across)
    told |= across


def _composed(sets: tuple[IntArray, ...]) -> tuple[BoolArray, BoolArray, BoolArray]:
    """(B, n, n): what bridges say of a thing and another: above, level, below; nothing where they disagree."""
    up, level, down = (s[:, :, None] for s in sets)
    other_up, other_level, other_down = (s[:, None] for s in sets)
    rises = _any((up & (other_down | other_level)) | (level & other_down))
    falls = _any((down & (other_up | other_level)) | (level & other_up))
    stays = _any(level & other_level)
    return rises & ~falls & ~stays, stays & ~rises & ~falls, falls & ~rises & ~stays


def _any(sets: IntArray) -> BoolArray:
    return np.asarray(sets[..., 0] != 0 if sets.shape[-1] == 1 else (sets != 0).any(axis=-1))


def _bits(flags: BoolArray) -> IntArray:
    """(B, n, m) flags as sets of bits (B, n, words), a word no wider than it needs to be."""
    many, n, bits = flags.shape
    wide = next((width for width in (1, 2, 4) if bits <= 8 * width), 8)
    words = -(-bits // (8 * wide))
    padded = np.zeros((many, n, words * wide * 8), dtype=bool)  # whole bytes: packing then runs along memory
    padded[:, :, :bits] = flags
    return np.packbits(padded.reshape(-1), bitorder="little").view(f"u{wide}").reshape(many, n, words)
