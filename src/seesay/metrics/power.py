"""How many questions it takes to show a difference, from the interval of a pilot's (normal
approximation)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from seesay.defaults import POWER

_INTERVAL_Z = NormalDist().inv_cdf(0.975)
_NOTHING = 0.0005
"""Smaller differences are 0.000 in print."""
NO_MEAN = (
    "it is no mean over questions, and the sign-flip test that decides about it may deny what the "
    "interval that a plan rests on shows"
)
NO_DIFFERENCE = (
    "the difference is 0.000 when rounded, which is nothing to show: --difference names one that "
    "would matter"
)


@dataclass(frozen=True)
class PowerPlan:
    """What it takes to show a difference.

    `questions` is how many a difference of `target` takes, and `detectable` the difference that as
    many as the pilot's can show. What cannot be planned is None, and `reason` says why.
    """

    target: float
    questions: int | None
    detectable: float | None
    reason: str | None = None


def power_plan(
    difference: float,
    low: float,
    high: float,
    n: int,
    *,
    target: float | None = None,
    power: float = POWER,
    is_mean: bool = True,
) -> PowerPlan:
    """Return the plan of a paired two-sided test at the 5 % level with this power.

    `target` is the difference to be shown, by default the pilot's. The standard error is that of
    the pilot's 95 % interval, and falls with the root of the questions. Of a mean over items, that
    is the error of the sign-flip test, too: of another figure (`is_mean`) it is not, since swapping
    answers changes what the figure is made of, so that its plan would promise what the test denies.

    >>> plan = power_plan(0.05, -0.01, 0.11, 100)
    >>> plan.questions, round(plan.detectable, 4)
    (295, 0.0858)
    """
    if not is_mean:
        return PowerPlan(abs(difference if target is None else target), None, None, NO_MEAN)
    error = (high - low) / (2 * _INTERVAL_Z)
    detectable = (_INTERVAL_Z + NormalDist().inv_cdf(power)) * error
    if target is None and abs(difference) < _NOTHING:
        return PowerPlan(abs(difference), None, detectable, NO_DIFFERENCE)
    target = abs(difference if target is None else target)
    # the error falls with the root: half the difference takes four times the questions
    times = (detectable / target) ** 2
    questions = max(math.ceil(n * times - 1e-9), 1)
    return PowerPlan(target, questions, detectable)
