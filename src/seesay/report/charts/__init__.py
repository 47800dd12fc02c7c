"""Charts as inline SVG, pages made of them, and charts as files."""

from seesay.report.charts.bars import Bar, bars, stacked_bars
from seesay.report.charts.columns import columns, histogram
from seesay.report.charts.heat import heat_map
from seesay.report.charts.lines import Series, lines
from seesay.report.charts.tree import dendrogram
from seesay.report.pages.sections import Section, Table, svg_file, write_page

__all__ = [
    "Bar",
    "Section",
    "Series",
    "Table",
    "bars",
    "columns",
    "dendrogram",
    "heat_map",
    "histogram",
    "lines",
    "stacked_bars",
    "svg_file",
    "write_page",
]
