"""easy-VQA as training items: independent pictures, and 13 answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seesay.data import easy_vqa
from seesay.errors import UserError
from seesay.progress import ProgressCallback
from seesay.reasoners.dataset import BATCH, LabelledPictures, ReasonerDataset, extract_cached
from seesay.reasoners.features.extractor import FeatureExtractor, Pictures, read_picture

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
    """The items of `train`, `val` (pictures held out of the package's training set) or `test` (its own), or the first
    `count` of them."""
    names, rows = easy_vqa.answers(), _rows(split, seed)[:count]
    indices = {answer: i for i, answer in enumerate(names)}

    def labelled() -> Iterator[LabelledPictures]:
        last: tuple[str, Pictures] | None = None
        for start in range(0, len(rows), BATCH):
            batch, pictures = rows[start : start + BATCH], []
            for row in batch:  # about ten questions per picture, one after the other: it is read once
                if last is None or last[0] != row.path:
                    last = row.path, read_picture(row.path, extractor.image_size)
                pictures.append(last[1])
            yield np.stack(pictures), [row.question for row in batch], [indices[row.answer] for row in batch]

    part = split if split == "test" else f"{split}-{HELD_OUT}-{seed}"
    part += "" if count is None else f"-{count}"
    return extract_cached(f"easy-vqa-{easy_vqa.release()}-{part}", labelled(), len(rows), extractor, names, progress)


@dataclass(frozen=True, slots=True)
class EasyVqaSource:
    """The source of `seesay reasoner train --task easy-vqa`: the first `count` training items, or all of them."""

    count: int | None = None

    def __post_init__(self) -> None:
        total = len(_rows("train", seed=0))
        if self.count is not None and self.count > total:
            raise UserError(f"easy-vqa has {total:,} training items, not {self.count:,}: omit --items to use all.")

    @property
    def splits(self) -> dict[str, int]:
        """The number of items of each."""
        counts = {split: len(_rows(split, seed=0)) for split in SPLITS}
        return counts if self.count is None else {**counts, "train": self.count}

    @property
    def settings(self) -> dict[str, object]:
        """What identifies the source."""
        return {"task": "easy-vqa", "items": self.splits["train"], "release": easy_vqa.release()}

    def load(
        self, split: str, extractor: FeatureExtractor, progress: ProgressCallback | None = None
    ) -> ReasonerDataset:
        """One of the splits, with its features."""
        return from_easy_vqa(split, extractor, count=self.count if split == "train" else None, progress=progress)


def _rows(split: str, seed: int) -> tuple[easy_vqa.VqaQuestion, ...]:
    if split not in SPLITS:
        raise UserError(f"easy-vqa has no {split} items: it has {', '.join(SPLITS)}.")
    if split == "test":
        return easy_vqa.read("test")
    rows = easy_vqa.read("train")
    images = np.random.default_rng(seed).permutation(sorted({row.image for row in rows}))
    held_out = set(images[: round(HELD_OUT * len(images))].tolist())
    return tuple(row for row in rows if (row.image in held_out) == (split == "val"))
