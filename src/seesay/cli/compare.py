"""`seesay compare`: paired tests between runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.cli.options import ClusterKey, ItemKey, Json, Resamples, RunsOrLogs, ScoreKey, Seed
from seesay.defaults import POWER, RESAMPLES
from seesay.errors import UserError

if TYPE_CHECKING:
    from seesay.runs.records import Comparison


def compare(
    runs: RunsOrLogs,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="Compare each run with this model's. Default: with the best."
        ),
    ] = None,
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Compare every run with every other.")
    ] = False,
    all_tests: Annotated[
        bool,
        typer.Option("--all-tests", help="Show the p-values of the other tests, too."),
    ] = False,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan", help="How many questions it takes to show the differences, from these runs."
        ),
    ] = False,
    difference: Annotated[
        float | None,
        typer.Option(
            min=0.0001, help="With --plan: the difference to be shown. Default: each as it is."
        ),
    ] = None,
    power: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="With --plan: the chance to show it.")
    ] = POWER,
    report: Annotated[
        Path | None, typer.Option(help="Write a page with the runs and the tests.")
    ] = None,
    stability: Annotated[
        bool,
        typer.Option(
            "--stability", help="How stable the ranking is over templates (Kendall's tau), instead."
        ),
    ] = False,
    item: ItemKey = None,
    cluster: ClusterKey = None,
    score: ScoreKey = None,
    seed: Seed = 0,
    resamples: Resamples = RESAMPLES,
    as_json: Json = False,
) -> None:
    """Is the difference real? Paired tests on the questions that runs share.

    Examples:
        seesay compare runs --all-pairs
        seesay compare runs/smollm2 runs/baseline_majority-* --plan
        seesay compare a.eval samples_b.jsonl --cluster object
    """
    from seesay import api
    from seesay.cli.output import out, print_json, remark
    from seesay.reports.tables import comparison_table, stability_table

    # each says what is compared with what
    if against is not None and all_pairs:
        raise UserError(
            "--against and --all-pairs do not go together: one reference, or every pair."
        )
    if difference is not None and not plan:
        raise UserError("--difference is what a plan is to show: add --plan.")
    results = api.results(runs, item=item, cluster=cluster, score=score)
    if stability:
        rankings = results.stability(resamples=resamples, seed=seed)
        if as_json:
            print_json([asdict(ranking) for ranking in rankings])
        else:
            for ranking in rankings:
                out.print(stability_table(ranking))
        return
    comparisons = results.compare(
        against=against,
        all_pairs=all_pairs,
        resamples=resamples,
        seed=seed,
        strict=True,
        all_seeds=True,
    )
    if plan:
        _print_plan(comparisons, difference, power, as_json)
        return
    if report is not None:
        # a page shows each edition by itself
        has_editions = any(c.anchors is not None for c in comparisons)
        results.save_report(report, None if has_editions else comparisons)
    if as_json:
        print_json([comparison.model_dump() for comparison in comparisons])
        return
    out.print(comparison_table(comparisons, all_tests=all_tests))
    if report is not None:
        remark(f"Report: {report}")


def _print_plan(
    comparisons: Sequence[Comparison], difference: float | None, power: float, as_json: bool
) -> None:
    from seesay import metrics
    from seesay.cli.output import out, print_json, table
    from seesay.metrics.power import power_plan
    from seesay.reports.formatting import NONE, number

    plans = []
    for c in comparisons:
        # from the interval that these runs have: more questions are taken to be of the same kind
        plan = power_plan(
            c.difference,
            c.low,
            c.high,
            c.n,
            target=difference,
            power=power,
            is_mean=metrics.get(c.metric).is_mean,
        )
        plans.append((c, plan))
    if as_json:
        print_json(
            [
                {"task": c.task, "metric": c.metric, "a": c.a, "b": c.b, "n": c.n, **asdict(plan)}
                for c, plan in plans
            ]
        )
        return
    rows = [
        (
            f"{c.task}, {c.metric}",
            f"{c.a} vs {c.b}",
            number(c.difference, sign=True),
            c.n,
            f"{plan.target:.3f}" if difference is None else f"{difference:g}",
            NONE if plan.questions is None else f"{plan.questions:,}",
            number(plan.detectable),
        )
        for c, plan in plans
    ]
    columns = ["task, metric", "A vs B", ">now", ">n", ">to show", ">questions", ">with n"]
    out.print(table(columns, rows))
    out.print(
        "Questions that it takes to show the difference (two-sided, p at most 0.05, power "
        f"{power:.0%}), and the smallest difference that as many as now would show. More "
        "comparisons take more, because p is corrected."
    )
    unplanned: dict[str, list[str]] = {}
    for c, plan in plans:
        if plan.reason is not None:
            unplanned.setdefault(plan.reason, []).append(f"{c.task}, {c.metric}")
    for reason, names in unplanned.items():
        out.print(f"No plan for {'; '.join(dict.fromkeys(names))}: {reason}.")
