"""How many questions would it have taken? Replays `--until-settled` on runs that asked all of them.

    python benchmarks/settled.py RUNS [--seeds 20] [--margin 0.02] [--least 0.03]

Every two runs of a task whose headline figures differ by `--least` or more are replayed in as many
random orders as there are seeds. Printed are, for each task, the median share of the questions that
were asked before the difference was settled, how often it was not settled at all, and how often the
model that is behind on all the questions was called ahead.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np

from seesay import metrics
from seesay.grouping import group_by
from seesay.metrics.base import FloatArray
from seesay.metrics.sequences import interval_at_any_time
from seesay.runs.figures import items_by_template, statistics
from seesay.runs.run import Run
from seesay.runs.settle import paired_gains, rounds, verdict_of
from seesay.runs.store import find_runs


def headline_statistics(run: Run) -> FloatArray:
    """Return the statistics of a run's headline metric, templates × questions × 2."""
    metric = metrics.get(run.task.metrics[0])
    items = items_by_template(run.task, run.answers, run.manifest.condition.length)
    return statistics([metric], items)[metric.name]


def replay(
    pair: tuple[Run, Run], stats: tuple[FloatArray, FloatArray], seed: int, margin: float
) -> tuple[str, float]:
    """Return the verdict, and the share of questions that it took."""
    questions = pair[0].task.questions
    rows_by_object = group_by(range(len(questions)), lambda row: questions[row].object)
    metric = metrics.get(pair[0].task.metrics[0])
    rows: list[int] = []
    verdict = "open"
    for names in rounds(sorted(rows_by_object), seed):
        rows += [row for name in names for row in rows_by_object[name]]
        asked = [questions[row] for row in rows]
        gains = paired_gains(metric, asked, [side[:, rows] for side in stats], questions)
        verdict = verdict_of(interval_at_any_time(gains), margin)
        if verdict != "open":
            break
    return verdict, len(rows) / len(questions)


def main() -> None:
    """Replay every pair, and print a line for each task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--margin", type=float, default=0.02)
    parser.add_argument("--least", type=float, default=0.03)
    options = parser.parse_args()
    everything: list[tuple[float, str, float]] = []
    for task, runs in group_by(find_runs([options.runs]), lambda run: run.task.name).items():
        stats = {run.folder: headline_statistics(run) for run in runs}
        rows: list[tuple[float, str, float]] = []
        for a, b in combinations(runs, 2):
            apart = a.figures[0].value - b.figures[0].value
            alike = a.manifest.task_fingerprint == b.manifest.task_fingerprint
            if abs(apart) < options.least or not alike:
                continue
            for seed in range(options.seeds):
                pair_stats = stats[a.folder], stats[b.folder]
                rows.append((apart, *replay((a, b), pair_stats, seed, options.margin)))
        if rows:
            print(task, describe(rows, options.seeds))
        everything += rows
    if not everything:
        raise SystemExit(f"No two runs differ by {options.least:g} or more.")
    print("all", describe(everything, options.seeds))
    for least, most in ((0.03, 0.05), (0.05, 0.1), (0.1, 0.2), (0.2, 1.0)):
        rows = [row for row in everything if least <= abs(row[0]) < most]
        if rows:
            print(f"all, differing by {least:g} to {most:g}", describe(rows, options.seeds))


def describe(rows: list[tuple[float, str, float]], seeds: int) -> str:
    """Return one line of figures."""
    shares = [share if verdict != "open" else 1.0 for _, verdict, share in rows]
    still_open = np.mean([verdict == "open" for _, verdict, _ in rows])
    wrong = np.mean([verdict == ("b" if apart > 0 else "a") for apart, verdict, _ in rows])
    return (
        f"{len(rows) // seeds} pairs: median {np.median(shares):.0%} asked, "
        f"{still_open:.0%} open, {wrong:.2%} wrong"
    )


if __name__ == "__main__":
    main()
