"""Analyses of models' scores: by the tags of questions, by task side by side, and over fractions of
the training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from seesay.condition import Condition, How
from seesay.grouping import group_by
from seesay.questions import Published
from seesay.reports.analysis import Analysis, PartScore
from seesay.reports.charts import Bar, Series, bars, lines
from seesay.reports.formatting import metric_name
from seesay.reports.gold_analyses import has_tag, task_analyses
from seesay.reports.groups import LabelledRun, TaskRuns, tell_apart, template_names
from seesay.runs.run import run_labels
from seesay.tasks.page_analyses import COMPARED_TASKS, PAGE_ANALYSES, ComparedTasks
from seesay.tasks.viphy.facts import SOURCE

if TYPE_CHECKING:
    from seesay.runs.checkpoints import CheckpointCurve, LearntFact, StepFigure
    from seesay.runs.learning_curve import Band

BY_TAG = {
    "labels": ("score-by-cardinality", "By number of right labels", "Fig. 5"),
    "category": ("score-by-category", "By category", "Fig. 6"),
    "scene": ("score-by-scene", "By scene", "Fig. 13"),
}
"""Tag → the analysis's name, title and figure. The page draws these as slices, which it has for any
tag."""


def group_analyses(group: TaskRuns) -> list[Analysis]:
    """Return the analyses of models' scores by tag, and of the task's questions.

    Only tasks that are declared to have them do.
    """
    if group.task.name not in PAGE_ANALYSES:
        return []
    by_tags = [by_tag(group, tag) for tag in BY_TAG if has_tag(group.task, tag)]
    # a run without such a slice, such as a limited one, has nothing to show for the tag
    with_rows = [analysis for analysis in by_tags if analysis.rows]
    return [*with_rows, *task_analyses(group.task)]


def by_tag(group: TaskRuns, tag: str) -> Analysis:
    """Return the headline figure for every value of a tag, by models and as published.

    By the number of labels there is also the confidence.
    """
    metrics = [group.headline]
    if tag == "labels":
        metrics.append("true_confidence")
    rows = []
    for entry in group.entries:
        for part, figure in entry.figures_by(tag, *metrics):
            score = PartScore(
                part, entry.label, figure.metric, figure.value, figure.low, figure.high, figure.n
            )
            rows.append(score)
    for published in group.task.published:
        part_slice = published.slice
        if part_slice and part_slice.tags == (tag,) and published.metric == group.headline:
            rows.append(_published_score(part_slice[tag], published))
    name, title, figure_name = BY_TAG[tag]
    return Analysis(
        name=name,
        task=group.task.name,
        title=title,
        source=f"{SOURCE}, {figure_name}",
        text="The headline figure on each part.",
        rows=rows,
    )


def _published_score(part: str, published: Published) -> PartScore:
    """Return a published figure as a row, which names its source."""
    return PartScore(
        part, published.model, published.metric, published.value, source=published.source
    )


def cross_task_analyses(groups: Sequence[TaskRuns]) -> list[Analysis]:
    """Return tasks that are declared to be compared, side by side: one analysis per condition."""
    return [
        analysis for compared in COMPARED_TASKS for analysis in _compare_tasks(compared, groups)
    ]


def _compare_tasks(compared: ComparedTasks, groups: Sequence[TaskRuns]) -> list[Analysis]:
    """Return the comparison of some tasks, one for each condition they were asked in.

    Of several sizes of a task (a limited run and a full one) the largest is used. A single task is
    no comparison.
    """
    by_asking: dict[tuple[How, str], dict[str, TaskRuns]] = {}
    for group in groups:
        if group.task.name in compared.parts:
            by_task = by_asking.setdefault((group.how, template_names(group.task)), {})
            other = by_task.get(group.task.name)
            if other is None or len(group.task.questions) > len(other.task.questions):
                by_task[group.task.name] = group
    # a task that was asked like no other has nothing beside it
    several = {asking: by_task for asking, by_task in by_asking.items() if len(by_task) > 1}
    analyses = []
    for (how, templates), by_task in several.items():
        distinction = tell_apart(how, templates, several.keys())
        suffix = f", asked as: {distinction}" if distinction else ""
        analyses.append(_side_by_side(compared, by_task, suffix))
    return analyses


def _side_by_side(
    compared: ComparedTasks, by_task: Mapping[str, TaskRuns], suffix: str
) -> Analysis:
    """Return the headline figures of several tasks as one chart, a series per task."""
    rows: list[PartScore] = []
    for task, part in compared.parts.items():
        if task in by_task:
            rows += _overall(by_task[task], part)
    chart_bars = []
    # stable: models first, then published figures, each in its order
    for row in sorted(rows, key=lambda row: row.source is not None):
        name = f"{row.model} (published)" if row.source else row.model
        chart_bars.append(
            Bar(
                name,
                row.value,
                row.low,
                row.high,
                row.part,
            )
        )
    chart = bars(
        chart_bars,
        title=compared.chart_title,
        x_label=metric_name(rows[0].metric),
    )
    return Analysis(
        name=compared.name,
        task=next(iter(compared.parts)),
        title=compared.title + suffix,
        source=compared.source,
        text=compared.text,
        rows=rows,
        charts=(chart,),
    )


def _overall(group: TaskRuns, part: str) -> list[PartScore]:
    """Return the headline figures of one task, by models and as published."""
    metric = group.headline
    largest: dict[tuple[str, Condition], LabelledRun] = {}
    for entry in sorted(group.entries, key=lambda entry: entry.run.manifest.questions):
        manifest = entry.run.manifest
        # of several limits the largest stands
        largest[manifest.model, manifest.condition] = entry
    entries = [entry for entry in group.entries if entry in largest.values()]
    # labels without the limit, which no longer tells these runs apart
    labels = run_labels([entry.run for entry in entries])
    rows = []
    for label, entry in zip(labels, entries, strict=True):
        figure = entry.figure(metric)
        if figure:
            score = PartScore(
                part,
                label,
                metric,
                figure.value,
                figure.low,
                figure.high,
                figure.n,
            )
            rows.append(score)
    rows += [_published_score(part, published) for published in group.published()]
    return rows


def learning_curves(bands: Sequence[Band]) -> list[Analysis]:
    """Return analyses of linear probes trained on fractions of the training questions.

    There is one per task and metric.
    """
    by_figure = group_by(bands, lambda band: (band.task, band.metric))
    return [_learning_curve(task, metric, rows) for (task, metric), rows in by_figure.items()]


def _learning_curve(task: str, metric: str, rows: Sequence[Band]) -> Analysis:
    """Draw a metric of one task over fractions of its training questions."""
    chart = lines(
        curve_series(rows),
        title=f"{task}: learning curve",
        x_label="fraction of the training questions",
        y_label=metric_name(metric),
        log_x=True,
    )
    return Analysis(
        name="learning-curve",
        task=task,
        title="Learning curve",
        source=f"{SOURCE}, Fig. 8 and 9",
        text="The linear probe trained on a fraction of the training questions; the band is the "
        "range over seeds.",
        rows=rows,
        charts=(chart,),
    )


def curve_series(bands: Sequence[Band], scale: float = 1) -> list[Series]:
    """Return a line with its band for each model, times `scale`."""
    series = []
    for label, rows in group_by(bands, lambda band: band.label).items():
        one_series = Series(
            label,
            [band.fraction for band in rows],
            [scale * band.mean for band in rows],
            [scale * band.low for band in rows],
            [scale * band.high for band in rows],
        )
        series.append(one_series)
    return series


FACTS_SHOWN = 40
"""How many facts a page lists; the file beside it has all of them."""


def checkpoint_analyses(curves: Sequence[CheckpointCurve]) -> list[Analysis]:
    """Return what trainings know at each of their steps, and when facts were learnt, by task."""
    analyses = []
    for task, members in group_by(curves, lambda curve: curve.task).items():
        figures = [figure for curve in members for figure in curve.figures]
        analyses.append(_step_figures(task, figures))
        facts = [fact for curve in members for fact in curve.facts]
        if facts:
            analyses.append(_learnt_facts(task, facts, members))
    return analyses


def _step_figures(task: str, figures: Sequence[StepFigure]) -> Analysis:
    """Draw the headline figure over the steps of trainings."""
    series = []
    for name, rows in group_by(figures, lambda figure: figure.line).items():
        series.append(
            Series(
                name,
                [row.step for row in rows],
                [row.value for row in rows],
                [row.low for row in rows],
                [row.high for row in rows],
            )
        )
    chart = lines(
        series,
        title=f"{task}: checkpoints",
        x_label="step",
        y_label=metric_name(figures[0].metric),
    )
    return Analysis(
        name="checkpoints",
        task=task,
        title="Checkpoints of a training",
        source="",
        text="The headline figure at every step that was asked; the band is its 95 % interval.",
        rows=figures,
        charts=(chart,),
    )


def _learnt_facts(
    task: str, facts: Sequence[LearntFact], curves: Sequence[CheckpointCurve]
) -> Analysis:
    """Draw how many facts are learnt for good by each step."""
    series = []
    for curve in curves:
        steps = sorted({figure.step for figure in curve.figures})
        learnt = [fact.step for fact in curve.facts if fact.step is not None]
        shares = [sum(step <= end for step in learnt) / len(curve.facts) for end in steps]
        series.append(Series(curve.model, steps, shares))
    chart = lines(
        series,
        title=f"{task}: facts learnt",
        x_label="step",
        y_label="share of facts",
        y_ends=(0, 1),
    )
    in_order = sorted(facts, key=lambda fact: (fact.step is None, fact.step or 0))
    return Analysis(
        name="learnt-facts",
        task=task,
        title="When facts are learnt",
        source="",
        text="A fact is learnt at the step from which on its question is answered right, in more "
        "than half of the templates, at every later checkpoint.",
        rows=in_order,
        charts=(chart,),
        row_limit=FACTS_SHOWN,
    )
