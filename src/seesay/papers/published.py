"""What papers print, as data: each paper has a file `published.yaml` of its tables, cell by cell as
printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

from seesay.reports.pages.sections import DataTable


@dataclass(frozen=True)
class PublishedTable:
    """A table, or a figure as numbers.

    The first column has the names of the rows; `source` says where a value is from that the paper
    itself does not print.
    """

    header: list[str]
    rows: Mapping[str, list[str]]
    title: str = ""
    source: str = ""

    @property
    def numbers(self) -> dict[str, dict[str, float]]:
        """The values by row and column."""
        numbers = {}
        for name, cells in self.rows.items():
            # a row may end early: its last columns are not printed
            pairs = zip(self.header[1:], cells, strict=False)
            numbers[name] = {column: float(cell) for column, cell in pairs}
        return numbers

    @property
    def as_printed(self) -> DataTable:
        """The table for a page; a row that ends early has empty cells."""
        rows: list[list[str | float | None]] = []
        for name, cells in self.rows.items():
            # the page's tables are rectangular
            missing = len(self.header) - 1 - len(cells)
            rows.append(
                [
                    name,
                    *cells,
                    *[None] * missing,
                ]
            )
        return DataTable(self.header, rows, self.title)


@cache
def published_tables(paper: str) -> dict[str, PublishedTable]:
    """Return the tables of a paper, a package here, by the names that the paper gives them."""
    text = (files("seesay.papers") / paper / "published.yaml").read_text(encoding="utf-8")
    tables = yaml.load(text, Loader=yaml.BaseLoader)  # every cell a text, as printed
    return {name: PublishedTable(**fields) for name, fields in tables.items()}
