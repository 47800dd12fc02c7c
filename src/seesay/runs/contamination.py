"""Has a model seen the published questions? Three tests of a task that can be drawn anew.

Published and new questions are draws of one generator: to a model that has seen neither, which of
the two a question belongs to makes no difference. Nor does the order of the published file, which
was drawn, too (Oren et al. 2023). Anchors, which every edition has, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from seesay import metrics
from seesay.condition import label
from seesay.defaults import LEVEL
from seesay.documents import Document
from seesay.errors import UserError
from seesay.files import write_json
from seesay.metrics import FloatArray
from seesay.metrics.bootstrap import Interval, not_degenerate
from seesay.metrics.dependence import student_over_normal
from seesay.models.base import Model
from seesay.progress import ProgressBars
from seesay.quantities import quantity
from seesay.questions import SLOT, Question, Task, resolve_separator
from seesay.runs.ask import Settings, run
from seesay.runs.figures import items_by_template, statistics
from seesay.runs.request import Pair
from seesay.runs.run import Run
from seesay.tasks import is_task_file, task_card
from seesay.tasks.editions import Place, pair_places, renewable_tasks

CONTAMINATION = "contamination.json"
"""What the last command tested, in the folder of its runs."""
EDITION = "fresh"
"""The edition that published questions are compared with, unless another one is named."""
FEWEST_PLACES = 30
"""With fewer pairs of a published and a new object, nothing could be shown."""
ALARM = 0.05
"""The probability of an alarm about a model that has seen nothing, over all of its tests."""
_PLACES_PER_SHARD = 6
_SHUFFLES = 9
"""Other orders of each shard, beside the published one."""
_DRAWS = 1_000
_RATIOS = (0.0, *np.geomspace(0.01, 1000, 51))
"""Of the variance of things' effects to that of the rest."""
_FEWEST_DEGREES = 4
"""From which the quantile of Student's t is known to 1 %."""
_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


class ContaminationTest(Document):
    """One test of whether a model knows the published questions better than it should."""

    test: str
    """`score` (the headline figure), `text` (the log-probability of the sentences) or `order`
    (that of several in the order of the file)."""

    published: float
    """The figure of the published questions, or of their order."""

    new: float
    """That of the new questions, or of other orders."""

    difference: float
    """How much more the model has of what is published; things that are easier or likelier than
    others are allowed for."""

    low: float
    """Lower end of the difference's 95 % interval."""

    high: float
    """Upper end of that interval."""

    p: float
    """One-sided p-value of a randomisation test."""

    n: int
    """Pairs of a published and a new object; of the order, shards of the file."""


class Contamination(Document):
    """Whether a model has seen the published questions of a task."""

    task: str
    """The task's name."""

    edition: str
    """The edition that the published questions were compared with."""

    model: str
    """The model, and how it was asked."""

    tests: list[ContaminationTest]
    """The tests that this model and this task allow."""

    p: float
    """The smallest p-value after Bonferroni's correction for the number of tests."""

    alarm: bool
    """Whether that is at most 0.05."""

    notes: list[str]
    """Which tests were not made, and why."""

    signatures: list[str]
    """How the published and the new figure were made."""

    def __str__(self) -> str:
        lines = [
            f"{self.task}, {self.model}, published against edition {self.edition}:",
            *map(_in_words, self.tests),
            *self.notes,
        ]
        if self.alarm:
            verdict = (
                f"Alarm (p {self.p:.2g} for all tests together): it knows the published questions "
                "better than new ones of the same kind. Either it has met them, most likely in its "
                "training data, or it is one of the at most 5 clean models in 100 that chance "
                "makes look so. Test all of the file where --limit took a part: another --edition "
                "shares the published questions, and repeats their luck. Rely on its score on a "
                "new edition instead of the published one."
            )
        else:
            verdict = (
                f"No alarm (p {self.p:.2g} for all tests together): nothing shows that it has "
                "seen the published questions, which does not prove that it has not. Questions "
                "that were reworded, translated or seen once among much else leave little trace."
            )
        return "\n".join([*lines, verdict])


def _in_words(test: ContaminationTest) -> str:
    """Return one test as a line."""
    names = {
        "score": "score, published against new",
        "text": "log-probability of a sentence, published against new",
        "order": "log-probability of sentences in the file's order against other orders",
    }
    unit = "shard" if test.test == "order" else "pair"
    # adding nothing makes a zero of a minus zero
    low, difference, high = (
        f"{round(number, 3) + 0:+.3f}" for number in (test.low, test.difference, test.high)
    )
    return (
        f"  {names[test.test]}: {difference} ({low} to {high}), p {test.p:.2g}, "
        f"{quantity(test.n, unit)}"
    )


def detect_contaminations(
    pairs: Sequence[Pair],
    editions: Mapping[str, Task],
    root: Path,
    settings: Settings,
    progress: ProgressBars,
) -> list[Contamination]:
    """Test each model on its task beside an edition of it; keep the outcomes in
    `contamination.json`."""
    outcomes: list[Contamination] = []
    for task in editions.values():
        _validate_task(task)
    for model, task in pairs:
        edition = editions[task.name]
        outcomes.append(detect_contamination(model, task, edition, root, settings, progress))
        rows = [outcome.model_dump(mode="json") for outcome in outcomes]
        write_json(root / CONTAMINATION, rows)
    return outcomes


def validate_contamination_task(name: str) -> None:
    """Refuse a task by its name, before anything is loaded."""
    if is_task_file(name):
        return
    card = task_card(name)
    if card.anchors and not card.pictures:
        return
    reason = "asks about pictures" if card.pictures else "is a fixed list"
    raise UserError(
        f"'{name}' {reason}: --contamination tests "
        f"{', '.join(renewable_tasks(texts_only=True))}, and task files whose pairs are drawn."
    )


def _validate_task(task: Task) -> None:
    """Refuse a task that asks about pictures, or has no credit for each question."""
    if any(question.picture for question in task.questions):
        raise UserError(f"'{task.name}' asks about pictures: --contamination is for texts.")
    metric = metrics.get(task.metrics[0])
    if not metric.is_mean or metric.lower_is_better:
        raise UserError(f"{metric.name} gives no credit per question: nothing can be compared.")


def detect_contamination(
    model: Model,
    task: Task,
    edition: Task,
    root: Path,
    settings: Settings,
    progress: ProgressBars,
) -> Contamination:
    """Ask a model published questions and those of an edition, score both as texts, and the former
    in their order and in others; keep the answers as runs."""
    _validate_task(task)
    places = _take_places(task, edition, settings)
    sides = ([place.published for place in places], [place.renewed for place in places])
    name = label(model.name, model.condition)
    # the limit has been applied to the places
    unlimited = replace(settings, limit=None)
    runs = []
    for task_name, groups in zip((task.name, edition.name), sides, strict=True):
        questions = tuple(chain.from_iterable(groups))
        part = replace(task, name=task_name, questions=questions, published=())
        details = [f"contamination:{edition.edition}"]
        with progress(f"{name} · {task_name}", "prompts") as advance:
            runs.append(run(model, part, root, unlimited, advance, details=details))
    credits = [_average(_credits(each), side) for each, side in zip(runs, sides, strict=True)]
    tests = [_test_places("score", places, credits, settings)]
    notes = []
    if "score" not in model.abilities:
        notes.append(
            f"  Texts and their order are not tested: '{name}' gives texts no probability."
        )
    else:
        texts = [
            [_fill(task, question) for question in chain.from_iterable(side)] for side in sides
        ]
        total = sum(map(len, texts)) + _shards(sides[0]) * (1 + _SHUFFLES)
        with progress(f"{name} · {task.name} as texts, in several orders", "texts") as advance:
            advance_one = partial(advance, 1, total)
            logps = [
                _average(_score_texts(model, text, advance_one), side)
                for text, side in zip(texts, sides, strict=True)
            ]
            tests.append(_test_places("text", places, logps, settings))
            tests.append(_test_order(model, task, sides[0], settings, advance_one))
    p = min(1.0, len(tests) * min(test.p for test in tests))
    return Contamination(
        task=task.name,
        edition=edition.edition,
        model=name,
        tests=tests,
        p=p,
        alarm=p <= ALARM,
        notes=notes,
        signatures=[each.manifest.signature for each in runs],
    )


def _take_places(task: Task, edition: Task, settings: Settings) -> list[Place]:
    """Return the places that are no anchors, or a part of them in one piece: their order counts."""
    places = pair_places(task, edition)
    if settings.limit is not None:
        count = sum(len(place.published) for place in places)
        size = round(min(1.0, settings.limit / count) * len(places))
        start = np.random.default_rng(settings.seed).integers(len(places) - size + 1)
        places = places[start : start + size]
    if len(places) < FEWEST_PLACES:
        raise UserError(
            f"{quantity(len(places), 'object')} of '{task.name}' can be compared with new ones, "
            f"and fewer than {FEWEST_PLACES} show nothing: raise --limit."
        )
    return places


def _average(values: FloatArray, groups: Sequence[Sequence[Question]]) -> FloatArray:
    """Return the mean of the questions' values in each of the groups that they come in."""
    sizes = [len(group) for group in groups]
    starts = np.cumsum([0, *sizes[:-1]])
    return np.asarray(np.add.reduceat(values, starts) / sizes)


def _credits(each: Run) -> FloatArray:
    """Return the credit that a run has for each question, by the headline metric."""
    metric = metrics.get(each.task.metrics[0])
    items = items_by_template(each.task, each.answers, each.manifest.condition.length)
    return np.asarray(statistics([metric], items)[metric.name][..., 0].mean(axis=0))


def _fill(task: Task, question: Question) -> str:
    """Return a question in the task's first template, with its answer."""
    prompt = task.templates[0].ask(question)
    answer = prompt.options[question.options.index(question.best_label)]
    return resolve_separator(prompt.text.replace(SLOT, answer), None)


def _score_texts(model: Model, texts: Sequence[str], advance: Callable[[], None]) -> FloatArray:
    """Return the log-probability of each text; refuse what the model leaves out."""
    logps = []
    for text, scores in zip(texts, model.score(texts), strict=True):
        if scores.left_out:
            raise UserError(f"'{model.name}' cannot score {text!r}: {scores.left_out}.")
        logps.append(sum(scores.logp))
        advance()
    return np.array(logps)


def _test_places(
    test: str, places: Sequence[Place], sides: Sequence[FloatArray], settings: Settings
) -> ContaminationTest:
    """Compare values of the published and of the new object in every place."""
    published, new = sides
    gaps, estimate = adjust_for_things(places, published, new)
    difference = estimate.value
    reach = _Z * student_over_normal(estimate.degrees) * estimate.error
    between = Interval(difference, difference - reach, difference + reach)
    # a rule that answers all alike differs in no place that was drawn
    between = not_degenerate(between, len(places), signed=True)
    generator = np.random.default_rng(settings.seed)
    # had chance drawn the new object first, it would be the published one
    p_exchange = exchange(np.stack([gaps, -gaps], axis=1), settings.resamples, generator)
    return ContaminationTest(
        test=test,
        published=float(published.mean()),
        new=float(new.mean()),
        difference=difference,
        low=between.low,
        high=between.high,
        # Objects of one draw share fewer things than those of two, so that exchanging them alone
        # would find too much.
        p=max(p_exchange, estimate.p),
        n=len(places),
    )


class AdjustedDifference(NamedTuple):
    """A difference with its standard error."""

    value: float
    error: float
    degrees: float
    """Degrees of freedom of the standard error."""

    @property
    def p(self) -> float:
        """The one-sided p-value by Student's t (Abramowitz & Stegun 1964, 26.7.8)."""
        if not self.error:
            return 0.0 if self.value > 0 else 1.0
        t = self.value / self.error
        z = t * (1 - 1 / (4 * self.degrees)) / np.sqrt(1 + t**2 / (2 * self.degrees))
        return 1 - NormalDist().cdf(float(z))


def adjust_for_things(
    places: Sequence[Place], published: FloatArray, new: FloatArray
) -> tuple[FloatArray, AdjustedDifference]:
    """Return how much more the published object of every place has than the new one, without what
    the things in them account for, and the difference as a whole.

    A sentence about a rare thing is unlikely, published or not. Each thing has a random effect,
    how large by restricted maximum likelihood: where things account for nothing, nothing is taken
    out. The test stays one of randomisation: what the things account for does not depend on which
    objects are published.
    """
    objects = [group[0].things for place in places for group in (place.published, place.renewed)]
    columns = {thing: number for number, thing in enumerate(sorted(set(chain(*objects))))}
    design = np.zeros((len(objects), len(columns)))
    for row, things in enumerate(objects):
        design[row, [columns[thing] for thing in things]] = 1
    # columns that are at right angles, so that every ratio of variances costs little
    sizes, axes = np.linalg.eigh(design.T @ design)
    design = design @ axes
    values = np.stack([published, new], axis=1).reshape(-1)
    values = values - values.mean()
    shrinkage = _shrink_things(design, sizes, values)
    ones = np.ones(len(values))
    is_published = np.tile([0.5, -0.5], len(places))
    sides = np.stack([ones, values, is_published], axis=1)
    # weighted least squares: each column times the inverse of the covariance, less the constant
    weighted = sides - design @ (shrinkage[:, None] * (design.T @ sides))
    constant = weighted[:, :1]
    weighted[:, 1:] -= constant * (ones @ weighted[:, 1:]) / constant.sum()
    residuals, contrast = weighted[:, 1], weighted[:, 2]
    scale = is_published @ contrast
    difference = is_published @ residuals / scale
    weights = contrast / scale
    errors = weights * (residuals - difference * contrast)
    by_place = errors.reshape(-1, 2).sum(axis=1)
    # Residuals are smaller than errors, the more so, the more the things account for. So the sum of
    # squares is divided by what it would be for errors of variance 1.
    by_column = (weights[:, None] * np.column_stack([design, constant, contrast])).reshape(
        len(places), 2, -1
    )
    shares = np.append(shrinkage, [1 / constant.sum(), 1 / scale])
    expected = (weights**2).reshape(-1, 2).sum(axis=1) - by_column.sum(axis=1) ** 2 @ shares
    variance = (by_place**2).sum() / expected.sum() / scale
    gaps = residuals[::2] - residuals[1::2]
    # few places decide where the things account for most: as many degrees of freedom as even
    # contributions would have
    degrees = max(_FEWEST_DEGREES, expected.sum() ** 2 / (expected**2).sum() - 1)
    return gaps, AdjustedDifference(float(difference), float(np.sqrt(variance)), float(degrees))


def _shrink_things(design: FloatArray, sizes: FloatArray, values: FloatArray) -> FloatArray:
    """Return how much of each column of an orthogonal design is taken out of values, by the ratio
    of the things' variance to that of the rest that is the likeliest (restricted likelihood).
    """
    sides = np.stack([np.ones(len(values)), values], axis=1)
    products = sides.T @ sides
    of_columns = design.T @ sides
    best = -np.inf
    result = np.zeros(len(sizes))
    for ratio in _RATIOS:
        shrinkage = ratio / (1 + ratio * sizes)
        gram = products - of_columns.T @ (shrinkage[:, None] * of_columns)
        unexplained = max(gram[1, 1] - gram[0, 1] ** 2 / gram[0, 0], np.finfo(float).tiny)
        log_determinant = np.log1p(ratio * sizes).sum() + np.log(gram[0, 0])
        likelihood = -(log_determinant + (len(values) - 1) * np.log(unexplained))
        if likelihood > best:
            best, result = likelihood, shrinkage
    return result


def _shards(groups: Sequence[Sequence[Question]]) -> int:
    """Return of how many parts of the file the order is tested."""
    return len(groups) // _PLACES_PER_SHARD


def _test_order(
    model: Model,
    task: Task,
    groups: Sequence[Sequence[Question]],
    settings: Settings,
    advance: Callable[[], None],
) -> ContaminationTest:
    """Compare the log-probability of parts of the file in its order and in others."""
    generator = np.random.default_rng(settings.seed)
    # questions about one object stay together: one tells the answer to the next
    units = ["\n".join(_fill(task, question) for question in group) for group in groups]
    count = _shards(groups)
    texts = []
    for number in range(count):
        shard = units[number * _PLACES_PER_SHARD :][:_PLACES_PER_SHARD]
        texts.append("\n".join(shard))
        for _ in range(_SHUFFLES):
            texts.append("\n".join(generator.permutation(shard)))
    by_shard = _score_texts(model, texts, advance).reshape(count, 1 + _SHUFFLES)
    gaps = by_shard[:, 0] - by_shard[:, 1:].mean(axis=1)
    difference = float(gaps.mean())
    reach = float(_Z * gaps.std(ddof=1) / np.sqrt(count))
    return ContaminationTest(
        test="order",
        published=float(by_shard[:, 0].mean()),
        new=float(by_shard[:, 1:].mean()),
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        p=exchange(by_shard, settings.resamples, generator),
        n=count,
    )


def exchange(table: FloatArray, draws: int, generator: np.random.Generator) -> float:
    """Return the one-sided p-value of the first column's sum: were the columns alike to the model,
    any cell of a row might as well stand in the first."""
    rows, columns = table.shape
    least = table[:, 0].sum() - 1e-9
    count = 1
    # some draws at a time: all of them would fill the memory
    for start in range(0, draws, _DRAWS):
        picks = generator.integers(columns, size=(min(_DRAWS, draws - start), rows))
        count += int((table[np.arange(rows), picks].sum(axis=1) >= least).sum())
    return count / (1 + draws)
