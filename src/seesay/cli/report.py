"""`seesay report`: one page for runs that exist."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seesay.cli.options import Json


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Run folders, or folders of runs such as runs/.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    slices: Annotated[
        list[str] | None,
        typer.Option("--slice", metavar="TAG,TAG", help="Cross these tags, as in answers,segment; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write one page for runs that exist, with paired tests; print the figures of crossed slices."""
    from seesay import api
    from seesay.cli.output import out, print_json
    from seesay.reports.tables import slices_table
    from seesay.runs.records import Record

    results = api.results(runs)
    for tags in slices or ():
        results = results.sliced(tags)
    results.save_report(output)
    if as_json:
        document: dict[str, object] = {"report": str(output), "runs": [str(run.folder) for run in results.runs]}
        if slices:
            fields = set(Record.model_fields)
            document["figures"] = [f.model_dump(include=fields) for f in results.figures if f.slice and not f.template]
        print_json(document)
    else:
        for tags in slices or ():
            out.print(slices_table(results.runs, tags.replace(" ", "").split(",")))
        out.print(f"Report: {output}", soft_wrap=True)
