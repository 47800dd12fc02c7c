"""What reared models show: the dose at which a fact is known, what a picture adds, and what it
costs.

All intervals are 95 % and by a bootstrap over kinds of things: the seeds of one kind stay together.
Where all kinds are alike, the interval of a share is Wilson's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from seesay.data.colors import COLORS
from seesay.files import read_json
from seesay.metrics import FloatArray, Interval, Resamples
from seesay.metrics.base import weighted_mean
from seesay.metrics.bootstrap import not_degenerate
from seesay.rearing import tasks
from seesay.rearing.cells import HERE, LAYERS, PREDICTED, RUNS, UNAIDED, USUAL, RearedRow
from seesay.rearing.texts import DIRECT
from seesay.reports.formatting import NONE
from seesay.runs.run import Run
from seesay.runs.store import find_runs

CHANCE = 1 / len(COLORS)
RESAMPLES = 1_000
_QUESTIONS = {"slot-implicit": UNAIDED, "slot-explicit": PREDICTED}
"""What was asked of a model that is scored like this; anything else is the usual colour."""
_SLOPES = np.geomspace(0.25, 8, 24)
"""Slopes that a curve may have, per doubling of the dose."""
_STEPS = 8
"""Places per doubling at which a curve may be halfway."""
_BEYOND = 2
"""Doublings outside the doses at which a curve may be halfway."""


@dataclass(frozen=True, slots=True)
class KindAnswer:
    """What one model knows of one kind."""

    diet: str
    learner: str
    seed: int
    question: str
    """usual, predicted, unaided or here."""
    kind: str
    dose: int
    evidence: str
    answer: str
    """The colour of the highest score."""
    right: float
    """1 where that is the right one, else 0."""
    pull: float
    """1 where it is a wrong one that the texts state, else 0."""

    @property
    def model(self) -> tuple[str, str, int]:
        """Return what identifies the model, as in its row of the results."""
        return self.diet, self.learner, self.seed


@dataclass(frozen=True, slots=True)
class Estimate(Interval):
    """A mean with its interval; NaN where there is nothing to take it of."""

    n: int
    """The number of kinds."""
    FORM: ClassVar[str] = ".2f"
    COLUMNS: ClassVar[Sequence[str]] = ("95 % interval", "kinds")

    def cells(self) -> list[str]:
        """Return the figure as cells of a table."""
        ends = f"{self.low:{self.FORM}} to {self.high:{self.FORM}}"
        return [f"{self.value:{self.FORM}}", ends, str(self.n)]


class Gain(Estimate):
    """A difference between two means."""

    FORM = "+.2f"


@dataclass(frozen=True, slots=True)
class MedianDose(Interval):
    """The dose at which half of the facts are known that are not guessed (N50).

    It is infinite where the curve does not reach half within the doses, and 0 where it is beyond
    half at the smallest of them: a curve says nothing about doses that nobody was given.
    """

    by_seed: tuple[float, ...]
    COLUMNS: ClassVar[Sequence[str]] = ("95 % interval", "by seed", "largest by smallest")

    @property
    def ratio(self) -> float:
        """Return the largest value of a seed by the smallest.

        It is NaN where one of them is beyond the doses, or there is only one.
        """
        lowest = min(self.by_seed)
        highest = max(self.by_seed)
        if len(self.by_seed) < 2 or lowest == 0 or np.isinf(highest):
            return float("nan")
        return highest / lowest

    def cells(self) -> list[str]:
        """Return the figure as cells of a table."""
        ends = f"{_describe_dose(self.low)} to {_describe_dose(self.high)}"
        by_seed = ", ".join(map(_describe_dose, self.by_seed))
        ratio = NONE if np.isnan(self.ratio) else f"{self.ratio:.2f}"
        return [_describe_dose(self.value), ends, by_seed, ratio]


def _describe_dose(dose: float) -> str:
    """Return a dose, or on which side of all doses it lies."""
    if np.isinf(dose):
        return "not reached"
    return f"{dose:.1f}" if dose else "below 1"


def read_answers(folder: Path) -> list[KindAnswer]:
    """Read what all models of a folder answered, kind by kind."""
    answers: list[KindAnswer] = []
    for run in find_runs([folder / RUNS]):
        if run.task.name in (tasks.USUAL, tasks.HERE):
            answers += _answers_of(run)
    return answers


def _answers_of(run: Run) -> list[KindAnswer]:
    """Return what one model answered to one task, whose single template gives a row per kind."""
    diet = run.manifest.diet
    seed = int(diet["upbringing"].removeprefix("seed "))
    kind_of_question = _QUESTIONS.get(run.manifest.condition.scope, USUAL)
    if run.task.name == tasks.HERE:
        kind_of_question = HERE
    answers = []
    for question, row in zip(run.task.questions, run.answers, strict=True):
        color = tasks.best_option(question, row.scores)
        answers.append(
            KindAnswer(
                diet=diet["diet"],
                learner=diet["learner"],
                seed=seed,
                question=kind_of_question,
                kind=question.object,
                dose=int(question.tags["dose"]),
                evidence=question.tags["evidence"],
                answer=color,
                right=float(color in question.gold),
                pull=float(tasks.is_prior(question, color)),
            )
        )
    return answers


def select(answers: Iterable[KindAnswer], **fields: object) -> list[KindAnswer]:
    """Return the answers that have these values in these fields."""
    key = tuple(fields.values())
    return group(answers, *fields).get(key, [])


def group(answers: Iterable[KindAnswer], *fields: str) -> dict[tuple[Any, ...], list[KindAnswer]]:
    """Return the answers by their values in these fields, in the order in which these occur."""
    groups: dict[tuple[Any, ...], list[KindAnswer]] = {}
    for answer in answers:
        key = tuple(getattr(answer, name) for name in fields)
        groups.setdefault(key, []).append(answer)
    return groups


def estimate(answers: Sequence[KindAnswer]) -> Estimate:
    """Return how often answers are right."""
    return _mean(answers, [answer.right for answer in answers])


def estimate_pull(answers: Sequence[KindAnswer]) -> Estimate:
    """Return how often answers are what texts state, where that is wrong."""
    return _mean(answers, [answer.pull for answer in answers])


def difference(first: Sequence[KindAnswer], second: Sequence[KindAnswer]) -> Gain:
    """Return by how much the first answers are right more often, paired by kind and seed."""
    others = {(answer.kind, answer.seed): answer.right for answer in second}
    paired_answers = [answer for answer in first if (answer.kind, answer.seed) in others]
    gains = [answer.right - others[answer.kind, answer.seed] for answer in paired_answers]
    return Gain(**asdict(_mean(paired_answers, gains, signed=True)))


def _mean(
    answers: Sequence[KindAnswer], values: Sequence[float], *, signed: bool = False
) -> Estimate:
    """Return the mean of a value of each answer, 0 to 1, or -1 to 1 where it is `signed`; NaN where
    there is none."""
    if not answers:
        return Estimate(np.nan, np.nan, np.nan, 0)
    kinds = [answer.kind for answer in answers]
    # a mean is a sum over a count
    stats = np.stack([values, np.ones(len(values))], axis=1)
    bounds = (-1.0 if signed else 0.0, 1.0)
    resampled = Resamples(kinds, RESAMPLES).interval(stats[None], weighted_mean, bounds=bounds)
    objects = len(set(kinds))
    mean = not_degenerate(resampled, objects, signed=signed)
    return Estimate(mean.value, mean.low, mean.high, objects)


def threshold(answers: Sequence[KindAnswer]) -> MedianDose:
    """Fit the logistic curve of accuracy over the logarithm of the dose, by maximum likelihood.

    It rises from chance to 1. Only kinds that were met themselves count.
    """
    direct = [answer for answer in select(answers, evidence=DIRECT) if answer.dose > 0]
    if not direct:
        return MedianDose(np.inf, np.inf, np.inf, (np.inf,))
    by_seed = group(direct, "seed")
    values = [_fit(by_seed[key])[0] for key in sorted(by_seed)]
    value, resampled = _fit(direct)
    # no mean of two doses: one of them may be infinite
    low, high = np.quantile(resampled, [0.025, 0.975], method="nearest")
    return MedianDose(value, float(low), float(high), tuple(values))


def _fit(answers: Sequence[KindAnswer]) -> tuple[float, FloatArray]:
    """Return the dose at which the likeliest curve is halfway, and that of every resample."""
    doses = sorted({answer.dose for answer in answers})
    # one row per answer: at its dose 1 in the first half where it is right, else in the second
    stats = np.zeros((1, len(answers), 2 * len(doses)))
    for row, answer in enumerate(answers):
        column = doses.index(answer.dose)
        stats[0, row, column] = answer.right
        stats[0, row, len(doses) + column] = 1 - answer.right
    kinds = [answer.kind for answer in answers]
    resamples = Resamples(kinds, RESAMPLES)
    halfway = partial(_halfway, np.log2(doses))
    (fit,) = resamples.values([(resamples.sums(stats), halfway)])
    return fit


def _halfway(log_doses: FloatArray, counts: FloatArray) -> FloatArray:
    """Return where the likeliest curve is halfway, given what is known and not known by dose.

    The last axis of the counts holds, dose by dose, how many kinds are known, then how many not.
    """
    right, wrong = np.split(counts, 2, axis=-1)
    first = log_doses[0]
    last = log_doses[-1]
    lowest = first - _BEYOND
    highest = last + _BEYOND
    places = np.linspace(lowest, highest, round((highest - lowest) * _STEPS) + 1)
    # every curve of a grid, at every dose: places x slopes x doses
    distances = log_doses - places[:, None, None]
    rises = 1 / (1 + np.exp(-_SLOPES[:, None] * distances))
    curves = CHANCE + (1 - CHANCE) * rises.reshape(-1, len(log_doses))
    # no curve is certain: its logarithm would be infinite
    curves = np.clip(curves, 1e-9, 1 - 1e-9)
    likelihoods = right @ np.log(curves).T + wrong @ np.log1p(-curves).T
    # curves are numbered place by place, slope by slope
    best = places[likelihoods.argmax(axis=-1) // len(_SLOPES)]
    # outside the doses that were given, nothing is claimed
    doses = np.where(best > last, np.inf, 2**best)
    return np.where(best < first, 0.0, doses)


def layer_means(rows: Sequence[RearedRow]) -> list[dict[str, float]]:
    """Return how often each layer names what is shown and what is usual, as means over models.

    It is empty where no model sees.
    """
    paths = [row.folder / LAYERS for row in rows if not row.error]
    models = [read_json(path) for path in paths if path.is_file()]
    means = []
    for layers in zip(*models, strict=True):
        shares = {}
        for name in ("shown", "usual"):
            shares[name] = float(np.mean([layer[name] for layer in layers]))
        means.append(shares)
    return means


def overtaking_layer(layers: Sequence[dict[str, float]]) -> int | None:
    """Return the first layer from which on what is shown is named more often than what is usual.

    It is None where the last layer does not. The embedding, layer 0, has not seen the picture yet.
    """
    overtaking = None
    for number in range(len(layers) - 1, 0, -1):
        if layers[number]["shown"] <= layers[number]["usual"]:
            break
        overtaking = number
    return overtaking
