"""Answers by rule, from the scene itself: the ceiling for perfect vision, and two shortcuts.

A rule reads a sentence and a scene and says true or false. The rules that MALeViC's paper compares
with: a fixed k of 0.29, which is the ceiling for anyone who cannot know a scene's own k; the
threshold over the whole scene where the target's own shape is meant; and "big is only the biggest".
"""

from __future__ import annotations

from collections.abc import Callable

from seesay.errors import UserError
from seesay.scenes.adjectives import Adjective
from seesay.scenes.labels import above, measure, reference_sets
from seesay.scenes.sentences import parse_sentence
from seesay.scenes.thresholds import RH_R
from seesay.scenes.world import Scene

FIXED_K = RH_R.mean

Positive = Callable[[Scene, int, Adjective, bool], bool]
"""Whether an object is big (tall, bright).

Takes scene, place, adjective, and whether the object's own shape is the reference set.
"""


def fixed_k(scene: Scene, place: int, adjective: Adjective, by_set: bool) -> bool:
    """Return whether the object is above the line at k = 0.29, in the right reference set."""
    return bool(above(scene, by_set, FIXED_K, adjective)[place])


def whole_scene(scene: Scene, place: int, adjective: Adjective, by_set: bool) -> bool:
    """Return whether the object is above the line at k = 0.29 among all objects.

    It does not matter what the sentence compares with.
    """
    return bool(above(scene, False, FIXED_K, adjective)[place])


def max_is_big(scene: Scene, place: int, adjective: Adjective, by_set: bool) -> bool:
    """Return whether nothing in the right reference set is bigger."""
    values = measure(scene.objects, adjective)
    members = reference_sets(scene.objects, by_set)[place]
    return bool(values[place] == values[members].max())


RULES: dict[str, Positive] = {
    "fixed-k": fixed_k,
    "whole-scene": whole_scene,
    "max-is-big": max_is_big,
}


def holds(rule: Positive, scene: Scene, sentence: str) -> bool:
    """Return whether the sentence is true according to the rule."""
    parsed = parse_sentence(sentence)
    if parsed is None:
        raise UserError(f"'{sentence}' is not a sentence about a scene of shapes.")
    color, shape, adjective, degree, positive, other = parsed
    place = find_target(scene, color, shape, sentence)
    values = measure(scene.objects, adjective)
    if degree == "comparative" and other is not None:
        rival = values[find_target(scene, *other, sentence)]
        if positive:
            return bool(values[place] > rival)
        return bool(values[place] < rival)
    if degree == "superlative":
        end = values.max() if positive else values.min()
        return bool(values[place] == end)
    # SET+POS names the target's shape again where POS says "object" (the paper's section 3)
    by_set = not sentence.rstrip(".").endswith(" object")
    return rule(scene, place, adjective, by_set) == positive


def find_target(scene: Scene, color: str, shape: str, sentence: str) -> int:
    """Return the place of the one object of this name; refuse a sentence that is ambiguous."""
    matches = scene.places(color, shape)
    if len(matches) != 1:
        raise UserError(
            f"'{sentence}': the scene has {len(matches)} {color} {shape}s, so the target is not "
            "clear."
        )
    return matches[0]
