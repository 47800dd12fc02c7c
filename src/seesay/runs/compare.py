"""Runs on the same questions: is the difference real?

Each run is compared with a reference, which is the best one unless another is named; every pair
only on request.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np

from seesay import metrics
from seesay.defaults import RESAMPLES
from seesay.errors import UserError
from seesay.metrics import FloatArray, Resamples, mcnemar, sign_flip
from seesay.metrics.base import BoolArray
from seesay.metrics.bootstrap import present
from seesay.metrics.paired import difference
from seesay.questions import Question, Slice, Task
from seesay.runs.figures import items_by_template, select, shared, slices, statistics
from seesay.runs.records import Comparison
from seesay.runs.run import Run, run_labels

log = logging.getLogger(__name__)

Named = tuple[Run, str]
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
) -> list[Comparison]:
    """Each run with the best one of its task or with the model `against`, or every pair; by each
    metric of the task or by its headline alone.

    The reference is `b`, so that a difference says how far a run is above it; two runs stay in the
    order given. A pair that cannot be compared is logged. With `strict`, having nothing to compare
    is an error. p-values are corrected (Holm) for all the comparisons of a task.
    """
    by_task: dict[str, dict[Path, Run]] = {}
    for run in runs:
        by_task.setdefault(run.task.name, {}).setdefault(run.folder, run)
    named = [
        list(zip(tasks.values(), run_labels(list(tasks.values())), strict=True))
        for tasks in by_task.values()
    ]
    if against is not None and not any(
        _is_called(each, against) for members in named for each in members
    ):
        labels = dict.fromkeys(label for members in named for _, label in members)
        raise UserError(
            f"There is no run of '{against}' to compare with: there are {', '.join(labels)}."
        )
    comparisons: list[Comparison] = []
    skipped: list[UserError] = []
    for members in named:
        samples = _Samples(resamples, seed, headline_only)
        of_task: list[Comparison] = []
        for way in _ways(members, skipped):
            for a, b in _pairs(way, against, all_pairs, samples):
                try:
                    of_task += _pair(a, b, samples)
                except UserError as error:
                    skipped.append(error)
        comparisons += _corrected(of_task, resamples)
    if not comparisons and strict:
        raise (
            skipped[0]
            if skipped
            else UserError("No two of these runs share a task: there is nothing to compare.")
        )
    for reason in skipped:
        log.warning("%s", reason)
    return comparisons


def _is_called(each: Named, name: str) -> bool:
    return name in (each[1], each[0].manifest.model)


def _ways(members: Sequence[Named], skipped: list[UserError]) -> list[list[Named]]:
    """The runs of a task by its templates: other words are another question."""
    ways: list[list[Named]] = []
    for run, label in members:
        way = next((way for way in ways if _templates(way[0][0]) == _templates(run)), None)
        if way is not None:
            way.append((run, label))
            continue
        if ways:
            pair = f"{ways[0][0][1]} and {label}"
            skipped.append(
                UserError(
                    f"{pair} differ in the templates of '{run.task.name}' and are not compared."
                )
            )
        ways.append([(run, label)])
    return ways


def _pairs(
    way: Sequence[Named], against: str | None, all_pairs: bool, samples: _Samples
) -> Iterator[tuple[Named, Named]]:
    """The pairs to compare among runs that were asked alike."""
    if all_pairs or (against is None and len(way) == 2):
        yield from combinations(way, 2)
        return
    if len(way) < 2:
        return
    if against is None:
        reference = _best(way, samples)
    else:
        named = [each for each in way if _is_called(each, against)]
        if len(named) > 1:
            labels = ", ".join(f"'{label}'" for _, label in named)
            raise UserError(
                f"Several runs of '{way[0][0].task.name}' are of '{against}': say which, {labels}."
            )
        if not named:
            log.warning(
                "'%s' has no run of '%s': its runs are not compared.", against, way[0][0].task.name
            )
            return
        (reference,) = named
    yield from ((each, reference) for each in way if each is not reference)


def _best(way: Sequence[Named], samples: _Samples) -> Named:
    """The run with the best headline figure, among those that asked the most questions."""
    most = max(len(run.task.questions) for run, _ in way)
    metric = metrics.get(way[0][0].task.metrics[0])
    sign = -1 if metric.lower_is_better else 1

    def figure(each: Named) -> float:
        run = each[0]
        if metric.name not in run.task.metrics or len(run.task.questions) < most:
            return -math.inf
        stats = samples.of(
            run.task, run.task.questions, [t.name for t in run.task.templates]
        ).stats(run)
        value = float(metric.value(stats[metric.name].sum(axis=1)).mean())
        return -math.inf if math.isnan(value) else sign * value

    return max(way, key=figure)


class _Samples:
    """What runs are compared on, each set of questions once: most pairs of runs share theirs."""

    def __init__(self, resamples: int, seed: int, headline_only: bool) -> None:
        self.resamples = resamples
        self.seed = seed
        self.headline_only = headline_only
        self._samples: dict[object, _Sample] = {}

    def of(self, task: Task, questions: Sequence[Question], templates: Sequence[str]) -> _Sample:
        """The sample of these questions in these templates."""
        key = (tuple(question.id for question in questions), tuple(templates), task.metrics)
        if key not in self._samples:
            used = tuple(t for t in task.templates if t.name in templates)
            chosen = task.metrics[:1] if self.headline_only else task.metrics
            draw = Resamples([question.object for question in questions], self.resamples, self.seed)
            limited = replace(task, questions=tuple(questions), templates=used, metrics=chosen)
            self._samples[key] = _Sample(limited, draw)
        return self._samples[key]


@dataclass(frozen=True, eq=False)
class _Sample:
    """Questions, and what is computed once for each run that answered them."""

    task: Task
    draw: Resamples
    _stats: dict[Path, dict[str, FloatArray]] = field(default_factory=dict)
    _drawn: dict[object, list[tuple[float, FloatArray]]] = field(default_factory=dict)

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

    def stats(self, run: Run) -> dict[str, FloatArray]:
        """The run's statistics for each metric of the task that it has."""
        if run.folder not in self._stats:
            named = [name for name in self.task.metrics if name in run.task.metrics]
            answers = select(
                run.answers, self.task.questions, [t.name for t in self.task.templates]
            )
            items = items_by_template(self.task, answers, run.manifest.length)
            self._stats[run.folder] = statistics([metrics.get(name) for name in named], items)
        return self._stats[run.folder]

    def drawn(self, run: Run, name: str, both: BoolArray) -> list[tuple[float, FloatArray]]:
        """For each part the figure over the questions where `both` runs have one, as it is and in
        every resample."""
        key = (run.folder, name, both.tobytes())
        if key not in self._drawn:
            stats = _where(self.stats(run)[name], both)
            sums = [self.draw.sums(stats, where) for where in self.parts.values()]
            self._drawn[key] = self.draw.values([(each, metrics.get(name).value) for each in sums])
        return self._drawn[key]


def _pair(a: Named, b: Named, samples: _Samples) -> list[Comparison]:
    (run_a, name_a), (run_b, name_b) = a, b
    questions, templates = shared(run_a.task, run_a.answers, run_b.answers)
    if run_a.task is not run_b.task:
        theirs = {q.id: q for q in run_b.task.questions}
        questions = [q for q in questions if same_question(q, theirs[q.id])]
    if not questions:
        raise UserError(
            f"{name_a} and {name_b} share no question of '{run_a.task.name}' and are not compared."
        )
    sample = samples.of(run_a.task, questions, templates)
    stats_a = sample.stats(run_a)
    stats_b = sample.stats(run_b)
    objects = [question.object for question in questions]
    comparisons = []
    for name in (name for name in stats_a if name in stats_b):
        metric = metrics.get(name)
        both = metric.defined(stats_a[name]) & metric.defined(stats_b[name])
        of_a = _where(stats_a[name], both)
        of_b = _where(stats_b[name], both)
        drawn = zip(
            sample.parts.items(),
            *(sample.drawn(run, name, both) for run in (run_a, run_b)),
            strict=True,
        )
        for (part, where), drawn_a, drawn_b in drawn:
            between = difference(drawn_a, drawn_b, objects=present(sample.draw.sums(of_a, where)))
            # not defined for one of the two
            if math.isnan(between.difference) or math.isnan(between.low):
                continue
            p = sign_flip(
                of_a,
                of_b,
                objects,
                metric.value,
                where=where,
                flips=samples.resamples,
                seed=samples.seed,
                is_mean=metric.is_mean,
            )
            comparisons.append(
                Comparison(
                    task=run_a.task.name,
                    metric=name,
                    slice=part,
                    a=name_a,
                    b=name_b,
                    value_a=between.value_a,
                    value_b=between.value_b,
                    difference=between.difference,
                    low=between.low,
                    high=between.high,
                    p_bootstrap=between.p,
                    p_signflip=p,
                    p_holm=1.0,
                    p_mcnemar=_number_or_none(mcnemar(of_a, of_b, where=where))
                    if metric.binary
                    else None,
                    n=int((both.any(axis=0) & where).sum()),
                    signature_a=run_a.manifest.signature,
                    signature_b=run_b.manifest.signature,
                )
            )
    return comparisons


def _corrected(comparisons: Sequence[Comparison], resamples: int) -> list[Comparison]:
    """The comparisons of one task with their p-values corrected for how many they are."""
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
        c.model_copy(update={"p_holm": float(p)})
        for c, p in zip(comparisons, adjusted, strict=True)
    ]


def _where(stats: FloatArray, both: BoolArray) -> FloatArray:
    return np.where(both[..., None], stats, 0.0)


def _number_or_none(p: float) -> float | None:
    return None if math.isnan(p) else p


def same_question(a: Question, b: Question) -> bool:
    """Whether two questions of one id are the same one."""
    return (a.fields, a.options, a.gold, a.picture) == (b.fields, b.options, b.gold, b.picture)


def _templates(run: Run) -> list[tuple[str, str, list[tuple[str, str]]]]:
    return [(t.name, t.text, sorted(t.words.items())) for t in run.task.templates]
