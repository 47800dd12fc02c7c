"""`seesay paper`: every table and figure of a paper, ours beside the published."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seesay.cli.completion import complete_papers
from seesay.cli.options import Json, Quiet
from seesay.errors import UserError

_FEWEST_ITEMS = 80


def paper(
    name: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            autocompletion=complete_papers,
            help="viphy, malevic, memory-colors or spatial-relations.",
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

    Examples:
        seesay paper viphy runs -o viphy.html
        seesay paper malevic --list
    """
    from seesay.cli.output import out, print_json, progress_bars, table
    from seesay.papers import load_paper
    from seesay.papers.material import Material
    from seesay.papers.paper import as_records, render_entries, write_paper

    the_paper = load_paper(name)
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
        print_json(document)
        return
    columns = ["in the paper", "what it shows", "here"]
    rows = [[entry.number, entry.title, str(rendered.status)] for entry, rendered in page]
    # the page has the commands
    if list_only:
        columns.append("command")
        for row, (entry, _) in zip(rows, page, strict=True):
            row.append(entry.command)
    out.print(table(columns, rows, title=the_paper.title))
    if path and not quiet:
        out.print(str(path))
