"""Scenes drawn towards what a task needs, with the distribution of the published ones.

The published generator draws objects independently, throws the whole picture away when two of them
overlap, and later keeps pictures in which something of the required class may be asked about. Such
a picture is therefore a draw from the independent distribution given (no overlap) and (the target
exists). The same conditional distribution is reached here without pictures: the target is put in
first, the number of objects is weighted by how many of them could have been the target, the others
are drawn so that none shares its name. The remaining conditions (labels, overlap) are checked on
hundreds of candidates at once, labels first, because they cost least.

Every item has its own generator, and what is drawn from it, in which order and how much of it at a
time, is part of the data sets: any other order makes other scenes of the same seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import islice, product
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
_ROUNDS = 4000
_CROWDED_ROUNDS = 60
_CROWDED_CANDIDATES = 4
_TRIES = 60  # places that each object of a crowded scene may try
_TOGETHER = 8
"""So many items are drawn at once: more no longer fit the processor's cache."""
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SceneItem:
    """A scene and its question.

    `target` (and `other`, for comparatives) are places in `scene.objects`.
    """

    scene: Scene
    cell: DesignCell
    target: int
    other: int | None = None


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Many scenes that are not placed yet: (scenes, objects) arrays of indices.

    The target is the first object of each.
    """

    count: Ints
    """Objects of each scene."""
    present: Flags
    """Which columns are objects: a scene may have fewer than there are columns."""
    shape: Ints
    color: Ints
    radius: Ints
    turn: Ints
    level: Ints
    k: Floats
    value: Floats
    """Where each object lies on the adjective's dimension."""
    low: Floats
    """The smallest value of each scene."""
    high: Floats
    """The largest value of each scene."""
    other: Ints
    """The object that a comparative compares the target with."""
    item: Ints
    """Which of the items drawn together the scene is for."""
    above: Flags
    """Whether its target is to be on the adjective's positive side."""

    def take(self, rows: NDArray[np.intp]) -> _Candidates:
        """Return some of the candidates."""
        return _Candidates(*(getattr(self, name).take(rows, axis=0) for name in _COLUMNS))


_COLUMNS = tuple(field.name for field in fields(_Candidates))


Slot = tuple[DesignCell, np.random.Generator]
"""An item to draw: its class, and the generator that all its random numbers come from."""


def draw(config: SceneConfig, cell: DesignCell, rng: np.random.Generator) -> SceneItem:
    """Draw one item of the class."""
    return next(draw_many(config, [(cell, rng)]))


def draw_many(config: SceneConfig, slots: Iterable[Slot]) -> Iterator[SceneItem]:
    """Draw many items, a few at once.

    Each is the item that `draw` gives for its class and generator.
    """
    remaining = iter(slots)
    while group := list(islice(remaining, _TOGETHER)):
        items = _draw_group(config, group)
        for i, (cell, _) in enumerate(group):
            if i not in items:
                low, high = config.objects
                raise UserError(
                    f"No scene of {low} to {high} objects fits {config.task} with a {cell.color} "
                    f"{cell.shape}: ask for fewer objects or another k."
                )
            yield items[i]


def _draw_group(config: SceneConfig, group: Sequence[Slot]) -> dict[int, SceneItem]:
    """Draw until every item of the group has a scene, or the rounds are used up."""
    items: dict[int, SceneItem] = {}
    rounds = _ROUNDS if config.objects[1] <= _INDEPENDENT else _CROWDED_ROUNDS
    for _ in range(rounds):
        missing = [i for i in range(len(group)) if i not in items]
        if not missing:
            break
        attempts = _attempt(config, [group[i] for i in missing])
        for place, item in attempts.items():
            items[missing[place]] = item
    return items


def _attempt(config: SceneConfig, slots: Sequence[Slot]) -> dict[int, SceneItem]:
    """Draw a batch of candidates for every slot.

    Returns the items of the slots for which one of them became a scene, by the slots' places.
    """
    candidates = _candidates(config, slots)
    candidates = candidates.take(np.flatnonzero(_fits(config, candidates)))
    candidates = _thin_out(config, candidates, slots)
    if config.objects[1] > _INDEPENDENT:
        return _place_crowded(config, slots, candidates)
    return _place_independently(config, slots, candidates)


def _place_independently(
    config: SceneConfig, slots: Sequence[Slot], c: _Candidates
) -> dict[int, SceneItem]:
    """Give all objects of a candidate independent places; the first without overlap is the item."""
    most = c.shape.shape[1]
    chance = _random(c, slots, most, 2)
    top, left = placement.corners(c.shape, c.radius, c.turn, chance)
    state, meeting = placement.collisions(
        c.shape,
        c.radius,
        c.turn,
        top,
        left,
        c.present,
    )
    items: dict[int, SceneItem] = {}
    for row in np.flatnonzero(state != placement.BLOCKED).tolist():
        i = int(c.item[row])
        if i in items:
            continue
        objects = _objects(c, row, top[row], left[row])
        if state[row] == placement.CLEAR or placement.apart(objects, meeting[row], most):
            items[i] = _item(config, slots[i], c, row, objects)
    return items


def _place_crowded(
    config: SceneConfig, slots: Sequence[Slot], c: _Candidates
) -> dict[int, SceneItem]:
    """Place the objects of a few candidates of every slot one after the other."""
    items: dict[int, SceneItem] = {}
    for i, slot in enumerate(slots):
        item = _one_by_one(config, slot, c.take(np.flatnonzero(c.item == i)))
        if item is not None:
            items[i] = item
    return items


def _random(c: _Candidates, slots: Sequence[Slot], *shape: int) -> Floats:
    """Return random numbers of this shape for each candidate, from its item's generator."""
    counts = np.bincount(c.item, minlength=len(slots)).tolist()
    return np.concatenate(
        [rng.random((count, *shape)) for (_, rng), count in zip(slots, counts, strict=True)]
    )


@lru_cache(maxsize=64)
def _sizes(low: int, high: int, single: bool, least: int) -> tuple[Ints, Ints, Floats]:
    """Return numbers of objects, how many of these share the target's shape, and how likely each
    pair of both is, as cumulated weights.

    Given a target: any of n objects could have been it, the others must not share its name, and
    those of its shape follow a binomial law, cut to what the task allows.
    """
    pairs = []
    weights = []
    names = len(SCENE_COLORS) * (1 if single else len(SHAPES))
    # one of the other objects' names has the target's shape with this probability
    alike = (len(SCENE_COLORS) - 1) / (names - 1)
    for n in range(low, high + 1):
        targets = n * (1 - 1 / names) ** (n - 1)
        for same in range(n):
            share = comb(n - 1, same) * alike**same * (1 - alike) ** (n - 1 - same)
            if same + 1 >= least and share > 0:
                pairs.append((n, same + 1))
                weights.append(targets * share)
    count, together = np.array(pairs, dtype=np.int64).T
    return count, together, np.cumsum(weights) / np.sum(weights)


@dataclass(frozen=True, slots=True)
class _Chances:
    """The random numbers of a batch, by what they decide: (scenes, objects) or (scenes)."""

    color: Floats
    radius: Floats
    turn: Floats
    shape: Floats
    size: Floats
    level: Floats
    other: Floats
    bright: Floats
    k: Floats


def _draw_chances(config: SceneConfig, slots: Sequence[Slot]) -> _Chances:
    """Draw all random numbers of a batch, from each generator in the same order."""
    most = config.objects[1]
    by_object = np.empty((len(slots), 4, BATCH, most))
    by_scene = np.empty((len(slots), 3, BATCH))
    bright = np.empty((len(slots), BATCH, most))
    k = np.empty((len(slots), BATCH))
    for i, (_, rng) in enumerate(slots):
        rng.random(out=by_object[i])
        rng.random(out=by_scene[i])
        # only where it is used: elsewhere it would change every number drawn after it
        if config.adjective == "bright":
            rng.random(out=bright[i])
        # one k per scene, not truncated (the published ones reach from 0.03 to 0.54)
        k[i] = rng.normal(config.threshold_fn.mean, config.threshold_fn.deviation, BATCH)
    color, radius, turn, shape = by_object.transpose(1, 0, 2, 3).reshape(4, -1, most)
    size, level, other = by_scene.transpose(1, 0, 2).reshape(3, -1)
    return _Chances(
        color=color,
        radius=radius,
        turn=turn,
        shape=shape,
        size=size,
        level=level,
        other=other,
        bright=bright.reshape(-1, most),
        k=k.reshape(-1),
    )


def _candidates(config: SceneConfig, slots: Sequence[Slot]) -> _Candidates:
    """Draw a batch of candidates for every slot."""
    low, high = config.objects
    chances = _draw_chances(config, slots)
    counts, together, cumulated = _sizes(
        low,
        high,
        config.kind.single,
        config.kind.least,
    )
    size = np.searchsorted(cumulated, chances.size, side="right")
    count = counts[size]
    place = np.arange(high)
    present = place < count[:, None]
    item = np.repeat(np.arange(len(slots)), BATCH)
    # the objects of the target's shape come first, the target before all
    same = place < together[size][:, None]
    color, shape = _draw_names(chances, slots, item, same)
    radius, level = _draw_sizes(config, chances)
    turns = (chances.turn * 2).astype(np.int64)
    # circles and squares come before rectangles among the shapes, and have no turn
    turn = turns * (shape >= SHAPES.index("rectangle"))
    kind = ((shape * len(RADII) + radius) * 2 + turn) * (LEVELS + 1) + level
    value = _measures(config.adjective).take(kind)
    return _Candidates(
        count=count,
        present=present,
        shape=shape,
        color=color,
        radius=radius,
        turn=turn,
        level=level,
        k=chances.k,
        value=value,
        low=lowest(value, present),
        high=highest(value, present),
        other=(chances.other * (count - 1)).astype(np.int64) + 1,
        item=item,
        above=np.array([cell.high for cell, _ in slots])[item],
    )


def _draw_names(
    chances: _Chances, slots: Sequence[Slot], item: Ints, same: Flags
) -> tuple[Ints, Ints]:
    """Return the color and the shape of every object; `same` have the target's shape.

    None but the target gets its name: objects of its shape draw from the other colors, and those of
    other shapes from the other shapes. A number at or above the forbidden one is moved up by one.
    """
    target_color = np.array([SCENE_COLORS.index(cell.color) for cell, _ in slots])[item]
    target_shape = np.array([SHAPES.index(cell.shape) for cell, _ in slots])[item, None]
    color = (chances.color * (len(SCENE_COLORS) - same)).astype(np.int64)
    color += same & (color >= target_color[:, None])
    color[:, 0] = target_color
    shape = (chances.shape * (len(SHAPES) - 1)).astype(np.int64)
    shape = np.where(same, target_shape, shape + (shape >= target_shape))
    return color, shape


def _draw_sizes(config: SceneConfig, chances: _Chances) -> tuple[Ints, Ints]:
    """Return the radius and the level of every object.

    The target's measure is none of the two extremes, which would be small or big in any scene
    (section 4, constraint 2: areas 40 to 110 only).
    """
    radius = (chances.radius * len(RADII)).astype(np.int64)
    level = np.full(radius.shape, LEVELS)
    if config.adjective == "bright":
        level = 1 + (chances.bright * LEVELS).astype(np.int64)
        level[:, 0] = 2 + (chances.level * (LEVELS - 2)).astype(np.int64)
    else:
        radius[:, 0] = 1 + (chances.radius[:, 0] * (len(RADII) - 2)).astype(np.int64)
    return radius, level


@lru_cache(maxsize=8)
def _measures(adjective: str) -> Floats:
    """Return the adjective's dimension by shape, radius, turn and level."""
    measure = ADJECTIVES[adjective].measure
    table = np.zeros((len(SHAPES), len(RADII), 2, LEVELS + 1))
    for (s, shape), (r, radius) in product(enumerate(SHAPES), enumerate(RADII)):
        for turn, level in product((WIDE, TALL), range(1, LEVELS + 1)):
            obj = SceneObject(shape, SCENE_COLORS[0], radius, 0, 0, turn, level)
            table[s, r, turn, level] = measure(obj)
    return table


def _fits(config: SceneConfig, c: _Candidates) -> Flags:
    """Return which candidates make the first object a fair target with the required label."""
    kind = config.kind
    if kind.degree == "comparative":
        return _fits_comparative(config, c)
    if kind.degree == "superlative":
        return _fits_superlative(c)
    target = c.value[:, 0]
    fair = c.high > c.low
    if kind.inner_scene:
        fair &= (target > c.low) & (target < c.high)
    members = c.present
    low = c.low
    high = c.high
    if kind.by_set:
        members = members & (c.shape == c.shape[:, :1])
        low = lowest(c.value, members)
        high = highest(c.value, members)
        fair &= high > low
    if kind.inner_set:
        fair &= (target > low) & (target < high)
    big = target > config.threshold_fn.line(c.value, members, c.k)
    return np.asarray(fair & (big == c.above))


def _fits_comparative(config: SceneConfig, c: _Candidates) -> Flags:
    """Return which candidates have a second object with a fair name that the target is compared
    with, on the required side of it.
    """
    rows = np.arange(len(c.count))
    target = c.value[:, 0]
    rival = c.value[rows, c.other]
    fair = c.high > c.low
    fair &= _uniquely_named(c)[rows, c.other]
    fair &= _inner(config, c)[rows, c.other]
    return fair & np.where(c.above, target > rival, target < rival)


def _fits_superlative(c: _Candidates) -> Flags:
    """Return which candidates have one biggest and one smallest object, one of them the target."""
    fair = c.high > c.low
    fair &= c.value[:, 0] == np.where(c.above, c.high, c.low)
    for end in (c.low, c.high):
        at_end = (c.value == end[:, None]) & c.present
        fair &= at_end.sum(axis=1) == 1
    return fair


def _uniquely_named(c: _Candidates) -> Flags:
    """Return which objects share their name, color and shape, with no other of their scene."""
    names = len(SHAPES) * len(SCENE_COLORS)
    # every scene counts its names in a range of its own, so that one count does for all
    scene = names * np.arange(len(c.count))[:, None]
    name = scene + c.shape * len(SCENE_COLORS) + c.color
    bearers = np.bincount(name[c.present], minlength=names * len(c.count))
    return np.asarray((bearers[name] == 1) & c.present)


def _inner(config: SceneConfig, c: _Candidates) -> Flags:
    """Return which objects have neither the least nor the largest size there is.

    It is `not labels.has_extreme_size`, for many scenes at once.
    """
    if config.adjective == "bright":
        inner = (c.level > 1) & (c.level < LEVELS)
    else:
        inner = (c.radius > 0) & (c.radius < len(RADII) - 1)
    return inner & c.present


def _thin_out(config: SceneConfig, c: _Candidates, slots: Sequence[Slot]) -> _Candidates:
    """Return the candidates whose target would be asked about, where other objects could be too.

    With u objects that have a name of their own and m of them eligible, the published scenes fit a
    weight of √m / u (chi-squared 34 on 29 degrees of freedom for eight properties of SET+POS; equal
    weights: 198). It is as if one named object had been looked at, the scene kept if that one was
    eligible, and one sentence taken from most scenes.
    """
    unique = _uniquely_named(c)
    names = unique.sum(axis=1)
    # a uniform number is below √m / u if its square, times u², is below m
    score = (_random(c, slots) * names) ** 2
    # m is at most u: no need to count m for the others
    hopeful = np.flatnonzero(score < names)
    c = c.take(hopeful)
    eligible = (_eligible(config, c) & unique[hopeful]).sum(axis=1)
    return c.take(np.flatnonzero(score[hopeful] < eligible))


def _eligible(config: SceneConfig, c: _Candidates) -> Flags:
    """Return which objects the task may ask about, apart from their names.

    It is `labels.eligible_targets` for many scenes at once.
    """
    kind = config.kind
    fair = _inner(config, c)
    low = c.low[:, None]
    high = c.high[:, None]
    if kind.degree == "superlative":
        return np.asarray(fair & ((c.value == low) | (c.value == high)))
    if kind.inner_scene:
        fair &= (c.value > low) & (c.value < high)
    if kind.by_set:
        # (shapes, scenes, objects), looked up by each object's shape and scene
        sets = (c.shape == np.arange(len(SHAPES))[:, None, None]) & c.present
        ends = np.stack([lowest(c.value, sets), highest(c.value, sets), sets.sum(axis=2)])
        low, high, size = ends[:, c.shape, np.arange(len(c.count))[:, None]]
        fair &= (size >= kind.least) & (high > low)
    if kind.inner_set:
        fair &= (c.value > low) & (c.value < high)
    return fair


def _objects(c: _Candidates, row: int, top: Ints, left: Ints) -> list[SceneObject]:
    """Return the objects of a candidate with their boxes' upper left corners at these places."""
    objects = []
    for i in range(int(c.count[row])):
        shape = SHAPES[c.shape[row, i]]
        color = SCENE_COLORS[c.color[row, i]]
        radius = RADII[c.radius[row, i]]
        turn = int(c.turn[row, i])
        down, right = anchor(shape, radius, turn)
        place = (int(top[i]) + down, int(left[i]) + right)
        objects.append(
            SceneObject(
                shape,
                color,
                radius,
                *place,
                turn,
                int(c.level[row, i]),
            )
        )
    return objects


def _one_by_one(config: SceneConfig, slot: Slot, c: _Candidates) -> SceneItem | None:
    """Let every object of a crowded scene try places until one is free, the largest object first.

    Candidates that cover least go first: they are the likeliest to fit.
    """
    areas = _measures("big")[c.shape, c.radius, 0, LEVELS]
    total = np.where(c.present, areas, 0).sum(axis=1)
    for row in np.argsort(total, kind="stable")[:_CROWDED_CANDIDATES].tolist():
        count = int(c.count[row])
        kinds = (c.shape[row, :count], c.radius[row, :count], c.turn[row, :count])
        chance = slot[1].random((_TRIES, count, 2))
        tries = [_objects(c, row, *placement.corners(*kinds, places)) for places in chance]
        placed: dict[int, SceneObject] = {}
        for i in np.argsort(-c.radius[row, :count], kind="stable").tolist():
            obj = _first_free([objects[i] for objects in tries], placed.values())
            if obj is None:
                break
            placed[i] = obj
        else:
            return _item(config, slot, c, row, [placed[i] for i in range(count)])
    return None


def _first_free(tries: Iterable[SceneObject], placed: Iterable[SceneObject]) -> SceneObject | None:
    """Return the first object that touches none of those that are placed."""
    others = list(placed)
    for obj in tries:
        if not any(placement.touch(obj, other) for other in others):
            return obj
    return None


def _item(
    config: SceneConfig,
    slot: Slot,
    c: _Candidates,
    row: int,
    objects: list[SceneObject],
) -> SceneItem:
    """Return the accepted candidate as a scene, in an order that does not give the target away."""
    cell, rng = slot
    order = rng.permutation(len(objects)).tolist()
    k = None
    other = None
    if config.kind.degree == "positive":
        k = float(c.k[row])
    elif config.kind.degree == "comparative":
        other = order.index(int(c.other[row]))
    scene = Scene(tuple(objects[i] for i in order), k)
    return SceneItem(scene, cell, order.index(0), other)
