"""Sources of training items: scenes made on the fly, or a data set on disk, with their tests."""

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
    join_datasets,
    size_and_time,
)
from seesay.scenes.reasoners.features.extractor import FeatureExtractor
from seesay.scenes.reasoners.features.stored import PREFIX

TASKS = tuple(name for name in NAMES if not name.endswith("-hard"))
"""Tasks to train on: every scene task but those that are only a test."""
HARD = {"pos": "pos-hard", "set+pos": "set+pos-hard"}
"""The harder test of a task (the paper's Table 2).

It is for a reasoner that is trained on the task's own items.
"""


@dataclass(frozen=True, slots=True)
class ItemSource:
    """Where training items come from."""

    name: str
    splits: dict[str, int]
    """The number of items of `train`, `val` and every test."""
    settings: dict[str, object]
    """What identifies the source: a training with others is not resumed."""
    load: Callable[..., ReasonerDataset]
    """`load(split, extractor, progress=None)` returns a split with its features."""

    @property
    def tests(self) -> tuple[str, ...]:
        """Return the splits that a reasoner trained on this source is tested on."""
        return tuple(split for split in self.splits if split not in ("train", "val"))


def open_source(
    task: str | None = None,
    data: Path | None = None,
    items: int | None = None,
    features: str | None = None,
) -> ItemSource:
    """Open the source of a task's items, or of a data set on disk.

    Several tasks are separated by commas; `items` is the number of training items of each. A data
    set whose `features` are in .h5 files needs no pictures.
    """
    is_stored = (features or "").startswith(PREFIX)
    if is_stored and data is None:
        raise UserError(
            "Stored features are of a data set's pictures: name the data set with --data."
        )
    if data is not None:
        if items is not None:
            raise UserError(
                "--items is for scenes made on the fly: with --data, all items of the data set are "
                "used."
            )
        source = folder_source(data, has_pictures=not is_stored)
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
    """Return the scenes of a task, always the same ones.

    The seed of a training sets weights and order only.
    """
    plan = training_plan(task, items)
    parts = {split: (plan, split) for split in plan.splits()}
    if plan.name in HARD:
        # as many items as the task's own test
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
    """Return a task's plan with this many training items (default: as published).

    Validation and tests have an eighth each.
    """
    plan = make_plan(task)
    if "train" not in plan.splits():
        task = plan.name.removesuffix("-hard")
        raise UserError(f"{plan.name} is only a test: train on {task}, which is tested on it too.")
    if items is None:
        return plan
    return replace(plan, parts=_resize(plan, items))


def joint_source(tasks: Iterable[str], items: int | None = None) -> ItemSource:
    """Return several tasks as one source: their items together, and the tests of each.

    Tests have their names in `seesay.scenes.plan.test_plan`.
    """
    sources = [scene_source(task, items) for task in tasks]
    tests = {}
    for source in sources:
        for split in source.tests:
            # test becomes pos, test_seen compositional-seen; pos-hard is unique as it is
            name = split.replace("test", source.name).replace("_", "-")
            tests[name] = (source, split)

    def load(
        split: str, extractor: FeatureExtractor, progress: ProgressCallback | None = None
    ) -> ReasonerDataset:
        if split in tests:
            source, test = tests[split]
            return source.load(test, extractor, progress)
        return join_datasets([source.load(split, extractor, progress) for source in sources])

    name = ",".join(source.name for source in sources)
    splits = {split: sum(source.splits[split] for source in sources) for split in ("train", "val")}
    splits |= {test: source.splits[split] for test, (source, split) in tests.items()}
    settings = {
        "task": name,
        "items": splits["train"],
        "scenes": [source.settings["scenes"] for source in sources],
    }
    return ItemSource(name, splits, settings, load)


def picture_set_source(pictures: PictureSet) -> ItemSource:
    """Return labelled pictures that a plug-in brings as a source."""

    def load(
        split: str, extractor: FeatureExtractor, progress: ProgressCallback | None = None
    ) -> ReasonerDataset:
        part = pictures.open(split)
        labelled = in_batches(part.items, lambda item: part.read(item, extractor.image_size))
        return extract_cached(
            part.key,
            labelled,
            len(part.items),
            extractor,
            part.answer_names,
            progress,
        )

    return ItemSource(pictures.name, pictures.splits, pictures.settings, load)


def folder_source(
    path: Path,
    *,
    has_pictures: bool = True,
    required: Iterable[str] = ("train", "val"),
) -> ItemSource:
    """Return the data set at this path, in MALeViC's layout; it must have the `required` splits."""
    path = path.expanduser().resolve()
    if not path.is_dir():
        raise UserError(f"There is no folder '{path}': give a data set in MALeViC's layout.")
    splits = {}
    # sentences and pictures, not the path: a copied data set resumes its trainings
    digest = hashlib.blake2b(digest_size=8)
    for split in ("train", "val", "test", "test_seen", "test_unseen"):
        file = path / "dataset" / f"{split}.json"
        if file.is_file():
            questions, _ = read_questions(file)
            splits[split] = len(questions)
            digest.update(file.read_bytes())
            if not has_pictures:
                continue
            # Data sets of other seeds may have the same sentences and answers; a copy has pictures
            # of the same sizes.
            pictures = [picture_path(path, split, question.image) for question in questions]
            sizes = [size_and_time(picture)[0] for picture in pictures]
            digest.update(str(sizes).encode())
    for split in required:
        if split not in splits:
            raise UserError(
                f"{path} has no {split} items: write dataset/{split}.json, as `seesay scenes make` "
                "does."
            )
    settings: dict[str, object] = {
        "data": path.name,
        "items": splits.get("train", 0),
        "digest": digest.hexdigest(),
    }
    return ItemSource(path.name, splits, settings, partial(from_folder, path))


def _resize(plan: ScenePlan, items: int) -> tuple[PlanPart, ...]:
    """Return the parts of a plan with this many training items, an eighth of them held out."""
    held_out = max(1, items // 8)
    first, *others = (part for part in plan.parts if part.split == "train")
    # a mixture's name gives the number of its unseen combinations
    unseen = sum(part.count for part in others)
    if items <= unseen:
        raise UserError(
            f"{plan.name} needs more than {unseen} training items: ask for more than {items:,}."
        )
    tests = (replace(part, count=held_out) for part in plan.parts if part.split != "train")
    return (replace(first, count=items - unseen), *others, *tests)
