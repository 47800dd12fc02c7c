"""easy-VQA as items: pictures that nobody here made, 13 answers, and what someone gets right who never looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seesay.data import easy_vqa
from seesay.errors import UserError
from seesay.reasoners.dataset import Items, Progress, Seen, looked_at
from seesay.reasoners.features.extractor import Eye, Pictures, picture

SPLITS = ("train", "val", "test")
HELD_OUT = 0.1
"""The share of the training pictures that validation takes, each with all its questions."""
_AT_ONCE = 64


def from_easy_vqa(
    split: str, eye: Eye, seed: int = 0, *, count: int | None = None, progress: Progress | None = None
) -> Items:
    """The items of `train`, `val` (pictures held out of the package's training set) or `test` (its own), or the first
    `count` of them."""
    names, asked = easy_vqa.answers(), _asked(split, seed)[:count]
    numbers = {answer: number for number, answer in enumerate(names)}

    def seen() -> Iterator[Seen]:
        last: tuple[str, Pictures] | None = None
        for start in range(0, len(asked), _AT_ONCE):
            some, pictures = asked[start : start + _AT_ONCE], []
            for one in some:  # about ten questions a picture, one after the other: it is read once
                if last is None or last[0] != one.path:
                    last = one.path, picture(one.path, eye.side)
                pictures.append(last[1])
            yield np.stack(pictures), [one.question for one in some], [numbers[one.answer] for one in some]

    part = split if split == "test" else f"{split}-{HELD_OUT}-{seed}"
    part += "" if count is None else f"-{count}"
    return looked_at(f"easy-vqa-{easy_vqa.release()}-{part}", seen(), len(asked), eye, names, progress)


@dataclass(frozen=True, slots=True)
class EasyVqa:
    """What `seesay reasoner train --task easy-vqa` learns from: the first `count` training items, or all of them."""

    count: int | None = None

    def __post_init__(self) -> None:
        there = len(_asked("train", seed=0))
        if self.count is not None and self.count > there:
            raise UserError(f"easy-vqa has {there:,} training items, not {self.count:,}: leave --items out for all.")

    @property
    def splits(self) -> dict[str, int]:
        """How many items there are of each."""
        found = {split: len(_asked(split, seed=0)) for split in SPLITS}
        return found if self.count is None else {**found, "train": self.count}

    @property
    def settings(self) -> dict[str, object]:
        """What tells it from other sources."""
        return {"task": "easy-vqa", "items": self.splits["train"], "release": easy_vqa.release()}

    def items(self, split: str, eye: Eye, progress: Progress | None = None) -> Items:
        """One of the splits, as the eye sees it."""
        return from_easy_vqa(split, eye, count=self.count if split == "train" else None, progress=progress)


def majority(train: Items, test: Items, *, by_sentence: bool = False) -> float:
    """The test accuracy of the commonest training answer; `by_sentence`, of the commonest answer to the same words.

    The second is the bar for a network: all that can be had without the picture.
    """
    overall = Counter(train.answers.tolist()).most_common(1)[0][0]
    said: dict[str, Counter[int]] = {}
    if by_sentence:
        for sentence, answer in zip(train.sentences, train.answers.tolist(), strict=True):
            said.setdefault(sentence, Counter())[answer] += 1
    commonest = {sentence: counts.most_common(1)[0][0] for sentence, counts in said.items()}
    guessed = np.array([commonest.get(sentence, overall) for sentence in test.sentences])
    return float((guessed == test.answers).mean())


def _asked(split: str, seed: int) -> tuple[easy_vqa.VqaQuestion, ...]:
    if split not in SPLITS:
        raise UserError(f"easy-vqa has no {split} items: it has {', '.join(SPLITS)}.")
    if split == "test":
        return easy_vqa.read("test")
    asked = easy_vqa.read("train")
    images = np.random.default_rng(seed).permutation(sorted({one.image for one in asked}))
    held_out = set(images[: round(HELD_OUT * len(images))].tolist())
    return tuple(one for one in asked if (one.image in held_out) == (split == "val"))
