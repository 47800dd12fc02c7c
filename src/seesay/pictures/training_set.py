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
from seesay.pictures.plan import ColorPicture, is_held_out, recolored
from seesay.pictures.questions import color_here
from seesay.pictures.things import Thing, color_things

NAME = "prior-color"
ITEMS = 2_000
TESTS = ("met-typical", "met-recolored", "unmet-typical", "unmet-recolored")
_PER_THING = 1  # pictures of each thing in a test
_SPLITS = ("train", "val", *TESTS)


def open_prior_color(percent: str, items: int | None) -> PriorColorSet:
    """The set of `seesay reasoner train --task prior-color-PERCENT`."""
    is_percentage = re.fullmatch(r"\d{0,3}", percent) and int(percent or 0) <= 100
    if not is_percentage:
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
        """The task's name."""
        return f"{NAME}-{self.percent}"

    @property
    def splits(self) -> dict[str, int]:
        """The number of items of each."""
        tests = {test: _PER_THING * len(_things(test.startswith("unmet"))) for test in TESTS}
        return {"train": self.count, "val": max(1, self.count // 8), **tests}

    @property
    def settings(self) -> dict[str, object]:
        """What identifies the set."""
        return {"task": self.name, "items": self.count, "pictures": VERSION}

    def open(self, split: str) -> LabelledPictures:
        """The items of a split."""
        pictures = self.pictures(split)
        # tests are the same for every mixture
        part = split if split in TESTS else f"{split}-{self.percent}"
        return LabelledPictures(f"{NAME}-{VERSION}-{part}-{len(pictures)}", pictures, _read, COLORS)

    def pictures(self, split: str) -> list[ColorPicture]:
        """The pictures of a split: so many percent of the items in another colour, or a test's all
        or none."""
        if split not in _SPLITS:
            raise UserError(f"{NAME} has no {split} items: it has {', '.join(_SPLITS)}.")
        stream = _SPLITS.index(split)
        total = self.splits[split]
        mixture = 0 if split in TESTS else self.percent  # tests are the same for every mixture
        generator = np.random.default_rng([stream, mixture, total])
        things = _things(split.startswith("unmet"))
        subjects = [things[place % len(things)] for place in range(total)]
        if split in TESTS:
            share = {True: 1.0, False: 0.0}[split.endswith("recolored")]
        else:
            share = self.percent / 100
        others = set(generator.permutation(total)[: round(share * total)].tolist())
        colors = dict(
            zip(
                sorted(others),
                recolored([subjects[i] for i in sorted(others)], generator),
                strict=True,
            )
        )
        return [
            ColorPicture(
                f"{split}-{place}",
                thing,
                "counterfactual" if place in others else "typical",
                colors.get(place, thing.colors[0]),
                (stream, mixture, place),
            )
            for place, thing in enumerate(subjects)
        ]


def _things(held_out: bool) -> list[Thing]:
    return [thing for thing in color_things() if is_held_out(thing) == held_out]


def _read(picture: ColorPicture, image_size: int) -> tuple[Pixels, str, int]:
    assert isinstance(picture.subject, Thing)
    return rgb(picture, image_size), color_here(picture.subject.name), COLORS.index(picture.color)
