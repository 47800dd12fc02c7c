"""Pages made of sections with charts and tables, and charts as files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from seesay.files import write_text
from seesay.reports.charts.kernel import element
from seesay.reports.layout import asset, render_page

MARGIN = 12


@dataclass(frozen=True)
class DataTable:
    """The numbers behind charts, or a table of its own; `title` tells several apart."""

    header: Sequence[str]
    rows: Sequence[Sequence[str | float | None]]
    title: str = ""


@dataclass(frozen=True)
class Section:
    """A heading, paragraphs separated by empty lines, charts, and the numbers behind them."""

    heading: str
    text: str = ""
    charts: Sequence[Markup] = ()
    table: DataTable | None = None


def write_page(path: Path | str, title: str, sections: Sequence[Section]) -> Path:
    """Write a page in the report's style that opens offline and has no script."""
    write_text(Path(path), render_page("sections.html", title=title, sections=list(sections)))
    return Path(path)


def write_svg(path: Path | str, chart: Markup) -> Path:
    """Write a chart as a stand-alone file in the light color scheme."""
    opening, _, content = str(chart).partition(">")
    view_box = opening.split('viewBox="')[1].split('"')[0]
    left, top, width, height = map(float, view_box.split())
    box = {
        "x": left - MARGIN,
        "y": top - MARGIN,
        "width": width + 2 * MARGIN,
        "height": height + 2 * MARGIN,
    }
    size = 'viewBox="{x} {y} {width} {height}" width="{width}" height="{height}"'.format(**box)
    opening = re.sub(r'viewBox="[^"]*" width="[^"]*" height="[^"]*"', size, opening)
    # a program that shows the file may have a dark background
    paper = element("rect", **box, fill="var(--paper)")
    rules = asset("charts.css").splitlines()
    style = "\n".join(rule for rule in rules if rule.startswith(".chart "))
    text = f"{opening}><style>{asset('paints.css')}{style}</style>{paper}{content}\n"
    write_text(Path(path), light(text))
    return Path(path)


def light(text: str) -> str:
    """Replace every `var(--name)` by its value in the light scheme.

    Many programs that show SVG know no CSS variables.
    """
    root = re.search(r":root \{(.*?)\}", asset("variables.css"), re.DOTALL)
    assert root
    values = dict(re.findall(r"--([\w-]+): ([^;]+);", root[1]))
    return re.sub(
        r"var\(--([\w-]+)\)",
        lambda match: values[match[1]],
        text,
    )
