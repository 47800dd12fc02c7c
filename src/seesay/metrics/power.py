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
    """`questions` that a difference of `target` takes, and the `detectable` one with as many as the
    pilot has."""

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
    """The plan of a paired two-sided test at the 5 % level with this power; `target` is the
    difference to be shown, by default the pilot's. The standard error is that of the pilot's 95 %
    interval, and falls with the root of the questions.

    >>> plan = power_plan(0.05, -0.01, 0.11, 100)
    >>> plan.questions, round(plan.detectable, 4)
    (295, 0.0858)
    """
    error = (high - low) / (2 * _INTERVAL_Z)
    detectable = (_INTERVAL_Z + NormalDist().inv_cdf(power)) * error
    target = abs(difference if target is None else target)
    if target > 0:
        questions = max(math.ceil(n * (detectable / target) ** 2 - 1e-9), 1)
    else:
        questions = None
    return PowerPlan(target, questions, detectable)
