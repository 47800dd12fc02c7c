"""From answers to figures: every metric of the task, overall, by template and by slice, plain and
calibrated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
import numpy.typing as npt

from seesay import metrics
from seesay.errors import UserError
from seesay.grouping import group_by
from seesay.metrics import FloatArray, Interval, Metric, Resamples, ScoredItems
from seesay.metrics.base import BoolArray, IntArray
from seesay.metrics.bootstrap import not_degenerate, reflect, too_few
from seesay.metrics.scoring_rules import adjust, calibrate
from seesay.questions import Question, Slice, Task
from seesay.runs.answer_table import NO_SCORES, AnswerTable
from seesay.runs.records import Figure, Manifest
from seesay.runs.run import Run

CALIBRATED = "calibrated_"
ONE_GOLD = {"accuracy", "brier", "expected_calibration_error"}
"""Metrics that compare a choice or its probability with one right answer."""
_CELLS = 1 << 19  # questions × options whose statistics are computed at once


class Subset(NamedTuple):
    """What one figure covers.

    That is a template or all (None), and a slice of the questions or all.
    """

    template: int | None
    part: Slice | None
    where: BoolArray


def figures(manifest: Manifest, task: Task, answers: AnswerTable) -> list[Figure]:
    """Return all the figures of a run, the headline metric first."""
    return _figures(manifest, task, answers, subsets(task))


def with_crossed(run: Run, tags: Sequence[str]) -> tuple[Figure, ...]:
    """Return a run's figures with those of every combination of these tags' values.

    Nested questions stay apart.
    """
    present_slices = {figure.slice for figure in run.figures}
    crossed = _by_slice(run.task, _with_nesting(run.task, tags))
    new_subsets = [subset for subset in crossed if subset.part not in present_slices]
    if not new_subsets:
        return run.figures
    return (*run.figures, *_figures(run.manifest, run.task, run.answers, new_subsets))


def with_metrics(run: Run, names: Sequence[str]) -> tuple[Figure, ...]:
    """Return a run's figures with those of further metrics.

    They are computed from its answers: nothing is asked again.
    """
    present_metrics = {figure.metric for figure in run.figures}
    new = tuple(name for name in names if name not in present_metrics)
    if not new:
        return run.figures
    for_one_gold = sorted(set(new) & ONE_GOLD)
    has_several_gold = any(len(question.gold) > 1 for question in run.task.questions)
    # refused here, in one sentence: the metrics themselves would name a row
    if for_one_gold and has_several_gold:
        raise UserError(
            f"'{run.task.name}' has questions with several right answers: "
            f"{', '.join(for_one_gold)} is for one."
        )
    task = replace(
        without_unasked_neutral(run.task, run.answers),
        metrics=new,
    )
    return (*run.figures, *_figures(run.manifest, task, run.answers, subsets(task)))


def without_unasked_neutral(task: Task, answers: AnswerTable) -> Task:
    """Return the task without its neutral fields where no such prompt was asked.

    People are not asked it, for example.
    """
    if answers.has_neutral:
        return task
    return replace(task, neutral={})


def subsets(task: Task) -> list[Subset]:
    """Return what a run has figures of.

    That is each part of the task as a whole, by template, and by every tag that has values.
    """
    if task.nested_by:
        parts = _by_slice(task, (task.nested_by,))
    else:
        parts = [Subset(None, None, np.ones(len(task.questions), dtype=np.bool_))]
    by_template = [
        part._replace(template=number) for part in parts for number in range(len(task.templates))
    ]
    by_tag: list[Subset] = []
    tags = {tag for question in task.questions for tag in question.tags}
    for tag in sorted(tags - {task.nested_by}):
        values = {question.tags.get(tag) for question in task.questions}
        # a tag with one value would repeat the figure of the whole
        if len(values - {None}) > 1:
            by_tag += _by_slice(task, _with_nesting(task, (tag,)))
    return [*parts, *by_template, *by_tag]


def slices(questions: Sequence[Question], tags: Sequence[str]) -> dict[Slice, list[int]]:
    """Return each combination of the tags' values with the rows of the questions that have it.

    Numbers within values are in numerical order.
    """
    rows: dict[Slice, list[int]] = {}
    for row, question in enumerate(questions):
        if all(tag in question.tags for tag in tags):
            part = Slice.of({tag: question.tags[tag] for tag in tags})
            rows.setdefault(part, []).append(row)
    in_order = sorted(rows, key=lambda part: part.order)
    return {part: rows[part] for part in in_order}


def _with_nesting(task: Task, tags: Sequence[str]) -> tuple[str, ...]:
    """Return the tags with the one by which questions are nested: sets of it are never mixed."""
    if task.nested_by and task.nested_by not in tags:
        return (*dict.fromkeys(tags), task.nested_by)
    return tuple(dict.fromkeys(tags))


def _by_slice(task: Task, tags: Sequence[str]) -> list[Subset]:
    """Return a subset for each combination of the tags' values."""
    subsets_by_slice = []
    for part, rows in slices(task.questions, tags).items():
        where = np.zeros(len(task.questions), dtype=np.bool_)
        where[rows] = True
        subsets_by_slice.append(Subset(None, part, where))
    return subsets_by_slice


class _LabelMatrix:
    """Where the options of a task's questions stand in matrices of questions × labels."""

    def __init__(self, task: Task) -> None:
        """Find the column of every option, and fill in what is gold and marked."""
        self.shape = (len(task.questions), len(task.labels))
        self.gold = np.zeros(self.shape)
        self.marks: dict[str, BoolArray] = {}
        self._column = {label: number for number, label in enumerate(task.labels)}
        for row, question in enumerate(task.questions):
            weights = list(question.gold.values())
            self.gold[row, self._columns_of(question.gold)] = weights
            for name, labels in question.marks.items():
                if name not in self.marks:
                    self.marks[name] = np.zeros(self.shape, dtype=np.bool_)
                self.marks[name][row, self._columns_of(labels)] = True
        # questions that have the same options share one row of columns
        lists_by_width: dict[int, dict[tuple[str, ...], int]] = {}
        self._lists: IntArray = np.empty(len(task.questions), np.intp)
        for row, question in enumerate(task.questions):
            lists = lists_by_width.setdefault(len(question.options), {})
            self._lists[row] = lists.setdefault(question.options, len(lists))
        self._columns = {
            width: self._columns_of(chain.from_iterable(lists)).reshape(len(lists), width)
            for width, lists in lists_by_width.items()
        }
        # rows of equal width go through NumPy at once, a few megabytes of them at a time
        self._blocks: list[tuple[int, IntArray]] = []
        rows_by_width = group_by(
            range(len(task.questions)),
            lambda row: len(task.questions[row].options),
        )
        for width, rows in rows_by_width.items():
            size = max(1, _CELLS // width)
            blocks = np.split(np.array(rows), range(size, len(rows), size))
            self._blocks += [(width, block) for block in blocks]

    def gold_of_twins(self, task: Task) -> FloatArray:
        """Return the gold weights of each question's twin, all 0 where it is not asked."""
        rows = {question.id: row for row, question in enumerate(task.questions)}
        gold = np.zeros(self.shape)
        for row, question in enumerate(task.questions):
            if question.twin in rows:
                gold[row] = self.gold[rows[question.twin]]
        return gold

    def _columns_of(self, labels: Iterable[str]) -> IntArray:
        """Return the columns of these labels."""
        return np.array([self._column[label] for label in labels], np.intp)

    def fill(
        self,
        matrix: npt.NDArray[Any],
        places: IntArray,
        numbers: Callable[[IntArray, int], npt.NDArray[Any]],
    ) -> None:
        """Set what the questions' scores at these places have, for questions that have any.

        `numbers` gives them for places of scores and the number of options. A block holds questions
        with equally many options, and few enough that it takes little memory.
        """
        for width, block in self._blocks:
            rows = block[places[block] != NO_SCORES]
            if not len(rows):
                continue
            columns = self._columns[width][self._lists[rows]]
            matrix[rows[:, None], columns] = numbers(places[rows], width)


_LATEST: dict[int, tuple[ref[Task], _LabelMatrix]] = {}
"""The matrix of the latest task by its identity: its runs are looked at one after the other."""


def _label_matrix(task: Task) -> _LabelMatrix:
    """Return where the options of a task stand, which is held for the next run if it is small."""
    # the reference says whether the identity is still that task's
    of_task, labels = _LATEST.get(id(task), (None, None))
    if labels is not None and of_task is not None and of_task() is task:
        return labels
    _LATEST.clear()
    labels = _LabelMatrix(task)
    if labels.gold.size <= _CELLS:
        _LATEST[id(task)] = ref(task), labels
    return labels


def items_by_template(
    task: Task,
    answers: AnswerTable,
    length: str,
    *,
    gain: bool = False,
) -> Iterator[ScoredItems]:
    """Yield the scored items of each template in turn, which metrics take.

    With `gain`, scores are those of the calibrated rule.

    One template at a time: the scores of many options by all templates would fill the memory.
    """
    labels = _label_matrix(task)
    columns = answers.columns
    has_twins = any(question.twin for question in task.questions)
    twin_gold = labels.gold_of_twins(task) if has_twins else None

    def plain(places: IntArray, width: int) -> FloatArray:
        return adjust(columns.matrix(places, width), length)

    rows_by_template = _question_rows(task, answers)
    for template in task.templates:
        question_rows = rows_by_template[template.name]
        # NaN for the labels that a question does not offer
        scores = np.full(labels.shape, np.nan)
        if gain:
            labels.fill(scores, question_rows, _gains(answers, length))
        else:
            labels.fill(scores, answers.places[question_rows], plain)
        twins = None
        if has_twins:
            twins = np.full(labels.shape, np.nan)
            labels.fill(twins, _twin_places(task, answers, template.name), plain)
        same_text = [other for other in task.templates if other.text == template.text]
        ranks = (_ranks(answers, labels, rows_by_template[other.name]) for other in same_text)
        yield ScoredItems(
            scores,
            labels.gold,
            reduce(_best_ranks, ranks),
            labels.marks,
            twins,
            twin_gold,
        )


def _question_rows(task: Task, answers: AnswerTable) -> dict[str, IntArray]:
    """Return the rows of the task's questions in the answers, template by template."""
    ids = [question.id for question in task.questions]
    names = [template.name for template in task.templates]
    # a run is written in the task's order, where rows need not be looked up
    if _in_order(answers, ids, names):
        first = np.arange(len(ids)) * len(names)
        return {name: first + place for place, name in enumerate(names)}
    rows_by_template = {}
    for name in names:
        rows = answers.rows_by_question(name)
        rows_by_template[name] = np.array([rows[question] for question in ids])
    return rows_by_template


def _in_order(answers: AnswerTable, ids: Sequence[str], names: Sequence[str]) -> bool:
    """Whether the answers are those to these questions in these templates, in their order."""
    width = len(names)
    return answers.templates == list(names) * len(ids) and all(
        answers.questions[place::width] == ids for place in range(width)
    )


def _twin_places(task: Task, answers: AnswerTable, template: str) -> IntArray:
    """Return where the scores of each question's twin are; a limited run may not have asked it."""
    rows = answers.rows_by_question(template)
    places = np.full(len(task.questions), NO_SCORES)
    for number, question in enumerate(task.questions):
        if question.twin in rows:
            places[number] = answers.places[rows[question.twin]]
    return places


def _gains(answers: AnswerTable, length: str) -> Callable[[IntArray, int], FloatArray]:
    """Return the calibrated rule as a function of rows.

    Rows say which neutral scores belong to which scores.
    """
    columns = answers.columns

    def gains(rows: IntArray, width: int) -> FloatArray:
        neutral_places = answers.neutral_places[rows]
        missing = rows[neutral_places == NO_SCORES]
        if len(missing):
            question = answers.questions[missing[0]]
            raise ValueError(f"question {question!r} has no neutral prompt to calibrate by")
        scores = columns.matrix(answers.places[rows], width)
        return calibrate(
            scores,
            columns.matrix(neutral_places, width),
            length,
        )

    return gains


def _ranks(answers: AnswerTable, labels: _LabelMatrix, question_rows: IntArray) -> IntArray:
    """Return the ranks of all labels in one template; 0 where they are unknown."""
    ranks = np.zeros(labels.shape, dtype=np.int32)
    labels.fill(
        ranks,
        answers.places[question_rows],
        answers.columns.rank_matrix,
    )
    return ranks


def _best_ranks(a: IntArray, b: IntArray) -> IntArray:
    """Return the better of two ranks of each label.

    Templates of one text differ only in the words for their labels: a label's rank is that of its
    best word. So the top word counts whichever of a label's words it is, as ViPhy accepts both
    "bigger" and "larger".
    """
    # 0 is no rank: of one unknown rank and a known one, the known one is the greater number
    is_unknown = (a == 0) | (b == 0)
    return np.where(is_unknown, np.maximum(a, b), np.minimum(a, b))


def statistics(
    measures: Sequence[Metric[ScoredItems]],
    items: Iterable[ScoredItems],
) -> dict[str, FloatArray]:
    """Return each metric's sufficient statistics, templates × questions × k.

    Templates are passed over once, since the items of all of them would fill the memory.
    """
    by_metric: dict[str, list[FloatArray]] = {metric.name: [] for metric in measures}
    for template_items in items:
        for metric in measures:
            by_metric[metric.name].append(_in_blocks(metric, template_items))
    return {name: np.stack(stats) for name, stats in by_metric.items()}


def _in_blocks(metric: Metric[ScoredItems], items: ScoredItems) -> FloatArray:
    """Return the statistics, computed for some questions at a time.

    Sorting hundreds of options of all of them takes much memory.
    """
    size = max(1, _CELLS // items.scores.shape[1])
    if len(items) <= size:
        return metric.stats(items)
    blocks = np.split(np.arange(len(items)), range(size, len(items), size))
    return np.concatenate([metric.stats(items.take(block)) for block in blocks])


def resample_questions(questions: Sequence[Question], resamples: int, seed: int) -> Resamples:
    """Return resamples of what questions are about, which knows the things that objects share."""
    objects = [question.object for question in questions]
    return Resamples(objects, resamples, seed, [question.things for question in questions])


def _figures(
    manifest: Manifest,
    task: Task,
    answers: AnswerTable,
    parts: Sequence[Subset],
) -> list[Figure]:
    """Return the figures of these parts by every metric of the task."""
    draw = resample_questions(task.questions, manifest.resamples, manifest.seed)
    length = manifest.condition.length
    measures = [metrics.get(name) for name in task.metrics]
    plain = statistics(measures, items_by_template(task, answers, length))
    gained: dict[str, FloatArray] = {}
    if task.neutral:
        # ranks in the vocabulary are of the prompt itself: there is no gain in them
        calibrated = [metric for metric in measures if not metric.whole_vocabulary]
        gains = items_by_template(task, answers, length, gain=True)
        gained = statistics(calibrated, gains)
    # chance depends on options and gold alone, which all templates share
    first_items = next(items_by_template(task, answers, length))
    rows: list[Figure] = []
    for metric in measures:
        name = metric.name
        chance = {
            subset.part: metrics.chance(metric, first_items.take(subset.where)) for subset in parts
        }
        sources = _Sources(manifest, task, draw, chance)
        rows += _of_metric(name, metric, plain[name], parts, sources)
        if name in gained:
            rows += _of_metric(
                CALIBRATED + name,
                metric,
                gained[name],
                parts,
                sources,
            )
    return rows


class _Sources(NamedTuple):
    """What the figures of a metric share, whichever its statistics are."""

    manifest: Manifest
    task: Task
    draw: Resamples
    chance: Mapping[Slice | None, float]


def _of_metric(
    name: str,
    metric: Metric[ScoredItems],
    stats: FloatArray,
    parts: Sequence[Subset],
    sources: _Sources,
) -> list[Figure]:
    """Return the figures of these parts by one metric.

    Its statistics are templates × questions × k.
    """
    by_subset = [_of_template(stats, subset.template) for subset in parts]
    sums = [
        sources.draw.sums(subset_stats, subset.where)
        for subset_stats, subset in zip(by_subset, parts, strict=True)
    ]
    # all at once: every resample is then one matrix product
    intervals = sources.draw.intervals(
        [(subset_sums, metric.value) for subset_sums in sums],
        bounds=[metric.bounds] * len(sums),
    )
    rows = []
    for subset, subset_stats, subset_sums, interval in zip(
        parts,
        by_subset,
        sums,
        intervals,
        strict=True,
    ):
        objects = sources.draw.count_objects(subset_sums)
        if metric.is_distance:
            interval = reflect(interval)
        bounded = not_degenerate(interval, objects, signed=metric.signed, most=metric.most)
        if np.isnan(bounded.value) or np.isnan(bounded.low):
            continue  # not defined here, such as a whole-vocabulary figure of a server
        rows.append(_figure(name, metric, subset_stats, subset, bounded, objects, sources))
    return rows


def _of_template(stats: FloatArray, template: int | None) -> FloatArray:
    """Return the statistics of one template, or of all."""
    if template is None:
        return stats
    return stats[template : template + 1]


def _figure(
    name: str,
    metric: Metric[ScoredItems],
    stats: FloatArray,
    subset: Subset,
    interval: Interval,
    objects: int,
    sources: _Sources,
) -> Figure:
    """Return the figure of one part, with the spread of its templates and what guessing gets."""
    manifest = sources.manifest
    over_templates = [
        float(metric.value(of_template[subset.where].sum(axis=0))) for of_template in stats
    ]
    template = None
    if subset.template is not None:
        template = sources.task.templates[subset.template].name
    chance = sources.chance[subset.part]
    return Figure(
        model=manifest.model,
        condition=manifest.condition,
        task=manifest.task,
        metric=name,
        template=template,
        slice=subset.part,
        value=interval.value,
        low=interval.low,
        high=interval.high,
        n=int((metric.defined(stats).any(axis=0) & subset.where).sum()),
        objects=objects,
        too_few=too_few(objects),
        signature=f"{manifest.signature}|metric:{name}",
        spread=metrics.spread(over_templates),
        chance=None if np.isnan(chance) else chance,
    )


def shared(task: Task, *tables: AnswerTable) -> tuple[list[Question], list[str]]:
    """Return the questions and the names of the templates that all tables of answers hold.

    Both are in the order of the task.
    """
    ids = [question.id for question in task.questions]
    all_names = [template.name for template in task.templates]
    if all(_in_order(answers, ids, all_names) for answers in tables):
        return list(task.questions), all_names
    # a template counts if any of its questions is shared, a question if it is in all of those
    common = set.intersection(*(set(answers.keys) for answers in tables))
    names_in_common = {template for _, template in common}
    names = [name for name in all_names if name in names_in_common]
    if not names:
        return [], names
    questions = [
        question
        for question in task.questions
        if all((question.id, name) in common for name in names)
    ]
    return questions, names
