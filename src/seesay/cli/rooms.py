"""`seesay rooms`: a made-up world whose truth is known, to try mining in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def rooms(
    output: Annotated[Path, typer.Option("--output", "-o", help="A new folder for the pictures and annotations.")],
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many pictures.")] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the rooms.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Silent but for errors.")] = False,
) -> None:
    """Make pictures of rooms with boxes, depth, captions, and what is true of them (truth.json)."""
    from seesay.cli.output import out, progress_bar
    from seesay.errors import UserError
    from seesay.mine.rooms import write

    if output.exists() and any(output.iterdir()):
        raise UserError(f"'{output}' is not empty: name a new folder.")
    with progress_bar("rooms", unit="pictures", quiet=quiet) as advance:
        write(output, count, seed, tell=lambda _: advance(1, count))
    if not quiet:
        out.print(f"seesay mine --annotations plain:{output / 'annotations.parquet'} -o knowledge", soft_wrap=True)
