"""Results for other programs and for papers: every figure as a row (CSV, JSON), and tables of
models by tasks (Markdown, LaTeX) in which the best is bold only where a paired test says so."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from seesay import __version__
from seesay.data.cells import one_line
from seesay.files import csv_text, escape_formulas
from seesay.questions import Slice
from seesay.reports.formatting import (
    NONE,
    SAMPLE,
    count_range,
    ends,
    few_note,
    is_shown,
    metric_name,
    number,
    ranking_sign,
    with_part,
)
from seesay.reports.groups import PEOPLE, LabelledRun, TaskRuns, group_runs, is_people, sample_note
from seesay.reports.unanswered import count_unanswered, unanswered_note
from seesay.runs.records import Comparison
from seesay.runs.run import Run

FORMATS = ("html", "csv", "markdown", "latex", "json")
COLUMNS = (
    "model",
    "task",
    "metric",
    "template",
    "slice",
    "value",
    "low",
    "high",
    "n",
    "objects",
    "too_few",
    "unanswered",
    "chance",
    "spread",
    "signature",
    "label",
    "command",
    "diet",
)
COLUMNS_PER_TABLE = 5
"""A table of more columns is broken into several, so that it fits a page."""


def figure_rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return one row per figure.

    `label` tells settings of one model apart in words, and `command` made the run. `unanswered`
    counts prompts, one for each question and template.
    """
    rows = []
    entries = [entry for group in group_runs(runs) for entry in group.entries]
    for entry in entries:
        for figure in entry.run.figures:
            # a figure has more fields than are for other programs
            row = figure.model_dump(include=set(COLUMNS))
            row["unanswered"] = count_unanswered(entry.run, figure)
            row["label"] = entry.label
            row["command"] = entry.run.manifest.command
            row["diet"] = _describe_diet(entry.run.manifest.diet)
            rows.append(row)
    return rows


def _describe_diet(diet: Mapping[str, str]) -> str:
    """Return what a model was raised on as one cell.

    >>> _describe_diet({"learner": "text", "typical": "0.5"})
    'learner: text; typical: 0.5'
    """
    return "; ".join(f"{dial}: {value}" for dial, value in diet.items())


def as_text(format: str, runs: Sequence[Run], comparisons: Sequence[Comparison]) -> str:
    """Return the results as CSV, JSON, Markdown or LaTeX; `comparisons` decide what is bold."""
    if format == "json":
        return (
            json.dumps(
                figure_rows(runs),
                ensure_ascii=False,
                indent=2,
                allow_nan=False,
            )
            + "\n"
        )
    if format == "csv":
        return csv_text(COLUMNS, map(escape_formulas, figure_rows(runs)))
    columns = [
        _column(of_metric, part, comparisons)
        for group in group_runs(runs)
        for of_metric in _by_metric(group)
        for part in group.parts
    ]
    write = {"markdown": _markdown, "latex": _latex}[format]
    # each part is a complete table, with its own names and caption
    starts = range(0, len(columns), COLUMNS_PER_TABLE)
    return "\n".join(write(columns[start : start + COLUMNS_PER_TABLE]) for start in starts)


def _by_metric(group: TaskRuns) -> Iterator[TaskRuns]:
    """Yield the group with its headline metric, and once for each metric that is none of the
    task's: it was asked for."""
    yield group
    metrics = dict.fromkeys(metric for entry in group.entries for metric in entry.metrics)
    for metric in metrics:
        if metric not in group.task.metrics:
            yield replace(group, task=replace(group.task, metrics=(metric,)))


def significantly_best(
    group: TaskRuns, part: Slice | None, comparisons: Sequence[Comparison]
) -> LabelledRun | None:
    """Return the model that is better than every other which asked the same questions.

    Each comparison is a corrected paired test of all these questions; None where one of them shows
    nothing. People are no rivals of models.
    """
    figures = group.headline_figures(part)
    # a run of other questions was tested on the shared ones alone, and neither wins nor loses here
    rivals = []
    for entry in figures:
        if (entry, part) not in group.other_samples and entry.run.manifest.family != PEOPLE:
            rivals.append(entry)
    if len(rivals) < 2:
        return None
    sign = ranking_sign(group.headline)
    best = min(rivals, key=lambda entry: sign * figures[entry].value)
    figure_key = (group.task.name, group.headline, part)
    significant_pairs = set()
    for comparison in comparisons:
        key = (comparison.task, comparison.metric, comparison.slice)
        # some of the questions decide nothing about all
        is_of_all = comparison.n == figures[best].n
        if key == figure_key and is_of_all and is_shown(comparison):
            significant_pairs.add(frozenset((comparison.signature_a, comparison.signature_b)))
    for other in rivals:
        pair = {best.run.manifest.signature, other.run.manifest.signature}
        if other is not best and pair not in significant_pairs:
            return None
    return best


@dataclass(frozen=True)
class _Column:
    """A task's headline figure.

    Cells are by model, as value and interval; those of published figures have none.
    """

    title: str
    metric: str
    cells: dict[str, tuple[str, str]]
    people: frozenset[str]
    """Which of the labels, and of the published names, are of people."""
    baselines: frozenset[str]
    best: str | None
    chance: str
    n: str
    published: dict[str, str]
    notes: tuple[str, ...]
    """What marks of intervals mean, where there are any, and a range of n."""


def _column(group: TaskRuns, part: Slice | None, comparisons: Sequence[Comparison]) -> _Column:
    """Return the headline figures of a task, or of one nested part of it, as texts."""
    figures = group.headline_figures(part)
    best = significantly_best(group, part, comparisons)
    samples = {entry for entry in figures if (entry, part) in group.other_samples}
    chances = {number(figure.chance) for entry, figure in figures.items() if entry not in samples}
    notes = [few_note(figures.values()), unanswered_note([group])]
    if len({figure.n for figure in figures.values()}) > 1:
        notes.append("A range of n: the fewest and the most questions that one of them was asked.")
    if samples:
        notes.append(f"{sample_note([group])} Chance is of the figures without it.")
    cells = {}
    for entry, figure in figures.items():
        mark = SAMPLE if entry in samples else ""
        cells[entry.label] = (number(figure.value) + mark, ends(figure))
    people = {entry.label for entry in figures if entry.run.manifest.family == PEOPLE}
    baselines = {entry.label for entry in figures if entry.run.manifest.family == "baseline"}
    published = {}
    for row in group.published(part):
        name = f"{row.model} ({row.source})"
        published[name] = number(row.value)
        if is_people(row.model):
            people.add(name)
    return _Column(
        title=with_part(group.name + group.sample, part),
        metric=metric_name(group.headline).replace("_", " "),
        cells=cells,
        people=frozenset(people),
        baselines=frozenset(baselines),
        best=best.label if best else None,
        chance=chances.pop() if len(chances) == 1 else NONE,
        n=count_range(figure.n for figure in figures.values()) or NONE,
        published=published,
        notes=tuple(notes),
    )


_ABOUT = (
    "Figures of each task with their 95 % intervals (bootstrap clustered by object). Bold: "
    "better than every other model (paired sign-flip test, Holm's correction, p ≤ 0.05); people "
    "are apart. Made with seesay {version}."
)


def _about(columns: Sequence[_Column]) -> str:
    """Return the explanation of a table."""
    notes = dict.fromkeys(note for column in columns for note in column.notes if note)
    return " ".join([_ABOUT.format(version=__version__), *notes])


def _rows(
    columns: Sequence[_Column], escape: Callable[[str], str], cell: Callable[[str, str, bool], str]
) -> list[list[list[str]]]:
    """Return the rows of models; of people; chance and n; published models. Every text is escaped.

    A block may be empty.
    """
    all_people = frozenset[str]().union(*(column.people for column in columns))
    all_baselines = frozenset[str]().union(*(column.baselines for column in columns))
    models: list[list[str]] = []
    people: list[list[str]] = []
    labels = dict.fromkeys(label for column in columns for label in column.cells)
    # a baseline may be the first of a task that no model was asked
    for label in sorted(labels, key=all_baselines.__contains__):
        row = [escape(label)]
        for column in columns:
            if label in column.cells:
                value, ends = column.cells[label]
                row.append(cell(value, ends, column.best == label))
            else:
                row.append(escape(NONE))
        block = people if label in all_people else models
        block.append(row)
    published: list[list[str]] = []
    for name in dict.fromkeys(name for column in columns for name in column.published):
        values = [column.published.get(name, NONE) for column in columns]
        block = people if name in all_people else published
        block.append([escape(name), *map(escape, values)])
    chance = ["chance", *(escape(column.chance) for column in columns)]
    counts = ["n", *(escape(column.n) for column in columns)]
    return [
        models,
        people,
        [chance, counts],
        published,
    ]


def _markdown(columns: Sequence[_Column]) -> str:
    """Return a table of models by tasks in Markdown, with its explanation below."""

    def cell(value: str, ends: str, best: bool) -> str:
        return f"**{value}** ({ends})" if best else f"{value} ({ends})"

    header = ["model"]
    for column in columns:
        header.append(f"{_markdown_text(column.title)}<br>{_markdown_text(column.metric)}")
    rows = [header, ["---", *("---:" for _ in columns)]]
    rows += [row for block in _rows(columns, _markdown_text, cell) for row in block]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"{table}\n\n{_about(columns)}\n"


def _latex(columns: Sequence[_Column]) -> str:
    """Return a table of models by tasks in LaTeX, with its explanation as the caption."""

    def cell(value: str, ends: str, best: bool) -> str:
        figure = _latex_text(value)
        if best:
            figure = f"\\textbf{{{figure}}}"
        return f"{figure} {{\\scriptsize({_latex_text(ends)})}}"

    def line(cells: Sequence[str]) -> str:
        return " & ".join(cells) + " \\\\"

    # two rules in a row would be drawn where no people were asked, or nothing is published
    blocks = [block for block in _rows(columns, _latex_text, cell) if block]
    body = "\n\\midrule\n".join("\n".join(map(line, block)) for block in blocks)
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            "\\begin{table}",
            "\\centering\\small",
            f"\\begin{{tabular}}{{l{'r' * len(columns)}}}",
            "\\toprule",
            line(["", *(_latex_text(column.title) for column in columns)]),
            line(["model", *(_latex_text(column.metric) for column in columns)]),
            "\\midrule",
            body,
            "\\bottomrule",
            "\\end{tabular}",
            f"\\caption{{{_latex_text(_about(columns))}}}",
            "\\end{table}",
            "",
        ]
    )


def _markdown_text(text: str) -> str:
    """Return a text for one table cell, nothing of it taken for markup."""
    return re.sub(r"([\\`*_\[\]<>|#~&$])", r"\\\1", one_line(text))


_LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "\\": "\\textbackslash{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    '"': "''",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "≤": "$\\leq$",
    "≥": "$\\geq$",
    "×": "$\\times$",
    "↓": "$\\downarrow$",
    "·": "$\\cdot$",
    "…": "\\ldots{}",
    "†": "$\\dagger$",
    "‡": "$\\ddagger$",
    "’": "'",
    # an optional argument would begin with a bracket at the start of a line
    "[": "{[}",
    "]": "{]}",
}


def _latex_text(text: str) -> str:
    """Return a text that pdflatex sets as it is.

    Letters outside Latin scripts, for which it has no font, become "?".
    """
    return "".join(map(_latex_char, one_line(text)))


def _latex_char(char: str) -> str:
    if char in _LATEX:
        return _LATEX[char]
    if char.isascii() or unicodedata.name(char, "").startswith("LATIN "):
        return char
    return "?"
