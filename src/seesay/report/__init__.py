"""What a reader sees: the table in the terminal and the page that opens offline."""

from seesay.report.pages.runs import render, write
from seesay.report.tables import comparison_table, overview

__all__ = ["comparison_table", "overview", "render", "write"]
