"""Which part of the setting decides? The `cpu` preset, with one thing changed at a time.

    python benchmarks/one_thing.py FOLDER [--network stacked-attention] [--task set+pos]
        [--items 8000] [--epochs 10] [--seeds 1] [--arms "as it is" "no mirroring" …]
        [--features resnet101:RESNET] [--minutes 60] [--json]

Every arm differs from the preset in one point, towards the published setting: no mirrored batches;
no 3 x 3 layers before the network; the published optimiser (Adam at a constant rate, no warm-up, no
cooldown, no clipping), its rates, batches of 64; words with capitals; the published sentence
encoder; no batch norm in the classifier, dropout; pictures of 112 pixels; features of a network
trained on photographs, which `--features` names. All arms have the same epochs; the number of steps
differs where the batch does. Trainings stay in FOLDER, and are resumed or not repeated.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from seesay.scenes.reasoners import experiment
from seesay.scenes.reasoners.config import ReasonerConfig, preset_config
from seesay.scenes.reasoners.sources import ItemSource, scene_source

AS_IT_IS = "as it is"
PHOTOGRAPHS = "features of photographs"
NETWORKS = ("cnn-lstm", "stacked-attention", "film")
_LSTM = {"embedding": 300, "hidden": 256, "recurrent_layers": 2, "text_norm": False}


@dataclass(frozen=True)
class Arm:
    """A change to a config; `features` and `image_size` change what the network sees."""

    change: Callable[[ReasonerConfig], ReasonerConfig] = lambda config: config
    features: str | None = None
    image_size: int | None = None


def with_sizes(**sizes: Any) -> Callable[[ReasonerConfig], ReasonerConfig]:
    """Return a change of layer sizes."""
    return lambda config: config.override(sizes=sizes)


def with_schedule(**fields: Any) -> Callable[[ReasonerConfig], ReasonerConfig]:
    """Return a change of the schedule."""
    return lambda config: config.override(sizes={}, **fields)


@dataclass(frozen=True)
class Row:
    """What one training came to."""

    validation: float
    best_step: int
    steps: int
    warning: str
    tests: dict[str, float]


def arms(photographs: str | None) -> dict[str, Arm]:
    """Return the arms by name; the last only where features of photographs are named."""
    constant = {"warmup": 0.0, "cooldown": 0.0, "clip": math.inf, "optimizer": "adam"}
    rows = {
        AS_IT_IS: Arm(),
        "no mirroring": Arm(lambda config: replace(config, augment=False)),
        "no 3 x 3 layers": Arm(with_sizes(plain_layers=0)),
        "published optimiser": Arm(with_schedule(**constant)),
        "rate 5e-5": Arm(with_schedule(learning_rate=5e-5)),
        "rate 5e-3": Arm(with_schedule(learning_rate=5e-3)),
        "batches of 64": Arm(lambda config: replace(config, batch_size=64)),
        "words with capitals": Arm(lambda config: replace(config, published_tokens=True)),
        "published sentence encoder": Arm(with_sizes(**_LSTM)),
        "no batch norm": Arm(with_sizes(batch_norm=False)),
        "dropout 0.5": Arm(with_sizes(dropout=0.5)),
        "112 pixels": Arm(with_sizes(strided_layers=3), image_size=112),
    }
    if photographs is not None:
        rows[PHOTOGRAPHS] = Arm(features=photographs)
    return rows


def arm_config(network: str, arm: Arm, epochs: int, seed: int) -> ReasonerConfig:
    """Return the preset with its epochs and one change."""
    # patience would end some arms earlier than others
    fixed = {"epochs": epochs, "seed": seed, "patience": 10 * epochs}
    return arm.change(preset_config(network, "cpu").override(sizes={}, **fixed))


def train_arm(folder: Path, source: ItemSource, config: ReasonerConfig, arm: Arm) -> Row:
    """Train one arm, or read what it came to."""
    config, extractor = experiment.with_features(config, arm.features, arm.image_size)
    splits = experiment.extract_splits(source, extractor)
    result, tests = experiment.train_and_test(source, splits, folder, config, device="cpu")
    return Row(result.best, result.best_step, result.steps, result.warning, tests)


def show(values: Sequence[float]) -> str:
    """Return mean and deviation over seeds."""
    mean = f"{statistics.fmean(values):.3f}"
    if len(values) == 1:
        return mean
    return f"{mean} ± {statistics.stdev(values):.3f}"


def print_table(rows: Mapping[str, Sequence[Row]], tests: Sequence[str]) -> None:
    """Print a Markdown table: arms by tests."""
    print(f"| changed | validation | {' | '.join(tests)} | seeds | learnt |")
    print(f"|---|---:|{'---:|' * len(tests)}---:|---:|")
    for name, seeds in rows.items():
        cells = [show([row.validation for row in seeds])]
        cells += [show([row.tests[test] for row in seeds]) for test in tests]
        learnt = sum(not row.warning for row in seeds)
        print(f"| {name} | {' | '.join(cells)} | {len(seeds)} | {learnt} |")


def main() -> None:
    """Train what is missing, seed by seed, and print one line per arm."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--network", default="stacked-attention", choices=NETWORKS)
    parser.add_argument("--task", default="set+pos")
    parser.add_argument("--items", type=int, default=8_000)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--arms", nargs="+", metavar="ARM")
    parser.add_argument("--features", metavar="NAME", help="of photographs, as in `train`")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    until = time.time() + 60 * given.minutes
    source = scene_source(given.task, given.items)
    changes = arms(given.features)
    unknown = set(given.arms or ()) - set(changes)
    if unknown:
        parser.error(f"no arm {', '.join(sorted(unknown))}: choose {', '.join(changes)}")
    rows: dict[str, list[Row]] = {}
    for seed in range(given.seeds):
        for name in given.arms or changes:
            arm = changes[name]
            config = arm_config(given.network, arm, given.epochs, seed)
            place = "-".join((given.network, given.task, str(given.items), str(given.epochs)))
            folder = given.folder / place / name.replace(" ", "-") / f"seed{seed}"
            # what is trained already is read, however late it is
            if time.time() < until or (folder / experiment.TEST_RESULTS).is_file():
                row = train_arm(folder, source, config, arm)
                rows.setdefault(name, []).append(row)
                print(name, seed, json.dumps(asdict(row)), flush=True, file=sys.stderr)
    if given.json:
        seeds = {name: [asdict(row) for row in of_arm] for name, of_arm in rows.items()}
        print(json.dumps({"task": given.task, "network": given.network, "arms": seeds}))
        return
    print_table(rows, source.tests)


if __name__ == "__main__":
    main()
