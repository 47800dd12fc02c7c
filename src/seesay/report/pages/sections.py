"""Charts on a page of their own, and charts as files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from seesay.report.charts.kernel import element
from seesay.report.layout import asset, fill
from seesay.runs.store import write_text

MARGIN = 12

Cell = str | float | None


@dataclass(frozen=True)
class Table:
    """The numbers behind charts."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Section:
    """A heading, what there is to say (paragraphs parted by an empty line), charts, and their numbers."""

    heading: str
    text: str = ""
    charts: Sequence[Markup] = ()
    table: Table | None = None


def write_page(path: Path | str, title: str, sections: Sequence[Section]) -> Path:
    """A page in the report's style that opens offline; without any script."""
    text = fill("sections.html", title=title, sections=list(sections))
    write_text(Path(path), text.encode("utf-8", "replace").decode())
    return Path(path)


def svg_file(path: Path | str, chart: Markup) -> Path:
    """A chart as a file that stands alone, in the light colours, on paper."""
    opening, _, rest = str(chart).partition(">")
    left, top, width, height = (float(part) for part in opening.split('viewBox="')[1].split('"')[0].split())
    box = {"x": left - MARGIN, "y": top - MARGIN, "width": width + 2 * MARGIN, "height": height + 2 * MARGIN}
    size = 'viewBox="{x} {y} {width} {height}" width="{width}" height="{height}"'.format(**box)
    opening = re.sub(r'viewBox="[^"]*" width="[^"]*" height="[^"]*"', size, opening)
    paper = element("rect", **box, fill="var(--paper)")
    style = "\n".join(line for line in asset("charts.css").splitlines() if line.startswith(".chart "))
    text = f"{opening}><style>{asset('paints.css')}{style}</style>{paper}{rest}\n"
    write_text(Path(path), light(text))
    return Path(path)


def light(text: str) -> str:
    """Every `var(--name)` as its value in the light scheme, for programs that know no variables."""
    root = re.search(r":root \{(.*?)\}", asset("variables.css"), re.DOTALL)
    assert root
    values = dict(re.findall(r"--([\w-]+): ([^;]+);", root[1]))
    return re.sub(r"var\(--([\w-]+)\)", lambda found: values[found[1]], text)
