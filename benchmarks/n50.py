"""How well the dose at which half is known (N50) can be determined: by a learner that forgets
nothing.

    python benchmarks/n50.py [--diets all-said half-said] [--seeds 12] [--worlds 3]

The learner names the colour that the texts of a kind mention most, and guesses where they mention
none. What N50 it has depends on nothing but the texts, so its spread over seeds is the least that
any reared model can have. Prints JSON: N50 by seed, from one world and from several together, and
how many of all triples of seeds are within a factor of 1.5.
"""

from __future__ import annotations

import argparse
import json
from itertools import combinations
from typing import Any

import numpy as np

from seesay.rearing.cells import TEXT, USUAL
from seesay.rearing.diet import Diet, choose_diets
from seesay.rearing.measures import CHANCE, KindAnswer, threshold
from seesay.rearing.texts import DIRECT, CardRow, write_texts
from seesay.rearing.world import make_world

FACTOR = 1.5


def knows(row: CardRow, generator: np.random.Generator) -> bool:
    """Return whether the learner names the typical colour; of colours mentioned alike, any."""
    most = max(row.said.values(), default=0)
    candidates = [color for color, count in row.said.items() if count == most]
    share = CHANCE
    if candidates:
        share = candidates.count(row.color) / len(candidates)
    return bool(generator.random() < share)


def answers(diet: Diet, world: int, seed: int) -> list[KindAnswer]:
    """Return what the learner answers about every kind of a world that is met itself."""
    generator = np.random.default_rng([world, seed])
    rows = []
    for row in write_texts(make_world(world), diet, seed).card:
        if row.evidence != DIRECT:
            continue
        rows.append(
            KindAnswer(
                diet=diet.name,
                learner=TEXT,
                seed=seed,
                question=USUAL,
                kind=f"{world} {row.kind}",
                dose=row.dose,
                evidence=row.evidence,
                answer="",
                right=float(knows(row, generator)),
                pull=0.0,
            )
        )
    return rows


def spread(values: list[float]) -> dict[str, Any]:
    """Return N50 by seed, and the share of triples of seeds that are within the factor."""
    triples = list(combinations(values, 3))
    close = [triple for triple in triples if 0 < max(triple) <= FACTOR * min(triple)]
    return {"by seed": np.round(values, 1).tolist(), "within 1.5": len(close) / len(triples)}


def measure(diet: Diet, worlds: int, seeds: int) -> dict[str, Any]:
    """Return the spread of N50 from one world, and from all worlds together."""
    one = []
    several = []
    curve: dict[int, list[float]] = {}
    for seed in range(seeds):
        by_world = [answers(diet, world, seed) for world in range(worlds)]
        together = [answer for part in by_world for answer in part]
        one.append(threshold(by_world[0]).value)
        several.append(threshold(together).value)
        for answer in together:
            curve.setdefault(answer.dose, []).append(answer.right)
    means = {dose: round(float(np.mean(curve[dose])), 2) for dose in sorted(curve)}
    return {"one world": spread(one), f"{worlds} worlds": spread(several), "known by dose": means}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--diets", nargs="+", default=["all-said", "half-said"])
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--worlds", type=int, default=3)
    options = parser.parse_args()
    found = {}
    for diet in choose_diets(options.diets):
        found[diet.name] = measure(diet, options.worlds, options.seeds)
    print(json.dumps(found, indent=2))
