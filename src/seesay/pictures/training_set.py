"""prior-color as training items: how many recoloured pictures does it take until a network looks?

`prior-color-5` has 5 % recoloured pictures among the training items, `prior-color` none. A fifth of the things is never
met in training; the tests are things met and not met, in their typical colour and in another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from seesay.data.colors import COLORS
from seesay.errors import UserError
from seesay.pictures.dataset_writer import VERSION
from seesay.pictures.drawing import rgb
from seesay.pictures.plan import ColorPicture, is_held_out, recolored
from seesay.pictures.questions import color_here
from seesay.pictures.things import Thing, color_things
from seesay.progress import ProgressCallback
from seesay.scenes.reasoners.dataset import LabelledPicture, ReasonerDataset, extract_cached, in_batches
from seesay.scenes.reasoners.features.extractor import FeatureExtractor

NAME = "prior-color"
ITEMS = 2_000
TESTS = ("met-typical", "met-recolored", "unmet-typical", "unmet-recolored")
_PER_THING = 1  # pictures of each thing in a test
_SPLITS = ("train", "val", *TESTS)


@dataclass(frozen=True, slots=True)
class PriorColorSource:
    """The source of `seesay reasoner train --task prior-color-PERCENT`."""

    percent: int = 0
    count: int = ITEMS

    @classmethod
    def parse(cls, task: str, items: int | None) -> PriorColorSource:
        """The source of a task's name."""
        match = re.fullmatch(rf"{NAME}(?:-(\d{{1,3}}))?", task)
        if match is None or int(match[1] or 0) > 100:
            raise UserError(f"'{task}': give the percentage of recoloured training pictures, as in {NAME}-5.")
        return cls(int(match[1] or 0), items or ITEMS)

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
        """What identifies the source."""
        return {"task": self.name, "items": self.count, "pictures": VERSION}

    def load(
        self, split: str, extractor: FeatureExtractor, progress: ProgressCallback | None = None
    ) -> ReasonerDataset:
        """One of the splits, with its features."""
        pictures = self.pictures(split)

        def label(picture: ColorPicture) -> LabelledPicture:
            return rgb(picture, extractor.image_size), _sentence(picture), COLORS.index(picture.color)

        part = f"{split if split in TESTS else f'{split}-{self.percent}'}-{len(pictures)}"
        labelled, total = in_batches(pictures, label), len(pictures)
        return extract_cached(f"{NAME}-{VERSION}-{part}", labelled, total, extractor, COLORS, progress)

    def pictures(self, split: str) -> list[ColorPicture]:
        """The pictures of a split: so many percent of the items in another colour, or a test's all or none."""
        if split not in _SPLITS:
            raise UserError(f"{NAME} has no {split} items: it has {', '.join(_SPLITS)}.")
        stream, total = _SPLITS.index(split), self.splits[split]
        mixture = 0 if split in TESTS else self.percent  # tests are the same for every mixture
        generator = np.random.default_rng([stream, mixture, total])
        things = _things(split.startswith("unmet"))
        subjects = [things[place % len(things)] for place in range(total)]
        share = {True: 1.0, False: 0.0}[split.endswith("recolored")] if split in TESTS else self.percent / 100
        others = set(generator.permutation(total)[: round(share * total)].tolist())
        colors = dict(zip(sorted(others), recolored([subjects[i] for i in sorted(others)], generator), strict=True))
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


def _sentence(picture: ColorPicture) -> str:
    assert isinstance(picture.subject, Thing)
    return color_here(picture.subject.name)
