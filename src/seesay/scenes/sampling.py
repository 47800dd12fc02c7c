"""Scenes drawn towards what a task needs, with the distribution of the published ones.

The published generator draws objects independently, throws the whole picture away when two of them
overlap, and later keeps pictures in which something of the wanted class may be asked about. A kept
picture is therefore a draw from the independent distribution given (no overlap) and (the target
exists). The same conditional distribution is reached here without pictures: the target is put in
first, the number of objects is weighted by how many of them could have been the target, the others
are drawn so that none shares its name; what remains (labels, overlap) is checked on hundreds of
candidates at once, labels first, because they cost least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import islice
from math import comb

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.scenes import placement
from seesay.scenes.adjectives import ADJECTIVES
from seesay.scenes.config import DesignCell, SceneConfig
from seesay.scenes.thresholds import highest, lowest
from seesay.scenes.world import (
    LEVELS,
    RADII,
    SCENE_COLORS,
    SHAPES,
    TALL,
    WIDE,
    Scene,
    SceneObject,
    anchor,
)

BATCH = 160
# above this many objects independent places practically always overlap: place one after the other
_INDEPENDENT = 9
_ROUNDS, _CROWDED_ROUNDS = 4000, 60
_TRIES = 60  # places that each object of a crowded scene may look at
_TOGETHER = 8
"""So many items are drawn at once: more no longer fit the processor's cache."""
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SceneItem:
    """A scene and its question: `target` (and `other`, for comparatives) are places in
    `scene.objects`."""

    scene: Scene
    cell: DesignCell
    target: int
    other: int | None = None


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Many scenes that are not placed yet: (scenes, objects) arrays of indices; the target stands
    first."""

    count: Ints
    present: NDArray[np.bool_]
    shape: Ints
    color: Ints
    radius: Ints
    turn: Ints
    level: Ints
    k: NDArray[np.float64]
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    other: Ints
    item: Ints
    """Which of the items drawn together the scene is for."""
    above: NDArray[np.bool_]
    """Whether its target is to be on the adjective's positive side."""

    def take(self, rows: NDArray[np.intp]) -> _Candidates:
        return _Candidates(*(getattr(self, name).take(rows, axis=0) for name in _COLUMNS))


_COLUMNS = tuple(field.name for field in fields(_Candidates))


Slot = tuple[DesignCell, np.random.Generator]
"""An item that is wanted: its class, and the generator that all its random numbers come from."""


def draw(config: SceneConfig, cell: DesignCell, rng: np.random.Generator) -> SceneItem:
    """One item of the class."""
    return next(draw_many(config, [(cell, rng)]))


def draw_many(config: SceneConfig, slots: Iterable[Slot]) -> Iterator[SceneItem]:
    """The same for many items, a few at once: each is what `draw` gives."""
    remaining = iter(slots)
    while group := list(islice(remaining, _TOGETHER)):
        items: dict[int, SceneItem] = {}
        for _ in range(_ROUNDS if config.objects[1] <= _INDEPENDENT else _CROWDED_ROUNDS):
            missing = [i for i in range(len(group)) if i not in items]
            if not missing:
                break
            attempts = _attempt(config, [group[i] for i in missing])
            items |= {missing[i]: item for i, item in attempts.items()}
        for i, (cell, _) in enumerate(group):
            if i not in items:
                low, high = config.objects
                raise UserError(
                    f"No scene of {low} to {high} objects fits {config.task} with a {cell.color} "
                    f"{cell.shape}: "
                    "ask for fewer objects or another k."
                )
            yield items[i]


def _attempt(config: SceneConfig, slots: Sequence[Slot]) -> dict[int, SceneItem]:
    """The items for which a scene was found, by their places among the slots."""
    candidates = _candidates(config, slots)
    candidates = candidates.take(np.flatnonzero(_fits(config, candidates)))
    candidates = _chosen(config, candidates, slots)
    items: dict[int, SceneItem] = {}
    if config.objects[1] > _INDEPENDENT:
        for i, slot in enumerate(slots):
            item = _one_by_one(config, slot, candidates.take(np.flatnonzero(candidates.item == i)))
            if item is not None:
                items[i] = item
        return items
    shape = candidates.shape
    radius = candidates.radius
    turn = candidates.turn
    chance = _random(candidates, slots, shape.shape[1], 2)
    top, left = placement.corners(shape, radius, turn, chance)
    state, meeting = placement.collisions(shape, radius, turn, top, left, candidates.present)
    rows = np.flatnonzero(state != placement.BLOCKED)
    for row, i in zip(rows.tolist(), candidates.item[rows].tolist(), strict=True):
        if i in items:
            continue
        objects = _objects(candidates, row, top[row], left[row])
        if state[row] == placement.CLEAR or placement.apart(objects, meeting[row], shape.shape[1]):
            items[i] = _item(config, slots[i], candidates, row, objects)
    return items


def _random(c: _Candidates, slots: Sequence[Slot], *shape: int) -> NDArray[np.float64]:
    """Numbers for each candidate, from its item's generator."""
    counts = np.bincount(c.item, minlength=len(slots)).tolist()
    return np.concatenate(
        [rng.random((count, *shape)) for (_, rng), count in zip(slots, counts, strict=True)]
    )


@lru_cache(maxsize=64)
def _sizes(low: int, high: int, single: bool, least: int) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """How many objects a scene has and how many of them share the target's shape, with cumulated
    weights.

    Given a target: any of n objects could have been it, the others must not share its name, and
    those of its shape follow a binomial law, of which only what the task allows is kept.
    """
    pairs = []
    weights = []
    names = len(SCENE_COLORS) * (1 if single else len(SHAPES))
    alike = (len(SCENE_COLORS) - 1) / (names - 1)
    for n in range(low, high + 1):
        ways = n * (1 - 1 / names) ** (n - 1)
        for same in range(n):
            share = comb(n - 1, same) * alike**same * (1 - alike) ** (n - 1 - same)
            if same + 1 >= least and share > 0:
                pairs.append((n, same + 1))
                weights.append(ways * share)
    count, together = np.array(pairs, dtype=np.int64).T
    return count, together, np.cumsum(weights) / np.sum(weights)


def _candidates(config: SceneConfig, slots: Sequence[Slot]) -> _Candidates:
    low, high = config.objects
    several = len(slots)
    chance = np.empty((several, 4, BATCH, high))
    whole = np.empty((several, 3, BATCH))
    bright = np.empty((several, BATCH, high))
    k = np.empty((several, BATCH))
    for i, (_, rng) in enumerate(slots):
        rng.random(out=chance[i])
        rng.random(out=whole[i])
        if config.adjective == "bright":
            rng.random(out=bright[i])
        k[i] = rng.normal(config.threshold_fn.mean, config.threshold_fn.deviation, BATCH)
    by_color, by_radius, by_turn, by_shape = (
        chance[:, part].reshape(-1, high) for part in range(4)
    )
    by_size, by_level, by_other = (whole[:, part].reshape(-1) for part in range(3))
    counts, together, cumulated = _sizes(low, high, config.kind.single, config.kind.least)
    choice = np.searchsorted(cumulated, by_size, side="right")
    count = counts[choice]
    place = np.arange(high)
    present = place < count[:, None]
    item = np.repeat(np.arange(several), BATCH)
    color = np.array([SCENE_COLORS.index(cell.color) for cell, _ in slots])[item]
    shape = np.array([SHAPES.index(cell.shape) for cell, _ in slots])[item, None]
    same = place < together[choice][:, None]
    colors = (by_color * (len(SCENE_COLORS) - same)).astype(np.int64)
    colors += same & (colors >= color[:, None])
    shapes = (by_shape * (len(SHAPES) - 1)).astype(np.int64)
    shapes = np.where(same, shape, shapes + (shapes >= shape))
    colors[:, 0] = color
    radius = (by_radius * len(RADII)).astype(np.int64)
    level = np.full(radius.shape, LEVELS)
    if config.adjective == "bright":
        level = 1 + (bright.reshape(-1, high) * LEVELS).astype(np.int64)
        level[:, 0] = 2 + (by_level * (LEVELS - 2)).astype(np.int64)
    else:
        radius[:, 0] = 1 + (by_radius[:, 0] * (len(RADII) - 2)).astype(np.int64)
    turn = (by_turn * 2).astype(np.int64) * (shapes >= SHAPES.index("rectangle"))
    measured = ((shapes * len(RADII) + radius) * 2 + turn) * (LEVELS + 1) + level
    value = _measures(config.adjective).take(measured)
    other = (by_other * (count - 1)).astype(np.int64) + 1
    above = np.array([cell.high for cell, _ in slots])[item]
    ends = lowest(value, present), highest(value, present)
    return _Candidates(
        count,
        present,
        shapes,
        colors,
        radius,
        turn,
        level,
        k.reshape(-1),
        value,
        *ends,
        other,
        item,
        above,
    )


@lru_cache(maxsize=8)
def _measures(adjective: str) -> NDArray[np.float64]:
    """The dimension by shape, radius, turn and level."""
    table = np.zeros((len(SHAPES), len(RADII), 2, LEVELS + 1))
    for s, shape in enumerate(SHAPES):
        for r, radius in enumerate(RADII):
            for turn in (WIDE, TALL):
                for level in range(1, LEVELS + 1):
                    obj = SceneObject(shape, SCENE_COLORS[0], radius, 0, 0, turn, level)
                    table[s, r, turn, level] = ADJECTIVES[adjective].measure(obj)
    return table


def _fits(config: SceneConfig, c: _Candidates) -> NDArray[np.bool_]:
    """Which candidates make the first object a fair target with the wanted label."""
    kind = config.kind
    target = c.value[:, 0]
    low = c.low
    high = c.high
    fair = high > low
    if kind.degree == "comparative":
        rows = np.arange(len(target))
        rival = c.value[rows, c.other]
        fair &= _named(c)[rows, c.other] & _inner(config, c)[rows, c.other]
        return np.asarray(fair & np.where(c.above, target > rival, target < rival))
    if kind.degree == "superlative":
        fair &= target == np.where(c.above, high, low)
        for end in (low, high):
            fair &= ((c.value == end[:, None]) & c.present).sum(axis=1) == 1
        return np.asarray(fair)
    if kind.inner_scene:
        fair &= (target > low) & (target < high)
    members = c.present
    if kind.by_set:
        members = members & (c.shape == c.shape[:, :1])
        low = lowest(c.value, members)
        high = highest(c.value, members)
        fair &= high > low
    if kind.inner_set:
        fair &= (target > low) & (target < high)
    return np.asarray(
        fair & ((target > config.threshold_fn.line(c.value, members, c.k)) == c.above)
    )


def _named(c: _Candidates) -> NDArray[np.bool_]:
    """Which objects have a name, color and shape, of their own."""
    names = len(SHAPES) * len(SCENE_COLORS)
    scene = names * np.arange(len(c.count))[:, None]
    name = scene + c.shape * len(SCENE_COLORS) + c.color
    bearers = np.bincount(name[c.present], minlength=names * len(c.count))
    return np.asarray((bearers[name] == 1) & c.present)


def _inner(config: SceneConfig, c: _Candidates) -> NDArray[np.bool_]:
    """Which objects have neither the least nor the largest size there is: `not
    labels.has_extreme_size`."""
    place, ends = (
        (c.level, (1, LEVELS)) if config.adjective == "bright" else (c.radius, (0, len(RADII) - 1))
    )
    return np.asarray((place > ends[0]) & (place < ends[1]) & c.present)


def _chosen(config: SceneConfig, c: _Candidates, slots: Sequence[Slot]) -> _Candidates:
    """The candidates whose target would be asked about, where other objects could be as well.

    With u objects that have a name of their own and m of them askable, the published scenes fit a
    weight of √m / u (chi-squared 34 on 29 degrees of freedom for eight properties of SET+POS; equal
    weights: 198). It is as if one named object had been looked at, the scene kept if that one was
    askable, and one sentence taken from most scenes.
    """
    named = _named(c)
    names = named.sum(axis=1)
    score = (_random(c, slots) * names) ** 2
    hopeful = np.flatnonzero(score < names)  # m is at most u: no need to count m for the rest
    c = c.take(hopeful)
    named = named[hopeful]
    score = score[hopeful]
    return c.take(np.flatnonzero(score < (_askable(config, c) & named).sum(axis=1)))


def _askable(config: SceneConfig, c: _Candidates) -> NDArray[np.bool_]:
    """`labels.askable` but for the names, for many scenes at once."""
    kind = config.kind
    fair = _inner(config, c)
    low = c.low[:, None]
    high = c.high[:, None]
    if kind.degree == "superlative":
        return np.asarray(fair & ((c.value == low) | (c.value == high)))
    if kind.inner_scene:
        fair &= (c.value > low) & (c.value < high)
    if kind.by_set:
        together = (c.shape == np.arange(len(SHAPES))[:, None, None]) & c.present
        ends = np.stack(
            [lowest(c.value, together), highest(c.value, together), together.sum(axis=2)]
        )
        low, high, size = ends[:, c.shape, np.arange(len(c.count))[:, None]]
        fair &= (size >= kind.least) & (high > low)
    if kind.inner_set:
        fair &= (c.value > low) & (c.value < high)
    return np.asarray(fair)


def _objects(c: _Candidates, row: int, top: Ints, left: Ints) -> list[SceneObject]:
    """The objects of a candidate, with their boxes' upper left corners at these places."""
    columns = (c.shape[row], c.color[row], c.radius[row], c.turn[row], c.level[row], top, left)
    objects = []
    for s, color, r, turn, level, y, x in zip(
        *(column[: c.count[row]].tolist() for column in columns), strict=True
    ):
        shape = SHAPES[s]
        radius = RADII[r]
        down, right = anchor(shape, radius, turn)
        objects.append(
            SceneObject(shape, SCENE_COLORS[color], radius, y + down, x + right, turn, level)
        )
    return objects


def _one_by_one(config: SceneConfig, slot: Slot, c: _Candidates) -> SceneItem | None:
    """Crowded scenes: every object looks for a free place, the largest first. Candidates that cover
    least go first."""
    room = np.where(c.present, _measures("big")[c.shape, c.radius, 0, LEVELS], 0).sum(axis=1)
    for row in np.argsort(room, kind="stable")[:4].tolist():
        count = int(c.count[row])
        chance = slot[1].random((_TRIES, count, 2))
        every = [
            placement.corners(c.shape[row, :count], c.radius[row, :count], c.turn[row, :count], x)
            for x in chance
        ]
        choices = [_objects(c, row, top, left) for top, left in every]
        placed: dict[int, SceneObject] = {}
        for i in np.argsort(-c.radius[row, :count], kind="stable").tolist():
            free = (
                s[i]
                for s in choices
                if not any(placement.touch(s[i], other) for other in placed.values())
            )
            found = next(free, None)
            if found is None:
                break
            placed[i] = found
        else:
            return _item(config, slot, c, row, [placed[i] for i in range(count)])
    return None


def _item(
    config: SceneConfig, slot: Slot, c: _Candidates, row: int, objects: list[SceneObject]
) -> SceneItem:
    """The accepted candidate as a scene, in an order that does not give the target away."""
    cell, rng = slot
    order = rng.permutation(len(objects)).tolist()
    k = float(c.k[row]) if config.kind.degree == "positive" else None
    if config.kind.degree == "comparative":
        other = order.index(int(c.other[row]))
    else:
        other = None
    return SceneItem(Scene(tuple(objects[i] for i in order), k), cell, order.index(0), other)
