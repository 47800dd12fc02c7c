"""Runs on the same questions: is the difference real?

Each run is compared with a reference, which is the best one unless another is named; every pair
only on request.

Runs of two editions of a task share the anchors alone. All the questions of both count, since both
editions are draws of one generator; the anchors, which both models answered, count for more.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, islice
from pathlib import Path

import numpy as np

from seesay import metrics
from seesay.defaults import FEWEST_OBJECTS, RESAMPLES
from seesay.errors import UserError
from seesay.metrics import FloatArray, Resamples, mcnemar, sign_flip
from seesay.metrics.base import BoolArray, Metric, ScoredItems
from seesay.metrics.bootstrap import too_few
from seesay.metrics.counts import exact_type
from seesay.metrics.paired import difference
from seesay.quantities import quantity
from seesay.questions import Question, Slice, Task
from seesay.questions import same_question as same_question
from seesay.runs.figures import items_by_template, resample_questions, shared, slices, statistics
from seesay.runs.records import Comparison
from seesay.runs.run import Run, run_labels

log = logging.getLogger(__name__)

_LARGEST_CORRELATION = 0.9
"""Answers to the anchors are taken to go together no more closely than this: their number is small,
and a weight of ten is the largest."""

_CELLS_TOGETHER = 1 << 21
"""Statistics of several runs that are resampled at once: sums per object, 16 MiB of them."""

LabelledRun = tuple[Run, str]
Resampled = tuple[float, FloatArray]
"""A figure as it is, and in every resample."""
SIGNIFICANT = 0.05
"""A difference is shown where its p-value, corrected for the comparisons of its task, is at most
this."""


def compare(
    runs: Sequence[Run],
    *,
    against: str | None = None,
    all_pairs: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
    strict: bool = True,
    headline_only: bool = False,
    quiet: bool = False,
) -> list[Comparison]:
    """Compare each run with the best one of its task or with the model `against`, or every pair.

    A run that shares no question with the best one is compared with the best of those that it
    shares some with.

    They are compared by each metric of the task, or by its headline alone.

    The reference is `b`, so that a difference says how far a run is above it; two runs stay in the
    order given, a baseline last. A pair that cannot be compared is logged unless `quiet`. With
    `strict`, having nothing to compare is an error, and runs of several editions of a task are
    compared with one another. p-values are corrected (Holm) for all the comparisons of a task.
    """
    tasks = _label_by_task(runs, across_editions=strict)
    if against is not None and not any(_called(members, against) for members in tasks):
        labels = dict.fromkeys(label for members in tasks for _, label in members)
        raise UserError(
            f"There is no run of '{against}' to compare with: there are {', '.join(labels)}."
        )
    comparisons: list[Comparison] = []
    skipped: list[UserError] = []
    for members in tasks:
        samples = _Samples(resamples, seed, headline_only)
        of_task: list[Comparison] = []
        for alike in _by_templates(members, skipped):
            for a, b in _pairs(alike, against, all_pairs, samples):
                try:
                    of_task += _compare_pair(a, b, samples)
                except UserError as error:
                    skipped.append(error)
        # a page of runs marks such comparisons, and is not asked for them alone
        if strict:
            _warn_of_few_objects(of_task)
        comparisons += _correct(of_task, resamples)
    if not comparisons and strict:
        if skipped:
            raise skipped[0]
        raise UserError("No two of these runs share a task: there is nothing to compare.")
    for reason in skipped if not quiet else ():
        log.warning("%s", reason)
    return comparisons


def _label_by_task(runs: Iterable[Run], *, across_editions: bool) -> list[list[LabelledRun]]:
    """Return the runs of each task, a folder once, with labels that tell them apart."""
    # a folder may be given twice, alone and with the one above it
    by_task: dict[str, dict[Path, Run]] = {}
    for run in runs:
        name = run.task.series if across_editions else run.task.name
        by_task.setdefault(name, {}).setdefault(run.folder, run)
    tasks = []
    for by_folder in by_task.values():
        # a model is compared with a baseline, not a baseline with a model
        members = sorted(by_folder.values(), key=lambda run: run.manifest.family == "baseline")
        tasks.append(list(zip(members, run_labels(members), strict=True)))
    return tasks


def _called(members: Sequence[LabelledRun], name: str) -> list[LabelledRun]:
    """Return the runs that a user means by this name.

    The name is that of a label here, else of a model and how it was asked, else of a model alone.
    """
    for names in (
        [label for _, label in members],
        [run.label for run, _ in members],
        [run.manifest.model for run, _ in members],
    ):
        matching = [member for member, text in zip(members, names, strict=True) if text == name]
        if matching:
            return matching
    return []


def _by_templates(
    members: Sequence[LabelledRun],
    skipped: list[UserError],
) -> list[list[LabelledRun]]:
    """Return the runs of a task by its templates: other words are another question."""
    groups: list[list[LabelledRun]] = []
    contents: list[object] = []
    for run, label in members:
        content = _template_content(run)
        if content in contents:
            groups[contents.index(content)].append((run, label))
            continue
        if groups:
            _, first_label = groups[0][0]
            skipped.append(
                UserError(
                    f"{first_label} and {label} differ in the templates of '{run.task.name}' and "
                    "are not compared."
                )
            )
        groups.append([(run, label)])
        contents.append(content)
    return groups


def _template_content(run: Run) -> list[object]:
    """Return what must be equal for two runs to have been asked alike."""
    return [
        (template.name, template.text, sorted(template.words.items()))
        for template in run.task.templates
    ]


def _pairs(
    members: Sequence[LabelledRun],
    against: str | None,
    all_pairs: bool,
    samples: _Samples,
) -> Iterator[tuple[LabelledRun, LabelledRun]]:
    """Yield the pairs to compare among runs that were asked alike."""
    # of two runs neither is the reference: they stay in the order given, a baseline last
    if all_pairs or (against is None and len(members) == 2):
        yield from combinations(members, 2)
        return
    if len(members) < 2:
        return
    if against is None:
        yield from _pairs_with_best(members, samples)
        return
    matching = _called(members, against)
    task = members[0][0].task.name
    if len(matching) > 1:
        labels = ", ".join(f"'{label}'" for _, label in matching)
        raise UserError(f"Several runs of '{task}' are of '{against}': say which, {labels}.")
    if not matching:
        log.warning(
            "'%s' has no run of '%s': its runs are not compared.",
            against,
            task,
        )
        return
    (reference,) = matching
    for member in members:
        if member is not reference:
            yield member, reference


def _pairs_with_best(
    members: Sequence[LabelledRun],
    samples: _Samples,
) -> Iterator[tuple[LabelledRun, LabelledRun]]:
    """Yield each run with the best one that it can be compared with.

    One that can be compared with none is paired with the best of all: comparing them says why not.
    """
    ranked = _rank(members, samples)
    pairs = set()
    for place, member in enumerate(members):
        others = [other for other in ranked if other != place]
        reference = next(
            (other for other in others if _are_comparable(member, members[other])),
            others[0],
        )
        # the best of several has a worse one for its reference: that pair, turned round
        better, worse = sorted((place, reference), key=ranked.index)
        pairs.add((worse, better))
    for worse, better in sorted(pairs):
        yield members[worse], members[better]


def _rank(members: Sequence[LabelledRun], samples: _Samples) -> list[int]:
    """Return the places of the runs: those that asked the most questions first, and of these the
    one with the best headline figure."""
    first, _ = members[0]
    metric = metrics.get(first.task.metrics[0])
    sign = -1 if metric.lower_is_better else 1

    def rank(place: int) -> tuple[int, float]:
        run, _ = members[place]
        task = run.task
        # a run of fewer questions may have had the easier ones
        size = len(task.questions)
        if metric.name not in task.metrics:
            return size, -math.inf
        sample = samples.of(
            task,
            task.questions,
            [template.name for template in task.templates],
        )
        sums = sample.stats(run)[metric.name].sum(axis=1)
        value = float(metric.value(sums).mean())
        if math.isnan(value):
            return size, -math.inf
        return size, sign * value

    # where runs are equal, the first stays the first
    return sorted(range(len(members)), key=rank, reverse=True)


class _Samples:
    """What runs are compared on, each set of questions once: most pairs of runs share theirs."""

    def __init__(self, resamples: int, seed: int, headline_only: bool) -> None:
        self.resamples = resamples
        self.seed = seed
        self.headline_only = headline_only
        self._samples: dict[object, _Sample] = {}

    def of(self, task: Task, questions: Sequence[Question], templates: Sequence[str]) -> _Sample:
        """Return the sample of these questions in these templates."""
        # metrics too: two versions of a task may measure the same questions differently
        ids = tuple(question.id for question in questions)
        key = (ids, tuple(templates), task.metrics)
        if key not in self._samples:
            sampled_task = replace(
                task,
                questions=tuple(questions),
                templates=tuple(t for t in task.templates if t.name in templates),
                metrics=task.metrics[:1] if self.headline_only else task.metrics,
            )
            draw = resample_questions(questions, self.resamples, self.seed)
            self._samples[key] = _Sample(sampled_task, draw)
        return self._samples[key]


@dataclass(frozen=True, eq=False)
class _Sample:
    """Questions, and what is computed once for each run that answered them."""

    task: Task
    draw: Resamples
    _stats: dict[Path, dict[str, FloatArray]] = field(default_factory=dict)
    _resampled: dict[object, list[Resampled]] = field(default_factory=dict)

    @cached_property
    def parts(self) -> dict[Slice | None, BoolArray]:
        """Which questions a comparison covers: all, or each set of nested ones."""
        questions = self.task.questions
        nested = self.task.nested_by
        if not nested:
            return {None: np.ones(len(questions), dtype=bool)}
        rows_by_part = slices(questions, (nested,))
        all_rows = np.arange(len(questions))
        return {part: np.isin(all_rows, rows) for part, rows in rows_by_part.items()}

    @cached_property
    def objects(self) -> list[str]:
        """What each question is about."""
        return [question.object for question in self.task.questions]

    @cached_property
    def has_independent_answers(self) -> bool:
        """Whether no thing occurs in two questions and each is asked once, as McNemar's test needs.

        Of several templates it could only count which model is right in most of them. That is
        another quantity than the figures' difference, and may differ where these are equal.
        """
        if len(self.task.templates) > 1:
            return False
        things = [thing for question in self.task.questions for thing in question.things]
        return len(set(things)) == len(things)

    def stats(self, run: Run) -> dict[str, FloatArray]:
        """Return the run's statistics for each metric of the task that it has."""
        if run.folder not in self._stats:
            measures = [metrics.get(name) for name in self.task.metrics if name in run.task.metrics]
            # only these rows: a twin outside the sample is not looked at
            ids = {question.id for question in run.task.questions}
            rows = [row for row, q in enumerate(self.task.questions) if q.id in ids]
            task = self.task
            if len(rows) < len(task.questions):
                task = replace(task, questions=tuple(task.questions[row] for row in rows))
            answers = run.answers.select(
                [question.id for question in task.questions],
                [template.name for template in task.templates],
            )
            items = items_by_template(task, answers, run.manifest.condition.length)
            self._stats[run.folder] = {
                name: _spread_rows(stats, rows, len(self.task.questions))
                for name, stats in statistics(measures, items).items()
            }
        return self._stats[run.folder]

    def resampled(self, run: Run, name: str, weights: FloatArray) -> list[Resampled]:
        """Return for each part the figure as it is and in every resample.

        Each question counts by its weight, and not at all where that is 0.
        """
        key = (run.folder, name, weights.tobytes())
        if key not in self._resampled:
            self._resample_alike(run.folder, name, weights)
        return self._resampled[key]

    def _resample_alike(self, folder: Path, name: str, weights: FloatArray) -> None:
        """Resample a run's figure, and those of other runs whose questions count as much.

        One product of many columns is faster than many of a few. Only of whole numbers, whose sums
        do not depend on what is multiplied beside them.
        """
        metric = metrics.get(name)
        content = weights.tobytes()
        sums_by_run = {folder: self._part_sums(folder, name, weights)}
        cells = sum(sums.size for sums in sums_by_run[folder])
        if (weights == 1).all() and _are_whole(sums_by_run[folder]):
            for other, stats in self._stats.items():
                if other == folder or (other, name, content) in self._resampled:
                    continue
                # a run with other weights has figures of its own with each of the others
                if name not in stats or not metric.defined(stats[name]).all():
                    continue
                sums = self._part_sums(other, name, weights)
                if _are_whole(sums) and cells <= _CELLS_TOGETHER:
                    sums_by_run[other] = sums
                    cells += sum(part.size for part in sums)
        figures = [(part, metric.value) for sums in sums_by_run.values() for part in sums]
        values = iter(self.draw.values(figures))
        for run_folder, sums in sums_by_run.items():
            self._resampled[run_folder, name, content] = list(islice(values, len(sums)))

    def _part_sums(self, folder: Path, name: str, weights: FloatArray) -> list[FloatArray]:
        """Return the run's weighted statistics summed per object, part by part."""
        stats = _weigh(self._stats[folder][name], weights)
        return [self.draw.sums(stats, where) for where in self.parts.values()]


def _are_whole(sums: Sequence[FloatArray]) -> bool:
    """Whether sums of any resample of these are exact."""
    return all(exact_type(part) is np.float32 for part in sums)


def _compare_pair(a: LabelledRun, b: LabelledRun, samples: _Samples) -> list[Comparison]:
    """Compare two runs by every metric that both have, on the questions that both were asked."""
    run_a, _ = a
    run_b, _ = b
    questions, templates = _questions_in_common(a, b)
    task = run_a.task
    anchors = None
    if task.edition != run_b.task.edition:
        task = replace(task, name=task.series)
        anchors = len(questions)
        questions = _with_others(questions, run_a, run_b)
    sample = samples.of(task, questions, templates)
    names = [name for name in sample.stats(run_a) if name in sample.stats(run_b)]
    comparisons = []
    for name in names:
        metric = metrics.get(name)
        # other metrics are no means of questions, which weights could equate
        if anchors is None or metric.is_mean:
            comparisons += _compare_metric(metric, a, b, sample, samples, anchors)
    return comparisons


def _are_comparable(a: LabelledRun, b: LabelledRun) -> bool:
    """Whether two runs can be compared."""
    run_a, _ = a
    run_b, _ = b
    # most were asked the same
    if run_a.task is run_b.task:
        return True
    try:
        _questions_in_common(a, b)
    except UserError:
        return False
    return True


def _questions_in_common(a: LabelledRun, b: LabelledRun) -> tuple[list[Question], list[str]]:
    """Return the questions that both runs were asked and the names of their templates, or refuse
    two runs that cannot be compared."""
    run_a, label_a = a
    run_b, label_b = b
    questions, templates = shared(run_a.task, run_a.answers, run_b.answers)
    # runs that were asked the same share one task in memory; others may differ under equal ids
    if run_a.task is not run_b.task:
        questions_b = {question.id: question for question in run_b.task.questions}
        questions = [q for q in questions if same_question(q, questions_b[q.id])]
    if not questions:
        raise UserError(
            f"{label_a} and {label_b} share no question of '{run_a.task.series}' and are not "
            f"compared{_text_only_reason(a, b)}."
        )
    if run_a.task.edition != run_b.task.edition:
        _refuse_same_model(a, b)
    return questions, templates


def _text_only_reason(a: LabelledRun, b: LabelledRun) -> str:
    """Return why samples of one edition share no question, if it is that one has no picture."""
    run_a, _ = a
    run_b, _ = b
    is_sample = run_a.manifest.limit is not None or run_b.manifest.limit is not None
    text_only = [label for run, label in (a, b) if not _has_pictures(run)]
    if run_a.task.edition != run_b.task.edition or not is_sample or len(text_only) != 1:
        return ""
    return (
        f": {text_only[0]} is asked only questions without a picture, of which a larger --limit "
        "makes them share more"
    )


def _has_pictures(run: Run) -> bool:
    """Whether any question of a run is about a picture."""
    return any(question.picture for question in run.task.questions)


def _refuse_same_model(a: LabelledRun, b: LabelledRun) -> None:
    """Refuse to compare a model with itself: by the anchors it is as good as itself."""
    (run_a, label_a), (run_b, label_b) = a, b
    if run_a.manifest.model_fingerprint == run_b.manifest.model_fingerprint:
        raise UserError(
            f"{label_a} and {label_b} are one model on two editions of '{run_a.task.series}' and "
            "are not compared: `seesay probe --contamination` tests whether it knows one of them."
        )


def _with_others(anchors: Sequence[Question], a: Run, b: Run) -> list[Question]:
    """Return the anchors, followed by what only one of the runs was asked."""
    ids_a = {question.id for question in a.task.questions}
    ids_b = {question.id for question in b.task.questions}
    only_a = [question for question in a.task.questions if question.id not in ids_b]
    only_b = [question for question in b.task.questions if question.id not in ids_a]
    return [*anchors, *only_a, *only_b]


def _anchor_weight(stats_a: FloatArray, stats_b: FloatArray) -> float:
    """Return how much more a question counts that both models answered than one of either.

    Where answers of the two correlate by ρ, the variance of their difference is 1 − ρ times that of
    answers to different questions: weights of 1 / (1 − ρ) make the variance of the whole smallest.
    """
    credits = [side[..., 0].sum(axis=0) / side[..., 1].sum(axis=0) for side in (stats_a, stats_b)]
    # a model that is right everywhere, or nowhere, correlates with nothing
    if min(np.ptp(credit) for credit in credits) == 0:
        return 1.0
    correlation = float(np.corrcoef(*credits)[0, 1])
    return 1 / (1 - min(max(correlation, 0.0), _LARGEST_CORRELATION))


def _compare_metric(
    metric: Metric[ScoredItems],
    a: LabelledRun,
    b: LabelledRun,
    sample: _Sample,
    samples: _Samples,
    anchors: int | None,
) -> list[Comparison]:
    """Compare two runs by one metric, part by part.

    Of runs of two editions, so many of the first questions are `anchors`.
    """
    run_a, label_a = a
    run_b, label_b = b
    stats_a = sample.stats(run_a)[metric.name]
    stats_b = sample.stats(run_b)[metric.name]
    # an item on which the metric is not defined for one of the two counts for neither
    weights = (metric.defined(stats_a) & metric.defined(stats_b)).astype(np.float64)
    if anchors is not None:
        is_anchor = weights.all(axis=0)
        if is_anchor.any():
            weights *= _anchor_weight(stats_a[:, is_anchor], stats_b[:, is_anchor])
        weights[:, anchors:] = (metric.defined(stats_a) | metric.defined(stats_b))[:, anchors:]
    stats_a = _weigh(stats_a, weights)
    stats_b = _weigh(stats_b, weights)
    comparisons = []
    for (part, where), resampled_a, resampled_b in zip(
        sample.parts.items(),
        sample.resampled(run_a, metric.name, weights),
        sample.resampled(run_b, metric.name, weights),
        strict=True,
    ):
        sums_a = sample.draw.sums(stats_a, where)
        sums_b = sample.draw.sums(stats_b, where)
        widening = sample.draw.widening(sums_a, metric.value, minus=sums_b)
        objects = sample.draw.count_objects(sums_a)
        between = difference(
            resampled_a,
            resampled_b,
            objects=objects,
            differing=sample.draw.count_objects(sums_a - sums_b),
            widening=widening,
            most=metric.most,
        )
        # not defined for one of the two
        if math.isnan(between.difference) or math.isnan(between.low):
            continue
        p_signflip = sign_flip(
            stats_a,
            stats_b,
            sample.objects,
            metric.value,
            where=where,
            flips=samples.resamples,
            seed=samples.seed,
            is_mean=metric.is_mean,
            widening=widening,
        )
        p_mcnemar = None
        if metric.binary and sample.has_independent_answers and anchors is None:
            p_mcnemar = _number_or_none(mcnemar(stats_a, stats_b, where=where))
        comparisons.append(
            Comparison(
                task=sample.task.name,
                metric=metric.name,
                slice=part,
                a=label_a,
                b=label_b,
                value_a=between.value_a,
                value_b=between.value_b,
                difference=between.difference,
                low=between.low,
                high=between.high,
                p_bootstrap=between.p,
                p_signflip=p_signflip,
                p_holm=1.0,  # until it is known how many comparisons the task has
                p_mcnemar=p_mcnemar,
                n=int((weights.any(axis=0) & where).sum()),
                anchors=anchors,
                objects=objects,
                too_few=too_few(objects),
                signature_a=run_a.manifest.signature,
                signature_b=run_b.manifest.signature,
            )
        )
    return comparisons


def _warn_of_few_objects(comparisons: Sequence[Comparison]) -> None:
    """Log one warning for a task whose comparisons rest on too few objects."""
    counts = sorted({c.objects for c in comparisons if c.too_few})
    if counts:
        log.warning(
            "'%s' is compared on %s: with fewer than %d objects, intervals may be too narrow "
            "and tests show little. Ask about more.",
            comparisons[0].task,
            quantity(counts[0], "object"),
            FEWEST_OBJECTS,
        )


def _correct(comparisons: Sequence[Comparison], resamples: int) -> list[Comparison]:
    """Return the comparisons of one task with their p-values corrected for how many they are."""
    # the smallest p-value is 1 / (1 + resamples), and Holm multiplies it by their number
    if len(comparisons) > SIGNIFICANT * (1 + resamples):
        log.warning(
            "%d comparisons of '%s' at once: with %d resamples no corrected p-value can be below "
            "%s. Compare fewer, or "
            "give --resamples %d.",
            len(comparisons),
            comparisons[0].task,
            resamples,
            SIGNIFICANT,
            2 * len(comparisons) / SIGNIFICANT,
        )
    adjusted = metrics.holm([comparison.p_signflip for comparison in comparisons])
    return [
        comparison.model_copy(update={"p_holm": float(p)})
        for comparison, p in zip(comparisons, adjusted, strict=True)
    ]


def _weigh(stats: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the statistics by the weights of their items, with nothing for those of weight 0."""
    return np.where(weights[..., None] > 0, stats * weights[..., None], 0.0)


def _spread_rows(stats: FloatArray, rows: Sequence[int], count: int) -> FloatArray:
    """Return the statistics of so many items: those at these rows, and nothing for the others."""
    if len(rows) == count:
        return stats
    spread = np.zeros((stats.shape[0], count, stats.shape[2]))
    spread[:, rows] = stats
    return spread


def _number_or_none(p: float) -> float | None:
    if math.isnan(p):
        return None
    return p
