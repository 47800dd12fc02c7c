"""How much recolouring does it take until a network looks? 30 trainings on prior-color, and the
pull of the prior.

    python benchmarks/prior_pull.py FOLDER [MINUTES]

Every training is `seesay reasoner train NETWORK --task prior-color-PERCENT --seed SEED --preset
cpu`; the network is then asked about every test picture. An interrupted call resumes; what is
finished is not done again. At the end, or after so many minutes, the table and the figures
(FOLDER/prior-pull-met.svg, prior-pull-unmet.svg) are made of what is there.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from seesay.cli import app
from seesay.data.colors import COLORS
from seesay.metrics import Resamples
from seesay.metrics.base import weighted_mean
from seesay.metrics.bootstrap import Interval, not_degenerate, present
from seesay.models.options import ModelOptions
from seesay.pictures.tasks.prior_color import people_entropies
from seesay.pictures.things import Thing
from seesay.pictures.training_set import TESTS, PriorColorSet
from seesay.reports.charts.lines import Series, lines
from seesay.reports.pages.sections import write_svg
from seesay.scenes.reasoners.model import load_reasoner
from seesay.scenes.reasoners.sources import picture_set_source

NETWORKS = {"film": "FiLM", "stacked-attention": "attention"}
PERCENTS = (0, 1, 5, 20, 50)
SEEDS = (0, 1, 2)
ANSWERS = "answers.json"


def main(folder: Path, minutes: float = 300.0) -> None:
    """Train what is missing, seed by seed, then write the figure."""
    began = time.monotonic()
    for seed in SEEDS:
        for percent in PERCENTS:
            for network in NETWORKS:
                trained = folder / f"{network}-{percent}-{seed}"
                if time.monotonic() - began < 60 * minutes and not (trained / ANSWERS).is_file():
                    train(network, percent, seed, trained)
    write_figure(folder)
    print_by_certainty(folder)


def train(network: str, percent: int, seed: int, folder: Path) -> None:
    """Train one network and note its answer about every picture of every test."""
    start = time.process_time()
    arguments = [
        "reasoner",
        "train",
        network,
        "--task",
        f"prior-color-{percent}",
        "--seed",
        str(seed),
    ]
    app(
        [*arguments, "--preset", "cpu", "--output", str(folder), "--device", "cpu", "--quiet"],
        standalone_mode=False,
    )
    model, source = load_reasoner(str(folder), ModelOptions(device="cpu")), PriorColorSet(percent)
    answers: list[dict[str, Any]] = []
    for test in TESTS:
        items = picture_set_source(source).load(test, model.extractor)
        logp = model.log_probabilities(np.asarray(items.features), items.sentences)
        for picture, row in zip(source.pictures(test), logp, strict=True):
            assert isinstance(picture.subject, Thing)
            facts = {
                "thing": picture.subject.name,
                "typical": list(picture.subject.colors),
                "shown": picture.color,
            }
            answers.append({"test": test, **facts, "answer": COLORS[int(row.argmax())]})
    seconds = time.process_time() - start
    (folder / ANSWERS).write_text(json.dumps({"seconds": seconds, "answers": answers}))
    print(network, percent, seed, f"{seconds:.0f} s", flush=True)


def write_figure(folder: Path) -> None:
    """Prior pull against the share of recoloured pictures, for things met and not met; means over
    seeds."""
    for test, things in (("met-recolored", "things met"), ("unmet-recolored", "things not met")):
        series: list[Series] = []
        for network, name in NETWORKS.items():
            rows = [(percent, *_figures(folder, network, percent, test)) for percent in PERCENTS]
            rows = [row for row in rows if row[3]]
            for percent, pull, accuracy, seeds in rows:
                ends = f"{pull.value:.3f} ({pull.low:.3f} to {pull.high:.3f})"
                right = f"{accuracy.value:.3f} ({accuracy.low:.3f} to {accuracy.high:.3f})"
                print(f"| {name} | {things} | {percent} % | {ends} | {right} | {seeds} |")
            x, y, low, high = zip(
                *((p, i.value, i.low, i.high) for p, i, _, _ in rows), strict=True
            )
            series.append(Series(name, x, y, low, high))
        title = f"Prior pull, {things} in training"
        axes = ("recoloured training pictures (%)", "prior pull")
        chart = lines(series, title=title, x_label=axes[0], y_label=axes[1], y_ends=(0.0, 0.1))
        write_svg(folder / f"prior-pull-{test.partition('-')[0]}.svg", chart)


def print_by_certainty(folder: Path) -> None:
    """Prior pull of the networks that met no recoloured picture, by how sure people are of the
    colour (CoDa)."""
    bits = people_entropies()
    for low, high in ((0.0, 1.0), (1.0, 2.0), (2.0, 4.0)):
        rows = [
            row["answer"] in row["typical"]
            for network in NETWORKS
            for seed in SEEDS
            for row in _answers(folder, network, 0, seed)
            if row["test"] == "met-recolored" and low <= bits.get(row["thing"].lower(), -1.0) < high
        ]
        if rows:
            print(
                f"0 %, met, people's entropy {low:g} to {high:g} bits: {np.mean(rows):.3f} of "
                f"{len(rows)} answers"
            )


def _answers(folder: Path, network: str, percent: int, seed: int) -> list[dict[str, Any]]:
    file = folder / f"{network}-{percent}-{seed}" / ANSWERS
    return list(json.loads(file.read_text())["answers"]) if file.is_file() else []


def _figures(folder: Path, network: str, percent: int, test: str) -> tuple[Interval, Interval, int]:
    """Prior pull and accuracy with intervals clustered by thing, over all seeds that are finished,
    and their number."""
    by_seed = [_answers(folder, network, percent, seed) for seed in SEEDS]
    rows = [
        (row["thing"], row["answer"] in row["typical"], row["answer"] == row["shown"])
        for answers in by_seed
        for row in answers
        if row["test"] == test
    ]
    if not rows:
        return Interval(np.nan, np.nan, np.nan), Interval(np.nan, np.nan, np.nan), 0
    draw = Resamples([thing for thing, *_ in rows])
    figures = []
    for column in (1, 2):
        stats = np.array([[float(row[column]), 1.0] for row in rows])
        figures.append((draw.sums(stats[None]), weighted_mean))
    sums = [present(each) for each, _ in figures]
    pull, accuracy = (
        not_degenerate(each, n) for each, n in zip(draw.intervals(figures), sums, strict=True)
    )
    return pull, accuracy, sum(map(bool, by_seed))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(float, sys.argv[2:3]))
