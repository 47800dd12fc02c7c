"""A model that implements seesay's contract: it answers, looks at pictures and gives texts
vectors."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from seesay.models import Model, ModelOptions
from seesay.questions import Prompt, Scores
from seesay_fruit import COLORS

PURE = {"red": (255, 0, 0), "yellow": (255, 255, 0), "green": (0, 160, 0)}


class FruitModel(Model):
    """Knows the colors of fruit. `plugin-model:NAME@SECONDS` waits before each batch; `blind` reads
    text only."""

    family = "fruit"
    scope = "slot"

    def __init__(self, name: str) -> None:
        self.name = f"plugin-model:{name}"
        self.accepts = frozenset({"text"} if name == "blind" else {"text", "pictures"})
        self.fingerprint = f"fruit-1-{name}"
        self._seconds = float(name.partition("@")[2] or 0)

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Batches of four, so that a run has many."""
        return [list(range(i, min(i + 4, len(prompts)))) for i in range(0, len(prompts), 4)]

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Three quarters for the color that it knows or sees, the rest for the others."""
        time.sleep(self._seconds)
        return [self._scores(prompt) for prompt in prompts]

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Which color each text is about, in as many dimensions as encoders have: a probe's first
        steps are small."""
        return np.array([self._evidence(text) for text in texts], np.float32).repeat(256, axis=1)

    def _scores(self, prompt: Prompt) -> Scores:
        evidence = self._evidence(prompt.text) if prompt.picture is None else _seen(prompt.picture)
        weights = np.array(
            [1 + 5 * dict(zip(COLORS, evidence, strict=True))[option] for option in prompt.options]
        )
        logp = np.log(weights / weights.sum())
        return Scores(tuple(logp.tolist()), (1,) * len(logp), tuple(map(len, prompt.options)))

    def _evidence(self, text: str) -> list[float]:
        return [float(any(fruit in text for fruit in fruits)) for fruits in COLORS.values()]


def _seen(picture: str) -> list[float]:
    """The color that is nearest to the picture's mean."""
    with Image.open(picture) as image:
        mean = np.asarray(image.convert("RGB"), float).mean((0, 1))
    apart = [float(np.abs(mean - PURE[color]).sum()) for color in COLORS]
    return [float(distance == min(apart)) for distance in apart]


def load(name: str, options: ModelOptions) -> FruitModel:
    """What stands behind `plugin-model:NAME`."""
    return FruitModel(name)
