"""Sources of training items, scenes made on the fly or a data set on disk, and the tests that
belong to them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from seesay.data.picture_sets import PictureSet, open_picture_set
from seesay.errors import UserError
from seesay.progress import ProgressCallback
from seesay.scenes.config import SceneConfig
from seesay.scenes.lookup import picture_path
from seesay.scenes.plan import NAMES, PlanPart, ScenePlan, make_plan, test_plan
from seesay.scenes.published import read_questions
from seesay.scenes.reasoners.dataset import (
    ReasonerDataset,
    extract_cached,
    from_folder,
    from_scenes,
    in_batches,
    joined,
    size_and_time,
)
from seesay.scenes.reasoners.features.extractor import FeatureExtractor

TASKS = tuple(name for name in NAMES if not name.endswith("-hard"))
"""Tasks to train on: every scene task but those that are only a test."""
HARD = {"pos": "pos-hard", "set+pos": "set+pos-hard"}
"""The harder test of a task, for a reasoner that is trained on the task's own items (the paper's
Table 2)."""


@dataclass(frozen=True, slots=True)
class ItemSource:
    """`splits`: the number of items of `train`, `val` and every test. `settings`: what identifies
    the source.

    `load(split, extractor, progress=None)` is one of the splits, with its features.
    """

    name: str
    splits: dict[str, int]
    settings: dict[str, object]
    load: Callable[..., ReasonerDataset]

    @property
    def tests(self) -> tuple[str, ...]:
        """The splits that a reasoner trained on this source is tested on."""
        return tuple(split for split in self.splits if split not in ("train", "val"))


def open_source(
    task: str | None = None, data: Path | None = None, items: int | None = None
) -> ItemSource:
    """The source of a task's items (of several tasks, separated by commas), or of a data set on
    disk; `items` limits the training items of each."""
    if data is not None:
        if items is not None:
            raise UserError(
                "--items is for scenes made on the fly: with --data, all items of the data set are "
                "used."
            )
        source = folder_source(data)
        return replace(source, name=task or source.name)
    if task == "easy-vqa":
        from seesay.scenes.reasoners.easy_vqa import easy_vqa_source

        return easy_vqa_source(items)
    pictures = open_picture_set(task, items) if task else None
    if pictures is not None:
        return picture_set_source(pictures)
    if task and "," in task:
        return joint_source(dict.fromkeys(name.strip() for name in task.split(",")), items)
    return scene_source(task or "set+pos", items)


def scene_source(task: str, items: int | None = None) -> ItemSource:
    """Scenes of a task, always the same ones: the seed of a training sets weights and order
    only."""
    plan = training_plan(task, items)
    parts = {split: (plan, split) for split in plan.splits()}
    if plan.name in HARD:
        hard = test_plan(HARD[plan.name], plan.splits()["test"])
        parts[hard.name] = hard, "test"

    def load(
        split: str, extractor: FeatureExtractor, progress: ProgressCallback | None = None
    ) -> ReasonerDataset:
        return from_scenes(*parts[split], extractor, progress=progress)

    splits = {name: part.splits()[split] for name, (part, split) in parts.items()}
    settings = {
        "task": plan.name,
        "items": splits["train"],
        "scenes": SceneConfig(plan.task).fingerprint,
    }
    return ItemSource(plan.name, splits, settings, load)


def training_plan(task: str, items: int | None = None) -> ScenePlan:
    """A task with this many training items (default: as published); validation and tests have an
    eighth each."""
    plan = make_plan(task)
    if "train" not in plan.splits():
        trained = plan.name.removesuffix("-hard")
        raise UserError(
            f"{plan.name} is only a test: train on {trained}, which is tested on it too."
        )
    if items is None:
        return plan
    return replace(plan, parts=_resized(plan, items))


def joint_source(tasks: Iterable[str], items: int | None = None) -> ItemSource:
    """Several tasks at once: their items together, and the tests of each, by its name in
    `seesay.scenes.plan.test_plan`."""
    sources = [scene_source(task, items) for task in tasks]
    pairs = [(source, split) for source in sources for split in source.tests]
    tests = {
        split.replace("test", source.name).replace("_", "-"): (source, split)
        for source, split in pairs
    }

    def load(
        split: str, extractor: FeatureExtractor, progress: ProgressCallback | None = None
    ) -> ReasonerDataset:
        if split in tests:
            source, own = tests[split]
            return source.load(own, extractor, progress)
        return joined([source.load(split, extractor, progress) for source in sources])

    name = ",".join(source.name for source in sources)
    splits = {split: sum(source.splits[split] for source in sources) for split in ("train", "val")}
    splits |= {test: source.splits[split] for test, (source, split) in tests.items()}
    scenes = [source.settings["scenes"] for source in sources]
    return ItemSource(
        name, splits, {"task": name, "items": splits["train"], "scenes": scenes}, load
    )


def picture_set_source(pictures: PictureSet) -> ItemSource:
    """Labelled pictures that a plug-in brings."""

    def load(
        split: str, extractor: FeatureExtractor, progress: ProgressCallback | None = None
    ) -> ReasonerDataset:
        part = pictures.open(split)
        labelled = in_batches(part.items, lambda item: part.read(item, extractor.image_size))
        return extract_cached(
            part.key, labelled, len(part.items), extractor, part.answer_names, progress
        )

    return ItemSource(pictures.name, pictures.splits, pictures.settings, load)


def folder_source(path: Path) -> ItemSource:
    """The data set at this path, in MALeViC's layout; it must have `train` and `val`."""
    path = path.expanduser().resolve()
    if not path.is_dir():
        raise UserError(f"There is no folder '{path}': give a data set in MALeViC's layout.")
    splits = {}
    digest = hashlib.blake2b(digest_size=8)
    for split in ("train", "val", "test", "test_seen", "test_unseen"):
        file = path / "dataset" / f"{split}.json"
        if file.is_file():
            questions, _ = read_questions(file)
            splits[split] = len(questions)
            digest.update(file.read_bytes())
            # Data sets of other seeds may have the same sentences and answers; a copy has pictures
            # of the same sizes.
            sizes = [
                size_and_time(picture_path(path, split, question.image))[0]
                for question in questions
            ]
            digest.update(str(sizes).encode())
    for split in ("train", "val"):
        if split not in splits:
            raise UserError(
                f"{path} has no {split} items: write dataset/{split}.json, as `seesay scenes make` "
                "does."
            )
    settings = {"data": path.name, "items": splits["train"], "digest": digest.hexdigest()}
    return ItemSource(path.name, splits, settings, partial(from_folder, path))


def _resized(plan: ScenePlan, items: int) -> tuple[PlanPart, ...]:
    held_out = max(1, items // 8)
    first, *others = (part for part in plan.parts if part.split == "train")
    # a mixture's name gives the number of its unseen combinations
    left = items - sum(part.count for part in others)
    if left < 1:
        raise UserError(
            f"{plan.name} needs more than {items - left} training items: ask for more than "
            f"{items:,}."
        )
    tests = (replace(part, count=held_out) for part in plan.parts if part.split != "train")
    return (replace(first, count=left), *others, *tests)
