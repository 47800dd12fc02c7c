"""`seesay report`: a page or tables of runs that exist."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from seesay.cli.options import ClusterKey, ItemKey, Json, RunsOrLogs, ScoreKey

Format = StrEnum("Format", ["html", "csv", "markdown", "latex", "json"])


def report(
    runs: RunsOrLogs,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write. Default: report.html; other formats are printed.",
        ),
    ] = None,
    format: Annotated[
        Format,
        typer.Option(
            "--format",
            "-f",
            help="html: a page; markdown, latex: models by tasks; csv, json: one row per figure.",
        ),
    ] = Format.html,
    slices: Annotated[
        list[str] | None,
        typer.Option(
            "--slice",
            metavar="TAG,TAG",
            help="Cross these tags, as in answers,segment; may be repeated.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="A further metric, such as brier or expected_calibration_error; may be repeated."
        ),
    ] = None,
    item: ItemKey = None,
    cluster: ClusterKey = None,
    score: ScoreKey = None,
    as_json: Json = False,
) -> None:
    """Write one page for runs that exist, with paired tests, or their figures for a paper or a
    program.

    Examples:
        seesay report runs -o page.html
        seesay report runs --format latex
    """
    from seesay import api
    from seesay.cli.output import out, print_json, remark
    from seesay.files import write_text
    from seesay.reports.tables import slices_table

    results = api.results(runs, item=item, cluster=cluster, score=score)
    results = results.measured(*(metric or ()))
    for tags in slices or ():
        results = results.sliced(tags)
    # a table is printed, so that it can be piped into a file or a program
    if format is not Format.html:
        text = results.table(format)
        if output is None:
            print(text, end="")
            return
        write_text(output, text)
        remark(f"Table: {output}")
        return
    output = output or Path("report.html")
    results.save_report(output)
    if as_json:
        document: dict[str, object] = {
            "report": str(output),
            "runs": [str(run.folder) for run in results.runs],
        }
        if slices:
            document["figures"] = [
                figure.as_record()
                for figure in results.figures
                if figure.slice and not figure.template
            ]
        print_json(document)
    else:
        for tags in slices or ():
            out.print(slices_table(results.runs, tags.replace(" ", "").split(",")))
        remark(f"Report: {output}")
