"""How many prompts would it have taken? Replays `--until-settled` on runs that asked more.

    python -m benchmarks.settled RUNS… [--seeds 20] [--margin 0.02] [--least 0.03] [--whole]
    python -m benchmarks.settled RUNS… --layers MODEL,… --task core-size [--pairs 300]

Every two runs of the same questions whose headline figures differ by `--least` or more are replayed
in as many random orders as there are seeds, as if these questions were the whole task. Printed are,
for each set of questions, the median share of the prompts that were asked before the difference was
settled, the median share of the questions that were asked in one template or more, and how often
the verdict was wrong: the model that is behind on all prompts was called ahead, or models that
differ by more than the margin were called alike. Beside these stands what it takes to look once:
the share at which the 95 % interval of a simple random sample just leaves out zero, by someone who
knows the difference and its spread beforehand, and is right in half of all cases. Models with equal
answers are counted once. With `--whole`, every question is asked in all its templates at once, to
see what single prompts save.

With `--layers`, linear probes of every layer of these models are set against each other and the
runs of one task, but never probes of one model: so many random pairs, of the questions that all
were asked.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from benchmarks.items import Responses, read_responses

from seesay import metrics
from seesay.defaults import LEVEL
from seesay.grouping import group_by
from seesay.metrics.base import FloatArray, IntArray
from seesay.metrics.sequences import PairedSequence
from seesay.questions import Task
from seesay.runs.figures import items_by_template, statistics
from seesay.runs.items import distinct_rows
from seesay.runs.run import Run
from seesay.runs.settle import prompt_groups, rounds, verdict_of
from seesay.runs.store import find_runs
from seesay.tasks import load_task


class Replay(NamedTuple):
    """What came of asking two models in one order."""

    difference: float
    is_wrong: bool
    prompts: float
    questions: float
    at_once: float


def credits_of(run: Run) -> FloatArray:
    """Return the credit of each prompt by the headline metric, NaN where it does not count."""
    metric = metrics.get(run.task.metrics[0])
    items = items_by_template(run.task, run.answers, run.manifest.condition.length)
    stats = statistics([metric], items)[metric.name]
    return np.where(metric.defined(stats), stats[..., 0], np.nan).reshape(-1)


def replay(gains: FloatArray, groups: IntArray, questions: int, seed: int, margin: float) -> Replay:
    """Ask in the order of a seed until the difference is settled."""
    weights = (~np.isnan(gains)).astype(np.float64)
    difference = float(np.nanmean(gains))
    sequence = PairedSequence(groups)
    asked_rows: list[IntArray] = []
    verdict = None
    for rows in rounds(len(gains), seed):
        asked_rows.append(rows)
        sequence.add(rows, np.nan_to_num(gains[rows]), weights[rows])
        verdict = verdict_of(sequence.interval(), margin)
        if verdict is not None:
            break
    right = {"a"} if difference > 0 else {"b"}
    if abs(difference) <= margin:
        right.add("alike")
    rows = np.concatenate(asked_rows)
    touched = len(np.unique(rows % questions))
    return Replay(
        difference,
        verdict not in right,
        len(rows) / len(gains),
        touched / questions,
        share_at_once(gains),
    )


def share_at_once(gains: FloatArray) -> float:
    """Return n / N where z σ √((1 − n/N) / n) is the difference: beyond what is seen there is no
    doubt."""
    known = gains[~np.isnan(gains)]
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    return float(1 / (1 + len(known) * known.mean() ** 2 / (z**2 * known.var())))


def content(run: Run) -> tuple[str, tuple[str, ...], int]:
    """Return what two runs must have in common: the task, its questions and their templates. A
    trained probe answers the task's test questions alone, in one template."""
    ids = tuple(question.id for question in run.task.questions)
    return run.task.name, ids, len(run.task.templates)


def distinct_credits(runs: Sequence[Run]) -> FloatArray:
    """Return the credits of runs of the same questions, those of equal answers once."""
    credits = np.stack([credits_of(run) for run in runs])
    return credits[distinct_rows(credits)]


def replay_task(task: Task, of_runs: FloatArray, options: argparse.Namespace) -> list[Replay]:
    """Replay every pair of runs of a task, given their credits."""
    questions = len(task.questions)
    credits = list(of_runs)
    groups = prompt_groups(task)
    if options.whole:
        # of the kinds of groups the last is the question, and no question is asked twice
        groups = groups[:-1, :questions]
        credits = [by_prompt.reshape(-1, questions).mean(axis=0) for by_prompt in credits]
    replays: list[Replay] = []
    for a, b in combinations(credits, 2):
        gains = a - b
        if abs(np.nanmean(gains)) >= options.least:
            replays += [
                replay(gains, groups, questions, seed, options.margin)
                for seed in range(options.seeds)
            ]
    return replays


def replay_probes(responses: Responses, options: argparse.Namespace) -> list[Replay]:
    """Replay some pairs of different models, one of them a probe or a run of the same questions."""
    credits, models = responses.credits, responses.models
    questions = credits.shape[1]
    # a probe has one template
    groups = prompt_groups(responses.task)[:, :questions]
    pairs = [
        (a, b)
        for a, b in combinations(range(len(credits)), 2)
        if models[a] != models[b] and abs((credits[a] - credits[b]).mean()) >= options.least
    ]
    order = np.random.default_rng(0).permutation(len(pairs))[: options.pairs]
    scores = credits.mean(axis=1)
    print(
        f"{len(credits)} runs that answer differently, {scores.min():.3f} to {scores.max():.3f}; "
        f"{len(order)} of {len(pairs)} pairs of different models"
    )
    replays = []
    for a, b in [pairs[place] for place in order]:
        gains = credits[a] - credits[b]
        for seed in range(options.seeds):
            replays.append(replay(gains, groups, questions, seed, options.margin))
    return replays


def main() -> None:
    """Replay what is asked for, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--margin", type=float, default=0.02)
    parser.add_argument("--least", type=float, default=0.03)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--layers", default="")
    parser.add_argument("--task")
    parser.add_argument("--pairs", type=int, default=300)
    options = parser.parse_args()
    runs = find_runs(options.runs)
    if options.layers:
        of_task = [run for run in runs if run.task.name == options.task]
        task = load_task(options.task)
        responses = read_responses(task, of_task, options.layers.split(","))
        everything = replay_probes(responses, options)
    else:
        everything = replay_runs(runs, options)
    if not everything:
        raise SystemExit(f"No two runs of the same questions differ by {options.least:g} or more.")
    print("all", describe(everything, options.seeds))
    for least, most in ((0.03, 0.05), (0.05, 0.1), (0.1, 0.2), (0.2, 1.0)):
        some = [one for one in everything if least <= abs(one.difference) < most]
        if some:
            print(f"all, differing by {least:g} to {most:g}", describe(some, options.seeds))


def replay_runs(runs: Sequence[Run], options: argparse.Namespace) -> list[Replay]:
    """Replay every pair, and print a line for each task."""
    everything: list[Replay] = []
    for (name, ids, templates), members in group_by(runs, content).items():
        task = members[0].task
        metric = metrics.get(task.metrics[0])
        if not metric.is_mean or metric.signed or metric.lower_is_better:
            continue
        credits = distinct_credits(members)
        replays = replay_task(task, credits, options)
        if replays:
            scores = np.nanmean(credits, axis=1)
            print(
                f"{name}, {len(ids)} questions in {templates}, {len(credits)} of {len(members)} "
                f"runs, {scores.min():.3f} to {scores.max():.3f},",
                describe(replays, options.seeds),
                flush=True,
            )
        everything += replays
    return everything


def describe(replays: list[Replay], seeds: int) -> str:
    """Return one line of figures."""
    prompts = np.array([one.prompts for one in replays])
    questions = np.array([one.questions for one in replays])
    wrong = np.mean([one.is_wrong for one in replays])
    at_once = np.median([one.at_once for one in replays])
    return (
        f"{len(replays) // seeds} pairs: median {np.median(prompts):.0%} of the prompts (nine in "
        f"ten at most {np.quantile(prompts, 0.9):.0%}), {np.median(questions):.0%} of the "
        f"questions, {wrong:.2%} wrong; looking once {at_once:.0%}"
    )


if __name__ == "__main__":
    main()
