"""kind-size as training items: which set does a network compare with?

A fifth of the pairs of kinds is never met in training; the tests are those pairs, asked *here* and
*for its kind*, where the two agree and where they do not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from seesay.data.picture_sets import LabelledPictures, Pixels
from seesay.errors import UserError
from seesay.pictures.dataset_writer import VERSION
from seesay.pictures.drawing import rgb
from seesay.pictures.kinds import HERE, KIND, YES_NO, KindPicture, kind_pictures, question_text
from seesay.pictures.plan import HELD_OUT

NAME = "kind-size"
ITEMS = 8_000
TESTS = ("here-agree", "here-disagree", "kind-agree", "kind-disagree")
_PER_TEST = 400
_SPLITS = ("train", "val", *TESTS)

Item = tuple[KindPicture, str]
"""A picture, and which of the two questions is asked about it."""


def open_kind_size(detail: str, items: int | None) -> KindSizeSet:
    """Open the set of `seesay reasoner train --task kind-size`."""
    if detail:
        raise UserError(f"'{NAME}-{detail}': there is only {NAME}.")
    return KindSizeSet(items or ITEMS)


@dataclass(frozen=True, slots=True)
class KindSizeSet:
    """Pictures of two kinds, and both questions about them."""

    count: int = ITEMS

    @property
    def name(self) -> str:
        """Return the task's name."""
        return NAME

    @property
    def splits(self) -> dict[str, int]:
        """Return the number of items of each split."""
        tests = dict.fromkeys(TESTS, _PER_TEST)
        return {"train": self.count, "val": max(1, self.count // 8), **tests}

    @property
    def settings(self) -> dict[str, object]:
        """Return what identifies the set."""
        return {"task": NAME, "items": self.count, "pictures": VERSION}

    def open(self, split: str) -> LabelledPictures:
        """Return the items of a split."""
        items = self.items(split)
        return LabelledPictures(f"{NAME}-{VERSION}-{split}-{len(items)}", items, _read, YES_NO)

    def items(self, split: str) -> list[Item]:
        """Return the items of a split, in an order of their own: each has another layout."""
        if split not in _SPLITS:
            raise UserError(f"{NAME} has no {split} items: it has {', '.join(_SPLITS)}.")
        stream = _SPLITS.index(split)
        pictures = kind_pictures()
        # four pictures of a pair stand together
        first_unmet = round((1 - HELD_OUT) * len(pictures) / 4) * 4
        question_types = [HERE, KIND]
        if split in TESTS:
            test_question, condition = split.split("-")
            question_types = [test_question]
            unmet_pictures = pictures[first_unmet:]
            pictures = [picture for picture in unmet_pictures if picture.condition == condition]
        else:
            pictures = pictures[:first_unmet]
        generator = np.random.default_rng(stream)
        items = []
        for number in range(self.splits[split]):
            picture = pictures[generator.integers(len(pictures))]
            question_type = question_types[number % len(question_types)]
            items.append((replace(picture, stream=(0, 7, stream, number)), question_type))
        return items


def _read(item: Item, image_size: int) -> tuple[Pixels, str, int]:
    """Return pixels, question and answer of an item."""
    picture, question_type = item
    answer = picture.answers[question_type]
    return rgb(picture, image_size), question_text(picture, question_type), YES_NO.index(answer)
