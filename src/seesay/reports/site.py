"""Many runs as a static site: a leaderboard, one page per task and one per model, and results for
model repositories.

Pages are the report's own, with its style and its policy: they load nothing from the network and
open from a folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from seesay.errors import UserError
from seesay.files import write_text
from seesay.grouping import group_by
from seesay.questions import Published, Slice
from seesay.reports.chance import LEGEND, Standings, standings
from seesay.reports.charts.scatter import Spot, scatter
from seesay.reports.formats import significantly_best
from seesay.reports.formatting import (
    SAMPLE,
    ends,
    few_note,
    lower_is_better,
    metric_name,
    part_name,
    ranking_sign,
    with_part,
)
from seesay.reports.groups import (
    PEOPLE,
    LabelledRun,
    TaskRuns,
    count_asked,
    family_place,
    group_runs,
    headline_parts,
    is_people,
    sample_note,
)
from seesay.reports.layout import render_page
from seesay.reports.pages import run_views
from seesay.reports.pages import runs as runs_page
from seesay.reports.unanswered import unanswered_note, unanswered_words
from seesay.runs.records import Comparison, Figure, Manifest
from seesay.runs.run import Run
from seesay.runs.store import slug
from seesay.tasks import task_groups

CATEGORIES = ("color", "size", "space")
HUB_DATASET = "seesay/seesay"
_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)\s?([MB])(?![A-Za-z0-9])", re.IGNORECASE)
_UNITS = {"m": 1e6, "b": 1e9}


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
    def name(self) -> str:
        """The task's name, which is shorter than its title and no other task's, and the part's."""
        return with_part(self.group.task.name, self.part)

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
        for name in CATEGORIES:
            if self.group.task.name in task_groups()[name]:
                return name
        return "other"

    @property
    def page(self) -> str:
        """The task's page."""
        return f"tasks/{self.group.anchor}.html"

    def figure(self, entry: LabelledRun) -> Figure | None:
        """Return a run's figure for this column."""
        return entry.figure(self.group.headline, part=self.part)


@dataclass(frozen=True)
class Cell:
    """One number of the leaderboard, with where it comes from."""

    value: float
    ends: str = ""
    n: int | None = None
    mark: str = ""
    """What marks a figure of fewer questions than others of its column."""
    best: bool = False
    standing: str = ""
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
    diet: Mapping[str, str] = field(default_factory=dict)
    """What a model was raised on, dial by dial."""


SPACE_CARD = """---
title: What can a model say about what anyone can see?
sdk: static
app_file: index.html
---

A leaderboard made with seesay: open index.html.
"""
"""What a static Space of the Hub begins with."""


def write_site(
    folder: Path,
    runs: Sequence[Run],
    comparisons: Sequence[Comparison] = (),
    *,
    url: str | None = None,
    hub_dataset: str | None = None,
) -> Path:
    """Write the site below `folder` and return its first page.

    `url` is where the site will be, for the Hub's files.
    """
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
        # laid out as in the model's repository on the Hub, so that the folder can be copied there
        results = folder / "hub" / slug(model) / ".eval_results"
        for name, text in eval_results(model, entries, url, hub_dataset or HUB_DATASET):
            write_text(results / name, text)
    index = folder / "index.html"
    write_text(index, _index(columns, rows, runs))
    # by which the Hub takes the folder for a Space; somebody may have written one already
    card = folder / "README.md"
    if not card.exists():
        write_text(card, SPACE_CARD)
    return index


def parameters(manifest: Manifest) -> float | None:
    """Return how many parameters a run's model has: as counted, else as its name says."""
    return manifest.parameters or stated_parameters(manifest.model)


def stated_parameters(model: str) -> float | None:
    """Return how many parameters a model's name says that it has.

    >>> stated_parameters("SmolLM2-135M"), stated_parameters("bert-base")
    (135000000.0, None)
    """
    sizes = _SIZE.findall(model)
    if not sizes:
        return None
    # the last: what comes before it may be a version
    figure, unit = sizes[-1]
    return float(figure) * _UNITS[unit.lower()]


def eval_results(
    model: str,
    entries: Sequence[tuple[TaskRuns, LabelledRun]],
    url: str | None,
    dataset: str,
) -> Iterator[tuple[str, str]]:
    """Yield the Hub's `.eval_results/*.yaml` of a model.

    There is one file per run, its headline figures with how they were made.
    """
    source = {}
    if url:
        page = f"{url.rstrip('/')}/{_page_of(model)}"
        source = {"source": {"url": page, "name": "seesay"}}
    names: set[str] = set()
    for group, entry in entries:
        results: list[dict[str, Any]] = []
        for part in group.parts:
            figure = entry.figure(group.headline, part=part)
            if figure is None:
                continue
            task_id = group.task.name
            if part:
                task_id = f"{task_id}-{slug(part_name(part))}"
            result = {
                "dataset": {"id": dataset, "task_id": task_id},
                "value": round(figure.value, 6),
                "date": entry.run.manifest.created,
                **source,
                "notes": _notes(group, entry, figure),
            }
            results.append(result)
        if not results:
            continue
        name = slug(group.task.name)
        settings = entry.label.removeprefix(model).strip(" ·")
        if settings:
            name = f"{name}-{slug(settings)}"
        # the same task, asked in another condition
        if name in names:
            name = f"{name}-{len(names) + 1}"
        names.add(name)
        yield f"{name}.yaml", yaml.safe_dump(results, sort_keys=False, allow_unicode=True)


def _notes(group: TaskRuns, entry: LabelledRun, figure: Figure) -> str:
    """Return what the Hub shows beside a figure: of what it is, and how it was made."""
    about = f"{group.headline}, 95 % interval {ends(figure)}, n = {figure.n}"
    few = few_note([figure])
    if few:
        about = f"{about} ({few})"
    notes = [about]
    unanswered = unanswered_words(entry.run)
    if unanswered:
        notes.append(f"{unanswered} without an answer count as wrong")
    return "; ".join([*notes, figure.signature])


def _by_model(groups: Sequence[TaskRuns]) -> dict[str, list[tuple[TaskRuns, LabelledRun]]]:
    """Return the runs of each model, with the tasks that they are of."""
    entries = ((group, entry) for group in groups for entry in group.entries)
    return group_by(entries, lambda pair: pair[1].run.manifest.model)


def _page_of(model: str) -> str:
    return f"models/{slug(model)}.html"


def _measured(columns: Sequence[Column], comparisons: Sequence[Comparison]) -> list[BoardRow]:
    """Return a row for every label, in the order of `_order`."""
    # tested once per column, not once per cell
    best = {
        column: significantly_best(column.group, column.part, comparisons) for column in columns
    }
    by_column = {column: standings(column.group) for column in columns}
    labels: dict[str, dict[Column, LabelledRun]] = {}
    for column in columns:
        for entry in column.group.entries:
            # a row is a label, not a model: a model asked in two conditions has two
            labels.setdefault(entry.label, {})[column] = entry
    rows = []
    for label, entries in labels.items():
        manifest = next(iter(entries.values())).run.manifest
        cells = tuple(
            _cell(column, entries.get(column), best[column], by_column[column])
            for column in columns
        )
        row = BoardRow(
            label,
            manifest.family,
            _page_of(manifest.model),
            parameters(manifest),
            cells,
            diet=manifest.diet,
        )
        rows.append(row)
    return sorted(rows, key=lambda row: _order(row, columns))


def _cell(
    column: Column,
    entry: LabelledRun | None,
    best: LabelledRun | None,
    by_figure: Standings,
) -> Cell | None:
    """Return a run's number in a column, or None where it was not asked."""
    if entry is None:
        return None
    figure = column.figure(entry)
    if figure is None:
        return None
    manifest = entry.run.manifest
    return Cell(
        value=figure.value,
        ends=ends(figure),
        n=figure.n,
        mark=SAMPLE if (entry, column.part) in column.group.other_samples else "",
        best=entry is best,
        standing=by_figure.get((entry, column.part), ""),
        page=f"{_page_of(manifest.model)}#{column.group.anchor}",
        origin=f"{figure.signature}\n{manifest.command}",
    )


def _order(row: BoardRow, columns: Sequence[Column]) -> tuple[int, int, float]:
    """Return a key that puts models first; by the number of tasks asked, then by the mean of the
    headline figures."""
    values = []
    for cell, column in zip(row.cells, columns, strict=True):
        if cell:
            values.append(ranking_sign(column.group.headline) * cell.value)
    return family_place(row.kind), -len(values), sum(values) / max(len(values), 1)


def _published(columns: Sequence[Column]) -> list[BoardRow]:
    """Return a row for every published model of a source, and for people."""
    figures: dict[tuple[str, str], dict[int, Published]] = {}
    for place, column in enumerate(columns):
        for published in column.group.published(column.part):
            by_place = figures.setdefault((published.model, published.source), {})
            by_place[place] = published
    rows = []
    for (model, source), by_place in figures.items():
        kind = "published"
        if is_people(model):
            kind = PEOPLE
        cells: list[Cell | None] = [None] * len(columns)
        for place, published in by_place.items():
            cells[place] = Cell(published.value)
        rows.append(
            BoardRow(
                model,
                kind,
                "",
                stated_parameters(model),
                tuple(cells),
                source,
            )
        )
    return rows


def _index(columns: Sequence[Column], rows: Sequence[BoardRow], runs: Sequence[Run]) -> str:
    present = {column.category for column in columns}
    charts = map(_against_size, columns)
    return render_page(
        "site_index.html",
        script="site.js",
        columns=columns,
        dials=_varied_dials(rows),
        rows=rows,
        kinds=sorted({row.kind for row in rows}),
        chance_legend=LEGEND,
        categories=[name for name in (*CATEGORIES, "other") if name in present],
        charts=[chart for chart in charts if chart],
        asked=count_asked({run.manifest.model: run.manifest.family for run in runs}.values()),
        runs=len(runs),
        created=max(run.manifest.created for run in runs)[:10],
        few=few_note(headline_parts(runs)),
        unanswered=unanswered_note({column.group: None for column in columns}),
        sample_note=sample_note({column.group: None for column in columns}),
    )


def _varied_dials(rows: Sequence[BoardRow]) -> list[str]:
    """Return the dials in which the models differ that have a diet, in their order."""
    diets = [row.diet for row in rows if row.diet]
    dials = dict.fromkeys(dial for diet in diets for dial in diet)
    return [dial for dial in dials if len({diet.get(dial) for diet in diets}) > 1]


def _against_size(column: Column) -> Any:
    """Draw the headline over the number of parameters; None without two sizes."""
    spots = []
    chances = set()
    for entry, figure in column.group.headline_figures(column.part).items():
        size = parameters(entry.run.manifest)
        if size:
            spots.append(
                Spot(
                    entry.label,
                    size / 1e6,
                    figure.value,
                    figure.low,
                    figure.high,
                )
            )
            chances.add(figure.chance)
    # models of one size show nothing of the effect of size
    if len({spot.x for spot in spots}) < 2:
        return None
    # limited runs have other questions, whose chance may differ: one line cannot stand for all
    chance = chances.pop() if len(chances) == 1 else None
    return scatter(
        spots,
        title=column.title,
        x_label="million parameters",
        y_label=column.metric,
        chance=chance,
    )


def _model_page(model: str, entries: Sequence[tuple[TaskRuns, LabelledRun]]) -> str:
    """Return the page of all runs of a model, as of a report."""
    groups = []
    for group, pairs in group_by(entries, lambda pair: pair[0]).items():
        entries_of_group = tuple(entry for _, entry in pairs)
        groups.append(replace(group, entries=entries_of_group))
    return runs_page.render_groups(groups, heading=model, home="../index.html")


def _task_page(group: TaskRuns, comparisons: Sequence[Comparison]) -> str:
    """Return the page of a task: its models ranked, with their tests and slices."""
    tests = _headline_tests(group, comparisons)
    references = {comparison.b for comparison in tests}
    reference = references.pop() if len(references) == 1 else None
    sign = ranking_sign(group.headline)

    def rank(entry: LabelledRun) -> tuple[int, bool, float]:
        figure = entry.figure(group.headline, part=group.parts[0])
        # a run without a figure comes last among its like
        value = float("inf") if figure is None else sign * figure.value
        # a higher figure of fewer or other questions is no higher rank
        is_other = (entry, group.parts[0]) in group.other_samples
        return family_place(entry.run.manifest.family), is_other, value

    ranked = replace(group, entries=tuple(sorted(group.entries, key=rank)))
    tests_by_row = {(comparison.signature_a, comparison.slice): comparison for comparison in tests}
    rows = [
        (entry.run.manifest.signature, part) for part in group.parts for entry in ranked.entries
    ]
    pages = {entry.label: f"../{_page_of(entry.run.manifest.model)}" for entry in ranked.entries}
    return render_page(
        "site_task.html",
        script="site.js",
        group=ranked,
        headline=run_views.headline(ranked),
        slices=_slices(ranked),
        tests=[tests_by_row.get(row) for row in rows],
        reference=reference,
        pages=pages,
        home="../index.html",
        chance_legend=LEGEND,
        few=few_note(figure for entry in ranked.entries for figure in entry.run.figures),
        unanswered=unanswered_note([group]),
        sample_note=sample_note([group]),
    )


def _headline_tests(group: TaskRuns, comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the tests of the headline between runs of this group.

    Another group may share the task's name.
    """
    signatures = {entry.run.manifest.signature for entry in group.entries}
    headline = (group.task.name, group.headline)
    tests = []
    for comparison in comparisons:
        pair = {comparison.signature_a, comparison.signature_b}
        if (comparison.task, comparison.metric) == headline and pair <= signatures:
            tests.append(comparison)
    return tests


def _slices(group: TaskRuns) -> list[dict[str, Any]]:
    """Return a table per tag: its values, and a row of figures for each model.

    Values come with their number of questions.
    """
    slices = [part for part in group.slices if part not in group.parts]
    tables = []
    for tags, parts in group_by(slices, lambda part: part.tags).items():
        rows = []
        counts = [0] * len(parts)
        for entry in group.entries:
            figures = [entry.figure(group.headline, part=part) for part in parts]
            rows.append((entry, figures))
            # the most that any model was asked: a limited run has fewer
            for place, figure in enumerate(figures):
                if figure:
                    counts[place] = max(counts[place], figure.n)
        names = [(part_name(part), count) for part, count in zip(parts, counts, strict=True)]
        tables.append(
            {
                "title": run_views.tags_title(tags),
                "parts": names,
                "rows": rows,
            }
        )
    return tables
