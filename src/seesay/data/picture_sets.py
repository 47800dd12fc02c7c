"""Labelled pictures to train networks on: what a plug-in's picture set (`Plugin.picture_sets`) is
made of.

An opener takes what stands behind the set's name on the command line (`prior-color-5` gives "5",
`easy-vqa` an empty text) and how many training items to take (None: all, or a default), and returns
a `PictureSet`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seesay.plugins import collect
from seesay.registry import load_address

Pixels = NDArray[np.uint8]
"""A picture: height, width, three colours."""


@dataclass(frozen=True, slots=True)
class LabelledPictures:
    """The items of one split.

    `read` turns an item and the side of a square picture into pixels, a sentence, and the index of
    the right answer among `answer_names`. `key` names these items and no others: features that were
    computed once are kept under it.
    """

    key: str
    items: Sequence[Any]
    read: Callable[[Any, int], tuple[Pixels, str, int]]
    answer_names: tuple[str, ...]


class PictureSet(Protocol):
    """Items in splits: `train`, `val`, and any number of tests."""

    @property
    def name(self) -> str:
        """The set's name on the command line and in results."""

    @property
    def splits(self) -> dict[str, int]:
        """The number of items of each split."""

    @property
    def settings(self) -> dict[str, object]:
        """What identifies the set."""

    def open(self, split: str) -> LabelledPictures:
        """The items of a split."""


Opener = Callable[[str, int | None], PictureSet]


def find_picture_set(task: str) -> tuple[str, str] | None:
    """Return the address of the opener that a task's name stands for.

    With it comes what stands behind the set's name. None where the name stands for no set.
    """
    for name, address in collect(lambda plugin: plugin.picture_sets).items():
        # `prior-color-5` is the set `prior-color` with the detail "5".
        if task == name or task.startswith(f"{name}-"):
            detail = task.removeprefix(name).removeprefix("-")
            return address, detail
    return None


def open_picture_set(task: str, items: int | None) -> PictureSet | None:
    """Open the picture set that a task's name stands for; None where it stands for none."""
    place = find_picture_set(task)
    if place is None:
        return None
    address, detail = place
    opener: Opener = load_address(address)
    return opener(detail, items)
