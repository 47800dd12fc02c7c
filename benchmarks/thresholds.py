"""Are planted thresholds recovered, and is the function that people use told from the others?

    python benchmarks/thresholds.py [--studies 20] [--people 50] [--judgements 40] [--json]
    python benchmarks/thresholds.py --gold pos [--items 1000] [--json]

Simulated people judge whether a thing is big among 5 to 9 things with the areas of MALeViC's
shapes. Their k is Normal, drawn for every judgement; 4 % of their answers are guesses. One row per
threshold function that they use: by how much the fitted k misses the planted one (mean and most
over the studies; of RH-C, whose k may be 0, in ranges), and in how many studies their own function
is the most probable of all five. `ah` is how absolute adjectives (full, straight) are used: one
line, whatever stands beside the thing.

--gold fits the right answers of a task's test items instead: what a network can know of k. Items
are balanced, so that big things are asked about more often than scenes have them, and k is higher.
"""

from __future__ import annotations

import argparse
import json
import statistics
from dataclasses import asdict
from typing import Any

import numpy as np

from seesay.scenes import SceneConfig
from seesay.scenes.labels import measure, reference_sets
from seesay.scenes.plan import test_plan
from seesay.scenes.scene_batches import scene_items
from seesay.scenes.threshold_fit import SizeJudgement, calibrate, fit_thresholds
from seesay.scenes.thresholds import RH_R, THRESHOLDS, Threshold
from seesay.scenes.world import RADII, SHAPES, area

AREAS = sorted({area(shape, radius) for shape in SHAPES for radius in RADII})
PLANTED = {
    "rh-r": (0.29, 0.066),
    "rh-n": (0.4, 0.1),
    "rh-sd": (0.5, 0.2),
    "rh-c": (0.1, 0.08),
    "ah": (50_000.0, 3_000.0),
}
LAPSE = 0.04


def simulate(
    function: Threshold, people: int, judgements: int, rng: np.random.Generator
) -> list[SizeJudgement]:
    """Return the judgements of a study."""
    mean, deviation = PLANTED[function.name]
    rows: list[SizeJudgement] = []
    for person in range(people):
        while len(rows) < (person + 1) * judgements:
            sizes = rng.choice(AREAS, rng.integers(5, 10)).astype(np.float64)
            if sizes.min() == sizes.max():
                continue
            k = rng.normal(mean, deviation, 1)
            line = function.line(sizes[None], np.ones((1, len(sizes)), dtype=bool), k)
            big = sizes[0] > line[0]
            if rng.random() < LAPSE:
                big = rng.random() < 0.5
            rows.append(
                SizeJudgement(tuple(sizes.tolist()), float(sizes[0]), float(big), str(person))
            )
    return rows


def study(name: str, studies: int, people: int, judgements: int) -> dict[str, Any]:
    """Return the misses and hits of several studies of people who use one function."""
    mean, deviation = PLANTED[name]
    unit = 1.0 if name == "rh-c" else mean
    misses = []
    deviations = []
    hits = 0
    for seed in range(studies):
        rng = np.random.default_rng([seed, list(THRESHOLDS).index(name)])
        rows = simulate(THRESHOLDS[name], people, judgements, rng)
        fits = fit_thresholds(rows, list(THRESHOLDS.values()), resamples=0)
        planted_fit = next(fit for fit in fits if fit.threshold == name)
        misses.append(abs(planted_fit.mean - mean) / unit)
        deviations.append(planted_fit.deviation)
        hits += fits[0].threshold == name
    return {
        "threshold": name,
        "planted": mean,
        "mean_miss": statistics.fmean(misses),
        "largest_miss": max(misses),
        "planted_deviation": deviation,
        "deviation": statistics.fmean(deviations),
        "told_apart": hits,
        "studies": studies,
    }


def gold_judgements(task: str, items: int) -> list[SizeJudgement]:
    """Return the right answers of a task's test items."""
    config = SceneConfig(task)
    judgements = []
    for number, item in enumerate(scene_items(config, test_plan(task, items), "test")):
        objects = item.scene.objects
        sizes = measure(objects, config.adjectives)
        members = reference_sets(objects, config.kind.by_set)[item.target]
        judgements.append(
            SizeJudgement(
                sizes=tuple(sizes[members].tolist()),
                size=float(sizes[item.target]),
                big=float(item.cell.high),
                cluster=str(number),
            )
        )
    return judgements


def print_gold(task: str, items: int, as_json: bool) -> None:
    """Print the k that the right answers of a task show, and how often things are big."""
    judgements = gold_judgements(task, items)
    (fit,) = fit_thresholds(judgements, [RH_R])
    bins = calibrate(judgements)
    if as_json:
        print(json.dumps({"fit": asdict(fit), "calibration": [asdict(each) for each in bins]}))
        return
    print(
        f"{task}, {items} items: k = {fit.mean:.3f} ({fit.mean_low:.3f} to {fit.mean_high:.3f}), "
        f"deviation {fit.deviation:.3f}, lapse {fit.lapse:.3f}"
    )
    for each in bins:
        print(
            f"vague k gives {each.low:g} to {each.high:g}, {each.judgements} items: "
            f"{each.expected:.3f} expected, {each.observed:.3f} big"
        )


def main() -> None:
    """Simulate or generate, fit, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=20)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--judgements", type=int, default=40)
    parser.add_argument("--gold", metavar="TASK", help="pos1, pos, set+pos or a hard test")
    parser.add_argument("--items", type=int, default=1_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.gold:
        print_gold(given.gold, given.items, given.json)
        return
    rows = [study(name, given.studies, given.people, given.judgements) for name in PLANTED]
    if given.json:
        print(json.dumps(rows))
        return
    print(
        f"{given.studies} studies, {given.people} people, {given.judgements} judgements each\n"
        f"{'threshold':<12}{'planted k':>10}{'mean miss':>11}{'largest':>9}"
        f"{'deviation':>11}{'fitted':>9}{'told apart':>12}"
    )
    for row in rows:
        print(
            f"{row['threshold']:<12}{row['planted']:>10g}{row['mean_miss']:>11.1%}"
            f"{row['largest_miss']:>9.1%}{row['planted_deviation']:>11g}{row['deviation']:>9.3g}"
            f"{row['told_apart']:>9} of {row['studies']}"
        )


if __name__ == "__main__":
    main()
