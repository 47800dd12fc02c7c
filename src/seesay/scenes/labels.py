"""What is true of a scene: which objects are big, how probably, how far from the threshold.

Definitions of the published data: T from the threshold function over the reference set; prob =
Φ((value − T) · scale / 0.05), for small one minus that; distance = |value − T| / (max − min);
vagueness is "same" if the label would be the same at the mean k. A set whose values are all equal
has nothing big in it: small, 0.5, no distance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    """The label of one object: an adjective, or "NA" where neither superlative applies."""

    word: str
    prob: float | None = None
    """How probably the word applies; None for superlatives."""
    distance: float | None = None
    """From the threshold, as a share of the reference set's range."""
    vague: bool = False
    """Whether the mean k would give the other word."""


def measure(objects: tuple[SceneObject, ...], adjective: Adjective) -> NDArray[np.float64]:
    """Return where every object lies on the adjective's dimension."""
    return np.array([adjective.measure(obj) for obj in objects], dtype=np.float64)


def reference_sets(objects: tuple[SceneObject, ...], by_set: bool) -> NDArray[np.bool_]:
    """Return the objects (columns) that every object (rows) is compared with."""
    if not by_set:
        return np.ones((len(objects), len(objects)), dtype=bool)
    # objects of one shape are compared with one another
    shapes = np.array([obj.shape for obj in objects])
    return np.asarray(shapes[:, None] == shapes[None, :])


def above(
    scene: Scene,
    by_set: bool,
    k: float,
    adjective: Adjective = BIG,
    threshold: Threshold = RH_R,
) -> NDArray[np.bool_]:
    """Return which objects are above the threshold at this k.

    The positive adjective is true of them.
    """
    members = reference_sets(scene.objects, by_set)
    values = measure(scene.objects, adjective)
    table = np.broadcast_to(values, members.shape)
    line = threshold.line(table, members, np.full(len(values), k))
    return values > line


def superlatives(scene: Scene, adjective: Adjective = BIG) -> list[Label]:
    """Label the highest and the lowest object; where two are tied, neither has a label."""
    values = measure(scene.objects, adjective)
    words = ["NA"] * len(values)
    # The lowest first: in a scene of one object, which is both, the label of the highest holds.
    for word, end in zip(adjective.superlative[::-1], (values.min(), values.max()), strict=True):
        places = np.flatnonzero(values == end)
        if len(places) == 1:
            words[places[0]] = word
    return [Label(word) for word in words]


def positives(
    scene: Scene,
    by_set: bool,
    adjective: Adjective = BIG,
    threshold: Threshold = RH_R,
) -> list[Label]:
    """Label every object at the scene's k."""
    if scene.k is None:
        raise ValueError("a scene without k has no line between the adjectives")
    members = reference_sets(scene.objects, by_set)
    values = measure(scene.objects, adjective)
    table = np.broadcast_to(values, members.shape)
    lines = threshold.line(table, members, np.full(len(values), scene.k))
    widths = highest(table, members) - lowest(table, members)
    # vagueness: would the mean k give the same label?
    usual = above(scene, by_set, threshold.mean, adjective, threshold)
    rows = zip(
        values.tolist(),
        lines.tolist(),
        widths.tolist(),
        usual.tolist(),
        strict=True,
    )
    return [_positive(adjective, *row) for row in rows]


def _positive(
    adjective: Adjective,
    value: float,
    line: float,
    width: float,
    usual: bool,
) -> Label:
    """Label one object by its value, its set's threshold and range, and its usual side."""
    first, second = adjective.positive
    if width == 0:
        return Label(second, 0.5, None)
    # Φ(x) by the complementary error function, which stays exact in the tails
    prob = 0.5 * math.erfc(-(value - line) * adjective.scale / WEBER / math.sqrt(2))
    distance = abs(value - line) / width
    if value > line:
        return Label(first, prob, distance, not usual)
    return Label(second, 1 - prob, distance, usual)


def label_objects(
    scene: Scene,
    kind: TaskKind,
    adjective: Adjective = BIG,
    threshold: Threshold = RH_R,
) -> list[Label]:
    """Label every object, as the task understands it."""
    if kind.degree == "positive":
        return positives(scene, kind.by_set, adjective, threshold)
    return superlatives(scene, adjective)


def eligible_targets(scene: Scene, kind: TaskKind, adjective: Adjective = BIG) -> list[int]:
    """Return the indices of the objects that a sentence may be about.

    The constraints are those of the paper's section 4, "Linguistic Data": a unique name, a size
    that does not give the answer away, and those of the task.
    """
    objects = scene.objects
    values = [adjective.measure(obj) for obj in objects]
    names = [(obj.color, "" if kind.single else obj.shape) for obj in objects]
    indices = []
    for i, obj in enumerate(objects):
        if names.count(names[i]) > 1 or has_extreme_size(obj, adjective):
            continue
        reference = values
        if kind.by_set:
            reference = [adjective.measure(other) for other in objects if other.shape == obj.shape]
        if _is_fair(kind, values[i], values, reference):
            indices.append(i)
    return indices


def _is_fair(
    kind: TaskKind, value: float, values: Sequence[float], reference: Sequence[float]
) -> bool:
    """Return whether the task allows a target of this value among the scene's and its set's."""
    ends = (min(values), max(values))
    if kind.degree == "superlative":
        return value in ends and values.count(value) == 1
    set_ends = (min(reference), max(reference))
    if len(reference) < kind.least or set_ends[0] == set_ends[1]:
        return False
    if kind.inner_scene and value in ends:
        return False
    return not (kind.inner_set and value in set_ends)


def has_extreme_size(obj: SceneObject, adjective: Adjective) -> bool:
    """Return whether the object has the least or the largest size there is.

    One could answer without looking at the others.
    """
    if adjective.name == "bright":
        return obj.level in (1, LEVELS)
    return obj.radius in (RADII[0], RADII[-1])
