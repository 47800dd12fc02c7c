"""Tables for the terminal, narrow enough for 80 columns.

Task and model share one column: three columns of names would leave too little room to tell models
apart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from seesay.grouping import group_by
from seesay.questions import Slice
from seesay.reports.formatting import (
    figure_cells,
    interval,
    is_shown,
    metric_name,
    number,
    p_value,
    printable,
)
from seesay.reports.groups import LabelledRun, TaskRuns, group_runs
from seesay.runs.figures import CALIBRATED
from seesay.runs.layers import LayerCurve
from seesay.runs.learning_curve import Band
from seesay.runs.records import Comparison
from seesay.runs.run import Run
from seesay.runs.seeds import SeedSummary
from seesay.runs.stability import Stability

FIGURE = ("value", "95 % interval", "spread", "chance", "n")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def overview(runs: Sequence[Run]) -> Table:
    """Every metric of every run: the headline in bold, calibrated figures indented, published
    figures dim."""
    groups = group_runs(runs)
    models = [entry.label for g in groups for entry in g.entries]
    models += [row.model for g in groups for row in g.task.published]
    names = _shorten(models)
    several = len(names) > 1
    table = _table("task, model" if several else "task", "metric", numbers=FIGURE)
    sources: dict[str, str] = {}
    for g in groups:
        if several:
            table.add_row(_name(g.task.name, "bold"))
        for entry in g.entries:
            _add_run(table, g, entry, f"  {names[entry.label]}" if several else g.task.name)
        for row in g.task.published:
            mark = sources.setdefault(row.source, str(len(sources) + 1).translate(_SUPERSCRIPTS))
            spread = "" if row.spread is None else number(row.spread)
            name = _name(f"  {names[row.model]} {mark}")
            table.add_row(
                name, _metric(row.metric, row.slice), number(row.value), "", spread, style="dim"
            )
        table.add_section()
    if sources:
        marked = "; ".join(f"{mark} {printable(source)}" for source, mark in sources.items())
        table.caption = Text(f"As published: {marked}", style="dim")
        table.caption_justify = "left"
    return table


def seeds_table(rows: Sequence[SeedSummary]) -> Table:
    """The figures of each linear probe over its seeds."""
    columns = ("metric", "seeds", "mean", "sd", "lowest", "highest")
    cells = [
        (
            row.task,
            row.model,
            metric_name(row.metric),
            str(row.seeds),
            number(row.mean),
            number(row.spread),
            number(row.low),
            number(row.high),
        )
        for row in rows
        if row.slice is None
    ]
    return _by_task(columns, cells)


def curves_table(bands: Sequence[Band]) -> Table:
    """The figures of probes trained on fractions of the training questions."""
    columns = ("trained on", "questions", "seeds", "mean", "lowest", "highest")
    cells = [
        (
            f"{band.task}, {metric_name(band.metric)}",
            band.model,
            f"{band.fraction:.0%}",
            str(band.questions),
            str(band.seeds),
            number(band.mean),
            number(band.low),
            number(band.high),
        )
        for band in bands
    ]
    return _by_task(columns, cells)


def layers_table(curves: Sequence[LayerCurve]) -> Table:
    """The figures of every layer."""
    columns = ("layer", "value", "95 % interval", "control", "selectivity")
    cells = [
        (
            f"{f.task}, {metric_name(f.metric)}",
            f.model,
            str(f.layer),
            number(f.value),
            interval(f.low, f.high),
            number(f.control),
            number(f.selectivity),
        )
        for curve in curves
        for f in curve.figures
    ]
    return _by_task(columns, cells)


def stability_table(ranking: Stability) -> Table:
    """The templates' rankings beside the ranking over all of them."""
    if ranking.low is None or ranking.high is None:
        between = "not defined"
    else:
        between = interval(ranking.low, ranking.high)
    if ranking.decisive:
        decides = f"'{ranking.decisive}' decides the order"
    else:
        decides = "no single template decides the order"
    table = _table("template", "best model")
    table.title = (
        f"{ranking.task}: {len(ranking.models)} models by {metric_name(ranking.metric)}, Kendall's "
        "tau between "
        f"templates {number(ranking.tau)} ({between}); {decides}"
    )
    for title in ("tau with all", "tau of all without it"):
        table.add_column(title, justify="right")
    for row in ranking.templates:
        table.add_row(
            _name(row.template), _name(row.best), number(row.tau), number(row.tau_without)
        )
    return table


def _by_task(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Rows (task, model, cells…) under a line for each task."""
    names = _shorten([row[1] for row in rows])
    table = _table("task, model", numbers=columns)
    task = None
    for row in rows:
        if row[0] != task:
            table.add_row(_name(row[0], "bold"))
        task = row[0]
        table.add_row(_name(f"  {names[row[1]]}"), *row[2:])
    return table


def comparison_table(comparisons: Sequence[Comparison]) -> Table:
    """Paired tests; a significant difference is bold. Several models with one reference have a line
    each."""
    names = _shorten([name for c in comparisons for name in (c.a, c.b)])
    numbers = ("a − b", "95 % interval", "p flip", "p Holm", "p McN", "n")
    table = _table("task, metric, a − b", numbers=numbers)
    task = ""
    by_metric = group_by(comparisons, lambda c: (c.task, c.metric, c.slice))
    for (of_task, metric, part), rows in by_metric.items():
        if of_task != task:
            table.add_section()
            table.add_row(_name(of_task, "bold"))
        task = of_task
        one_reference = len(rows) > 1 and len({c.b for c in rows}) == 1
        table.add_row(_name(f"  {metric_name(metric)}{f', {part}' if part else ''}"))
        if one_reference:
            table.add_row(_name(f"  − {names[rows[0].b]}"))
        for c in rows:
            pair = _name(f"    {names[c.a]}")
            if not one_reference:
                pair = Text("\n").join((pair, _name(f"  − {names[c.b]}")))
                pair.overflow = "ellipsis"
            difference = Text(number(c.difference, sign=True), style="bold" if is_shown(c) else "")
            tests = [p_value(c.p_signflip), p_value(c.p_holm), p_value(c.p_mcnemar), str(c.n)]
            table.add_row(pair, difference, interval(c.low, c.high), *tests)
    table.caption = Text(
        "Bold: p Holm (p flip, corrected for all comparisons of the task) at most 0.05.",
        style="dim",
    )
    table.caption_justify = "left"
    return table


def _table(*columns: str, numbers: Sequence[str] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0, show_edge=False)
    for column in columns:
        table.add_column(column, min_width=8)
    for column in numbers:
        table.add_column(column, justify="left" if column == "metric" else "right", no_wrap=True)
    return table


def _add_run(table: Table, g: TaskRuns, entry: LabelledRun, name: str) -> None:
    for metric in entry.metrics:
        for title, shown in ((metric, metric), ("  calibrated", CALIBRATED + metric)):
            for part in g.parts_of(metric):
                figure = entry.figure(shown, part=part)
                if figure is not None:
                    if title == g.headline and part in g.parts:
                        style = "bold"
                    else:
                        style = ""
                    value, *rest = figure_cells(figure)
                    shown_metric = _metric(metric_name(title), part, style)
                    table.add_row(
                        _name(name), shown_metric, Text(value, style), *rest, str(figure.n)
                    )
                    name = ""


def slices_table(runs: Sequence[Run], tags: Sequence[str]) -> Table:
    """The headline figure for every combination of these tags' values."""
    groups = group_runs(runs)
    names = _shorten([entry.label for g in groups for entry in g.entries])
    table = _table("task, slice, model", numbers=FIGURE)
    for g in groups:
        table.add_row(_name(f"{g.task.name}, {metric_name(g.headline)}", "bold"))
        for part in g.crossed(tags):
            table.add_row(_name(f"  {part}"))
            for entry, figure in g.headline_figures(part).items():
                table.add_row(
                    _name(f"    {names[entry.label]}"), *figure_cells(figure), str(figure.n)
                )
    return table


def _metric(metric: str, part: Slice | None, style: str = "") -> Text:
    """A metric, and below it the slice that it is of."""
    lines = [_name(metric, style), *([_name(f"  {part}")] if part else [])]
    text = Text("\n").join(lines)
    text.overflow = "ellipsis"
    return text


def _shorten(models: Sequence[str]) -> dict[str, str]:
    """Hub ids without their owner and paths without their folders, where the short names are
    unique."""
    paths = {model for model in models if re.fullmatch(r"[\w.~/-]*/[\w.-]+", model)}
    short = {model: model.rpartition("/")[2] if model in paths else model for model in models}
    uses = Counter(short.values())
    return {model: name if uses[name] == 1 else model for model, name in short.items()}


def _name(text: str, style: str = "") -> Text:
    """Untrusted text in one line: never parsed as markup, cut with an ellipsis where the terminal
    is narrow."""
    return Text(printable(text), style, no_wrap=True, overflow="ellipsis")
