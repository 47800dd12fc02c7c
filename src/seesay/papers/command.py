"""`seesay paper`: every table and figure of a paper, ours beside the published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.cli.completion import complete_papers
from seesay.cli.options import Json, Quiet
from seesay.errors import UserError

if TYPE_CHECKING:
    from seesay.papers.paper import Page, Paper

_FEWEST_ITEMS = 80


def paper(
    name: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            autocompletion=complete_papers,
            help="viphy, malevic, memory-colors, spatial-relations or cs388.",
        ),
    ],
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FOLDER",
            help="Runs, reasoners, sweeps, matrices or knowledge, or folders of these.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The page to write. Default: PAPER.html.")
    ] = None,
    list_only: Annotated[
        bool, typer.Option("--list", help="List the tables and figures and write no page.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Look for every published value in the paper's text; write no page."
        ),
    ] = False,
    text: Annotated[
        Path | None,
        typer.Option(
            help="The paper's text, or the folder of such. Default: papers beside SEESAY_SHARED."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the published files, in place of the data folder."),
    ] = None,
    items: Annotated[
        int, typer.Option(min=_FEWEST_ITEMS, help="Generated items of a test of scenes (malevic).")
    ] = 2_000,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Go through a paper table by table and figure by figure: published values, ours, and how to
    make the rest.

    viphy's Table 8 is computed with MiniLM, whose 84 MB are fetched once; --list fetches nothing.

    Examples:
        seesay paper viphy runs -o viphy.html
        seesay paper malevic --list
    """
    from seesay.cli.output import out, print_json, progress_bars, table
    from seesay.papers import load_paper
    from seesay.papers.check import as_record, check_paper, find_texts, summary
    from seesay.papers.material import Material
    from seesay.papers.paper import as_records, render_entries, write_paper

    the_paper = load_paper(name)
    # a check without a text to look into ends before work begins
    checked = check_paper(the_paper, find_texts(the_paper, text)) if check else []
    list_only = list_only or check
    if data is not None and not data.is_dir():
        raise UserError(
            f"There is no folder '{data}': --data is the folder of the published files."
        )
    material = Material(
        folders or [],
        data,
        # a list says what can be shown, for which the fewest items do
        items=_FEWEST_ITEMS if list_only else items,
        brief=list_only,
        progress=progress_bars(quiet=quiet or as_json),
    )
    # folders that hold nothing are refused before work begins
    _ = material.folders
    page = render_entries(the_paper, material)
    path = None
    if not list_only:
        path = write_paper(output or Path(f"{the_paper.name}.html"), the_paper, page)
    if as_json:
        document = {
            "paper": the_paper.name,
            "citation": the_paper.citation,
            "page": str(path) if path else None,
            "entries": as_records(page, brief=list_only),
        }
        if check:
            document["published"] = [as_record(row) for row in checked]
        print_json(document)
    else:
        if check:
            rows = [[row.place, row.row, " | ".join(row.cells), row.where] for row in checked]
            out.print(table(["published in", "row", "values", "in the text"], rows))
            out.print(summary(checked))
        _print_entries(the_paper, page, with_all_commands=list_only)
    if path and not quiet and not as_json:
        out.print(str(path))
    if any(row.is_missing for row in checked):
        raise typer.Exit(1)


def _print_entries(the_paper: Paper, page: Page, *, with_all_commands: bool) -> None:
    """Print a line for every entry, with its command: of all, or of those that need a run
    or data."""
    from seesay.cli.output import out, table
    from seesay.papers.paper import Status

    columns = ["in the paper", "what it shows", "here", "command"]
    rows = []
    for entry, rendered in page:
        is_missing = rendered.status in (Status.NEEDS_RUN, Status.NEEDS_DATA)
        command = entry.command if with_all_commands or is_missing else ""
        rows.append([entry.number, entry.title, str(rendered.status), command])
    out.print(table(columns, rows, title=the_paper.title))
