"""Does the alarm leave models in peace that have seen nothing, on few pairs, too?

    python benchmarks/clean_models.py [--task core-size] [--editions fresh 2027-01] [--worlds 400]

Made-up models answer the published questions of a task and those of an edition. A value is chance,
or chance and what each thing has of its own: as much as chance, or five times. Of parts of the task
as `--limit` takes them: how often the interval of the difference covers zero, and how often its
p-value is at most 0.05.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from seesay.defaults import LEVEL
from seesay.metrics.dependence import student_over_normal
from seesay.runs.contamination import FEWEST_PLACES, adjust_for_things, exchange
from seesay.tasks import load_task
from seesay.tasks.editions import Place, pair_places

PAIRS = (FEWEST_PLACES, 40, 60, 80)
DEVIATIONS = (0.0, 1.0, 5.0)
EXCHANGES = 400
NORMAL = NormalDist().inv_cdf((1 + LEVEL) / 2)


def shares(
    places: Sequence[Place], count: int, deviation: float, worlds: int
) -> tuple[float, float]:
    """Return how often intervals cover zero, and how often p is at most 0.05."""
    generator = np.random.default_rng(0)
    covered, alarms = 0, 0
    for _ in range(worlds):
        start = int(generator.integers(len(places) - count + 1))
        part = places[start : start + count]
        groups = [group for place in part for group in (place.published, place.renewed)]
        names = sorted({thing for group in groups for thing in group[0].things})
        effects = dict(zip(names, generator.normal(0, deviation, len(names)), strict=True))
        of_things = np.array([sum(effects[thing] for thing in group[0].things) for group in groups])
        values = of_things + generator.normal(0, 1, len(groups))
        gaps, estimate = adjust_for_things(part, values[::2], values[1::2])
        reach = NORMAL * student_over_normal(estimate.degrees) * estimate.error
        covered += abs(estimate.value) <= reach
        p_exchange = exchange(np.stack([gaps, -gaps], axis=1), EXCHANGES, generator)
        alarms += max(p_exchange, estimate.p) <= 0.05
    return covered / worlds, alarms / worlds


def main() -> None:
    """Print a line per edition, size and kind of world."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", default="core-size")
    parser.add_argument("--editions", nargs="+", default=["fresh", "2027-01"])
    parser.add_argument("--worlds", type=int, default=400)
    given = parser.parse_args()
    task = load_task(given.task)
    print("| edition | pairs | things against chance | covers zero | alarms |")
    print("|---|---:|---:|---:|---:|")
    for edition in given.editions:
        places = pair_places(task, load_task(f"{given.task}@{edition}"))
        for count in (*PAIRS, len(places)):
            for deviation in DEVIATIONS:
                covered, alarms = shares(places, count, deviation, given.worlds)
                cells = [edition, str(count), f"{deviation:g}", f"{covered:.1%}", f"{alarms:.1%}"]
                print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
