"""What colours things have: the colour of each region, counted by name, and from the counts the facts.

Two ways to see a region's colour: by its pixels (the default, `seesay.mine.pixels`), or by asking a model of visual
question answering "what color is the cup?", as ViPhy does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from seesay.data.knowledge import COLORS, ColorFact
from seesay.metrics.typical_labels import typical_labels
from seesay.mine.aggregate import EXAMPLES
from seesay.mine.color_words import WORDS
from seesay.mine.masks import corners
from seesay.mine.pixels import region_colors
from seesay.mine.records import Region
from seesay.models.vision.vision_language import VisionModel
from seesay.questions import SLOT, Prompt

Picture = NDArray[np.uint8]
Colors = Callable[[Picture, Sequence[Region]], list[tuple[str, ...]]]
"""From an RGB picture and its regions to each region's colours."""

ENOUGH = 10
"""A name needs so many answers (ViPhy)."""


def by_pixels(picture: Picture, regions: Sequence[Region]) -> list[tuple[str, ...]]:
    """Each region's colours by a vote of its pixels."""
    return [region_colors(picture, region) for region in regions]


class ByAsking:
    """Each region's colours by what a vision-language model answers about it."""

    def __init__(self, model: VisionModel, words: Iterable[str] = WORDS) -> None:
        self._model, self._words = model, tuple(words)

    def __call__(self, picture: Picture, regions: Sequence[Region]) -> list[tuple[str, ...]]:
        """The colours behind the likeliest of the colour words."""
        from PIL import Image

        whole = Image.fromarray(picture)
        crops = [whole.crop(corners(region.box, *whole.size)) for region in regions]
        prompts = [Prompt(f"What color is the {region.name}? Answer: {SLOT}", self._words) for region in regions]
        found: list[tuple[str, ...]] = []
        for batch in self._model.plan(prompts):
            replies = self._model.reply([crops[i] for i in batch], [prompts[i] for i in batch])
            found += [WORDS[self._words[int(np.argmax(reply.logp))]] for reply in replies]
        return found


def color_facts(
    counts: Mapping[str, Sequence[int]],
    seen: Mapping[str, int],
    subtypes: Mapping[str, Iterable[str]],
    examples: Mapping[str, Sequence[str]],
    *,
    enough: int = ENOUGH,
) -> list[ColorFact]:
    """Facts from how often each name was given each colour, in order of name.

    A thing's distribution is the unweighted mean over its subtypes and itself, as far as each was seen often enough; a
    rare kind thus counts as much as a common one. Pictures that show only kinds of a thing tell of the thing too.
    """
    shares = {
        name: np.asarray(row, dtype=np.float64) / np.sum(row)
        for name, row in counts.items()
        if seen[name] >= enough and any(row)
    }
    facts = []
    for name in sorted({*counts, *subtypes}):
        kinds = [kind for kind in dict.fromkeys([name, *subtypes.get(name, ())]) if kind in shares]
        if not kinds:
            continue
        shown = dict.fromkeys(example for kind in kinds for example in examples.get(kind, ()))
        mean = np.mean([shares[kind] for kind in kinds], axis=0)
        kept = typical_labels(mean[None])[0] > 0
        facts.append(
            ColorFact(
                object=name,
                shares=tuple(mean.tolist()),
                typical=tuple(color for color, stays in zip(COLORS, kept, strict=True) if stays),
                seen=sum(seen[kind] for kind in kinds),
                examples=tuple(shown)[:EXAMPLES],
            )
        )
    return facts
