"""Intervals where objects share things: ratios worked by hand, and coverage in simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seesay.metrics import Resamples
from seesay.metrics.base import FloatArray, weighted_mean
from seesay.metrics.dependence import ThingsInCommon, influence
from seesay.metrics.paired import paired_bootstrap

THINGS = [f"{number:03}" for number in range(1000)]


def test_objects_of_one_thing_are_independent() -> None:
    assert ThingsInCommon([["cat"], ["dog"]]).widening(np.array([1.0, -1.0])) == 1


@pytest.mark.seconds
def test_a_shared_thing_adds_what_two_pairs_have_in_common() -> None:
    """(cat, dog) and (cat, cow) err alike: (1 + 1)² by what they share, 1 + 1 by whole pairs."""
    many = [["cat", "dog"], ["cat", "cow"], *([f"a{i}", f"b{i}"] for i in range(100_000))]
    deviations = np.zeros(len(many))
    deviations[:2] = 1.0
    deviations[2:] = 1e-9
    assert ThingsInCommon(many).widening(deviations) == pytest.approx(math.sqrt(2), abs=1e-4)


def test_pairs_that_share_nothing_are_as_good_as_independent() -> None:
    pairs = [[f"a{i}", f"b{i}"] for i in range(5_000)]
    deviations = np.random.default_rng(0).normal(size=len(pairs))
    assert ThingsInCommon(pairs).widening(deviations) == pytest.approx(1, abs=1e-3)


def test_the_scene_of_a_place_is_shared_like_a_thing() -> None:
    """A model that is wrong about all places of a kitchen says little about other scenes."""
    places = [[f"scene {i // 20}", f"a{i}", f"b{i}"] for i in range(400)]
    wrong_by_scene = np.where(np.arange(400) // 20 % 2 == 0, 1.0, -1.0)
    wrong_here_and_there = np.where(np.arange(400) % 2 == 0, 1.0, -1.0)
    shared = ThingsInCommon(places)
    # in every scene twenty places err alike: the variance is twenty times that of places
    assert shared.widening(wrong_by_scene) == pytest.approx(math.sqrt(20), rel=0.02)
    assert shared.widening(wrong_here_and_there) == pytest.approx(1, rel=0.02)


def test_the_influence_of_an_object_on_a_mean_is_its_deviation_over_the_number() -> None:
    values = np.array([1.0, 0.0, 1.0, 1.0])
    sums = np.stack([values, np.ones(4)], axis=1)[:, None, :]
    assert influence(sums, weighted_mean) == pytest.approx((values - 0.75) / 4, abs=1e-6)


class World:
    """Things that a model is more or less wrong about, and pairs of them."""

    def __init__(self, seed: int, things: int, pairs: int, effect: float) -> None:
        rng = np.random.default_rng(seed)
        first = rng.integers(0, things, pairs)
        second = (first + rng.integers(1, things, pairs)) % things
        effects = rng.normal(0, effect, things)
        self.things = [sorted((THINGS[a], THINGS[b])) for a, b in zip(first, second, strict=True)]
        self.objects = ["|".join(pair) for pair in self.things]
        self._logits = effects[first] + effects[second]
        self._seed = seed

    def answers(self, model: int = 0, templates: int = 3) -> FloatArray:
        """Draw right and wrong answers; half are right in expectation over all worlds.

        Of two models, the second is wrong about what the first is right about.
        """
        sign = -1 if model else 1
        shares = 1 / (1 + np.exp(-sign * self._logits))
        rng = np.random.default_rng([self._seed, model])
        right = rng.random((templates, len(shares))) < shares
        return np.stack([right.astype(float), np.ones(right.shape)], axis=2)


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0.0, 0.5, 1.5])
@pytest.mark.parametrize(("things", "pairs"), [(40, 120), (100, 500), (300, 600)])
def test_intervals_of_pairs_cover_what_they_should(things: int, pairs: int, effect: float) -> None:
    """Without things that are shared, coverage is .56 to .80 where their effect is strong."""
    worlds = 2_000
    covered = 0
    for seed in range(worlds):
        world = World(seed, things, pairs, effect)
        draw = Resamples(world.objects, 400, seed, world.things)
        interval = draw.interval(world.answers(), weighted_mean)
        covered += interval.low <= 0.5 <= interval.high
    print(f"{things} things, {pairs} pairs, effect {effect}: {covered / worlds:.3f}")
    assert 0.92 <= covered / worlds <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0.0, 1.5])
def test_equal_models_are_told_apart_in_one_case_of_twenty(effect: float) -> None:
    worlds = 1_000
    told_apart = 0
    for seed in range(worlds):
        world = World(seed, 100, 400, effect)
        draw = Resamples(world.objects, 400, seed, world.things)
        test = paired_bootstrap(world.answers(0), world.answers(1), draw, weighted_mean)
        told_apart += test.p <= 0.05
    print(f"effect {effect}: {told_apart / worlds:.3f} told apart")
    assert told_apart / worlds <= 0.08
