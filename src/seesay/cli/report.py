"""`seesay report`: a page of existing runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Run folders, or folders of runs such as runs/.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """Write one page for existing runs, with paired tests."""
    from seesay.api import results
    from seesay.cli.output import out, print_json
    from seesay.runs.compare import compare

    loaded = results(runs)
    loaded.save_report(output, compare(loaded.runs, strict=False))
    if as_json:
        print_json({"report": str(output), "runs": [str(run.folder) for run in loaded.runs]})
    else:
        out.print(f"Report: {output}", soft_wrap=True)
