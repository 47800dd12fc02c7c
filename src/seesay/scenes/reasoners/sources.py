"""Sources of training items, scenes made on the fly or a data set on disk, and the tests that belong to them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

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
"""The harder test of a task, for a reasoner that is trained on the task's own items (the paper's Table 2)."""


class ItemSource(Protocol):
    """`splits`: the number of items of `train`, `val` and every test. `settings`: what identifies the source."""

    @property
    def splits(self) -> dict[str, int]: ...

    @property
    def settings(self) -> dict[str, object]: ...

    def load(
        self, split: str, extractor: FeatureExtractor, progress: ProgressCallback | None = None
    ) -> ReasonerDataset:
        """One of the splits, with its features."""


@dataclass(frozen=True, slots=True)
class SceneSource:
    """Scenes of a task, always the same ones: the seed of a training sets weights and order only."""

    plan: ScenePlan
    hard: ScenePlan | None = None

    @property
    def splits(self) -> dict[str, int]:
        return self.plan.splits() | ({self.hard.name: self.hard.splits()["test"]} if self.hard else {})

    @property
    def settings(self) -> dict[str, object]:
        fingerprint = SceneConfig(self.plan.task).fingerprint
        return {"task": self.plan.name, "items": self.plan.splits()["train"], "scenes": fingerprint}

    def load(
        self, split: str, extractor: FeatureExtractor, progress: ProgressCallback | None = None
    ) -> ReasonerDataset:
        if self.hard and split == self.hard.name:
            return from_scenes(self.hard, "test", extractor, progress=progress)
        return from_scenes(self.plan, split, extractor, progress=progress)


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A data set on disk in MALeViC's layout."""

    path: Path
    splits: dict[str, int]
    digest: str

    @property
    def settings(self) -> dict[str, object]:
        return {"data": self.path.name, "items": self.splits["train"], "digest": self.digest}

    def load(
        self, split: str, extractor: FeatureExtractor, progress: ProgressCallback | None = None
    ) -> ReasonerDataset:
        return from_folder(self.path, split, extractor, progress=progress)


@dataclass(frozen=True, slots=True)
class JointSource:
    """Several tasks at once: their items together, and the tests of each, by its name in
    `seesay.scenes.plan.test_plan`."""

    sources: tuple[SceneSource, ...]

    @property
    def name(self) -> str:
        """The tasks, separated by commas."""
        return ",".join(source.plan.name for source in self.sources)

    @property
    def splits(self) -> dict[str, int]:
        sizes = {split: sum(source.splits[split] for source in self.sources) for split in ("train", "val")}
        return sizes | {test: source.splits[split] for test, (source, split) in self._tests().items()}

    @property
    def settings(self) -> dict[str, object]:
        scenes = [source.settings["scenes"] for source in self.sources]
        return {"task": self.name, "items": self.splits["train"], "scenes": scenes}

    def load(
        self, split: str, extractor: FeatureExtractor, progress: ProgressCallback | None = None
    ) -> ReasonerDataset:
        if split in ("train", "val"):
            return joined([source.load(split, extractor, progress) for source in self.sources])
        source, own = self._tests()[split]
        return source.load(own, extractor, progress)

    def _tests(self) -> dict[str, tuple[SceneSource, str]]:
        """Every test with its source and its name there."""
        pairs = [(source, split) for source in self.sources for split in tested_splits(source)]
        return {split.replace("test", source.plan.name).replace("_", "-"): (source, split) for source, split in pairs}


@dataclass(frozen=True, slots=True)
class PictureSetSource:
    """Labelled pictures that a plug-in brings."""

    pictures: PictureSet

    @property
    def splits(self) -> dict[str, int]:
        return self.pictures.splits

    @property
    def settings(self) -> dict[str, object]:
        return self.pictures.settings

    def load(
        self, split: str, extractor: FeatureExtractor, progress: ProgressCallback | None = None
    ) -> ReasonerDataset:
        part = self.pictures.open(split)
        labelled = in_batches(part.items, lambda item: part.read(item, extractor.image_size))
        return extract_cached(part.key, labelled, len(part.items), extractor, part.answer_names, progress)


def open_source(task: str | None = None, data: Path | None = None, items: int | None = None) -> tuple[ItemSource, str]:
    """The source of a task's items (of several tasks, separated by commas), or of a data set on disk, and its name;
    `items` limits the training items of each."""
    if data is not None:
        if items is not None:
            raise UserError("--items is for scenes made on the fly: with --data, all items of the data set are used.")
        return folder_source(data), task or data.resolve().name
    if task == "easy-vqa":
        from seesay.scenes.reasoners.easy_vqa import EasyVqaSource

        return EasyVqaSource(items), task
    pictures = open_picture_set(task, items) if task else None
    if pictures is not None:
        return PictureSetSource(pictures), pictures.name
    if task and "," in task:
        names = dict.fromkeys(name.strip() for name in task.split(","))
        joint = JointSource(tuple(scene_source(name, items) for name in names))
        return joint, joint.name
    scenes = scene_source(task or "set+pos", items)
    return scenes, scenes.plan.name


def scene_source(task: str, items: int | None = None) -> SceneSource:
    """A task with this many training items (default: as published); validation and tests have an eighth each."""
    plan = make_plan(task)
    if "train" not in plan.splits():
        trained = plan.name.removesuffix("-hard")
        raise UserError(f"{plan.name} is only a test: train on {trained}, which is tested on it too.")
    if items is not None:
        plan = replace(plan, parts=_resized(plan, items))
    hard = HARD.get(plan.name)
    return SceneSource(plan, test_plan(hard, plan.splits()["test"]) if hard else None)


def folder_source(path: Path) -> FolderSource:
    """The data set at this path; it must have `train` and `val`."""
    path = path.expanduser().resolve()
    if not path.is_dir():
        raise UserError(f"There is no folder '{path}': give a data set in MALeViC's layout.")
    splits, digest = {}, hashlib.blake2b(digest_size=8)
    for split in ("train", "val", "test", "test_seen", "test_unseen"):
        file = path / "dataset" / f"{split}.json"
        if file.is_file():
            questions, _ = read_questions(file)
            splits[split] = len(questions)
            digest.update(file.read_bytes())
            # Data sets of other seeds may have the same sentences and answers; a copy has pictures of the same sizes.
            sizes = [size_and_time(picture_path(path, split, question.image))[0] for question in questions]
            digest.update(str(sizes).encode())
    for split in ("train", "val"):
        if not splits.get(split):
            raise UserError(f"{path} has no {split} items: write dataset/{split}.json, as `seesay scenes make` does.")
    return FolderSource(path, {split: count for split, count in splits.items() if count}, digest.hexdigest())


def tested_splits(source: ItemSource) -> tuple[str, ...]:
    """The splits that a reasoner trained on this source is tested on."""
    return tuple(split for split in source.splits if split not in ("train", "val"))


def _resized(plan: ScenePlan, items: int) -> tuple[PlanPart, ...]:
    held_out = max(1, items // 8)
    first, *others = (part for part in plan.parts if part.split == "train")
    left = items - sum(part.count for part in others)  # a mixture's name gives the number of its unseen combinations
    if left < 1:
        raise UserError(f"{plan.name} needs more than {items - left} training items: ask for more than {items:,}.")
    tests = (replace(part, count=held_out) for part in plan.parts if part.split != "train")
    return (replace(first, count=left), *others, *tests)
