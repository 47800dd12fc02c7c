"""A paper as a list of its tables and figures, each rendered from the data and runs at hand, and
its page.

A render function gets the `Material` and returns the `Rendered` entry. Where what it needs is
missing it raises `UserError`, whose sentence says how to get it: the entry then needs a run, with
the command that makes it, or data alone. What no command makes is not possible here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from markupsafe import Markup

from seesay.errors import UserError
from seesay.files import json_value, refuse_folder, write_text
from seesay.papers.material import Material
from seesay.papers.published import PublishedTable, published_tables, read_yaml
from seesay.questions import Published
from seesay.reports.layout import render_page
from seesay.reports.pages.sections import DataTable


class Status(StrEnum):
    """How much of an entry is ours: all of it, a part, nothing yet, or nothing at all.

    The published values are shown in any case.
    """

    SHOWN = "shown"
    IN_PART = "shown in part"
    NEEDS_RUN = "needs a run"
    NEEDS_DATA = "needs data"
    NOT_HERE = "not possible here"

    @classmethod
    def of(cls, is_whole: bool) -> Status:
        """Return the status of an entry of which something is ours."""
        return cls.SHOWN if is_whole else cls.IN_PART


@contextmanager
def noting(notes: list[str], whose: str = "") -> Iterator[None]:
    """Add to `notes` why a part of an entry cannot be shown, where it lacks what it needs."""
    try:
        yield
    except UserError as error:
        notes.append(f"{whose}{error}")


@dataclass(frozen=True)
class Rendered:
    """An entry as far as it can be shown.

    `text` says what differs and why, in paragraphs separated by empty lines; `tables` are open on
    the page, `numbers` (those behind the charts) are folded. Where the tables have the published
    values beside ours (`has_published`), these are not shown a second time.
    """

    text: str = ""
    tables: Sequence[DataTable] = ()
    charts: Sequence[Markup] = ()
    numbers: DataTable | None = None
    status: Status = Status.SHOWN
    has_published: bool = False


Render = Callable[[Material], Rendered]
"""What shows an entry from the folders and the data at hand."""


@dataclass(frozen=True)
class PaperEntry:
    """A table or figure of a paper.

    `number` is the paper's own, as in "Table 1" (where only the section is known, that); `command`
    makes what the entry needs; `published` has the printed values, shown whatever is at hand.
    """

    number: str
    title: str
    render: Render
    command: str
    needs: str = ""
    published: Sequence[PublishedTable] = ()

    @property
    def anchor(self) -> str:
        """Its id on the page.

        >>> PaperEntry("Table 1", "", render=None, command="").anchor
        'table-1'
        """
        return re.sub(r"[^a-z0-9]+", "-", self.number.lower()).strip("-")


@dataclass(frozen=True)
class Paper:
    """A paper: its entries are all its tables and figures, in its order.

    `texts` are the file names of its text, `tables` what is published, by place, and `figures` the
    published figures that tasks hold, by task: `seesay.papers.check` looks for them in the text.
    """

    name: str
    title: str
    citation: str
    entries: tuple[PaperEntry, ...]
    about: str = ""
    texts: Sequence[str] = ()
    tables: Mapping[str, PublishedTable] = field(default_factory=dict)
    figures: Mapping[str, Sequence[Published]] = field(default_factory=dict)


def read_paper(
    package: str,
    citation: str,
    renders: Mapping[str, Render],
    computed: Mapping[str, PublishedTable] | None = None,
    figures: Mapping[str, Sequence[Published]] | None = None,
) -> Paper:
    """Return the paper of a package here, its words read from `entries.yaml`.

    `renders` has the function of each entry by its number; of an entry that it lacks nothing can be
    ours, and `not_here` in the file says why. `computed` has the published tables that are not in
    `published.yaml`, by their place; `figures` the published figures of tasks.
    """
    words = read_yaml(package, "entries.yaml")
    tables = {**published_tables(package), **(computed or {})}
    entries = []
    for fields in words.pop("entries"):
        number = fields["number"]
        # what is not a field of an entry is taken out before the entry is made
        names = fields.pop("published", [])
        published = [tables[name] for name in names]
        if number in renders:
            render = renders[number]
        else:
            render = not_here(fields.pop("not_here"))
        entries.append(PaperEntry(**fields, render=render, published=published))
    return Paper(
        **words,
        citation=citation,
        entries=tuple(entries),
        tables=tables,
        figures=figures or {},
    )


def not_here(sentence: str) -> Render:
    """Return what renders an entry of which nothing can be ours, such as a drawing, by a sentence
    that says why."""
    return lambda _: Rendered(sentence, status=Status.NOT_HERE)


Page = Sequence[tuple[PaperEntry, Rendered]]
"""Every entry of a paper, as rendered."""


def render_entries(paper: Paper, material: Material) -> Page:
    """Render every entry.

    One that lacks what it needs needs a run, with the sentence that says so.
    """
    return [(entry, _render(entry, material)) for entry in paper.entries]


def _render(entry: PaperEntry, material: Material) -> Rendered:
    try:
        rendered = entry.render(material)
    except UserError as error:
        # where a command gets published files and shows them, no run is missing
        steps = {" ".join(step.split()[:2]) for step in entry.command.split(" && ")}
        is_data = "seesay data" in steps <= {"seesay data", "seesay paper"}
        status = Status.NEEDS_DATA if is_data else Status.NEEDS_RUN
        rendered = Rendered(str(error), status=status)
    if rendered.has_published:
        return rendered
    # what is published needs nothing of ours, and is shown in any case
    published = [table.as_printed for table in entry.published]
    return replace(rendered, tables=(*published, *rendered.tables))


def write_paper(path: Path, paper: Paper, page: Page) -> Path:
    """Write the page: an overview of all entries, then a section for each."""
    refuse_folder(path, "page")
    statuses = [rendered.status for _, rendered in page]
    text = render_page(
        "paper.html",
        package=__package__,
        paper=paper,
        page=list(page),
        counts={status: statuses.count(status) for status in Status},
    )
    write_text(path, text)
    return path


def as_records(page: Page, *, brief: bool = False) -> list[dict[str, Any]]:
    """Return the entries as JSON; `brief` leaves the text and the tables out."""
    records = []
    for entry, rendered in page:
        record: dict[str, Any] = {
            "number": entry.number,
            "title": entry.title,
            "command": entry.command,
            "needs": entry.needs,
            "status": str(rendered.status),
        }
        if not brief:
            tables = list(rendered.tables)
            if rendered.numbers:
                tables.append(rendered.numbers)
            record["text"] = rendered.text
            record["tables"] = [_table_record(table) for table in tables]
        records.append(record)
    return records


def _table_record(table: DataTable) -> dict[str, Any]:
    return {
        "title": table.title,
        "header": list(table.header),
        "rows": json_value([list(row) for row in table.rows]),
    }
