"""`seesay compare`: paired tests between runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seesay.cli.options import Json, Resamples, Seed


def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN", help="Run folders, or folders of runs such as runs/MODEL.")
    ],
    against: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Compare each run with this model's. Default: with the best.")
    ] = None,
    all_pairs: Annotated[bool, typer.Option("--all-pairs", help="Compare every run with every other.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write a page with the runs and the tests.")] = None,
    stability: Annotated[
        bool, typer.Option("--stability", help="How stable the ranking is over templates (Kendall's tau), instead.")
    ] = False,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
    as_json: Json = False,
) -> None:
    """Is the difference real? Paired tests on the questions that runs share."""
    from dataclasses import asdict

    from seesay import api
    from seesay.cli.output import out, print_json, remark
    from seesay.errors import UserError
    from seesay.reports.tables import comparison_table, stability_table

    if against is not None and all_pairs:
        raise UserError("--against and --all-pairs do not go together: one reference, or every pair.")
    results = api.results(runs)
    if stability:
        rankings = results.stability(resamples=resamples, seed=seed)
        if as_json:
            print_json([asdict(ranking) for ranking in rankings])
        else:
            for ranking in rankings:
                out.print(stability_table(ranking))
        return
    comparisons = results.compare(
        against=against, all_pairs=all_pairs, resamples=resamples, seed=seed, strict=True, all_seeds=True
    )
    if report is not None:
        results.save_report(report, comparisons)
    if as_json:
        print_json([comparison.model_dump() for comparison in comparisons])
        return
    out.print(comparison_table(comparisons))
    if report is not None:
        remark(f"Report: {report}")
