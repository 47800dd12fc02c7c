"""How many questions a difference takes."""

from __future__ import annotations

import pytest

from seesay.metrics.power import NO_DIFFERENCE, NO_MEAN, power_plan


def test_half_the_difference_takes_four_times_the_questions() -> None:
    whole = power_plan(0.05, -0.01, 0.11, 100)
    half = power_plan(0.05, -0.01, 0.11, 100, target=0.025)
    assert whole.questions == 295
    assert half.questions == pytest.approx(4 * 295, abs=4)


def test_a_difference_that_rounds_to_nothing_has_no_plan() -> None:
    plan = power_plan(0.0004, -0.02, 0.02, 100)
    assert (plan.questions, plan.reason) == (None, NO_DIFFERENCE)
    assert plan.detectable is not None
    # asked for by name, it has one
    assert power_plan(0.0, -0.02, 0.02, 100, target=0.0004).questions


def test_a_figure_that_is_no_mean_has_no_plan() -> None:
    """Its test may deny what the interval shows, as of macro-F1 with 60 questions."""
    plan = power_plan(0.136, 0.06, 0.21, 60, is_mean=False)
    assert (plan.questions, plan.detectable, plan.reason) == (None, None, NO_MEAN)
