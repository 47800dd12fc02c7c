"""`seesay site`: a leaderboard of many runs as a static site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seesay.cli.options import RunFolders


def site(
    runs: RunFolders,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")] = Path(
        "public"
    ),
    url: Annotated[
        str | None, typer.Option(help="Where the site will be, for links from the Hub's files.")
    ] = None,
    hub_dataset: Annotated[
        str,
        typer.Option(
            metavar="OWNER/NAME", help="The Hub's benchmark data set, for .eval_results files."
        ),
    ] = "seesay/seesay",
) -> None:
    """Write a leaderboard: models by tasks, a page per model and task, and results for the Hub's
    model pages.

    Examples:
        seesay site runs -o public
    """
    from seesay import api
    from seesay.cli.output import remark

    page = api.results(runs).save_site(output, url=url, hub_dataset=hub_dataset)
    remark(f"Site: {page}")
