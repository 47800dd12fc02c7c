"""easy-VQA as training items: independent pictures, and 13 answers."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from seesay.errors import UserError
from seesay.progress import ProgressCallback
from seesay.scenes import easy_vqa
from seesay.scenes.reasoners.dataset import (
    LabelledPicture,
    ReasonerDataset,
    extract_cached,
    in_batches,
)
from seesay.scenes.reasoners.features.extractor import FeatureExtractor, read_picture
from seesay.scenes.reasoners.sources import ItemSource

SPLITS = ("train", "val", "test")
HELD_OUT = 0.1
"""The share of the training pictures that validation takes, each with all its questions."""


def from_easy_vqa(
    split: str,
    extractor: FeatureExtractor,
    seed: int = 0,
    *,
    count: int | None = None,
    progress: ProgressCallback | None = None,
) -> ReasonerDataset:
    """Return the items of a split, or the first `count` of them.

    `val` has pictures held out of the package's training set, `test` is the package's own.
    """
    names = easy_vqa.answers()
    rows = _rows(split, seed)[:count]
    # about ten questions per picture, one after the other
    read_once = lru_cache(maxsize=1)(read_picture)

    def label(row: easy_vqa.VqaQuestion) -> LabelledPicture:
        return read_once(row.path, extractor.image_size), row.question, names.index(row.answer)

    name = f"easy-vqa-{easy_vqa.release()}-{split}"
    # the package's test set is the same whatever is held out of its training set
    if split != "test":
        name += f"-{HELD_OUT}-{seed}"
    if count is not None:
        name += f"-{count}"
    labelled = in_batches(rows, label)
    return extract_cached(name, labelled, len(rows), extractor, names, progress)


def easy_vqa_source(count: int | None = None) -> ItemSource:
    """Return the source of `seesay reasoner train --task easy-vqa`.

    It has the first `count` training items, or all of them.
    """
    splits = {split: len(_rows(split, seed=0)) for split in SPLITS}
    if count is not None:
        if count > splits["train"]:
            raise UserError(
                f"easy-vqa has {splits['train']:,} training items, not {count:,}: omit --items to "
                "use all."
            )
        # validation and test stay whole: accuracies remain comparable
        splits["train"] = count

    def load(
        split: str, extractor: FeatureExtractor, progress: ProgressCallback | None = None
    ) -> ReasonerDataset:
        limit = count if split == "train" else None
        return from_easy_vqa(split, extractor, count=limit, progress=progress)

    settings: dict[str, object] = {
        "task": "easy-vqa",
        "items": splits["train"],
        "release": easy_vqa.release(),
    }
    return ItemSource("easy-vqa", splits, settings, load)


def _rows(split: str, seed: int) -> tuple[easy_vqa.VqaQuestion, ...]:
    """Return the questions of a split; all about one picture are in the same one."""
    if split not in SPLITS:
        raise UserError(f"easy-vqa has no {split} items: it has {', '.join(SPLITS)}.")
    if split == "test":
        return easy_vqa.read("test")
    rows = easy_vqa.read("train")
    images = sorted({row.image for row in rows})
    shuffled = np.random.default_rng(seed).permutation(images)
    held_out = set(shuffled[: round(HELD_OUT * len(images))].tolist())
    return tuple(row for row in rows if (row.image in held_out) == (split == "val"))
