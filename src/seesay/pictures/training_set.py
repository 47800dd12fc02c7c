"""prior-color as training items: how many recoloured pictures does it take until a network looks?

`prior-color-5` has 5 % recoloured pictures among the training items, `prior-color` none. A fifth of
the things is never met in training; the tests are things met and not met, in their typical colour
and in another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from seesay.data.colors import COLORS
from seesay.data.picture_sets import LabelledPictures, Pixels
from seesay.errors import UserError
from seesay.pictures.dataset_writer import VERSION
from seesay.pictures.drawing import rgb
from seesay.pictures.plan import ColorPicture, assign_colors, is_held_out
from seesay.pictures.questions import color_here
from seesay.pictures.things import Thing, color_things

NAME = "prior-color"
ITEMS = 2_000
TESTS = ("met-typical", "met-recolored", "unmet-typical", "unmet-recolored")
_PER_THING = 1  # pictures of each thing in a test
_SPLITS = ("train", "val", *TESTS)


def open_prior_color(percent: str, items: int | None) -> PriorColorSet:
    """Open the set of `seesay reasoner train --task prior-color-PERCENT`."""
    if not re.fullmatch(r"\d{0,3}", percent) or int(percent or 0) > 100:
        raise UserError(
            f"'{NAME}-{percent}': give the percentage of recoloured training pictures, as in "
            f"{NAME}-5."
        )
    return PriorColorSet(int(percent or 0), items or ITEMS)


@dataclass(frozen=True, slots=True)
class PriorColorSet:
    """Pictures of things, so many percent of them in another colour."""

    percent: int = 0
    count: int = ITEMS

    @property
    def name(self) -> str:
        """Return the task's name."""
        return f"{NAME}-{self.percent}"

    @property
    def splits(self) -> dict[str, int]:
        """Return the number of items of each split."""
        splits = {"train": self.count, "val": max(1, self.count // 8)}
        for test in TESTS:
            splits[test] = _PER_THING * len(_things(test.startswith("unmet")))
        return splits

    @property
    def settings(self) -> dict[str, object]:
        """Return what identifies the set."""
        return {"task": self.name, "items": self.count, "pictures": VERSION}

    def open(self, split: str) -> LabelledPictures:
        """Return the items of a split."""
        pictures = self.pictures(split)
        # tests are the same for every mixture
        part = split if split in TESTS else f"{split}-{self.percent}"
        key = f"{NAME}-{VERSION}-{part}-{len(pictures)}"
        return LabelledPictures(key, pictures, _read, COLORS)

    def pictures(self, split: str) -> list[ColorPicture]:
        """Return the pictures of a split.

        So many percent of the items are in another colour; of a test, all or none.
        """
        if split not in _SPLITS:
            raise UserError(f"{NAME} has no {split} items: it has {', '.join(_SPLITS)}.")
        stream = _SPLITS.index(split)
        total = self.splits[split]
        mixture = self.percent
        recolored = round(self.percent / 100 * total)
        # tests are the same for every mixture
        if split in TESTS:
            mixture = 0
            recolored = total if split.endswith("recolored") else 0
        generator = np.random.default_rng([stream, mixture, total])
        things = _things(split.startswith("unmet"))
        subjects = [things[place % len(things)] for place in range(total)]
        places = sorted(generator.permutation(total)[:recolored].tolist())
        new_colors = assign_colors([subjects[place] for place in places], generator)
        colors = dict(zip(places, new_colors, strict=True))
        pictures = []
        for place, thing in enumerate(subjects):
            picture = ColorPicture(
                name=f"{split}-{place}",
                subject=thing,
                condition="counterfactual" if place in colors else "typical",
                color=colors.get(place, thing.colors[0]),
                stream=(stream, mixture, place),
            )
            pictures.append(picture)
        return pictures


def _things(held_out: bool) -> list[Thing]:
    """Return the things that training never has, or those that it has."""
    return [thing for thing in color_things() if is_held_out(thing) == held_out]


def _read(picture: ColorPicture, image_size: int) -> tuple[Pixels, str, int]:
    """Return pixels, question and answer of a picture."""
    assert isinstance(picture.subject, Thing)
    question = color_here(picture.subject.name)
    return rgb(picture, image_size), question, COLORS.index(picture.color)
