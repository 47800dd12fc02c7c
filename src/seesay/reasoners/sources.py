"""Where a reasoner's items come from, scenes made on the fly or a data set on disk, and what it is tested on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from seesay.errors import UserError
from seesay.reasoners.dataset import Items, Progress, from_folder, from_scenes, stamp
from seesay.reasoners.features.extractor import Eye
from seesay.scenes.config import SceneConfig
from seesay.scenes.lookup import picture_path
from seesay.scenes.plan import NAMES, PlanPart, ScenePlan, make_plan, test_plan
from seesay.scenes.published import read_questions

TASKS = tuple(name for name in NAMES if not name.endswith("-hard"))
"""What can be learnt: every scene task but those that are a test alone."""
HARD = {"pos": "pos-hard", "set+pos": "set+pos-hard"}
"""The harder test of a task, which is learnt from its own training items (the paper's Table 2)."""


class Source(Protocol):
    """`splits`: how many items `train`, `val` and every test have. `settings`: what tells it from other sources."""

    @property
    def splits(self) -> dict[str, int]: ...

    @property
    def settings(self) -> dict[str, object]: ...

    def items(self, split: str, eye: Eye, progress: Progress | None = None) -> Items:
        """One of the splits, as the eye sees it."""


@dataclass(frozen=True, slots=True)
class Scenes:
    """Scenes of a task, always the same ones: what a training's seed changes is weights and order."""

    plan: ScenePlan
    hard: ScenePlan | None = None

    @property
    def splits(self) -> dict[str, int]:
        return self.plan.splits() | ({self.hard.name: self.hard.splits()["test"]} if self.hard else {})

    @property
    def settings(self) -> dict[str, object]:
        return {
            "task": self.plan.name,
            "items": self.plan.splits()["train"],
            "scenes": SceneConfig(self.plan.task).fingerprint,
        }

    def items(self, split: str, eye: Eye, progress: Progress | None = None) -> Items:
        if self.hard and split == self.hard.name:
            return from_scenes(self.hard, "test", eye, progress=progress)
        return from_scenes(self.plan, split, eye, progress=progress)


@dataclass(frozen=True, slots=True)
class Folder:
    """A data set on disk in MALeViC's layout."""

    path: Path
    splits: dict[str, int]
    digest: str

    @property
    def settings(self) -> dict[str, object]:
        return {"data": self.path.name, "items": self.splits["train"], "digest": self.digest}

    def items(self, split: str, eye: Eye, progress: Progress | None = None) -> Items:
        return from_folder(self.path, split, eye, progress=progress)


def scenes(task: str, items: int | None = None) -> Scenes:
    """So many training items of a task, as many as published if not given; validation and tests have an eighth each."""
    whole = make_plan(task)
    if "train" not in whole.splits():
        learnt = whole.name.removesuffix("-hard")
        raise UserError(f"{whole.name} is a test alone: train on {learnt}, which is tested on it too.")
    if items is not None:
        whole = replace(whole, parts=_resized(whole, items))
    hard = HARD.get(whole.name)
    return Scenes(whole, test_plan(hard, whole.splits()["test"]) if hard else None)


def folder(path: Path) -> Folder:
    """The data set at this path; it must have `train` and `val`."""
    path = path.expanduser().resolve()
    if not path.is_dir():
        raise UserError(f"There is no folder '{path}': give a data set in MALeViC's layout.")
    splits, digest = {}, hashlib.blake2b(digest_size=8)
    for split in ("train", "val", "test", "test_seen", "test_unseen"):
        file = path / "dataset" / f"{split}.json"
        if file.is_file():
            asked, _ = read_questions(file)
            splits[split] = len(asked)
            digest.update(file.read_bytes())
            # Data sets of other seeds may have the same sentences and answers; a copy has pictures of the same sizes.
            sizes = [stamp(picture_path(path, split, one.image))[0] for one in asked]
            digest.update(str(sizes).encode())
    for split in ("train", "val"):
        if not splits.get(split):
            raise UserError(f"{path} has no {split} items: write dataset/{split}.json, as `seesay scenes make` does.")
    return Folder(path, {split: count for split, count in splits.items() if count}, digest.hexdigest())


def tests(source: Source) -> tuple[str, ...]:
    """The names of what a reasoner that learnt from it is tested on."""
    return tuple(split for split in source.splits if split not in ("train", "val"))


def _resized(plan: ScenePlan, items: int) -> tuple[PlanPart, ...]:
    held_out = max(1, items // 8)
    first, *others = (part for part in plan.parts if part.split == "train")
    left = items - sum(part.count for part in others)  # a mixture's unseen combinations, whose number is its name
    if left < 1:
        raise UserError(f"{plan.name} needs more than {items - left} training items: ask for more than {items:,}.")
    tests = (replace(part, count=held_out) for part in plan.parts if part.split != "train")
    return (replace(first, count=left), *others, *tests)
