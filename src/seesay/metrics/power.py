"""How many questions it takes to show a difference, from the interval of a pilot's (normal
approximation)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from seesay.defaults import POWER

_INTERVAL_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class PowerPlan:
    """What it takes to show a difference.

    `questions` is how many a difference of `target` takes, and `detectable` the difference that as
    many as the pilot's can show.
    """

    target: float
    questions: int | None
    detectable: float


def power_plan(
    difference: float,
    low: float,
    high: float,
    n: int,
    *,
    target: float | None = None,
    power: float = POWER,
) -> PowerPlan:
    """Return the plan of a paired two-sided test at the 5 % level with this power.

    `target` is the difference to be shown, by default the pilot's. The standard error is that of
    the pilot's 95 % interval, and falls with the root of the questions.

    >>> plan = power_plan(0.05, -0.01, 0.11, 100)
    >>> plan.questions, round(plan.detectable, 4)
    (295, 0.0858)
    """
    error = (high - low) / (2 * _INTERVAL_Z)
    detectable = (_INTERVAL_Z + NormalDist().inv_cdf(power)) * error
    if target is None:
        target = difference
    target = abs(target)
    if target == 0:
        return PowerPlan(target, None, detectable)
    # the error falls with the root: half the difference takes four times the questions
    times = (detectable / target) ** 2
    questions = max(math.ceil(n * times - 1e-9), 1)
    return PowerPlan(target, questions, detectable)
