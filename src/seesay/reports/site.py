"""Many runs as a static site: a leaderboard, one page per task and one per model, and results for
model repositories.

Pages are the report's own, with its style and its policy: they load nothing from the network and
open from a folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from seesay.errors import UserError
from seesay.files import write_text
from seesay.grouping import group_by
from seesay.questions import Published, Slice
from seesay.reports.charts.scatter import Spot, scatter
from seesay.reports.formats import significantly_best
from seesay.reports.formatting import interval, lower_is_better, metric_name, part_name, with_part
from seesay.reports.groups import LabelledRun, TaskRuns, group_runs
from seesay.reports.layout import render_page
from seesay.reports.pages import run_views
from seesay.reports.pages import runs as runs_page
from seesay.runs.records import Comparison, Figure
from seesay.runs.run import Run
from seesay.runs.store import slug
from seesay.tasks import task_groups

CATEGORIES = ("color", "size", "space")
HUB_DATASET = "seesay/seesay"
_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)\s?([MB])(?![A-Za-z0-9])", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Column:
    """A task's headline, or one nested part of it."""

    group: TaskRuns
    part: Slice | None

    @property
    def title(self) -> str:
        """The task's title, and the part's name."""
        return with_part(self.group.title, self.part)

    @property
    def metric(self) -> str:
        """The headline metric, marked where less is better."""
        return metric_name(self.group.headline)

    @property
    def lower_is_better(self) -> bool:
        """Whether less is better."""
        return lower_is_better(self.group.headline)

    @property
    def category(self) -> str:
        """What the task is about."""
        return next(
            (name for name in CATEGORIES if self.group.task.name in task_groups()[name]), "other"
        )

    @property
    def page(self) -> str:
        """The task's page."""
        return f"tasks/{self.group.anchor}.html"

    def figure(self, entry: LabelledRun) -> Figure | None:
        """A run's figure here."""
        return entry.figure(self.group.headline, part=self.part)


@dataclass(frozen=True)
class Cell:
    """One number of the leaderboard, with where it comes from."""

    value: float
    ends: str = ""
    n: int | None = None
    best: bool = False
    page: str = ""
    origin: str = ""


@dataclass(frozen=True)
class BoardRow:
    """A model, people, or a published model across the columns."""

    name: str
    kind: str
    page: str
    parameters: float | None
    cells: tuple[Cell | None, ...]
    source: str = ""


def write_site(
    folder: Path,
    runs: Sequence[Run],
    comparisons: Sequence[Comparison] = (),
    *,
    url: str | None = None,
    hub_dataset: str | None = None,
) -> Path:
    """Write the site below `folder` and return its first page. `url` is where it will be, for the
    Hub's files."""
    if not runs:
        raise UserError("There is nothing to show: give at least one run.")
    if folder.is_file():
        raise UserError(f"'{folder}' is a file: name a folder for the site.")
    groups = group_runs(runs)
    columns = [Column(group, part) for group in groups for part in group.parts]
    rows = [*_measured(columns, comparisons), *_published(columns)]
    for group in groups:
        write_text(folder / f"tasks/{group.anchor}.html", _task_page(group, comparisons))
    for model, entries in _by_model(groups).items():
        write_text(folder / _page_of(model), _model_page(model, entries))
        for name, text in eval_results(model, entries, url, hub_dataset or HUB_DATASET):
            write_text(folder / "hub" / slug(model) / ".eval_results" / name, text)
    write_text(folder / "index.html", _index(columns, rows, runs))
    return folder / "index.html"


def parameters(model: str) -> float | None:
    """How many parameters a model's name says that it has.

    >>> parameters("SmolLM2-135M"), parameters("pythia-1.4b"), parameters("bert-base")
    (135000000.0, 1400000000.0, None)
    """
    sizes = _SIZE.findall(model)
    if sizes:
        return float(sizes[-1][0]) * {"m": 1e6, "b": 1e9}[sizes[-1][1].lower()]
    return None


def eval_results(
    model: str, entries: Sequence[tuple[TaskRuns, LabelledRun]], url: str | None, dataset: str
) -> Iterator[tuple[str, str]]:
    """The Hub's `.eval_results/*.yaml` of a model: one file per run, its headline figures with how
    they were made."""
    names: set[str] = set()
    for group, entry in entries:
        results: list[dict[str, Any]] = []
        for part in group.parts:
            if figure := entry.figure(group.headline, part=part):
                if part:
                    task_id = f"{group.task.name}-{slug(part_name(part))}"
                else:
                    task_id = group.task.name
                ends = interval(figure.low, figure.high)
                notes = (
                    f"{group.headline}, 95 % interval {ends}, n = {figure.n}; {figure.signature}"
                )
                if url:
                    source = {
                        "source": {"url": f"{url.rstrip('/')}/{_page_of(model)}", "name": "seesay"}
                    }
                else:
                    source = {}
                results.append(
                    {
                        "dataset": {"id": dataset, "task_id": task_id},
                        "value": round(figure.value, 6),
                        "date": entry.run.manifest.created,
                        **source,
                        "notes": notes,
                    }
                )
        if results:
            settings = entry.label.removeprefix(model).strip(" ·")
            name = f"{slug(group.task.name)}{f'-{slug(settings)}' if settings else ''}"
            # the same task, asked in other ways
            name = f"{name}-{len(names) + 1}" if name in names else name
            names.add(name)
            yield f"{name}.yaml", yaml.safe_dump(results, sort_keys=False, allow_unicode=True)


def _by_model(groups: Sequence[TaskRuns]) -> dict[str, list[tuple[TaskRuns, LabelledRun]]]:
    entries = ((group, entry) for group in groups for entry in group.entries)
    return group_by(entries, lambda pair: pair[1].run.manifest.model)


def _page_of(model: str) -> str:
    return f"models/{slug(model)}.html"


def _measured(columns: Sequence[Column], comparisons: Sequence[Comparison]) -> list[BoardRow]:
    """A row for every label, in the order of `_order`."""
    best = {
        column: significantly_best(column.group, column.part, comparisons) for column in columns
    }
    labels: dict[str, dict[Column, LabelledRun]] = {}
    for column in columns:
        for entry in column.group.entries:
            labels.setdefault(entry.label, {})[column] = entry
    rows = []
    for label, entries in labels.items():
        manifest = next(iter(entries.values())).run.manifest
        cells = tuple(_cell(column, entries.get(column), best[column]) for column in columns)
        rows.append(
            BoardRow(
                label, manifest.family, _page_of(manifest.model), parameters(manifest.model), cells
            )
        )
    return sorted(rows, key=lambda row: _order(row, columns))


def _cell(column: Column, entry: LabelledRun | None, best: LabelledRun | None) -> Cell | None:
    if entry is None or (figure := column.figure(entry)) is None:
        return None
    manifest = entry.run.manifest
    link = f"{_page_of(manifest.model)}#{column.group.anchor}"
    origin = f"{figure.signature}\n{manifest.command}"
    return Cell(
        figure.value, interval(figure.low, figure.high), figure.n, entry is best, link, origin
    )


def _order(row: BoardRow, columns: Sequence[Column]) -> tuple[int, float]:
    """By the number of tasks asked, then by the mean of the headline figures."""
    values = [
        -c.value if column.lower_is_better else c.value
        for c, column in zip(row.cells, columns, strict=True)
        if c
    ]
    return -len(values), -sum(values) / max(len(values), 1)


def _published(columns: Sequence[Column]) -> list[BoardRow]:
    rows: dict[tuple[str, str], dict[int, Published]] = {}
    for place, column in enumerate(columns):
        for row in column.group.published(column.part):
            rows.setdefault((row.model, row.source), {})[place] = row
    return [
        BoardRow(
            model,
            "people" if re.search(r"\b(people|humans?)\b", model, re.IGNORECASE) else "published",
            "",
            parameters(model),
            tuple(Cell(values[i].value) if i in values else None for i in range(len(columns))),
            source,
        )
        for (model, source), values in rows.items()
    ]


def _index(columns: Sequence[Column], rows: Sequence[BoardRow], runs: Sequence[Run]) -> str:
    return render_page(
        "site_index.html",
        script="site.js",
        columns=columns,
        rows=rows,
        kinds=sorted({row.kind for row in rows}),
        categories=[
            name for name in (*CATEGORIES, "other") if any(c.category == name for c in columns)
        ],
        charts=[chart for column in columns if (chart := _against_size(column))],
        models=len({run.manifest.model for run in runs}),
        runs=len(runs),
        created=max(run.manifest.created for run in runs)[:10],
    )


def _against_size(column: Column) -> Any:
    spots = []
    chances = set()
    for entry, figure in column.group.headline_figures(column.part).items():
        size = parameters(entry.run.manifest.model)
        if size:
            spots.append(Spot(entry.label, size / 1e6, figure.value, figure.low, figure.high))
            chances.add(figure.chance)
    if len({spot.x for spot in spots}) < 2:
        return None
    chance = chances.pop() if len(chances) == 1 else None
    return scatter(
        spots,
        title=column.title,
        x_label="million parameters, by name",
        y_label=column.metric,
        chance=chance,
    )


def _model_page(model: str, entries: Sequence[tuple[TaskRuns, LabelledRun]]) -> str:
    by_group = group_by(entries, lambda pair: pair[0])
    groups = [
        replace(group, entries=tuple(entry for _, entry in pairs))
        for group, pairs in by_group.items()
    ]
    return runs_page.render_groups(groups, heading=model, home="../index.html")


def _task_page(group: TaskRuns, comparisons: Sequence[Comparison]) -> str:
    signatures = {entry.run.manifest.signature for entry in group.entries}
    compared = (c for c in comparisons if (c.task, c.metric) == (group.task.name, group.headline))
    own = [c for c in compared if {c.signature_a, c.signature_b} <= signatures]
    sign = 1 if lower_is_better(group.headline) else -1

    def rank(entry: LabelledRun) -> float:
        figure = entry.figure(group.headline, part=group.parts[0])
        return sign * figure.value if figure else float("inf")

    tests = {(c.signature_a, c.slice): c for c in own}
    ranked = replace(group, entries=tuple(sorted(group.entries, key=rank)))
    return render_page(
        "site_task.html",
        script="site.js",
        group=ranked,
        headline=run_views.headline(ranked),
        slices=_slices(ranked),
        tests=[
            tests.get((entry.run.manifest.signature, part))
            for part in group.parts
            for entry in ranked.entries
        ],
        reference=own[0].b if own and len({c.b for c in own}) == 1 else None,
        pages={entry.label: "../" + _page_of(entry.run.manifest.model) for entry in ranked.entries},
        home="../index.html",
    )


def _slices(group: TaskRuns) -> list[dict[str, Any]]:
    """By tag: the values with their number of questions, and a row of figures for each model."""
    by_tag = group_by(
        (part for part in group.slices if part not in group.parts), lambda part: part.tags
    )
    tables = []
    for tags, parts in by_tag.items():
        rows = [
            (entry, [entry.figure(group.headline, part=part) for part in parts])
            for entry in group.entries
        ]
        counts = [
            max((f.n for _, figures in rows if (f := figures[i])), default=0)
            for i in range(len(parts))
        ]
        names = [(part_name(part), n) for part, n in zip(parts, counts, strict=True)]
        tables.append({"title": run_views.tags_title(tags), "parts": names, "rows": rows})
    return tables
