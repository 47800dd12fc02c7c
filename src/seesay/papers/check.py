"""Is what a page calls published in the paper's text? `seesay paper NAME --check`.

A row of a printed table is in the text where one line has its name and its cells, in their order.
The group of a row, as in "SUP1: FiLM", may stand up to `GROUP_LINES` before it. A row with a quote
is in the text where the quote is, and the quote has its cells. White space and marks of type (bold,
subscripts) do not count.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from seesay.errors import UserError
from seesay.papers.paper import Paper
from seesay.papers.published import PublishedTable
from seesay.questions import Published

GROUP_LINES = 3
FILE = re.compile(r"\.(csv|ipynb|json|npy|tex|tsv|txt|xlsx)\b")
"""What a source must name that is not the paper itself."""
_MARKS = {
    r"</?(?:sub|sup|code|b|i)>|\*\*|\$": "",
    r"\*(\w+)\*": r"\1",
    r"(?:\\textbf|_)\{([^}]*)\}": r"\1",
    r"\\pm": "±",
    r"\\sim": "~",
    r"\\%": "%",
}
"""Marks of type as texts of papers have them, in HTML, Markdown and LaTeX, and what stays."""


@dataclass(frozen=True)
class CheckedRow:
    """A published row and where it is: `line` counts from 1, None is nowhere.

    What is not printed has the `source` that it is from, and is not looked for.
    """

    place: str
    row: str
    cells: tuple[str, ...]
    text: str = ""
    line: int | None = None
    source: str = ""

    @property
    def is_missing(self) -> bool:
        """Whether it is called published and is not in the text."""
        return self.line is None and not self.source

    @property
    def where(self) -> str:
        """Its place in words."""
        if self.source:
            return f"not printed: {self.source}"
        if self.line is None:
            return "not in the text"
        return f"{self.text}, line {self.line}"


@dataclass(frozen=True)
class PaperText:
    """The text of a paper, line by line, without marks of type."""

    name: str
    lines: tuple[str, ...]

    @classmethod
    def of(cls, name: str, text: str) -> PaperText:
        """Return a text with its marks taken out.

        >>> PaperText.of("a.txt", r"BERT _{base} $\\textbf{0.94} \\pm 0.002$").lines
        ('BERT base 0.94 ± 0.002',)
        """
        return cls(name, tuple(_without_marks(text).split("\n")))

    def line_of_row(self, name: str, cells: Sequence[str], table: str = "") -> int | None:
        """Return the line that has a row's name and then its cells: of several the one nearest its
        group and the caption of the table, or the first where there is no caption."""
        *groups, row = name.split(": ")
        pattern = re.compile(r".*?".join(map(_pattern, cells)))
        caption = self._line_of_caption(table)
        distances = []
        for place, line in enumerate(self.lines):
            if _letters(row) not in _letters(line) or not pattern.search(line):
                continue
            group_distance = self._lines_since(groups, place)
            if group_distance is None:
                continue
            caption_distance = place if caption is None else abs(place - caption)
            distances.append((group_distance + caption_distance, group_distance, place))
        if not distances:
            return None
        return min(distances)[-1] + 1

    def _line_of_caption(self, table: str) -> int | None:
        """Return which line has the caption of a table, as in "Table 1: ", counted from 0."""
        pattern = re.compile(rf"\b{re.escape(table)}\s*:")
        captions = (place for place, line in enumerate(self.lines) if pattern.search(line))
        return next(captions, None) if table else None

    def _lines_since(self, groups: Sequence[str], place: int) -> int | None:
        """Return how many lines before a row the names of its groups stand, None for too many."""
        # the name of a group stands on the first of its rows only
        for distance in range(min(GROUP_LINES, place) + 1):
            before = "".join(map(_letters, self.lines[place - distance : place + 1]))
            if all(_letters(group) in before for group in groups):
                return distance
        return None

    def line_of_quote(self, quote: str, cells: Sequence[str]) -> int | None:
        """Return the line where a passage begins, provided that it has the cells."""
        # a formula is quoted with its marks
        quote = _without_marks(quote)
        cells = [_without_marks(cell) for cell in cells]
        if not all(re.search(_pattern(cell), quote) for cell in cells):
            return None
        text = "\n".join(self.lines)
        match = re.search(_pattern(quote), text)
        if match is None:
            return None
        return text.count("\n", 0, match.start()) + 1


def _without_marks(text: str) -> str:
    """Return a text without marks of type."""
    for mark, replacement in _MARKS.items():
        text = re.sub(mark, replacement, text)
    return text


def _letters(text: str) -> str:
    """Return letters and digits alone, by which names of rows are compared."""
    return re.sub(r"[\W_]+", "", text).casefold()


def _pattern(cell: str) -> str:
    """Return what matches a cell whatever its white space, and no part of a longer number or word.

    >>> bool(re.search(_pattern("2.4 (1)"), "12.4 (1)")), bool(re.search(_pattern("7"), "7.5"))
    (False, False)
    >>> bool(re.search(_pattern("CLIP-BERT 7 %"), "CLIP - BERT 7%."))
    True
    """
    pieces = re.findall(r"\w+|[^\w\s]", cell)
    pattern = r"\s*".join(map(re.escape, pieces))
    if pieces and pieces[0][0].isalnum():
        pattern = rf"(?<!\w)(?<!\d[.,])(?<!\s[-−]){pattern}"
    if pieces and pieces[-1][-1].isalnum():
        pattern = rf"{pattern}(?!\w)(?![.,]\d)"
    return pattern


def find_texts(paper: Paper, path: Path | None = None) -> list[PaperText]:
    """Read the texts of a paper from a folder, or one from a file.

    Without a path they are looked for in `papers` beside the folder that `SEESAY_SHARED` names.
    """
    if path is None:
        shared = os.environ.get("SEESAY_SHARED")
        path = Path(shared).parent / "papers" if shared else Path("papers")
    if path.is_file():
        files = [path]
    else:
        files = [path / name for name in paper.texts if (path / name).is_file()]
    if not files:
        names = " or ".join(paper.texts)
        raise UserError(
            f"There is no text of the paper ({names}) in '{path}': give it with --text FILE."
        )
    return [PaperText.of(file.name, file.read_text(encoding="utf-8")) for file in files]


def check_paper(paper: Paper, texts: Sequence[PaperText]) -> list[CheckedRow]:
    """Look for every row of every published table in the texts, and for the tasks' figures in the
    tables."""
    rows: list[CheckedRow] = []
    for place, table in paper.tables.items():
        rows += check_table(place, table, texts)
    for task, figures in paper.figures.items():
        for figure in figures:
            rows.append(_check_figure(task, figure, paper.tables, rows))
    return rows


def as_record(row: CheckedRow) -> dict[str, object]:
    """Return a checked row as JSON."""
    return {**asdict(row), "is_missing": row.is_missing}


def summary(rows: Sequence[CheckedRow]) -> str:
    """Return in a sentence how many rows are in the text."""
    printed = [row for row in rows if not row.source]
    missing = sum(row.is_missing for row in printed)
    return (
        f"{len(printed) - missing} of {len(printed)} published rows are in the paper's text; "
        f"{len(rows) - len(printed)} more are from the authors' files."
    )


def check_table(
    place: str, table: PublishedTable, texts: Sequence[PaperText]
) -> Iterator[CheckedRow]:
    """Look for every row of a table."""
    # what is not printed is in no text
    printed_texts = texts if table.is_printed else ()
    for name, cells in table.rows.items():
        row = CheckedRow(place, name, tuple(cells), source=table.source)
        for text in printed_texts:
            if name in table.quotes:
                line = text.line_of_quote(table.quotes[name], cells)
            else:
                line = text.line_of_row(name, cells, place.split(",")[0])
            if line is not None:
                row = replace(row, text=text.name, line=line)
                break
        yield row


def _check_figure(
    task: str,
    figure: Published,
    tables: Mapping[str, PublishedTable],
    rows: Sequence[CheckedRow],
) -> CheckedRow:
    """Look for a task's figure in the row of its model in the table that it is from."""
    place = f"{task}, {figure.place}" if figure.place else task
    name = f"{figure.model}, {figure.metric}"
    cells = (f"{figure.value:g}",)
    if not figure.place and FILE.search(figure.source):
        return CheckedRow(place, name, cells, source=figure.source)
    model = figure.model.replace("people", "human")
    # a table may leave out which people they are
    names = {_letters(model), _letters(model.split(" (")[0])}
    for row in rows:
        is_model = _letters(row.row.split(": ")[-1]) in names
        if row.place == figure.place and is_model and figure.value in _values(row.cells):
            return CheckedRow(place, name, cells, row.text, row.line, tables[row.place].source)
    return CheckedRow(place, name, cells)


def _values(cells: Sequence[str]) -> set[float]:
    """Return the numbers that cells begin with, and the same as shares where they are percentages.

    >>> sorted(_values(["70.45", "0.94 ± 0.002", "-", "~92%"]))
    [0.0094, 0.7045, 0.92, 0.94, 70.45, 92.0]
    """
    values = set()
    for cell in cells:
        match = re.match(r"~?(-?\d+(\.\d+)?)", cell)
        if match:
            value = float(match[1])
            values |= {value, round(value / 100, 6)}
    return values
