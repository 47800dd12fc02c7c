"""An analysis: its question, its rows and its charts, on a page and as JSON beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from markupsafe import Markup

from seesay.files import json_value, write_json
from seesay.reports.pages.sections import DataTable, Section, write_page

if TYPE_CHECKING:
    from seesay.runs.checkpoints import LearntFact, StepFigure
    from seesay.runs.learning_curve import Band


@dataclass(frozen=True)
class PartScore:
    """A model's figure on a part of the questions; `source` is the source of a published one."""

    part: str
    model: str
    metric: str
    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    source: str | None = None


@dataclass(frozen=True)
class LabelShares:
    """The mean gold distribution over labels of `n` questions."""

    part: str
    n: int
    shares: Mapping[str, float]


@dataclass(frozen=True)
class GoldDistribution:
    """An object's gold distribution and its entropy in bits."""

    object: str
    entropy: float
    shares: Mapping[str, float]


AnalysisRow: TypeAlias = (
    "PartScore | LabelShares | GoldDistribution | Band | StepFigure | LearntFact"
)


@dataclass(frozen=True)
class Analysis:
    """Rows that answer a question, with their charts.

    `name` identifies it in JSON, `source` says which figure or table of a paper shows the same;
    `row_limit` limits the rows on the page.
    """

    name: str
    task: str
    title: str
    source: str
    text: str
    rows: Sequence[AnalysisRow]
    charts: Sequence[Markup] = ()
    row_limit: int | None = None

    @property
    def record(self) -> dict[str, Any]:
        """The analysis as JSON: every number finite, null where there is none."""
        # JSON has no NaN and no infinity
        rows = [json_value(asdict(row)) for row in self.rows]
        return {
            "name": self.name,
            "task": self.task,
            "title": self.title,
            "figure": self.source or None,
            "rows": rows,
        }

    @property
    def section(self) -> Section:
        """The analysis on a page, with its first rows as a table."""
        return Section(
            f"{self.title} ({self.task})",
            self.about,
            self.charts,
            as_table(self.rows[: self.row_limit]),
        )

    @property
    def about(self) -> str:
        """What it shows, and where the same is published."""
        if self.source:
            return f"{self.text} (As in {self.source}.)"
        return self.text


def as_table(rows: Sequence[AnalysisRow]) -> DataTable | None:
    """Return rows as a plain table, with one column per label for shares.

    Columns that are empty throughout are left out.
    """
    if not rows:
        return None
    flat_rows: list[dict[str, Any]] = []
    for row in rows:
        cells = asdict(row)
        shares = cells.pop("shares", {})
        flat_rows.append({**cells, **shares})
    header = []
    # in the order in which columns first come up
    for name in dict.fromkeys(name for cells in flat_rows for name in cells):
        if any(cells.get(name) is not None for cells in flat_rows):
            header.append(name)
    body = []
    for cells in flat_rows:
        body.append([cells.get(name) for name in header])
    return DataTable(header, body)


def write_analyses(path: Path | str, title: str, analyses: Sequence[Analysis]) -> Path:
    """Write analyses on a page of their own, and their rows beside it."""
    page = write_page(path, title, [analysis.section for analysis in analyses])
    write_rows(page, analyses)
    return page


def write_rows(page: Path, analyses: Sequence[Analysis]) -> None:
    """Write the rows of all analyses beside the page.

    An empty list is written only over an older file.
    """
    path = page.with_suffix(".analyses.json")
    if analyses or path.exists():
        write_json(path, [analysis.record for analysis in analyses], indent=None)
