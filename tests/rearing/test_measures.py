"""Measures on answers whose curve is known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from seesay.metrics.bootstrap import wilson
from seesay.rearing.cells import USUAL
from seesay.rearing.measures import (
    CHANCE,
    KindAnswer,
    difference,
    estimate,
    estimate_pull,
    overtaking_layer,
    threshold,
)

DOSES = (1, 2, 4, 8, 16, 32, 64)


def answers(n50: float, slope: float = 1.5, kinds: int = 40, seeds: int = 3) -> list[KindAnswer]:
    """Draw answers from a logistic curve."""
    generator = np.random.default_rng(0)
    rows = []
    for seed in range(seeds):
        for dose in DOSES:
            rise = 1 / (1 + math.exp(-slope * (math.log2(dose) - math.log2(n50))))
            for number in range(kinds):
                right = generator.random() < CHANCE + (1 - CHANCE) * rise
                row = KindAnswer(
                    diet="diet",
                    learner="text",
                    seed=seed,
                    question=USUAL,
                    kind=f"{dose} {number}",
                    dose=dose,
                    evidence="direct",
                    answer="",
                    right=float(right),
                    pull=0.0,
                )
                rows.append(row)
    return rows


@pytest.mark.parametrize("n50", [2.0, 8.0, 23.0])
def test_the_planted_dose_is_recovered(n50: float) -> None:
    found = threshold(answers(n50))
    assert found.value == pytest.approx(n50, rel=0.25)
    assert found.low <= n50 <= found.high
    assert found.low < found.value < found.high
    assert len(found.by_seed) == 3
    assert found.ratio < 1.5


def test_a_curve_that_never_rises_has_no_dose() -> None:
    found = threshold(answers(1e9))
    assert math.isinf(found.value)
    assert math.isinf(found.high)
    assert math.isnan(found.ratio)


def test_a_curve_that_is_up_at_the_smallest_dose_has_none_either() -> None:
    found = threshold(answers(0.01))
    assert (found.value, found.low) == (0.0, 0.0)
    assert math.isnan(found.ratio)


def test_kinds_known_from_their_relatives_do_not_count() -> None:
    rows = answers(8.0)
    indirect = [replace(row, evidence="indirect", right=1.0) for row in rows]
    assert threshold([*rows, *indirect]) == threshold(rows)


def test_differences_are_paired_by_kind_and_seed() -> None:
    rows = answers(8.0, kinds=5)
    better = [replace(row, right=1.0) for row in rows]
    found = difference(better, rows)
    mean = sum(row.right for row in rows) / len(rows)
    assert found.value == pytest.approx(1 - mean)
    assert found.n == 5 * len(DOSES)
    assert found.low < found.value < found.high
    # one that nobody is paired with has no part in it
    assert difference(better, rows[1:]).value == pytest.approx(
        1 - sum(row.right for row in rows[1:]) / (len(rows) - 1)
    )


def test_an_estimate_of_nothing_is_no_figure() -> None:
    assert estimate([]).n == 0
    assert math.isnan(estimate([]).value)
    # nobody is paired with anybody
    assert difference(answers(8.0), []).n == 0


def test_kinds_that_are_all_alike_have_wilsons_interval() -> None:
    """None of 20 kinds, all of 20, and no difference on any of 20: certain of nothing."""
    rows = [row for row in answers(8.0, kinds=20, seeds=1) if row.dose == 1]
    nothing = [replace(row, right=0.0) for row in rows]
    everything = [replace(row, right=1.0) for row in rows]
    unseen = wilson(0.0, 20)[1]
    assert unseen == pytest.approx(0.161, abs=5e-4)
    none_right = estimate(nothing)
    assert (none_right.low, none_right.high) == pytest.approx((0.0, unseen))
    all_right = estimate(everything)
    assert (all_right.low, all_right.high) == pytest.approx((1 - unseen, 1.0))
    equal = difference(nothing, nothing)
    assert (equal.low, equal.high) == pytest.approx((-unseen, unseen))
    better = difference(everything, nothing)
    assert (better.value, better.high) == (1.0, 1.0)
    assert better.low < 1


def test_pulls_are_counted_by_kind() -> None:
    rows = answers(8.0, kinds=5)
    pulled = [replace(row, pull=float(row.dose == 64)) for row in rows]
    found = estimate_pull(pulled)
    assert found.value == pytest.approx(1 / len(DOSES))
    assert found.low < found.value < found.high
    assert estimate_pull(rows).value == 0


def test_the_layer_from_which_the_picture_wins() -> None:
    def layer(shown: float, usual: float) -> dict[str, float]:
        return {"shown": shown, "usual": usual}

    assert overtaking_layer([layer(0, 0), layer(0.2, 0.5), layer(0.9, 0.1)]) == 2
    assert overtaking_layer([layer(0.5, 0.1), layer(0.2, 0.5), layer(0.1, 0.9)]) is None
    assert overtaking_layer([layer(0.5, 0.1), layer(0.6, 0.1)]) == 1
