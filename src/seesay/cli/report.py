"""`seesay report`: a page or tables of runs that exist."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from seesay.cli.options import ClusterKey, ItemKey, Json, RunsOrLogs, ScoreKey

Format = StrEnum("Format", ["html", "csv", "markdown", "latex", "json", "eee"])
Relationship = StrEnum("Relationship", ["first_party", "third_party", "collaborative", "other"])


def report(
    runs: RunsOrLogs,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write, or eee's folder. Default: report.html; tables are printed.",
        ),
    ] = None,
    format: Annotated[
        Format,
        typer.Option(
            "--format",
            "-f",
            help="html: a page; markdown, latex: models by tasks; csv, json: one row per figure; "
            "eee: a folder of Every Eval Ever's records.",
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
    organization: Annotated[
        str, typer.Option("--by", metavar="NAME", help="Who asked the models, for eee.")
    ] = "",
    relationship: Annotated[
        Relationship, typer.Option(help="What they are to the models' makers, for eee.")
    ] = Relationship.other,
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
        seesay report runs --format eee --by "Our lab" -o records
    """
    from seesay import api
    from seesay.cli.output import out, print_json, remark
    from seesay.errors import UserError
    from seesay.files import write_text
    from seesay.quantities import quantity
    from seesay.reports.tables import slices_table

    results = api.results(runs, item=item, cluster=cluster, score=score)
    results = results.measured(*(metric or ()))
    for tags in slices or ():
        results = results.sliced(tags)
    if format is Format.eee:
        if output is None:
            raise UserError("Every Eval Ever's records are a folder: name it with -o FOLDER.")
        records = results.save_records(output, organization, relationship)
        remark(f"Records: {output} ({quantity(len(records), 'run')})")
        return
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
