"""`seesay compare`: paired tests between runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN RUN…", help="Run folders, or folders of runs such as runs/MODEL.")
    ],
    report: Annotated[Path | None, typer.Option(help="Write a page with the runs and the tests.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    resamples: Annotated[int, typer.Option(help="Resamples of intervals and p-values, at least 100.")] = 10_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """Is the difference real? Paired tests on the questions that runs share."""
    from seesay.api import results
    from seesay.cli.output import out, print_json
    from seesay.report.tables import comparison_table
    from seesay.runs.ask import check_resampling
    from seesay.runs.compare import compare as compare_runs

    check_resampling(seed, resamples)
    loaded = results(runs)
    comparisons = compare_runs(loaded.runs, resamples=resamples, seed=seed)
    if report is not None:
        loaded.save_report(report, comparisons)
    if as_json:
        print_json([comparison.model_dump() for comparison in comparisons])
        return
    out.print(comparison_table(comparisons))
    if report is not None:
        out.print(f"Report: {report}", soft_wrap=True)
