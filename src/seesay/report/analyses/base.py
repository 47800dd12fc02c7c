"""An analysis: what it asks, its rows, and how they are drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from markupsafe import Markup

from seesay.report.charts import Section, Table

if TYPE_CHECKING:
    from seesay.runs.learning_curve import Band

PAPER = "Singh, Qasemi & Chen 2023"


@dataclass(frozen=True)
class Score:
    """A model's figure on a part of the questions; `source` names where a published one stands."""

    part: str
    model: str
    metric: str
    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    source: str | None = None


@dataclass(frozen=True)
class Shares:
    """How the gold answers of `n` questions are shared among labels, every question counting the same."""

    part: str
    n: int
    shares: Mapping[str, float]


@dataclass(frozen=True)
class Spread:
    """A thing's gold distribution and its entropy in bits."""

    object: str
    entropy: float
    shares: Mapping[str, float]


Row: TypeAlias = "Score | Shares | Spread | Band"


@dataclass(frozen=True)
class Analysis:
    """`name` is how a program finds it, `figure` where the paper shows its own; `charts` may be few or none."""

    name: str
    task: str
    title: str
    figure: str
    text: str
    rows: Sequence[Row]
    charts: Sequence[Markup] = ()
    shown: int | None = None

    @property
    def record(self) -> dict[str, Any]:
        """The analysis as JSON: every number finite, null where there is none."""
        return {
            "name": self.name,
            "task": self.task,
            "title": self.title,
            "figure": f"{PAPER}, {self.figure}" if self.figure else None,
            "rows": [_finite(asdict(row)) for row in self.rows],
        }

    @property
    def section(self) -> Section:
        """The analysis on a page, with its first rows as a table."""
        return Section(f"{self.title} ({self.task})", self.about, self.charts, table(self.rows[: self.shown]))

    @property
    def about(self) -> str:
        """What it shows, and where the paper shows the same."""
        return f"{self.text} (As in {PAPER}, {self.figure}.)" if self.figure else self.text


def table(rows: Sequence[Row]) -> Table | None:
    """Rows as a plain table; shares become a column a label, and columns that are empty throughout are left out."""
    if not rows:
        return None
    flat: list[dict[str, Any]] = []
    for row in rows:
        cells = asdict(row)
        flat.append({**cells, **cells.pop("shares", {})})
    header = [name for name in dict.fromkeys(n for cells in flat for n in cells) if name != "shares"]
    header = [name for name in header if any(cells.get(name) is not None for cells in flat)]
    return Table(header, [[cells.get(name) for name in header] for cells in flat])


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(part) for key, part in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
