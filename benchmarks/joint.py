"""Do networks that learn big, bigger and biggest together learn more of each?

    python benchmarks/joint.py FOLDER [--networks object-centred film …] [--items 6000] [--seeds 3]
        [--epochs 16] [--part matrix curve] [--minutes 60] [--json]

Pezzelle & Fernández (2019) leave open whether learning superlatives, comparatives and positives
together makes networks more compositional. Scenes hold one shape each (SUP1, POS1, and comparatives
in such scenes); training has half of the pairs of adjective and shape (those of the paper's Table
3), and every form is tested on these pairs and on the others.

Words are stems and suffixes (big, big -er, big -est), so that a form which training lacks can be
read at all; articles and `than` are left out, and a test's words that training lacks are skipped.
Whatever the subset of forms, a training has the same number of items in all and of epochs: a joint
one has fewer items of each form, not more items.

matrix: every subset of the three forms, tested on all forms. Two rules show what a perfect reader
would get who knows one form only and reads the others as if they were it.
curve: how many positive sentences it takes, beside the other two forms and alone.
Trainings stay in FOLDER, and are resumed or not repeated; --minutes begins no new one after that.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from seesay.progress import ProgressCallback
from seesay.scenes import SceneConfig
from seesay.scenes.config import design_cells, seen
from seesay.scenes.labels import above, measure
from seesay.scenes.plan import PlanPart, ScenePlan
from seesay.scenes.reasoners import experiment
from seesay.scenes.reasoners.config import ReasonerConfig, preset_config
from seesay.scenes.reasoners.dataset import ReasonerDataset, from_scenes, join_datasets
from seesay.scenes.reasoners.features.extractor import FeatureExtractor
from seesay.scenes.reasoners.sources import ItemSource
from seesay.scenes.reasoners.vocabulary import split_words
from seesay.scenes.rules import FIXED_K
from seesay.scenes.sampling import SceneItem
from seesay.scenes.scene_batches import scene_items

FORMS = {"superlative": "sup1", "comparative": "comparative1", "positive": "pos1"}
NETWORKS = ("object-centred", "film", "stacked-attention", "cnn-lstm")
SIDE = 40
"""Pixels a side of the pictures, of which the networks make maps of 10 x 10 cells."""
SMALL = {"width": 32, "first_width": 16, "blocks": 2, "projection": 64}
"""With these sizes a step costs a fifth of the `cpu` preset's: 84 trainings are many."""
OBJECT_EPOCHS = 10
CURVE = (0, 32, 128, 512, 2000)
TEST_ITEMS = 600
_SKIPPED = {"the", "a", "than"}
_SUFFIXES = ("est", "er")
_PAIRS = {"seen": True, "unseen": False}


def stems(text: str) -> list[str]:
    """Return the words of a sentence, its adjective cut into stem and suffix.

    >>> stems("The red square is the biggest square")
    ['red', 'square', 'is', 'big', '-est', 'square']
    """
    words = []
    for word in split_words(text):
        if word in _SKIPPED:
            continue
        suffix = next((end for end in _SUFFIXES if word.endswith(end)), None)
        # the comparative of big doubles its last letter; no other word here ends like one
        if suffix and word.startswith(("big", "small")):
            stem = "big" if word.startswith("big") else "small"
            words += [stem, f"-{suffix}"]
        else:
            words.append(word)
    return words


def plan(form: str, items: int) -> ScenePlan:
    """Return the items of a form: training and validation have seen pairs only."""
    cells = {
        name: tuple(c for c in design_cells() if seen(c) == is_seen)
        for name, is_seen in _PAIRS.items()
    }
    parts = (
        PlanPart("train", 0, cells["seen"], items),
        PlanPart("val", 1, cells["seen"], TEST_ITEMS),
        PlanPart("seen", 3, cells["seen"], TEST_ITEMS),
        PlanPart("unseen", 4, cells["unseen"], TEST_ITEMS),
    )
    return ScenePlan(f"joint-{FORMS[form]}", FORMS[form], parts)


@dataclass(frozen=True)
class Diet:
    """How many training items of each form a training has."""

    name: str
    counts: Mapping[str, int]
    largest: int
    """Items of a form that are made, of which every diet takes the first ones."""

    def source(self) -> ItemSource:
        """Return the items of the diet, with the tests of every form."""
        tests = {f"{form}-{pairs}": (form, pairs) for form in FORMS for pairs in _PAIRS}
        validation = TEST_ITEMS // len(self.counts)
        splits = {
            "train": sum(self.counts.values()),
            "val": validation * len(self.counts),
            **dict.fromkeys(tests, TEST_ITEMS),
        }

        def load(
            split: str, extractor: FeatureExtractor, progress: ProgressCallback | None = None
        ) -> ReasonerDataset:
            if split in tests:
                return code(self.part(*tests[split], extractor), self.words(extractor))
            counts = dict.fromkeys(self.counts, validation) if split == "val" else self.counts
            parts = [
                self.part(form, split, extractor).take(slice(count))
                for form, count in counts.items()
            ]
            return code(join_datasets(parts))

        settings: dict[str, object] = {"diet": self.name, "counts": dict(self.counts)}
        return ItemSource(self.name, splits, settings, load)

    def part(self, form: str, split: str, extractor: FeatureExtractor) -> ReasonerDataset:
        """Return a split of a form, as it is made."""
        return from_scenes(plan(form, self.largest), split, extractor)

    def words(self, extractor: FeatureExtractor) -> set[str]:
        """Return the words that training has."""
        words: set[str] = set()
        for form, count in self.counts.items():
            for text in set(self.part(form, "train", extractor).sentences[:count]):
                words.update(stems(text))
        return words


def code(items: ReasonerDataset, known: Iterable[str] | None = None) -> ReasonerDataset:
    """Return the items with their sentences as stems and suffixes, without unknown ones."""
    vocabulary = None if known is None else set(known)

    @cache
    def write(text: str) -> str:
        return " ".join(word for word in stems(text) if vocabulary is None or word in vocabulary)

    return replace(items, sentences=tuple(map(write, items.sentences)))


def network_config(network: str, epochs: int, seed: int) -> ReasonerConfig:
    """Return the `cpu` preset of a network, those over pixels made smaller."""
    config = preset_config(network, "cpu")
    if network == "object-centred":
        return config.override(sizes={}, epochs=OBJECT_EPOCHS, seed=seed)
    return config.override(sizes=SMALL, epochs=epochs, seed=seed)


def matrix_diets(items: int) -> list[Diet]:
    """Return all subsets of the forms, with as many items in all."""
    diets = []
    for number in range(1, len(FORMS) + 1):
        for forms in combinations(FORMS, number):
            diets.append(Diet("+".join(forms), dict.fromkeys(forms, items // number), items))
    return diets


def curve_diets(items: int) -> list[Diet]:
    """Return growing numbers of positive sentences, beside the other forms and alone."""
    others = dict.fromkeys(("superlative", "comparative"), items // 2)
    diets = []
    for count in CURVE:
        # without positive sentences it is a row of the matrix; alone it cannot be trained
        if count:
            diets.append(Diet(f"others+{count}", {**others, "positive": count}, items))
            diets.append(Diet(f"alone-{count}", {"positive": count}, items))
        else:
            diets.append(Diet("others+0", others, items))
    return diets


def knows(form: str, items: Iterable[SceneItem], as_form: str) -> Iterator[bool]:
    """Yield whether a perfect reader is right who reads a form as another one.

    A positive or a superlative says nothing of a second object; who reads them as comparatives has
    nothing to compare with, so that reading is left out.
    """
    config = SceneConfig(FORMS[form])
    for item in items:
        values = measure(item.scene.objects, config.adjectives)
        if as_form == "superlative":
            end = values.max() if item.cell.positive else values.min()
            answer = values[item.target] == end
        else:
            answer = above(item.scene, False, FIXED_K)[item.target] == item.cell.positive
        yield bool(answer == item.cell.answer)


def rule_rows(items: int) -> dict[str, dict[str, float]]:
    """Return the accuracy of perfect readers that know one form, on every form and kind of pair."""
    rows: dict[str, dict[str, float]] = {}
    for as_form in ("superlative", "positive"):
        for form in FORMS:
            config = SceneConfig(FORMS[form])
            for pairs in _PAIRS:
                tests = scene_items(config, plan(form, items), pairs)
                right = statistics.fmean(knows(form, tests, as_form))
                rows.setdefault(f"rule: all read as {as_form}", {})[f"{form}-{pairs}"] = right
    return rows


def run(
    folder: Path,
    networks: Sequence[str],
    diets: Sequence[Diet],
    seeds: int,
    epochs: int,
    until: float,
) -> dict[str, dict[str, list[dict[str, float]]]]:
    """Train what is missing, seed by seed; return network, diet, and the tests of every seed."""
    rows: dict[str, dict[str, list[dict[str, float]]]] = {}
    for seed in range(seeds):
        for network in networks:
            for diet in diets:
                place = folder / network / diet.name / f"seed{seed}"
                if time.time() >= until and not (place / experiment.TEST_RESULTS).is_file():
                    continue
                config = network_config(network, epochs, seed)
                side = None if network == "object-centred" else SIDE
                config, extractor = experiment.with_features(config, image_size=side)
                source = diet.source()
                splits = experiment.extract_splits(source, extractor)
                began = time.process_time()
                _, tests = experiment.train_and_test(source, splits, place, config, device="cpu")
                seconds = time.process_time() - began
                print(network, diet.name, seed, f"{seconds:.0f} s", tests, flush=True)
                rows.setdefault(network, {}).setdefault(diet.name, []).append(tests)
    return rows


def show(values: Sequence[float]) -> str:
    """Return mean and deviation over seeds."""
    mean = f"{statistics.fmean(values):.3f}"
    if len(values) == 1:
        return mean
    return f"{mean} ± {statistics.stdev(values):.3f}"


def table(rows: Mapping[str, Sequence[Mapping[str, float]]], columns: Sequence[str]) -> str:
    """Return a Markdown table: diets by tests."""
    lines = [
        f"| trained on | {' | '.join(columns)} | seeds |",
        f"|---|{'---:|' * len(columns)}---:|",
    ]
    for name, seeds in rows.items():
        cells = [show([tests[column] for tests in seeds]) for column in columns]
        lines.append(f"| {name} | {' | '.join(cells)} | {len(seeds)} |")
    return "\n".join(lines)


def main() -> None:
    """Train what is missing, and print a table for every network."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=NETWORKS)
    parser.add_argument("--items", type=int, default=6_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=16, help="of the networks over pixels")
    parser.add_argument(
        "--part", nargs="+", default=["matrix", "curve"], choices=["matrix", "curve"]
    )
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    until = time.time() + 60 * given.minutes
    columns = [f"{form}-{pairs}" for form in FORMS for pairs in _PAIRS]
    report: dict[str, Any] = {}
    for part in given.part:
        diets = matrix_diets(given.items) if part == "matrix" else curve_diets(given.items)
        report[part] = run(
            given.folder / part, given.networks, diets, given.seeds, given.epochs, until
        )
    report["rules"] = rule_rows(given.items)
    if given.json:
        print(json.dumps(report))
        return
    for part in given.part:
        for network, rows in report[part].items():
            print(f"\n{part}, {network}\n\n{table(rows, columns)}")
    rules = {name: [tests] for name, tests in report["rules"].items()}
    print(f"\nrules\n\n{table(rules, columns)}")


if __name__ == "__main__":
    main()
