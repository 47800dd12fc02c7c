"""Which headline figures differ from chance, after correction for how many there are."""

from __future__ import annotations

import math
from statistics import NormalDist

from seesay.metrics.bootstrap import is_small
from seesay.metrics.dependence import small_sample_ratio
from seesay.metrics.paired import holm
from seesay.questions import Slice
from seesay.reports.formatting import lower_is_better
from seesay.reports.groups import LabelledRun, TaskRuns
from seesay.runs.compare import SIGNIFICANT
from seesay.runs.records import Figure

LIKE_CHANCE = "not shown to differ from chance"
WORSE = "worse than chance"
LEGEND = (
    "A grey figure is not shown to differ from chance: p, from its interval and corrected (Holm) "
    "for all headline figures of the task on this page, is above 0.05, and may be below it where "
    "fewer models stand beside it. Other metrics are not tested against chance."
)
_REACH = NormalDist().inv_cdf(0.975)
_ROUNDING = 1e-9

Standings = dict[tuple[LabelledRun, Slice | None], str]


def standings(group: TaskRuns) -> Standings:
    """Return where the headline figures stand that are worse than chance, or not shown to differ
    from it."""
    figures: dict[tuple[LabelledRun, Slice | None], Figure] = {}
    for part in group.parts:
        for entry, figure in group.headline_figures(part).items():
            if figure.chance is not None:
                figures[entry, part] = figure
    p_values = holm([p_of_chance(figure) for figure in figures.values()])
    by_figure: Standings = {}
    for (key, figure), p in zip(figures.items(), p_values, strict=True):
        is_higher = figure.chance is not None and figure.value > figure.chance
        if p > SIGNIFICANT:
            by_figure[key] = LIKE_CHANCE
        elif is_higher == lower_is_better(group.headline):
            by_figure[key] = WORSE
    return by_figure


def p_of_chance(figure: Figure) -> float:
    """Return the two-sided p-value of a figure against chance that its 95 % interval implies.

    The half of the interval that reaches towards chance is 1.96 standard errors (Altman & Bland
    2011, BMJ 343:d2304). A standard error from few objects is itself uncertain, which Student's t
    allows for, in the interval or here.
    """
    if figure.chance is None:
        return 1.0
    distance = figure.value - figure.chance
    reach = figure.value - figure.low if distance > 0 else figure.high - figure.value
    # a model that guesses differs from chance by rounding
    is_number = math.isfinite(distance) and math.isfinite(reach)
    if not is_number or abs(distance) < _ROUNDING or reach < _ROUNDING:
        return 1.0
    if not is_small(figure.objects):
        reach *= small_sample_ratio(figure.objects)
    z = abs(distance) / reach * _REACH
    return 2 * (1 - NormalDist().cdf(z))
