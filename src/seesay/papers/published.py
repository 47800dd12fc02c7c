"""What papers print, and what their authors' files add: each paper has a file `published.yaml` of
tables, cell by cell as they stand there.

A table without `source` is printed: `seesay.papers.check` looks for every row of it in the paper's
text. One with `source` is from the authors' files, which it names, and is shown under that title.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from seesay.reports.pages.sections import DataTable

_NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True)
class PublishedTable:
    """A table, or a figure as numbers.

    The first column has the names of the rows, as the paper has them: "SUP1: FiLM" is the row
    "FiLM" of the group "SUP1". `quotes` has the passage of a row whose values stand in a sentence
    and not in a table. `source` names the authors' file of values that the paper does not print.
    """

    header: list[str]
    rows: Mapping[str, list[str]]
    title: str = ""
    source: str = ""
    quotes: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_printed(self) -> bool:
        """Whether the paper's text has the values."""
        return not self.source

    @property
    def numbers(self) -> dict[str, dict[str, float]]:
        """The values by row and column; what is no number, such as a dash, is left out."""
        numbers = {}
        for name, cells in self.rows.items():
            # a row may end early: its last columns are not printed
            pairs = zip(self.header[1:], cells, strict=False)
            numbers[name] = {
                column: float(cell) for column, cell in pairs if _NUMBER.fullmatch(cell)
            }
        return numbers

    @property
    def as_printed(self) -> DataTable:
        """The table for a page, titled by where it is from; a row that ends early has empty
        cells."""
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
        origin = f"From the authors' files ({self.source})" if self.source else "As printed"
        title = f"{origin}: {self.title}" if self.title else origin
        return DataTable(self.header, rows, title)


def read_yaml(paper: str, name: str) -> Any:
    """Return a file of a paper, a package here; every value is a text, as printed."""
    text = (files("seesay.papers") / paper / name).read_text(encoding="utf-8")
    return yaml.load(text, Loader=yaml.BaseLoader)


@cache
def published_tables(paper: str) -> dict[str, PublishedTable]:
    """Return the tables of a paper by the names that the paper gives them."""
    tables = read_yaml(paper, "published.yaml")
    return {name: PublishedTable(**fields) for name, fields in tables.items()}
