"""Do adaptive scores and short forms hold for models that they were not made of?

    python benchmarks/items.py RUNS… --task TASK [--questions 100] [--seeds 60]

Of the task those questions count that all of its runs asked. Every run is left out in turn, an item
model is fitted to the others, and the one left out is asked adaptively from its stored answers.
Printed are how often the interval covers the score on all questions, and the error beside that of
as many objects drawn at random; then, for short forms of several lengths, what `seesay tasks lite`
says of them. Models with equal answers are counted once.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from seesay.metrics.item_response import AdaptiveScore, fit_items
from seesay.questions import Task
from seesay.runs.items import complete_responses, make_short_form
from seesay.runs.run import Run
from seesay.runs.store import find_runs
from seesay.tasks import load_task

LENGTHS = (30, 50, 100, 200, 300)


def main() -> None:
    """Leave out each run in turn, and print a line for adaptive scores and one for each form."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--task", required=True)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=60)
    options = parser.parse_args()
    runs = [run for run in find_runs(options.runs) if run.task.name == options.task]
    task = load_task(options.task)
    shared_ids = set.intersection(*({q.id for q in run.task.questions} for run in runs))
    questions = tuple(question for question in task.questions if question.id in shared_ids)
    task = replace(task, questions=questions)
    print(describe_adaptive(task, runs, options.questions, options.seeds), flush=True)
    for count in LENGTHS:
        if count < len(questions):
            form = make_short_form(task, runs, count)
            print(
                f"{len(form.task.questions)} questions: error {form.mean_error:.4f}, tau "
                f"{form.kendall:.2f}, of {form.differing} pairs that differ "
                f"{form.kendall_of_differing}, in order {form.in_order}, enough: {form.enough}",
                flush=True,
            )


def describe_adaptive(task: Task, runs: list[Run], count: int, seeds: int) -> str:
    """Return one line about the adaptive scores of models that were left out."""
    credits = complete_responses(task, runs)
    names = [question.object for question in task.questions]
    objects = np.unique(names, return_inverse=True)[1].reshape(-1)
    per_object = len(objects) / (objects.max() + 1)
    covered, widths, errors, random_errors = [], [], [], []
    for row, of_model in enumerate(credits):
        parameters, _ = fit_items(np.delete(credits, row, axis=0))
        truth = of_model.mean()
        for seed in range(seeds):
            score = AdaptiveScore(parameters, objects, seed)
            while score.asked + 8 * per_object <= count:
                score.draw(8, of_model.__getitem__)
            interval = score.interval()
            covered.append(interval.low <= truth <= interval.high)
            widths.append(interval.high - interval.low)
            errors.append(interval.value - truth)
            order = np.random.default_rng(seed).permutation(objects.max() + 1)
            drawn = np.isin(objects, order[: score.draws])
            random_errors.append(of_model[drawn].mean() - truth)
    scores = credits.mean(axis=1)
    return (
        f"{task.name}: {len(credits)} models, {scores.min():.3f} to {scores.max():.3f}; {count} of "
        f"{len(objects)} questions, {seeds} seeds: covered {np.mean(covered):.1%}, width "
        f"{np.mean(widths):.3f}, error {np.std(errors):.4f}, at random {np.std(random_errors):.4f}"
    )


if __name__ == "__main__":
    main()
