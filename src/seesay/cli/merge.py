"""`seesay merge`: one result of the shares that jobs have done."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seesay.cli.options import Json, Quiet, local_paths


def merge(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER",
            help="What commands with --shard wrote: all shares, in any order.",
            callback=local_paths,
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the runs, or of the one result.")
    ] = Path("runs"),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make one result of the shares that jobs have done: runs of `probe`, the knowledge of `mine`,
    the tables of a sweep. A share that is missing or unfinished is named."""
    from seesay import api
    from seesay.cli.output import out, print_json, progress_bars
    from seesay.reports.tables import overview
    from seesay.shards import RUN, find_shards, merge_work

    work = [shard for shard in find_shards(folders) if shard.kind != RUN]
    if work:
        line = merge_work(work, output, progress_bars(quiet=quiet or as_json))
        if as_json:
            print_json({"folder": str(output), "kind": work[0].kind})
        elif not quiet:
            out.print(line)
        return
    results = api.merge(folders, output, progress=progress_bars(quiet=quiet or as_json))
    if as_json:
        print_json([figure.as_record() for figure in results.figures])
    else:
        out.print(overview(results.runs))
