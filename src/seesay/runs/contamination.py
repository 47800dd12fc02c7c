"""Has a model seen the published questions? Three tests of a task that can be drawn anew.

Published and new questions are draws of one generator: to a model that has seen neither, which of
the two a question belongs to makes no difference. Nor does the order of the published file, which
was drawn, too (Oren et al. 2023). Anchors, which every edition has, are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from statistics import NormalDist

import numpy as np

from seesay import metrics
from seesay.condition import label
from seesay.defaults import LEVEL
from seesay.documents import Document
from seesay.errors import UserError
from seesay.files import write_json
from seesay.metrics import FloatArray, Metric, Resamples, ScoredItems, sign_flip
from seesay.metrics.base import Value
from seesay.metrics.paired import paired_bootstrap
from seesay.models.base import Model
from seesay.progress import ProgressBars
from seesay.quantities import quantity
from seesay.questions import SLOT, Question, Slice, Task, resolve_separator
from seesay.runs.ask import Settings, run
from seesay.runs.figures import items_by_template, statistics
from seesay.runs.request import Pair
from seesay.runs.run import Run
from seesay.tasks.editions import Place, pair_places

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


class ContaminationTest(Document):
    """One test of whether a model knows the published questions better than it should."""

    test: str
    """`score` (the headline figure), `text` (the log-probability of the sentences) or `order`
    (that of several in the order of the file)."""

    slice: Slice | None = None
    """The part of the questions; null for all of them."""

    published: float
    """The figure of the published questions, or of their order."""

    new: float
    """That of the new questions, or of other orders."""

    difference: float
    """How much more the model has of what is published; of texts, things that are more or less
    likely by themselves are allowed for."""

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
                "better than new ones of the same kind. That they were in its training data is the "
                "likeliest reason, and not proved by it; its published score is not to be trusted: "
                "take that of a new edition."
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
    part = f" ({test.slice})" if test.slice else ""
    interval = f"{test.low:+.3f} to {test.high:+.3f}"
    return (
        f"  {names[test.test]}{part}: {test.difference:+.3f} ({interval}), p {test.p:.2g}, "
        f"{quantity(test.n, unit)}"
    )


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
    places = _take_places(task, edition, settings)
    name = label(model.name, model.condition)
    runs = []
    sides = dict(zip((task.name, edition.name), _sides(places), strict=True))
    for task_name, groups in sides.items():
        questions = tuple(question for group in groups for question in group)
        part = replace(task, name=task_name, questions=questions, published=())
        # the limit has been applied to the places
        unlimited = replace(settings, limit=None)
        with progress(f"{name} · {task_name}", "prompts") as advance:
            runs.append(
                run(
                    model,
                    part,
                    root,
                    unlimited,
                    advance,
                    details=[f"contamination:{edition.edition}"],
                )
            )
    tests = _test_scores(runs, places, settings)
    notes = []
    try:
        tests += _test_as_texts(model, task, places, settings)
    except UserError as error:
        notes.append(f"  Texts and their order are not tested: {error}")
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


def _test_as_texts(
    model: Model, task: Task, places: Sequence[Place], settings: Settings
) -> list[ContaminationTest]:
    """Test texts and their order; refuse where the model cannot score them."""
    if any(question.picture for place in places for question in place.published):
        raise UserError(f"'{task.name}' asks about pictures.")
    if "score" not in model.abilities:
        raise UserError(f"'{model.name}' gives texts no probability.")
    return [
        _test_texts(model, task, places, settings),
        _test_order(model, task, places, settings),
    ]


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
    for model, task in pairs:
        edition = editions[task.name]
        outcomes.append(detect_contamination(model, task, edition, root, settings, progress))
        rows = [outcome.model_dump(mode="json") for outcome in outcomes]
        write_json(root / CONTAMINATION, rows)
    return outcomes


def _take_places(task: Task, edition: Task, settings: Settings) -> list[Place]:
    """Return the places that are no anchors, or a part of them in one piece: their order counts."""
    places = pair_places(task, edition)
    if settings.limit is not None:
        count = sum(len(place.published) for place in places)
        share = min(1.0, settings.limit / count)
        size = round(share * len(places))
        start = np.random.default_rng(settings.seed).integers(len(places) - size + 1)
        places = places[start : start + size]
    if len(places) < FEWEST_PLACES:
        raise UserError(
            f"{quantity(len(places), 'object')} of '{task.name}' can be compared with new ones, "
            f"and fewer than {FEWEST_PLACES} show nothing: raise --limit."
        )
    return places


def _test_scores(
    runs: Sequence[Run], places: Sequence[Place], settings: Settings
) -> list[ContaminationTest]:
    """Compare the headline figure of published and new questions, place by place."""
    published_run, new_run = runs
    metric = metrics.get(published_run.task.metrics[0])
    tests = []
    for part in published_run.task.parts:
        # where every draw asks the same, as of things without a picture, there is nothing to test
        if _ids_in(published_run, part) == _ids_in(new_run, part):
            continue
        stats = [
            _sum_places(each, metric, part, groups, settings.length)
            for each, groups in zip(runs, _sides(places), strict=True)
        ]
        things = [(*place.published[0].things, *place.renewed[0].things) for place in places]
        names = [str(number) for number in range(len(places))]
        draw = Resamples(names, settings.resamples, settings.seed, things)
        between = paired_bootstrap(stats[0], stats[1], draw, metric.value)
        sign = -1 if metric.lower_is_better else 1
        tests.append(
            ContaminationTest(
                test="score",
                slice=part,
                published=between.value_a,
                new=between.value_b,
                difference=between.difference,
                low=between.low,
                high=between.high,
                p=_flip_places(stats, metric.value, sign * between.difference, settings),
                n=len(places),
            )
        )
    return tests


def _ids_in(each: Run, part: Slice | None) -> set[str]:
    """Return the questions of a run that belong to a part of its task."""
    return {question.id for question in each.task.questions if _is_in(question, part)}


def _is_in(question: Question, part: Slice | None) -> bool:
    return part is None or all(question.tags.get(tag) == value for tag, value in part.items)


def _sum_places(
    each: Run,
    metric: Metric[ScoredItems],
    part: Slice | None,
    groups: Sequence[Sequence[Question]],
    length: str,
) -> FloatArray:
    """Return the statistics of a run's part, summed per place: (templates, places, k)."""
    stats = statistics([metric], items_by_template(each.task, each.answers, length))[metric.name]
    where = np.array([_is_in(question, part) for question in each.task.questions])
    starts = np.cumsum([0, *map(len, groups[:-1])])
    return np.add.reduceat(np.where(where[:, None], stats, 0.0), starts, axis=1)


def _flip_places(
    stats: Sequence[FloatArray], value: Value, difference: float, settings: Settings
) -> float:
    """Return the one-sided p-value of published figures above new ones: had chance drawn the new
    objects first, they would be the published ones."""
    published, new = stats
    p = sign_flip(
        published,
        new,
        np.arange(published.shape[1]),
        value,
        flips=settings.resamples,
        seed=settings.seed,
    )
    return p / 2 if difference > 0 else 1 - p / 2


def _sides(places: Sequence[Place]) -> tuple[list[tuple[Question, ...]], ...]:
    """Return the questions of all places as published, and as renewed."""
    return [place.published for place in places], [place.renewed for place in places]


def _test_texts(
    model: Model, task: Task, places: Sequence[Place], settings: Settings
) -> ContaminationTest:
    """Compare the log-probability of published and new sentences, filled with the right answer."""
    published, new = (
        _score_units(model, [_fill(task, group) for group in side]) for side in _sides(places)
    )
    adjusted = adjust_for_things(places, published, new)
    gaps = np.stack([adjusted.gaps, np.ones(len(places))], axis=-1)
    none = np.stack([np.zeros(len(places)), np.ones(len(places))], axis=-1)
    return ContaminationTest(
        test="text",
        published=float(published.mean()),
        new=float(new.mean()),
        difference=adjusted.difference,
        low=adjusted.difference - adjusted.reach,
        high=adjusted.difference + adjusted.reach,
        p=_flip_places((gaps[None], none[None]), _mean, adjusted.difference, settings),
        n=len(places),
    )


def _fill(task: Task, questions: Sequence[Question]) -> list[str]:
    """Return the questions in the task's first template, with their answers."""
    sentences = []
    for question in questions:
        prompt = task.templates[0].ask(question)
        answer = prompt.options[question.options.index(question.best_label)]
        sentences.append(resolve_separator(prompt.text.replace(SLOT, answer), None))
    return sentences


def _score_units(model: Model, units: Sequence[Sequence[str]]) -> FloatArray:
    """Return the mean log-probability of the sentences of each unit."""
    logps = iter(_score_texts(model, [sentence for unit in units for sentence in unit]))
    return np.array([np.mean([next(logps) for _ in unit]) for unit in units])


def _score_texts(model: Model, texts: Sequence[str]) -> FloatArray:
    """Return the log-probability of each text; refuse what the model leaves out."""
    logps = []
    for text, scores in zip(texts, model.score(texts), strict=True):
        if scores.left_out:
            raise UserError(f"'{model.name}' leaves out {text!r} ({scores.left_out}).")
        logps.append(sum(scores.logp))
    return np.array(logps)


@dataclass(frozen=True, slots=True)
class AdjustedGaps:
    """How much more likely published texts are, things allowed for: place by place, as a whole,
    and how far the interval of the whole reaches."""

    gaps: FloatArray
    difference: float
    reach: float


def adjust_for_things(
    places: Sequence[Place], published: FloatArray, new: FloatArray
) -> AdjustedGaps:
    """Return the difference of two values per place without what the things in them account for.

    A sentence about a rare thing is unlikely, published or not. Each thing has an effect of its
    own, drawn to zero as of a random one (ridge regression). The test stays one of randomisation:
    which values are left does not depend on which objects are published.
    """
    objects = [group[0].things for place in places for group in (place.published, place.renewed)]
    columns = {
        thing: number for number, thing in enumerate(dict.fromkeys(chain.from_iterable(objects)))
    }
    design = np.ones((len(objects), len(columns) + 1))
    design[:, :-1] = 0
    for row, things in enumerate(objects):
        for thing in things:
            design[row, columns[thing]] += 1
    values = np.stack([published, new], axis=1).reshape(-1)
    is_published = np.tile([0.5, -0.5], len(places))
    sides = np.stack([values, is_published], axis=1)
    gram = design.T @ design + np.eye(design.shape[1])
    rest = sides - design @ np.linalg.solve(gram, design.T @ sides)
    scale = is_published @ rest[:, 1]
    difference = is_published @ rest[:, 0] / scale
    errors = rest[:, 1] * (rest[:, 0] - difference * rest[:, 1])
    by_place = errors.reshape(-1, 2).sum(axis=1)
    # the effects of things take degrees of freedom, which residuals lack
    taken = np.trace(np.linalg.solve(gram, design.T @ design))
    variance = (by_place**2).sum() / scale**2 * len(values) / (len(values) - taken)
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    reach = z * np.sqrt(variance)
    gaps = rest[::2, 0] - rest[1::2, 0]
    return AdjustedGaps(gaps, float(difference), float(reach))


def _mean(sums: FloatArray) -> FloatArray:
    """Return the mean of what was summed with its weights."""
    return np.asarray(sums[..., 0] / sums[..., 1])


def _test_order(
    model: Model, task: Task, places: Sequence[Place], settings: Settings
) -> ContaminationTest:
    """Compare the log-probability of parts of the file in its order and in others."""
    generator = np.random.default_rng(settings.seed)
    # questions about one object stay together: one tells the answer to the next
    units = ["\n".join(_fill(task, place.published)) for place in places]
    count = len(units) // _PLACES_PER_SHARD
    texts = []
    for number in range(count):
        shard = units[number * _PLACES_PER_SHARD :][:_PLACES_PER_SHARD]
        texts.append("\n".join(shard))
        for _ in range(_SHUFFLES):
            order = generator.permutation(len(shard))
            texts.append("\n".join(shard[place] for place in order))
    by_shard = _score_texts(model, texts).reshape(count, 1 + _SHUFFLES)
    gaps = by_shard[:, 0] - by_shard[:, 1:].mean(axis=1)
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    reach = z * gaps.std(ddof=1) / np.sqrt(count)
    return ContaminationTest(
        test="order",
        published=float(by_shard[:, 0].mean()),
        new=float(by_shard[:, 1:].mean()),
        difference=float(gaps.mean()),
        low=float(gaps.mean() - reach),
        high=float(gaps.mean() + reach),
        p=exchange_orders(by_shard, settings.resamples, generator),
        n=count,
    )


def exchange_orders(by_shard: FloatArray, draws: int, generator: np.random.Generator) -> float:
    """Return the one-sided p-value of the first column: were the orders of a shard alike to the
    model, any of them might as well be the file's."""
    count, orders = by_shard.shape
    observed = by_shard[:, 0].sum()
    picks = generator.integers(orders, size=(draws, count))
    sums = by_shard[np.arange(count), picks].sum(axis=1)
    return float((1 + (sums >= observed - 1e-9).sum()) / (1 + draws))
