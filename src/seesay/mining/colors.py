"""Colours of objects: the colours of each region, and facts from their counts by name.

A region's colours come from its pixels (the default, `seesay.mining.pixels`), or from a visual
question answering model that is asked "what color is the cup?" and answers freely, as in ViPhy
(section 3.1, appendix A.4): "black and white" is two colours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from seesay.data.knowledge import COLORS, ColorFact
from seesay.metrics.typical_labels import typical_labels
from seesay.mining.choices import MIN_ANSWERS
from seesay.mining.masks import region_pixels
from seesay.mining.observations import MAX_EXAMPLES
from seesay.mining.pixels import Pixels, region_colors
from seesay.mining.records import Colors, Region
from seesay.models.batches import compute_batches
from seesay.questions import SLOT, Prompt

if TYPE_CHECKING:
    from seesay.models.vision.vision_language import VisionModel

MAX_RATIO = 16
"""The longer side of a crop to its shorter one: ViLT's processor takes up to 20."""
MIN_SIDE = 4
"""Pixels across a crop."""
SYNONYMS = {
    "yellow": "gold golden blond blonde cream",
    "brown": "wooden tan bronze copper",
    "yellow brown": "beige",
    "gray": "grey silver metal steel",
    "yellow pink": "peach",
    "purple": "violet",
    "red": "maroon",
    "blue": "turquoise",
    "blue green": "teal",
}
"""The words that people and models use for one or two of the eleven colours (ViPhy, table 7)."""
WORDS: dict[str, Colors] = {color: (color,) for color in COLORS} | {
    word: tuple(colors.split()) for colors, words in SYNONYMS.items() for word in words.split()
}
_WORD = re.compile(r"[a-z]+")


def colors_by_pixels(picture: Pixels, regions: Sequence[Region]) -> list[Colors]:
    """Return each region's colours by a vote of its pixels."""
    return [region_colors(picture, region) for region in regions]


def named_colors(text: str) -> Colors:
    """Return every colour that a text names, once each, in the order of `COLORS`.

    Words count, not parts of words: the published code finds "red" in "colored".

    >>> named_colors("Black and white, with a teal colored rim")
    ('green', 'blue', 'white', 'black')
    """
    words = _WORD.findall(text.lower())
    mentioned = {color for word in words for color in WORDS.get(word, ())}
    return tuple(color for color in COLORS if color in mentioned)


class VqaColors:
    """Each region's colours by the free answer of a vision-language model."""

    def __init__(self, model: VisionModel) -> None:
        self._model = model

    def __call__(self, picture: Pixels, regions: Sequence[Region]) -> list[Colors]:
        """Return the colours that the model names, none where its answer names no colour."""
        from PIL import Image

        windows = [region_pixels(region, picture.shape)[0] for region in regions]
        crops = [Image.fromarray(thicken(picture[window])) for window in windows]
        prompts = [
            Prompt(f"What color is the {region.name}? Answer: {SLOT}", ()) for region in regions
        ]

        def name_colors(batch: Sequence[int]) -> Iterable[Colors]:
            answers = self._model.describe([crops[i] for i in batch], [prompts[i] for i in batch])
            return map(named_colors, answers)

        return compute_batches(self._model.plan(prompts), name_colors)


def thicken(crop: Pixels) -> Pixels:
    """Return a crop that every model's processor can take: a thin one repeats its edges.

    A strip would be scaled to no pixel across, and of up to three rows an array is taken for one of
    colour channels.

    >>> thicken(np.zeros((200, 6, 3), dtype=np.uint8)).shape
    (200, 13, 3)
    """
    thinnest = max(-(-max(crop.shape[:2]) // MAX_RATIO), MIN_SIDE)
    padding = []
    for side in crop.shape[:2]:
        missing = max(thinnest - side, 0)
        padding.append((missing // 2, missing - missing // 2))
    return np.pad(crop, (*padding, (0, 0)), mode="edge")


def color_facts(
    counts: Mapping[str, Sequence[int]],
    answers: Mapping[str, int],
    subtypes: Mapping[str, Iterable[str]],
    examples: Mapping[str, Sequence[str]],
    *,
    min_answers: int = MIN_ANSWERS,
    strict: bool = False,
) -> list[ColorFact]:
    """Return facts from how often each name was given each colour, sorted by name.

    An object's distribution is the unweighted mean over its subtypes and itself, of those with
    enough answers: a rare subtype counts as much as a common one. Pictures that show only subtypes
    of an object count for it too.

    `counts`: how often each name was given each of the colours.
    `answers`: how many regions of each name had any colour.
    `min_answers`: answers that a name needs.
    `strict`: whether a typical colour must exceed its minimum.
    """
    shares = {
        name: np.asarray(row, dtype=np.float64) / np.sum(row)
        for name, row in counts.items()
        if answers[name] >= min_answers and any(row)
    }
    facts = []
    for name in sorted({*counts, *subtypes}):
        # A dictionary drops repetitions and keeps the order, on which the last digit of the mean
        # and the choice of examples depend.
        family = dict.fromkeys([name, *subtypes.get(name, ())])
        members = [member for member in family if member in shares]
        if not members:
            continue
        pictures = dict.fromkeys(name for member in members for name in examples.get(member, ()))
        mean = np.mean([shares[member] for member in members], axis=0)
        is_typical = typical_labels(mean[None], strict=strict)[0] > 0
        facts.append(
            ColorFact(
                name,
                shares=tuple(mean.tolist()),
                typical=tuple(compress(COLORS, is_typical)),
                seen=sum(answers[member] for member in members),
                examples=tuple(pictures)[:MAX_EXAMPLES],
            )
        )
    return facts
