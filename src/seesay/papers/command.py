"""`seesay paper`: every table and figure of a paper, ours beside the published."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seesay.cli.options import Json, Quiet
from seesay.errors import UserError


def paper(
    name: Annotated[
        str,
        typer.Argument(metavar="PAPER", help="viphy, malevic, memory-colors or spatial-relations."),
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
    listed: Annotated[
        bool, typer.Option("--list", help="List the tables and figures and write no page.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the published files, in place of the data folder."),
    ] = None,
    items: Annotated[
        int, typer.Option(min=80, help="Generated items of a test of scenes (malevic).")
    ] = 2_000,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Go through a paper table by table and figure by figure: published values, ours, and how to
    make the rest."""
    from seesay.cli.output import out, print_json, progress_bars, table
    from seesay.papers import load_paper
    from seesay.papers.material import Material
    from seesay.papers.paper import as_records, render_entries, write_paper

    loaded = load_paper(name)
    if data is not None and not data.is_dir():
        raise UserError(
            f"There is no folder '{data}': --data is the folder of the published files."
        )
    bars = progress_bars(quiet=quiet or as_json)
    material = Material(folders or [], data, 80 if listed else items, brief=listed, progress=bars)
    _ = material.folders  # folders that hold nothing are refused before work begins
    page = render_entries(loaded, material)
    if listed:
        written = None
    else:
        written = write_paper(output or Path(f"{loaded.name}.html"), loaded, page)
    if as_json:
        fields = {
            "paper": loaded.name,
            "citation": loaded.citation,
            "page": str(written) if written else None,
        }
        print_json({**fields, "entries": as_records(page, brief=listed)})
    else:
        rows = [
            [entry.number, entry.title, rendered.status, entry.command] for entry, rendered in page
        ]
        columns = ["in the paper", "what it shows", "here", "command"]
        shown = 4 if listed else 3  # the page has the commands
        out.print(table(columns[:shown], [row[:shown] for row in rows], title=loaded.title))
        if written and not quiet:
            out.print(str(written))
