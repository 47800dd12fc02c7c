"""Results as people read them: tables in the terminal, pages that open offline, fragments for
notebooks."""

from seesay.reports.pages.runs import overview_html, render, write
from seesay.reports.tables import comparison_table, overview

__all__ = ["comparison_table", "overview", "overview_html", "render", "write"]
