"""`seesay merge`: runs of the shares that jobs have answered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seesay.cli.options import Json, Quiet


def merge(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER", help="What `seesay probe --shard` wrote: all shares, in any order."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the runs.")] = Path(
        "runs"
    ),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make runs of the shares that jobs have answered. No model is needed; a share that is missing
    or unfinished is named."""
    from seesay import api
    from seesay.cli.output import out, print_json, progress_bars
    from seesay.reports.tables import overview

    results = api.merge(folders, output, progress=progress_bars(quiet=quiet or as_json))
    if as_json:
        print_json([figure.as_record() for figure in results.figures])
    else:
        out.print(overview(results.runs))
