"""What is true of a scene: which objects are big, with what probability, how far from the
threshold, how vague.

Definitions of the published data: T from the threshold function over the reference set; prob =
Φ((value − T) · scale / 0.05), for small one minus that; distance = |value − T| / (max − min);
vagueness is "same" if the label would be the same at the mean k. A set whose values are all equal
has nothing big in it: small, 0.5, no distance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seesay.scenes.adjectives import ADJECTIVES, Adjective
from seesay.scenes.task_kinds import TaskKind
from seesay.scenes.thresholds import RH_R, Threshold, highest, lowest
from seesay.scenes.world import LEVELS, RADII, Scene, SceneObject

WEBER = 0.05
BIG = ADJECTIVES["big"]


@dataclass(frozen=True, slots=True)
class Label:
    """The label of one object. `word` is an adjective, or "NA" where neither superlative
    applies."""

    word: str
    prob: float | None = None
    distance: float | None = None
    vague: bool = False


def measure(objects: tuple[SceneObject, ...], adjective: Adjective) -> NDArray[np.float64]:
    """Where every object lies on the adjective's dimension."""
    return np.array([adjective.measure(obj) for obj in objects], dtype=np.float64)


def reference_sets(objects: tuple[SceneObject, ...], by_set: bool) -> NDArray[np.bool_]:
    """Row i: the objects that object i is compared with."""
    if not by_set:
        return np.ones((len(objects), len(objects)), dtype=bool)
    shapes = np.array([obj.shape for obj in objects])
    return np.asarray(shapes[:, None] == shapes[None, :])


def above(
    scene: Scene, by_set: bool, k: float, adjective: Adjective = BIG, threshold: Threshold = RH_R
) -> NDArray[np.bool_]:
    """Which objects are above the threshold at this k: the positive adjective is true of them."""
    members = reference_sets(scene.objects, by_set)
    values = measure(scene.objects, adjective)
    return np.asarray(
        values
        > threshold.line(np.broadcast_to(values, members.shape), members, np.full(len(values), k))
    )


def superlatives(scene: Scene, adjective: Adjective = BIG) -> list[Label]:
    """The highest and the lowest object; no label where two are tied."""
    values = measure(scene.objects, adjective)
    high = (values == values.max()).sum() == 1
    low = (values == values.min()).sum() == 1
    words = adjective.superlative
    names = (
        words[0] if high and v == values.max() else words[1] if low and v == values.min() else "NA"
        for v in values
    )
    return [Label(name) for name in names]


def positives(
    scene: Scene, by_set: bool, adjective: Adjective = BIG, threshold: Threshold = RH_R
) -> list[Label]:
    """The label of every object at the scene's k."""
    if scene.k is None:
        raise ValueError("a scene without k has no line between the adjectives")
    members = reference_sets(scene.objects, by_set)
    values = measure(scene.objects, adjective)
    table = np.broadcast_to(values, members.shape)
    line = threshold.line(table, members, np.full(len(values), scene.k))
    width = highest(table, members) - lowest(table, members)
    usual = above(scene, by_set, threshold.mean, adjective, threshold)
    labels = []
    for value, at, span, as_usual in zip(
        *(part.tolist() for part in (values, line, width, usual)), strict=True
    ):
        if span == 0:
            labels.append(Label(adjective.positive[1], 0.5, None))
            continue
        big = value > at
        prob = 0.5 * math.erfc(-(value - at) * adjective.scale / WEBER / math.sqrt(2))
        word = adjective.positive[0 if big else 1]
        labels.append(
            Label(word, prob if big else 1 - prob, abs(value - at) / span, big != as_usual)
        )
    return labels


def label_objects(
    scene: Scene, kind: TaskKind, adjective: Adjective = BIG, threshold: Threshold = RH_R
) -> list[Label]:
    """The label of every object, as the task understands it."""
    if kind.degree == "positive":
        return positives(scene, kind.by_set, adjective, threshold)
    return superlatives(scene, adjective)


def askable(scene: Scene, kind: TaskKind, adjective: Adjective = BIG) -> list[int]:
    """Which objects a sentence may be about: named uniquely, and not given away by their size
    alone."""
    values = [adjective.measure(obj) for obj in scene.objects]
    names = [obj.color if kind.single else (obj.color, obj.shape) for obj in scene.objects]
    ends = (min(values), max(values))
    indices = []
    for i, obj in enumerate(scene.objects):
        if names.count(names[i]) > 1 or has_extreme_size(obj, adjective):
            continue
        same = [
            v
            for v, o in zip(values, scene.objects, strict=True)
            if not kind.by_set or o.shape == obj.shape
        ]
        if kind.degree == "superlative":
            fair = values[i] in ends and values.count(values[i]) == 1
        else:
            fair = min(same) < max(same) and len(same) >= kind.least
            fair &= not (kind.inner_scene and values[i] in ends)
            fair &= not (kind.inner_set and values[i] in (min(same), max(same)))
        if fair:
            indices.append(i)
    return indices


def has_extreme_size(obj: SceneObject, adjective: Adjective) -> bool:
    """Whether the object has the least or the largest size there is: one could answer without
    looking at the others."""
    if adjective.name == "bright":
        return obj.level in (1, LEVELS)
    return obj.radius in (RADII[0], RADII[-1])
