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
    NONE,
    SAMPLE,
    ends,
    few_note,
    figure_cells,
    interval,
    is_shown,
    metric_name,
    number,
    p_value,
    printable,
)
from seesay.reports.groups import (
    PEOPLE,
    LabelledRun,
    TaskRuns,
    count_asked,
    group_runs,
    headline_parts,
    is_people,
    sample_note,
)
from seesay.runs.checkpoints import CheckpointCurve
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
    """Return every metric of every run.

    The headline is bold, calibrated figures are indented, published figures dim.
    """
    groups = group_runs(runs)
    models = [entry.label for group in groups for entry in group.entries]
    models += [row.model for group in groups for row in group.task.published]
    names = _short_names(models)
    # a single model needs no name in every row: its task stands there
    has_several = len(names) > 1
    first_column = "task, model" if has_several else "task"
    table = _table(first_column, "metric", numbers=FIGURE)
    marks: dict[str, str] = {}
    for group in groups:
        name = group.name
        if has_several:
            table.add_row(_name(name, "bold"))
        for entry in group.entries:
            if has_several:
                name = f"  {names[entry.label]}"
            _add_run(table, group, entry, name)
        for row in group.task.published:
            # sources are long: a number stands for each, which the caption explains
            next_mark = str(len(marks) + 1).translate(_SUPERSCRIPTS)
            mark = marks.setdefault(row.source, next_mark)
            table.add_row(
                _name(f"  {names[row.model]} {mark}"),
                _metric(row.metric, row.slice),
                number(row.value),
                "",
                "" if row.spread is None else number(row.spread),
                style="dim",
            )
        table.add_section()
    notes = [f"{group.name}{group.sample}" for group in groups if group.sample]
    notes.append(few_note(headline_parts(runs)))
    notes.append(sample_note(groups))
    if marks:
        sources = "; ".join(f"{mark} {printable(source)}" for source, mark in marks.items())
        notes.append(f"As published: {sources}")
    _add_caption(table, *notes)
    return table


def _add_caption(table: Table, *notes: str) -> None:
    """Write these sentences below the table; empty ones are none."""
    text = "\n".join(note for note in notes if note)
    if text:
        table.caption = Text(text, style="dim")
        table.caption_justify = "left"


def seeds_table(rows: Sequence[SeedSummary]) -> Table:
    """Return the figures of each linear probe over its seeds."""
    columns = ("metric", "seeds", "mean", "sd", "lowest", "highest")
    cells = [
        (
            row.task,
            row.label,
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
    """Return the figures of probes trained on fractions of the training questions."""
    columns = ("trained on", "questions", "seeds", "mean", "lowest", "highest")
    cells = [
        (
            f"{band.task}, {metric_name(band.metric)}",
            band.label,
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


def checkpoints_table(curves: Sequence[CheckpointCurve]) -> Table:
    """Return the figures of every checkpoint, and how many facts are learnt there for good."""
    columns = ("step", "figure", "95 % interval", "learnt here")
    cells = []
    for curve in curves:
        learnt = Counter(fact.step for fact in curve.facts)
        for figure in curve.figures:
            cells.append(
                (
                    f"{figure.task}, {metric_name(figure.metric)}",
                    figure.line,
                    f"{figure.step:,}",
                    number(figure.value),
                    ends(figure),
                    str(learnt[figure.step]) if curve.facts else NONE,
                )
            )
    return _by_task(columns, cells)


def layers_table(curves: Sequence[LayerCurve]) -> Table:
    """Return the figures of every layer."""
    columns = (
        "layer",
        "value",
        "95 % interval",
        "control",
        "selectivity",
        "2nd thing",
        "beyond 2nd",
    )
    cells = [
        (
            f"{figure.task}, {metric_name(figure.metric)}",
            figure.model,
            str(figure.layer),
            number(figure.value),
            ends(figure),
            number(figure.control),
            number(figure.selectivity),
            number(figure.second_thing),
            number(figure.beyond_second, sign=True),
        )
        for curve in curves
        for figure in curve.figures
    ]
    table = _by_task(columns, cells)
    _add_caption(table, few_note(figure for curve in curves for figure in curve.figures))
    return table


def stability_table(ranking: Stability) -> Table:
    """Return the templates' rankings beside the ranking over all of them."""
    if ranking.low is None or ranking.high is None:
        between = "not defined"
    else:
        between = interval(ranking.low, ranking.high)
    if ranking.decisive:
        decides = f"'{ranking.decisive}' decides the order"
    else:
        decides = "no single template decides the order"
    table = _table("template", "best model")
    model_counts = count_asked(PEOPLE if is_people(name) else "" for name in ranking.models)
    models = f"{model_counts} by {metric_name(ranking.metric)}"
    tau = f"Kendall's tau between templates {number(ranking.tau)} ({between})"
    table.title = f"{ranking.task}: {models}, {tau}; {decides}"
    for title in ("tau with all", "tau of all without it"):
        table.add_column(title, justify="right")
    for row in ranking.templates:
        table.add_row(
            _name(row.template), _name(row.best), number(row.tau), number(row.tau_without)
        )
    return table


def _by_task(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return rows (task, model, cells…) under a line for each task."""
    names = _short_names([row[1] for row in rows])
    table = _table("task, model", numbers=columns)
    previous_task = None
    for task, model, *cells in rows:
        if task != previous_task:
            table.add_row(_name(task, "bold"))
        previous_task = task
        table.add_row(_name(f"  {names[model]}"), *cells)
    return table


def comparison_table(comparisons: Sequence[Comparison], *, all_tests: bool = False) -> Table:
    """Return paired tests, each with its one p-value or with all of them; a significant difference
    is bold.

    Several models with one reference have a line each.
    """
    names = _short_names([name for c in comparisons for name in (c.a, c.b)])
    other_tests = ("p flip", "p boot", "p McN") if all_tests else ()
    numbers = ("A − B", "95 % interval", "p", *other_tests, "n")
    table = _table("task, metric, A vs B", numbers=numbers)
    previous_task = ""
    by_metric = group_by(comparisons, lambda c: (c.task, c.metric, c.slice))
    for (task, metric, part), rows in by_metric.items():
        if task != previous_task:
            table.add_section()
            table.add_row(_name(task, "bold"))
        previous_task = task
        heading = f"  {metric_name(metric)}"
        if part:
            heading = f"{heading}, {part}"
        table.add_row(_name(heading))
        # one reference is named once, above the models that are compared with it
        has_one_reference = len(rows) > 1 and len({c.b for c in rows}) == 1
        if has_one_reference:
            table.add_row(_whole_name(f"  each vs {names[rows[0].b]}"))
        for c in rows:
            pair = _whole_name(f"    {names[c.a]}")
            if not has_one_reference:
                pair = _lines(pair, _whole_name(f"    vs {names[c.b]}"))
            style = "bold" if is_shown(c) else ""
            p_values: list[float | None] = [c.p_holm]
            if all_tests:
                p_values += [c.p_signflip, c.p_bootstrap, c.p_mcnemar]
            table.add_row(
                pair,
                Text(number(c.difference, sign=True), style=style),
                ends(c),
                *map(p_value, p_values),
                str(c.n),
            )
    caption = (
        f"p: {_test_of(comparisons)}, corrected (Holm) for all comparisons of the "
        "task. Bold: p at most 0.05, and the interval excludes zero."
    )
    if all_tests:
        caption += " p flip: uncorrected; p boot: bootstrap; p McN: McNemar."
    _add_caption(table, caption, few_note(comparisons), _editions_note(comparisons))
    return table


def _test_of(comparisons: Sequence[Comparison]) -> str:
    """Return by which test the p-values are: runs of two editions are paired by anchors alone."""
    equated = [c.anchors is not None for c in comparisons]
    if not any(equated):
        return "paired sign-flip test"
    of_editions = "sign-flip test of the objects of both editions, paired where they are anchors"
    if all(equated):
        return of_editions
    return f"paired sign-flip test; between editions, {of_editions}"


def _editions_note(comparisons: Sequence[Comparison]) -> str:
    """Return on what runs of two editions are compared; empty where there are none."""
    counts = sorted({c.anchors for c in comparisons if c.anchors is not None})
    if not counts:
        return ""
    numbers = " or ".join(f"{count:,}" for count in counts)
    return (
        f"Runs of two editions were asked different questions but for {numbers} anchors, by which "
        "they are equated: n counts the questions of both."
    )


def _table(*columns: str, numbers: Sequence[str] = ()) -> Table:
    """Return an empty table; columns of numbers are not wrapped."""
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=0,
        show_edge=False,
    )
    for column in columns:
        table.add_column(column, min_width=8)
    for column in numbers:
        if column == "metric":
            table.add_column(column, justify="left", no_wrap=True)
        else:
            table.add_column(column, justify="right", no_wrap=True)
    return table


def _add_run(
    table: Table,
    group: TaskRuns,
    entry: LabelledRun,
    name: str,
) -> None:
    """Add a row for each metric of a run, plain and calibrated."""
    for metric in entry.metrics:
        for title, key in ((metric, metric), ("  calibrated", CALIBRATED + metric)):
            for part in group.parts_of(metric):
                figure = entry.figure(key, part=part)
                if figure is None:
                    continue
                is_headline = title == group.headline and part in group.parts
                style = "bold" if is_headline else ""
                value, *other_cells = figure_cells(figure)
                if (entry, part) in group.other_samples:
                    value += SAMPLE
                table.add_row(
                    _name(name),
                    _metric(metric_name(title), part, style),
                    Text(value, style),
                    *other_cells,
                    str(figure.n),
                )
                # a name stands in the first of its rows only
                name = ""


def slices_table(runs: Sequence[Run], tags: Sequence[str]) -> Table:
    """Return the headline figure for every combination of these tags' values."""
    groups = group_runs(runs)
    names = _short_names([entry.label for group in groups for entry in group.entries])
    table = _table("task, slice, model", numbers=FIGURE)
    for group in groups:
        table.add_row(_name(f"{group.name}, {metric_name(group.headline)}", "bold"))
        for part in group.crossed(tags):
            table.add_row(_name(f"  {part}"))
            for entry, figure in group.headline_figures(part).items():
                name = _name(f"    {names[entry.label]}")
                table.add_row(
                    name,
                    *figure_cells(figure),
                    str(figure.n),
                )
    _add_caption(table, few_note(figure for run in runs for figure in run.figures))
    return table


def _metric(metric: str, part: Slice | None, style: str = "") -> Text:
    """Return a metric, and below it the slice that it is of.

    A slice is what tells its row from the next: it is broken where the terminal is narrow, and
    never cut.
    """
    name = _name(metric, style)
    if not part:
        return _lines(name)
    text = _lines(name, _name(f"  {str(part).replace('=', ': ')}"))
    text.overflow = "fold"
    return text


def _lines(*lines: Text) -> Text:
    """Return texts one below the other."""
    text = Text("\n").join(lines)
    # joined text does not keep how its parts are cut
    text.overflow = "ellipsis"
    return text


def _short_names(models: Sequence[str]) -> dict[str, str]:
    """Return Hub ids without their owner and paths without their folders.

    A name stays as it is where its short form is not unique.
    """
    short_names = {}
    for model in models:
        short_names[model] = model
        if re.fullmatch(r"[\w.~/-]*/[\w.-]+", model):
            short_names[model] = model.rpartition("/")[2]
    # two folders may end in the same name, and then both are shown in full
    uses = Counter(short_names.values())
    return {model: name if uses[name] == 1 else model for model, name in short_names.items()}


def _whole_name(text: str) -> Text:
    """Return untrusted text that goes on in the next line where the terminal is narrow: two models
    may differ in the ends of their names."""
    return Text(printable(text), overflow="fold")


def _name(text: str, style: str = "") -> Text:
    """Return untrusted text in one line.

    It is never parsed as markup, and cut with an ellipsis where the terminal is narrow.
    """
    return Text(
        printable(text),
        style,
        no_wrap=True,
        overflow="ellipsis",
    )
