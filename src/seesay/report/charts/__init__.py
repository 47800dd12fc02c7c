"""Charts as inline SVG, all drawn with one kernel."""

from seesay.report.charts.bars import Bar, bars, stacked_bars
from seesay.report.charts.columns import columns, histogram
from seesay.report.charts.heat import heat_map
from seesay.report.charts.lines import Series, lines
from seesay.report.charts.tree import dendrogram

__all__ = ["Bar", "Series", "bars", "columns", "dendrogram", "heat_map", "histogram", "lines", "stacked_bars"]
