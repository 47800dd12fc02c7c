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
of objects is wrong. Learnt: objects found by a network that learns from the pictures of the
training items which pixels belong together; how well it finds them in 500 pictures of the test (the
adjusted Rand index over the cells of objects; the share of objects that a group meets by an
intersection of at least 0.8 of the union; the share of pictures in which that holds of every object
and there is no other group); and the compositional test with what it finds. Trainings stay in
FOLDER, and are resumed or not repeated.
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
from numpy.typing import NDArray

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
from seesay.scenes.reasoners.features.extractor import FeatureExtractor, PixelExtractor
from seesay.scenes.reasoners.features.learnt_objects import (
    GRID,
    Groups,
    LearntObjectExtractor,
    present_cells,
    to_grid,
    train_finder,
)
from seesay.scenes.reasoners.features.objects import IMAGE_SIZE, find_objects
from seesay.scenes.reasoners.sources import ItemSource, scene_source
from seesay.scenes.sampling import SceneItem
from seesay.scenes.scene_batches import batches, scene_items
from seesay.scenes.sentences import sentence
from seesay.scenes.world import Scene
from seesay.training.schedule import Schedule

NETWORK = "object-centred"
FOUND_IN = 500
"""Pictures in which it is counted how well objects are found."""
MATCH = 0.8
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


def true_groups(scene: Scene) -> Groups:
    """Return which object covers most of every cell, from 1; 0 is none."""
    shares = [rgb(Scene((thing,)), GRID).max(2) for thing in scene.objects]
    nothing = np.zeros((GRID, GRID), dtype=np.uint8)
    owners: Groups = np.stack([nothing, *shares]).argmax(0)
    return owners


def adjusted_rand(first: Groups, second: Groups) -> float:
    """Return the adjusted Rand index of two groupings of the same cells (Hubert & Arabie 1985)."""
    table = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(table, (first, second), 1)

    def pairs(counts: NDArray[np.float64]) -> float:
        return float((counts * (counts - 1) / 2).sum())

    rows, columns = pairs(table.sum(1)), pairs(table.sum(0))
    expected = rows * columns / pairs(table.sum(keepdims=True))
    most = (rows + columns) / 2
    # one group each: they agree, and nothing else could be expected
    return 1.0 if most == expected else (pairs(table) - expected) / (most - expected)


def finding(extractor: LearntObjectExtractor, pictures: int) -> dict[str, float]:
    """Return how well objects are found in pictures of the compositional test."""
    plan = test_plan("compositional-seen", pictures)
    indices, exact, matched, objects = [], 0, 0, 0
    config = SceneConfig(plan.task)
    for batch in batches(config, plan, plan.parts[0].split, size=IMAGE_SIZE):
        present = present_cells(to_grid(batch.pictures))
        groupings = extractor.group(batch.pictures)
        for item, groups, cells in zip(batch.items, groupings, present, strict=True):
            truth = true_groups(item.scene) * cells
            covered = truth > 0
            indices.append(adjusted_rand(truth[covered], groups[covered]))
            things = range(1, len(item.scene.objects) + 1)
            numbers = np.unique(groups[groups > 0])
            hits = sum(
                any(overlap(truth == thing, groups == number) >= MATCH for number in numbers)
                for thing in things
            )
            matched += hits
            objects += len(things)
            exact += hits == len(things) == len(numbers)
    return {
        "adjusted Rand index": statistics.fmean(indices),
        "objects found": matched / objects,
        "pictures without an error": exact / len(indices),
    }


def overlap(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    """Return intersection over union."""
    return float((first & second).sum() / max((first | second).sum(), 1))


def learnt_objects(
    source: ItemSource, folder: Path, finders: int, seeds: int, epochs: int
) -> list[dict[str, Any]]:
    """Train networks that find objects, and reasoners on what each finds; return rows."""
    pixels = PixelExtractor(GRID)
    rows: dict[tuple[str, str], list[float]] = {}
    for number in range(finders):
        finder = folder / f"finder-seed{number}"
        schedule = Schedule(epochs, 4e-3, warmup=0.02, cooldown=0.4, seed=number)
        train_finder(source.load("train", pixels), source.load("val", pixels), finder, schedule)
        extractor = LearntObjectExtractor(finder)
        results = finding(extractor, FOUND_IN)
        print(finder.name, results, flush=True)
        for name, value in results.items():
            rows.setdefault(("objects learnt", name), []).append(value)
        config, slots = experiment.with_features(preset_config(NETWORK, "cpu"), extractor.name)
        splits = experiment.extract_splits(source, slots)
        for seed in range(seeds):
            _, tests = experiment.train_and_test(
                source,
                splits,
                folder / f"{finder.name}-reasoner-seed{seed}",
                config.override(sizes={}, seed=seed),
                device="cpu",
            )
            print(finder.name, seed, tests, flush=True)
            for name, value in tests.items():
                rows.setdefault((f"objects learnt, finder {number}", name), []).append(value)
    return [
        {"name": name, "test": test, "accuracy": values} for (name, test), values in rows.items()
    ]


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
        help="segmentation, ablation, one of its variants, learnt, or a task of transfer",
    )
    parser.add_argument("--finders", type=int, default=1, help="networks that find objects")
    parser.add_argument("--finder-epochs", type=int, default=5, help="of what finds objects")
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
    if "learnt" in (given.only or ["learnt"]):
        folder = given.folder / "learnt"
        rows += learnt_objects(source, folder, given.finders, given.seeds, given.finder_epochs)
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
        f"{'variant or task':<34}{'test':<26}{'mean':>7}{'sd':>7}{'least':>7}{'ceiling':>9}  seeds"
    )
    for row in rows:
        values = row["accuracy"]
        sd = statistics.stdev(values) if len(values) > 1 else 0.0
        ceiling = f"{row['ceiling']:.3f}" if "ceiling" in row else ""
        seeds = " ".join(f"{value:.3f}" for value in values)
        print(
            f"{row['name']:<34}{row['test']:<26}{statistics.fmean(values):>7.3f}"
            f"{sd:>7.3f}{min(values):>7.3f}{ceiling:>9}  {seeds}"
        )


if __name__ == "__main__":
    main()
