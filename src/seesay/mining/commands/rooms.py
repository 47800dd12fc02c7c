"""`seesay rooms`: synthetic pictures of rooms with known facts, to test mining."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seesay.cli.options import Quiet


def rooms(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A new folder for pictures and annotations.")
    ],
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="Number of pictures.")] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the rooms.")] = 0,
    quiet: Quiet = False,
) -> None:
    """Make pictures of rooms with boxes, depth, captions and the facts that are true of them
    (truth.json).

    Examples:
        seesay rooms -n 200 -o rooms
    """
    from seesay.cli.output import out, progress_bar
    from seesay.mining.rooms import write_rooms

    with progress_bar("rooms", unit="pictures", quiet=quiet) as advance:
        write_rooms(output, count, seed, progress=advance)
    if not quiet:
        out.print(
            f"Next: seesay mine --annotations plain:{output / 'annotations.parquet'} -o knowledge"
        )
