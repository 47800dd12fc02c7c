"""`seesay report`: a page from runs that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Run folders, or folders of runs such as runs/.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """Write one page for runs that are there, with paired tests."""
    from seesay.cli.output import out, print_json
    from seesay.report.pages import runs as runs_page
    from seesay.runs.compare import compare
    from seesay.runs.store import find_runs

    loaded = find_runs(runs)
    runs_page.write(output, loaded, compare(loaded, strict=False))
    if as_json:
        print_json({"report": str(output), "runs": [str(run.folder) for run in loaded]})
    else:
        out.print(f"Report: {output}", soft_wrap=True)
