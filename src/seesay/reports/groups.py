"""Runs in reading order: grouped by task, each with a label that is unique within its task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from seesay.grouping import group_by
from seesay.quantities import quantity
from seesay.questions import Published, Question, Slice, Task
from seesay.runs.compare import same_question
from seesay.runs.figures import CALIBRATED
from seesay.runs.records import Figure
from seesay.runs.run import Run, run_labels


@dataclass(frozen=True, eq=False)
class LabelledRun:
    """A run under the name shown for it; `series` gives its color and mark, the same throughout a
    report."""

    run: Run
    label: str
    series: int

    def figure(
        self, metric: str, template: str | None = None, part: Slice | None = None
    ) -> Figure | None:
        """The figure of a metric, for one template or all, for one slice or the whole."""
        return self._figures.get((metric, template, part))

    def figures_by(self, tag: str, *metrics: str) -> Iterator[tuple[str, Figure]]:
        """The figures of some metrics over all templates for every value of a tag."""
        for figure in self.run.figures:
            if (
                figure.metric in metrics
                and figure.template is None
                and figure.slice
                and figure.slice.tags == (tag,)
            ):
                yield figure.slice[tag], figure

    @cached_property
    def _figures(self) -> dict[tuple[str, str | None, Slice | None], Figure]:
        return {
            (figure.metric, figure.template, figure.slice): figure
            for figure in reversed(self.run.figures)
        }

    @property
    def metrics(self) -> tuple[str, ...]:
        """The plain metrics of the run in the task's order, then any that the task does not
        name."""
        present = dict.fromkeys(
            f.metric for f in self.run.figures if not f.metric.startswith(CALIBRATED)
        )
        named = [metric for metric in self.run.task.metrics if metric in present]
        return (*named, *(metric for metric in present if metric not in named))


@dataclass(frozen=True, eq=False)
class TaskRuns:
    """The runs of one task, and the questions that any of them asked."""

    task: Task
    title: str
    anchor: str
    entries: tuple[LabelledRun, ...]

    @property
    def headline(self) -> str:
        return self.task.metrics[0]

    @cached_property
    def parts(self) -> tuple[Slice | None, ...]:
        """What the headline covers: all questions (None), or each set of nested ones."""
        return self.task.parts

    def parts_of(self, metric: str) -> tuple[Slice | None, ...]:
        """What the metric is shown for: the headline's parts, then the slices of which figures are
        published."""
        published = (row.slice for row in self.task.published if row.metric == metric and row.slice)
        return tuple(dict.fromkeys((*self.parts, *published)))

    def crossed(self, tags: Sequence[str]) -> list[Slice]:
        """The slices by exactly these tags (and the one by which questions are nested) that have a
        headline figure."""
        wanted = tuple(sorted({*tags, *([self.task.nested_by] if self.task.nested_by else [])}))
        return [part for part in self.slices if part.tags == wanted]

    @cached_property
    def slices(self) -> list[Slice]:
        """Every slice of which a run has a headline figure over all templates."""
        figures = (f for entry in self.entries for f in entry.run.figures)
        return list(
            dict.fromkeys(
                f.slice for f in figures if f.slice and not f.template and f.metric == self.headline
            )
        )

    def headline_figures(self, part: Slice | None = None) -> dict[LabelledRun, Figure]:
        """The headline figures of the runs that have one, for one slice or the whole."""
        figures = ((entry, entry.figure(self.headline, part=part)) for entry in self.entries)
        return {entry: figure for entry, figure in figures if figure}

    def published(self, part: Slice | None = None) -> list[Published]:
        """The published figures of the headline metric, for one slice or the whole."""
        return [
            row for row in self.task.published if row.metric == self.headline and row.slice == part
        ]


def asked_as(task: Task) -> str:
    """The names of a task's templates: "linear" for a linear probe, "question" for multiple
    choice."""
    return ", ".join(template.name for template in task.templates)


def group_runs(runs: Sequence[Run]) -> tuple[TaskRuns, ...]:
    """Runs by task, in order of first appearance.

    A limited run and a full one are of one task. Runs that share its name but not its templates,
    its headline or what its questions say form groups of their own: their figures are not
    comparable.
    """
    merged: list[_Members] = []
    for run in runs:
        members = next((each for each in merged if each.accepts(run)), None)
        if members is None:
            merged.append(members := _Members([]))
        members.add(run)
    labels = [run_labels(members.runs) for members in merged]
    series = {
        label: i
        for i, label in enumerate(dict.fromkeys(label for names in labels for label in names))
    }
    by_name = group_by((members.runs[0].task for members in merged), lambda task: task.name)
    groups: list[TaskRuns] = []
    for index, (members, names) in enumerate(zip(merged, labels, strict=True), start=1):
        task = members.task
        same_name = by_name[task.name]
        if len(same_name) > 1:
            size = f" · {quantity(len(task.questions), 'question')}"
        else:
            size = ""
        if len({*map(asked_as, same_name)}) > 1:
            way = f" · asked as: {asked_as(task)}"
        else:
            way = ""
        slug = re.sub(r"[^a-z0-9]+", "-", task.name.lower()).strip("-")[:40]
        anchor = f"task-{slug}" if slug else f"task-{index}"
        if any(other.anchor == anchor for other in groups):
            anchor = f"{anchor}-{index}"
        entries = tuple(
            LabelledRun(run, name, series[name])
            for run, name in zip(members.runs, names, strict=True)
        )
        groups.append(TaskRuns(task, (task.title or task.name) + way + size, anchor, entries))
    return tuple(groups)


@dataclass
class _Members:
    """The runs of one task, and every question that any of them asked."""

    runs: list[Run]
    questions: dict[str, Question] = field(default_factory=dict)
    fingerprints: set[str] = field(default_factory=set)

    def accepts(self, run: Run) -> bool:
        """Whether the run is of this task."""
        ours = self.runs[0].task
        theirs = run.task
        if (ours.name, ours.version, ours.metrics[0]) != (
            theirs.name,
            theirs.version,
            theirs.metrics[0],
        ):
            return False
        if run.manifest.task_fingerprint in self.fingerprints:
            return True
        if ours.templates != theirs.templates:
            return False
        shared = [question for question in theirs.questions if question.id in self.questions]
        limited = run.manifest.limit is not None or any(
            each.manifest.limit is not None for each in self.runs
        )
        return bool(shared or limited) and all(
            same_question(q, self.questions[q.id]) for q in shared
        )

    def add(self, run: Run) -> None:
        self.runs.append(run)
        if run.manifest.task_fingerprint not in self.fingerprints:
            self.fingerprints.add(run.manifest.task_fingerprint)
            for question in run.task.questions:
                self.questions.setdefault(question.id, question)

    @property
    def task(self) -> Task:
        """The fullest of the runs' tasks, with the questions of all."""
        fullest = max(
            (run.task for run in self.runs),
            key=lambda task: (len(task.questions), len(task.metrics)),
        )
        several = len(fullest.questions) < len(self.questions)
        if several:
            return replace(fullest, questions=tuple(self.questions.values()))
        return fullest
