"""Do adaptive scores hold for models that the item model has not met?

    python benchmarks/items.py RUNS TASK [--questions 100] [--seeds 60]

Every run of the task is left out in turn, an item model is fitted to the others, and the one left
out is asked adaptively from its stored answers. Printed are how often the interval covers the score
on all questions, and the error beside that of as many objects drawn at random.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from seesay.metrics.item_response import AdaptiveScore, fit_items
from seesay.runs.items import complete_responses
from seesay.runs.store import find_runs
from seesay.tasks import load_task


def main() -> None:
    """Leave out each run in turn, and print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path)
    parser.add_argument("task")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=60)
    options = parser.parse_args()
    task = load_task(options.task)
    credits = complete_responses(task, find_runs([options.runs]))
    names = [question.object for question in task.questions]
    objects = np.unique(names, return_inverse=True)[1].reshape(-1)
    per_object = len(objects) / (objects.max() + 1)
    covered, errors, random_errors = [], [], []
    for row, of_model in enumerate(credits):
        parameters, _ = fit_items(np.delete(credits, row, axis=0))
        truth = of_model.mean()
        for seed in range(options.seeds):
            score = AdaptiveScore(parameters, objects, seed)
            while score.asked + 8 * per_object <= options.questions:
                score.draw(8, of_model.__getitem__)
            interval = score.interval()
            covered.append(interval.low <= truth <= interval.high)
            errors.append(interval.value - truth)
            order = np.random.default_rng(seed).permutation(objects.max() + 1)
            drawn = np.isin(objects, order[: score.draws])
            random_errors.append(of_model[drawn].mean() - truth)
    print(
        f"{task.name}: {len(credits)} models, {options.questions} of {len(objects)} questions, "
        f"{options.seeds} seeds: covered {np.mean(covered):.1%}, error {np.std(errors):.4f}, at "
        f"random {np.std(random_errors):.4f}"
    )


if __name__ == "__main__":
    main()
