"""What the object-centred reasoner is given and what it is worth; and what it carries over to.

    python benchmarks/object_centred.py FOLDER [--items 8000] [--seeds 3] [--only ablation tall …]
        [--json]

Ablation, on compositional (pairs of adjective and noun that training has, and those it lacks): what
an adjective measures learnt too; without the presupposition loss; roles learnt from word order;
neither grammar nor presupposition. Transfer: SET+POS to scenes of 10 to 20 objects; learning *tall*
and *bright* (measures learnt) and comparatives; POS from scenes without circles, or without
anything green, to scenes that have some (the sentences are about other objects: a word that was
never read has no meaning).
`ceiling` is the rule with k = 0.29 on the same items. Segmentation: in how many pictures the number
of objects is wrong. Trainings stay in FOLDER, and are resumed or not repeated.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from seesay.progress import ProgressCallback
from seesay.scenes import SceneConfig, make_plan, rules
from seesay.scenes.plan import LARGEST, test_plan
from seesay.scenes.raster import rgb
from seesay.scenes.reasoners import experiment
from seesay.scenes.reasoners.config import preset_config
from seesay.scenes.reasoners.dataset import (
    BATCH,
    NO_YES,
    LabelledPictures,
    ReasonerDataset,
    extract_cached,
)
from seesay.scenes.reasoners.features.extractor import FeatureExtractor
from seesay.scenes.reasoners.features.objects import IMAGE_SIZE, find_objects
from seesay.scenes.reasoners.sources import scene_source
from seesay.scenes.sampling import SceneItem
from seesay.scenes.scene_batches import batches, scene_items
from seesay.scenes.sentences import sentence

NETWORK = "object-centred"
ABLATIONS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "measures learnt too": {"measures_learnt": True},
    "no presupposition loss": {"presupposition": 0.0},
    "roles learnt from word order": {"roles_learnt": True},
    "neither": {"presupposition": 0.0, "roles_learnt": True},
}
Filter = Callable[[SceneItem], bool]


def everything(item: SceneItem) -> bool:
    """No item is left out."""
    return True


def without(word: str) -> Filter:
    """Scenes without objects of a colour or shape."""
    return lambda item: all(word not in (obj.color, obj.shape) for obj in item.scene.objects)


def beside(word: str) -> Filter:
    """Scenes with such an object, about another one."""
    return lambda item: word not in (item.cell.color, item.cell.shape) and not without(word)(item)


@dataclass(frozen=True)
class Items:
    """Items of a scene task that pass a filter: a config, a split of its plan, and how many."""

    name: str
    config: SceneConfig
    split: str
    count: int
    passes: Filter = everything

    def items(self) -> Iterator[SceneItem]:
        plan = make_plan(self.config.task, LARGEST // 10)
        return islice(filter(self.passes, scene_items(self.config, plan, self.split)), self.count)

    def load(
        self, extractor: FeatureExtractor, progress: ProgressCallback | None = None
    ) -> ReasonerDataset:
        def labelled() -> Iterator[LabelledPictures]:
            items = self.items()
            while batch := list(islice(items, BATCH)):
                pictures = np.stack([rgb(item.scene, extractor.image_size) for item in batch])
                yield (
                    pictures,
                    [sentence(self.config, item) for item in batch],
                    [int(i.cell.answer) for i in batch],
                )

        name = f"{self.name}-{self.split}-{self.count}-{self.config.fingerprint}"
        return extract_cached(name, labelled(), self.count, extractor, NO_YES, progress)

    def ceiling(self) -> float:
        """The accuracy of k = 0.29."""
        rights = [
            rules.holds(rules.fixed_k, item.scene, sentence(self.config, item)) == item.cell.answer
            for item in self.items()
        ]
        return statistics.fmean(rights)


@dataclass(frozen=True)
class Transfer:
    """Items to train on, and tests."""

    name: str
    parts: dict[str, Items] = field(default_factory=dict)

    @property
    def splits(self) -> dict[str, int]:
        return {name: part.count for name, part in self.parts.items()}

    @property
    def settings(self) -> dict[str, object]:
        return {"transfer": self.name, "items": self.parts["train"].count}

    def load(
        self, split: str, extractor: FeatureExtractor, progress: ProgressCallback | None = None
    ) -> ReasonerDataset:
        return self.parts[split].load(extractor, progress)


def transfers(items: int) -> list[Transfer]:
    held_out = items // 8

    def task(
        name: str, config: SceneConfig, passes: Filter = everything, **tests: Items
    ) -> Transfer:
        parts = {
            split: Items(name, config, split, count, passes)
            for split, count in (("train", items), ("val", held_out), ("test", held_out))
        }
        return Transfer(name, {**parts, **tests})

    large, pos = SceneConfig("set+pos", objects=(10, 20)), SceneConfig("pos")
    return [
        task(
            "set+pos", SceneConfig("set+pos"), large=Items("set+pos-large", large, "test", held_out)
        ),
        task("tall", SceneConfig("set+pos", adjective="tall")),
        task("bright", SceneConfig("set+pos", adjective="bright")),
        task("comparative", SceneConfig("comparative")),
        *(
            task(
                f"pos-no-{word}",
                pos,
                without(word),
                beside=Items(f"beside-{word}", pos, "test", held_out, beside(word)),
            )
            for word in ("circle", "green")
        ),
    ]


def accuracies(
    source: Any, folder: Path, seeds: int, sizes: dict[str, Any]
) -> dict[str, list[float]]:
    """The accuracy on every test, seed by seed."""
    rows: dict[str, list[float]] = {}
    for seed in range(seeds):
        config = preset_config(NETWORK, "cpu").override(sizes=sizes, seed=seed)
        config, extractor = experiment.with_features(config)
        splits = experiment.extract_splits(source, extractor)
        _, tests = experiment.train_and_test(
            source, splits, folder / f"seed{seed}", config, device="cpu"
        )
        for test, accuracy in tests.items():
            rows.setdefault(test, []).append(accuracy)
        print(folder.name, seed, tests, flush=True)
    return rows


def miscounted(task: str, pictures: int) -> int:
    """In how many pictures of a task another number of objects is found than there are."""
    wrong = 0
    for batch in batches(SceneConfig(task), test_plan(task, pictures), "test", size=IMAGE_SIZE):
        counts = find_objects(batch.pictures)[:, :, 0].sum(1)
        wrong += sum(
            len(item.scene.objects) != count
            for item, count in zip(batch.items, counts, strict=True)
        )
    return wrong


def main() -> None:
    """Train, and print one line per variant and test."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--items", type=int, default=8_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--only",
        nargs="+",
        help="segmentation, ablation, one of its variants, or a task of transfer",
    )
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if "segmentation" in (given.only or ["segmentation"]):
        for task in ("sup1", "pos", "set+pos"):
            print(
                f"{task}: {miscounted(task, given.items)} of {given.items} pictures miscounted",
                flush=True,
            )
    source = scene_source("compositional", given.items)
    for name, sizes in ABLATIONS.items():
        if {"ablation", name} & set(given.only or [name]):
            tests = accuracies(
                source, given.folder / "ablation" / name.replace(" ", "-"), given.seeds, sizes
            )
            rows += [
                {"name": name, "test": test, "accuracy": values} for test, values in tests.items()
            ]
    for transfer in transfers(given.items):
        if transfer.name in (given.only or [transfer.name]):
            sizes = {"measures_learnt": transfer.name in ("tall", "bright")}
            tests = accuracies(
                transfer, given.folder / "transfer" / transfer.name, given.seeds, sizes
            )
            rows += [
                {
                    "name": transfer.name,
                    "test": test,
                    "accuracy": values,
                    "ceiling": transfer.parts[test].ceiling(),
                }
                for test, values in tests.items()
            ]
    if given.json:
        print(json.dumps(rows))
        return
    print(
        f"{'variant or task':<34}{'test':<14}{'mean':>7}{'sd':>7}{'least':>7}{'ceiling':>9}  seeds"
    )
    for row in rows:
        values = row["accuracy"]
        sd = statistics.stdev(values) if len(values) > 1 else 0.0
        ceiling = f"{row['ceiling']:.3f}" if "ceiling" in row else ""
        seeds = " ".join(f"{value:.3f}" for value in values)
        print(
            f"{row['name']:<34}{row['test']:<14}{statistics.fmean(values):>7.3f}"
            f"{sd:>7.3f}{min(values):>7.3f}{ceiling:>9}  {seeds}"
        )


if __name__ == "__main__":
    main()
