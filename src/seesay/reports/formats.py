"""Results for other programs and for papers: every figure as a row (CSV, JSON), and tables of
models by tasks (Markdown, LaTeX) in which the best is bold only where a paired test says so."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from seesay import __version__
from seesay.files import csv_text
from seesay.questions import Slice
from seesay.reports.formatting import (
    NONE,
    count_range,
    interval,
    is_shown,
    lower_is_better,
    metric_name,
    number,
    with_part,
)
from seesay.reports.groups import LabelledRun, TaskRuns, group_runs
from seesay.runs.records import Comparison
from seesay.runs.run import Run

FORMATS = ("html", "csv", "markdown", "latex", "json")
COLUMNS = (
    *(
        "model",
        "task",
        "metric",
        "template",
        "slice",
        "value",
        "low",
        "high",
        "n",
        "chance",
        "spread",
        "signature",
    ),
    *("label", "command"),
)
COLUMNS_PER_TABLE = 5
"""A table of more columns is broken into several, so that it fits a page."""


def figure_rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """One row per figure; `label` tells settings of one model apart in words, and `command` made
    the run."""
    rows = []
    for entry in (entry for group in group_runs(runs) for entry in group.entries):
        more = {"label": entry.label, "command": entry.run.manifest.command}
        rows += [
            {**figure.model_dump(include=set(COLUMNS)), **more} for figure in entry.run.figures
        ]
    return rows


def as_text(format: str, runs: Sequence[Run], comparisons: Sequence[Comparison]) -> str:
    """The results as CSV, JSON, Markdown or LaTeX; `comparisons` decide what is bold."""
    if format == "json":
        return json.dumps(figure_rows(runs), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    if format == "csv":
        return csv_text(COLUMNS, figure_rows(runs))
    columns = [
        _column(group, part, comparisons) for group in group_runs(runs) for part in group.parts
    ]
    parts = [
        columns[start : start + COLUMNS_PER_TABLE]
        for start in range(0, len(columns), COLUMNS_PER_TABLE)
    ]
    write = {"markdown": _markdown, "latex": _latex}[format]
    return "\n".join(write(part) for part in parts)


def significantly_best(
    group: TaskRuns, part: Slice | None, comparisons: Sequence[Comparison]
) -> LabelledRun | None:
    """The run that is better than every other which asked as many questions, each by a corrected
    paired test."""
    figures = group.headline_figures(part)
    most = max((figure.n for figure in figures.values()), default=0)
    rivals = [entry for entry, figure in figures.items() if figure.n == most]
    if len(rivals) < 2:
        return None
    sign = -1 if lower_is_better(group.headline) else 1
    best = max(rivals, key=lambda entry: sign * figures[entry].value)
    shown = {
        frozenset((c.signature_a, c.signature_b))
        for c in comparisons
        if (c.task, c.metric, c.slice) == (group.task.name, group.headline, part) and is_shown(c)
    }
    pairs = (
        {best.run.manifest.signature, other.run.manifest.signature}
        for other in rivals
        if other is not best
    )
    return best if all(pair in shown for pair in pairs) else None


@dataclass(frozen=True)
class _Column:
    """A task's headline figure: cells by model, as value and interval; those of published figures
    without one."""

    title: str
    metric: str
    cells: dict[str, tuple[str, str]]
    best: str | None
    chance: str
    n: str
    published: dict[str, str]


def _column(group: TaskRuns, part: Slice | None, comparisons: Sequence[Comparison]) -> _Column:
    figures = group.headline_figures(part)
    best = significantly_best(group, part, comparisons)
    most = max((figure.n for figure in figures.values()), default=0)
    chances = {number(figure.chance) for figure in figures.values() if figure.n == most}
    title = group.task.name + group.title.removeprefix(group.task.title or group.task.name)
    return _Column(
        with_part(title, part),
        metric_name(group.headline).replace("_", " "),
        {
            entry.label: (number(figure.value), interval(figure.low, figure.high))
            for entry, figure in figures.items()
        },
        best.label if best else None,
        chances.pop() if len(chances) == 1 else NONE,
        count_range(figure.n for figure in figures.values()) or NONE,
        {f"{row.model} ({row.source})": number(row.value) for row in group.published(part)},
    )


_ABOUT = (
    "Headline figure of each task with its 95 % interval (bootstrap clustered by object). Bold: "
    "better than every "
    "other model (paired sign-flip test, Holm's correction, p ≤ 0.05). Made with seesay {version}."
)


def _rows(
    columns: Sequence[_Column], escape: Callable[[str], str], cell: Callable[[str, str, bool], str]
) -> list[list[list[str]]]:
    """Measured rows; chance and n; published rows. Every text escaped."""

    def measured(label: str) -> list[str]:
        cells = [(column.cells.get(label), column.best == label) for column in columns]
        return [
            escape(label),
            *(cell(*pair, best) if pair else escape(NONE) for pair, best in cells),
        ]

    labels = dict.fromkeys(label for column in columns for label in column.cells)
    published = dict.fromkeys(name for column in columns for name in column.published)
    return [
        [measured(label) for label in labels],
        [
            ["chance", *(escape(column.chance) for column in columns)],
            ["n", *(escape(column.n) for column in columns)],
        ],
        [
            [escape(name), *(escape(column.published.get(name, NONE)) for column in columns)]
            for name in published
        ],
    ]


def _markdown(columns: Sequence[_Column]) -> str:
    def cell(value: str, ends: str, best: bool) -> str:
        return f"**{value}** ({ends})" if best else f"{value} ({ends})"

    header = [
        "model",
        *(f"{_markdown_text(c.title)}<br>{_markdown_text(c.metric)}" for c in columns),
    ]
    lines = [header, ["---", *("---:" for _ in columns)]]
    lines += [row for block in _rows(columns, _markdown_text, cell) for row in block]
    return (
        "\n".join(f"| {' | '.join(row)} |" for row in lines)
        + f"\n\n{_ABOUT.format(version=__version__)}\n"
    )


def _latex(columns: Sequence[_Column]) -> str:
    def cell(value: str, ends: str, best: bool) -> str:
        shown = f"\\textbf{{{_latex_text(value)}}}" if best else _latex_text(value)
        return f"{shown} {{\\scriptsize({_latex_text(ends)})}}"

    def line(cells: Sequence[str]) -> str:
        return " & ".join(cells) + " \\\\"

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
            f"\\caption{{{_latex_text(_ABOUT.format(version=__version__))}}}",
            "\\end{table}",
            "",
        ]
    )


def _markdown_text(text: str) -> str:
    """A text in one table cell, nothing of it taken for markup."""
    return re.sub(r"([\\`*_\[\]<>|#~&$])", r"\\\1", _one_line(text))


_LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    **{
        "~": "\\textasciitilde{}",
        "^": "\\textasciicircum{}",
        "\\": "\\textbackslash{}",
        "<": "$<$",
        ">": "$>$",
    },
    **{
        "|": "$|$",
        '"': "''",
        "−": "$-$",
        "–": "--",
        "—": "---",
        "≤": "$\\leq$",
        "≥": "$\\geq$",
        "×": "$\\times$",
    },
    **{"↓": "$\\downarrow$", "·": "$\\cdot$", "…": "\\ldots{}", "’": "'", "[": "{[}", "]": "{]}"},
}


def _latex_text(text: str) -> str:
    """A text that pdflatex sets as it is: letters outside Latin scripts, for which it has no font,
    become "?"."""
    return "".join(
        _LATEX.get(
            char, char if char.isascii() or unicodedata.name(char, "").startswith("LATIN ") else "?"
        )
        for char in _one_line(text)
    )


def _one_line(text: str) -> str:
    return "".join(
        " " if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"} else char
        for char in text
    )
