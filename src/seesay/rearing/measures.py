"""What reared models show: the dose at which a fact is known, what a picture adds, and what it
costs.

All intervals are 95 % and by a bootstrap over kinds of things: the seeds of one kind stay together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seesay import metrics
from seesay.data.colors import COLORS
from seesay.files import read_json
from seesay.metrics import FloatArray, Resamples
from seesay.rearing import tasks
from seesay.rearing.cells import HERE, LAYERS, PREDICTED, RUNS, UNAIDED, USUAL, RearedRow
from seesay.rearing.texts import DIRECT
from seesay.runs.figures import items_by_template, statistics
from seesay.runs.run import Run
from seesay.runs.store import find_runs

CHANCE = 1 / len(COLORS)
RESAMPLES = 1_000
_SCOPES = {"slot-implicit": UNAIDED, "slot-explicit": PREDICTED}
"""What was asked of a model that is scored like this; anything else is the usual colour."""
_SLOPES = np.geomspace(0.25, 8, 24)
"""Slopes that a curve may have, per doubling of the dose."""
_STEPS = 8
"""Places per doubling at which a curve may be halfway."""


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
    right: float
    """The share of the templates in which the right colour has the highest score."""
    pull: float
    """The share in which the usual one has it, where another colour is shown; else NaN."""
    answer: str
    """The colour of the highest score in the first template."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval; NaN where there is none."""

    value: float
    low: float
    high: float
    n: int
    """The number of kinds."""


@dataclass(frozen=True, slots=True)
class MedianDose:
    """The dose at which half of the facts are known that are not guessed (N50).

    It is infinite where the curve does not reach half within the doses, and 0 where it is beyond
    half at the smallest of them: a curve says nothing about doses that nobody was given.
    """

    value: float
    low: float
    high: float
    by_seed: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Return the largest value of a seed by the smallest; NaN where one is beyond the doses or
        there is only one."""
        if len(self.by_seed) < 2 or not np.isfinite(self.by_seed).all() or min(self.by_seed) == 0:
            return float("nan")
        return max(self.by_seed) / min(self.by_seed)


def read_answers(folder: Path) -> list[KindAnswer]:
    """Read what all models of a folder answered, kind by kind."""
    answers: list[KindAnswer] = []
    for run in find_runs([folder / RUNS]):
        if run.task.name in (tasks.USUAL, tasks.HERE):
            answers += _answers_of(run)
    return answers


def _answers_of(run: Run) -> list[KindAnswer]:
    diet = run.manifest.diet
    question = _SCOPES.get(run.manifest.condition.scope, USUAL)
    if run.task.name == tasks.HERE:
        question = HERE
    items = items_by_template(run.task, run.answers, run.manifest.condition.length)
    measured = [metrics.get(name) for name in run.task.metrics]
    values = {}
    for name, stats in statistics(measured, items).items():
        # each metric is a mean: its sum and its count
        with np.errstate(invalid="ignore"):
            values[name] = (stats[..., 0] / stats[..., 1]).mean(axis=0)
    pulls = values.get("prior_pull", np.full(len(run.task.questions), np.nan))
    answers = []
    for place, asked in enumerate(run.task.questions):
        first = run.answers[place * len(run.task.templates)]
        answers.append(
            KindAnswer(
                diet=diet["diet"],
                learner=diet["learner"],
                seed=int(diet["upbringing"].removeprefix("seed ")),
                question=question,
                kind=asked.object,
                dose=int(asked.tags["dose"]),
                evidence=asked.tags["evidence"],
                right=float(values["accuracy"][place]),
                pull=float(pulls[place]),
                answer=asked.options[int(np.argmax(first.scores.logp))],
            )
        )
    return answers


def select(answers: Iterable[KindAnswer], **fields: object) -> list[KindAnswer]:
    """Return the answers that have these values in these fields."""
    return [
        answer
        for answer in answers
        if all(getattr(answer, name) == value for name, value in fields.items())
    ]


def estimate(
    answers: Sequence[KindAnswer],
    value: Callable[[KindAnswer], float] = lambda answer: answer.right,
) -> Estimate:
    """Return a mean over answers; those without a value are left out."""
    pairs = [(answer.kind, value(answer)) for answer in answers]
    return _mean([(kind, number) for kind, number in pairs if not np.isnan(number)])


def _mean(pairs: Sequence[tuple[str, float]]) -> Estimate:
    if not pairs:
        return Estimate(float("nan"), float("nan"), float("nan"), 0)
    kinds = [kind for kind, _ in pairs]
    values = np.array([number for _, number in pairs])
    stats = np.stack([values, np.ones(len(values))], axis=1)[None]
    interval = Resamples(kinds, RESAMPLES).interval(stats, lambda sums: sums[..., 0] / sums[..., 1])
    return Estimate(interval.value, interval.low, interval.high, len(set(kinds)))


def difference(first: Sequence[KindAnswer], second: Sequence[KindAnswer]) -> Estimate:
    """Return by how much the first answers are right more often, paired by kind and seed."""
    others = {(answer.kind, answer.seed): answer.right for answer in second}
    pairs = []
    for answer in first:
        other = others.get((answer.kind, answer.seed))
        if other is not None:
            pairs.append((answer.kind, answer.right - other))
    return _mean(pairs)


def threshold(answers: Sequence[KindAnswer]) -> MedianDose:
    """Fit the logistic curve of accuracy over the logarithm of the dose, by maximum likelihood.

    It rises from chance to 1. Only kinds that were met themselves count.
    """
    direct = [answer for answer in answers if answer.evidence == DIRECT and answer.dose > 0]
    seeds = sorted({answer.seed for answer in direct})
    by_seed = tuple(_fit(select(direct, seed=seed))[0] for seed in seeds)
    value, resampled = _fit(direct)
    low, high = np.quantile(resampled, [0.025, 0.975], method="nearest")
    return MedianDose(value, float(low), float(high), by_seed)


def _fit(answers: Sequence[KindAnswer]) -> tuple[float, FloatArray]:
    """Return the dose at which the likeliest curve is halfway, and that of every resample."""
    doses = sorted({answer.dose for answer in answers})
    kinds = sorted({answer.kind for answer in answers})
    if not kinds:
        return float("inf"), np.array([np.inf])
    right = np.zeros((len(kinds), len(doses)))
    total = np.zeros((len(kinds), len(doses)))
    for answer in answers:
        place = kinds.index(answer.kind), doses.index(answer.dose)
        right[place] += answer.right
        total[place] += 1
    generator = np.random.default_rng(0)
    counts = generator.multinomial(len(kinds), np.full(len(kinds), 1 / len(kinds)), RESAMPLES)
    weights = np.concatenate([np.ones((1, len(kinds))), counts])
    # every curve of a grid, at every dose
    log_doses = np.log2(doses)
    ends = log_doses[0] - 2, log_doses[-1] + 2
    centres = np.linspace(*ends, round((ends[1] - ends[0]) * _STEPS) + 1)
    rises = _SLOPES[None, :, None] * (log_doses - centres[:, None, None])
    curves = CHANCE + (1 - CHANCE) / (1 + np.exp(-rises))
    curves = np.clip(curves.reshape(-1, len(doses)), 1e-9, 1 - 1e-9)
    likelihood = (weights @ right) @ np.log(curves).T
    likelihood += (weights @ (total - right)) @ np.log1p(-curves).T
    best = np.repeat(centres, len(_SLOPES))[likelihood.argmax(axis=1)]
    halfway = np.where(best > log_doses[-1], np.inf, 2**best)
    halfway = np.where(best < log_doses[0], 0.0, halfway)
    return float(halfway[0]), halfway[1:]


def layer_means(rows: Sequence[RearedRow]) -> list[dict[str, float]]:
    """Return the means over models of how often each layer names what is shown and what is usual;
    empty where no model sees."""
    paths = [row.folder / LAYERS for row in rows if not row.error]
    tables = [read_json(path) for path in paths if path.is_file()]
    if not tables:
        return []
    means = []
    for layers in zip(*tables, strict=True):
        means.append(
            {name: float(np.mean([layer[name] for layer in layers])) for name in layers[0]}
        )
    return means


def overtaking_layer(layers: Sequence[dict[str, float]]) -> int | None:
    """Return the first layer from which on what is shown is named more often than what is usual;
    None where the last layer does not. The embedding has not seen the picture yet."""
    overtaking = None
    for number, layer in reversed(list(enumerate(layers))):
        if number == 0 or layer["shown"] <= layer["usual"]:
            break
        overtaking = number
    return overtaking
