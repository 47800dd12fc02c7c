"""Item parameters: recovered from made-up answers, and intervals of adaptive scores in simulation.

`pytest -m slow -s tests/metrics/test_item_response.py` prints the rates that
docs/fewer-questions.md shows.
"""

from __future__ import annotations

import numpy as np
import pytest

from seesay.metrics.base import FloatArray, IntArray
from seesay.metrics.item_response import AdaptiveScore, ItemParameters, fit_items, short_form


class World:
    """Items of known parameters, and models that answer them; `effect` is what a model knows of an
    object beside its ability."""

    def __init__(
        self, seed: int, models: int, items: int, per_object: int = 1, effect: float = 0.0
    ) -> None:
        rng = np.random.default_rng([41, seed])
        self.slopes = np.exp(rng.normal(0, 0.4, items))
        self.difficulties = rng.normal(0, 1.5, items)
        self.abilities = rng.normal(0, 1, models)
        self.objects: IntArray = np.arange(items) // per_object
        own = effect * rng.normal(size=(models, int(self.objects.max()) + 1))
        logits = self.slopes * (self.abilities[:, None] - self.difficulties)
        p = 1 / (1 + np.exp(-logits - own[:, self.objects]))
        self.credits: FloatArray = (rng.random((models, items)) < p) * 1.0


def test_parameters_are_recovered() -> None:
    """On another world of this size, girth 0.8's twopl_mml and this fit correlate by 0.94 in
    discrimination and by 0.99 in difficulty, and with the truth by 0.85 and 0.97 (this: 0.87 and
    0.98)."""
    world = World(0, models=200, items=100)
    parameters, abilities = fit_items(world.credits)
    intercepts = -world.slopes * world.difficulties
    assert np.corrcoef(abilities, world.abilities)[0, 1] > 0.95
    assert np.corrcoef(parameters.slopes, world.slopes)[0, 1] > 0.75
    assert np.corrcoef(parameters.intercepts, intercepts)[0, 1] > 0.95


def test_an_item_that_good_models_get_wrong_has_a_negative_slope() -> None:
    world = World(1, models=40, items=60)
    credits = world.credits.copy()
    credits[:, 0] = world.abilities < 0
    parameters, _ = fit_items(credits)
    assert parameters.slopes[0] < 0 < np.median(parameters.slopes)


def test_one_item_by_hand() -> None:
    """A model that is right on one item of slope 1 and intercept 0: θ solves 1 - σ(θ) = θ."""
    parameters = ItemParameters(np.ones(1), np.zeros(1), mean=0.0, sd=1.0)
    (ability,) = parameters.abilities(np.ones((1, 1)))
    assert ability == pytest.approx(1 - 1 / (1 + np.exp(-ability)), abs=1e-3)
    # a model that was asked nothing is taken for an average one
    assert parameters.abilities(np.full((1, 1), np.nan)) == pytest.approx([0.0])


def test_a_short_form_is_nearer_to_the_whole_than_random_questions() -> None:
    """Over forty worlds: in one of them all models share the luck of the form."""
    kinds = np.zeros(350, dtype=np.int64)
    errors, random_errors = [], []
    for seed in range(40):
        world = World(seed, models=75, items=350)
        known, unknown = world.credits[:15], world.credits[15:]
        rows = short_form(known, world.objects, kinds, 100)
        assert len(set(rows.tolist())) == 100
        whole = unknown.mean(axis=1)
        errors.append(np.abs(unknown[:, rows].mean(axis=1) - whole).mean())
        rng = np.random.default_rng(seed)
        for _ in range(5):
            draw = rng.permutation(350)[:100]
            random_errors.append(np.abs(unknown[:, draw].mean(axis=1) - whole).mean())
    assert np.mean(errors) < 0.9 * np.mean(random_errors)


def test_a_short_form_has_whole_objects_and_right_answers_as_frequent_as_the_whole() -> None:
    """Whoever answers all questions alike, or both of an object, keeps the score, though no known
    model did so."""
    world = World(6, models=12, items=400, per_object=2)
    kinds = np.repeat([0, 1, 2, 3], [100, 60, 30, 10])
    rows = short_form(world.credits, world.objects, kinds, 80)
    objects, counts = np.unique(world.objects[rows], return_counts=True)
    assert len(rows) == 80
    assert set(counts.tolist()) == {2}
    assert np.bincount(kinds[objects]).tolist() == pytest.approx([20, 12, 6, 2], abs=1)


def adaptive(
    world: World, parameters: ItemParameters, row: int, count: int, per_object: int = 1
) -> AdaptiveScore:
    """Ask one model of the world adaptively."""
    score = AdaptiveScore(parameters, world.objects, seed=row)
    while score.asked < count:
        score.draw(8 // per_object, lambda items: world.credits[row, items])
    return score


def test_all_questions_give_the_score_itself() -> None:
    world = World(3, models=10, items=40)
    parameters, _ = fit_items(world.credits[:9])
    interval = adaptive(world, parameters, 9, 40).interval()
    assert interval.low == interval.value == interval.high == pytest.approx(world.credits[9].mean())


def test_a_worthless_item_model_makes_no_bias() -> None:
    """Parameters that have nothing to do with the items: the mean over seeds is still right."""
    world = World(4, models=1, items=120)
    backwards = ItemParameters(np.ones(120), 3 * world.difficulties, mean=0.0, sd=1.0)
    truth = world.credits[0].mean()
    values = []
    for seed in range(300):
        score = AdaptiveScore(backwards, world.objects, seed)
        for _ in range(10):
            score.draw(4, lambda items: world.credits[0, items])
        values.append(score.interval().value)
    error = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values) - truth) < 4 * error


def test_an_interval_allows_for_surprises_that_were_not_met() -> None:
    """Three of 110 items are right against all expectation, and 40 are asked: most samples have one
    of them or none, whose estimates hardly differ from one another."""
    credits = np.zeros(110)
    credits[[7, 50, 83]] = 1.0
    parameters = ItemParameters(np.ones(110), np.full(110, -4.0), mean=0.0, sd=0.3)
    covered = []
    for seed in range(200):
        score = AdaptiveScore(parameters, np.arange(110), seed)
        for _ in range(4):
            score.draw(10, credits.__getitem__)
        interval = score.interval()
        covered.append(interval.low <= credits.mean() <= interval.high)
    assert np.mean(covered) >= 0.94


def test_an_interval_does_not_contradict_what_was_seen() -> None:
    """Of 40 items 30 were asked, and all of them were right against expectation."""
    parameters = ItemParameters(np.ones(40), np.full(40, -4.0), mean=0.0, sd=0.3)
    score = AdaptiveScore(parameters, np.arange(40), seed=0)
    score.draw(30, np.ones(40).__getitem__)
    interval = score.interval()
    assert 30 / 40 <= interval.low <= interval.value <= interval.high <= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("models", "items", "per_object", "effect"),
    [(20, 350, 1, 0.0), (12, 350, 1, 1.0), (20, 600, 2, 1.0)],
)
def test_intervals_cover_the_score_on_the_whole_task(
    models: int, items: int, per_object: int, effect: float
) -> None:
    covered, errors, random_errors = [], [], []
    for seed in range(40):
        world = World(seed, models + 50, items, per_object, effect)
        parameters, _ = fit_items(world.credits[:models])
        rng = np.random.default_rng(seed)
        for row in range(models, models + 50):
            interval = adaptive(world, parameters, row, 100, per_object).interval()
            truth = world.credits[row].mean()
            covered.append(interval.low <= truth <= interval.high)
            errors.append(interval.value - truth)
            objects = rng.permutation(int(world.objects.max()) + 1)[: 100 // per_object]
            drawn = np.isin(world.objects, objects)
            random_errors.append(world.credits[row, drawn].mean() - truth)
    print(
        f"{models} models, {items} items, {per_object} per object, effect {effect}: covered "
        f"{np.mean(covered):.1%} of {len(covered)}, error {np.std(errors):.3f}, of random "
        f"questions {np.std(random_errors):.3f}"
    )
    assert np.mean(covered) >= 0.94
