"""`seesay report`: one page for runs that exist."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seesay.cli.options import Json


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Run folders, or folders of runs such as runs/.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    as_json: Json = False,
) -> None:
    """Write one page for runs that exist, with paired tests."""
    from seesay import api
    from seesay.cli.output import out, print_json

    results = api.results(runs)
    results.save_report(output)
    if as_json:
        print_json({"report": str(output), "runs": [str(run.folder) for run in results.runs]})
    else:
        out.print(f"Report: {output}", soft_wrap=True)
