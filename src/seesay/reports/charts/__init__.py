"""Charts as inline SVG, all drawn with one kernel."""

from seesay.reports.charts.bars import Bar, bars, stacked_bars
from seesay.reports.charts.columns import columns, histograms
from seesay.reports.charts.heat import heat_map
from seesay.reports.charts.lines import Series, lines
from seesay.reports.charts.tree import dendrogram

__all__ = [
    "Bar",
    "Series",
    "bars",
    "columns",
    "dendrogram",
    "heat_map",
    "histograms",
    "lines",
    "stacked_bars",
]
