"""Dual encoders (CLIP, SigLIP) as models that answer: the option whose text fits the picture best.

An option's text is the prompt with the option in its slot. Its score is the cosine of text and
picture, less 1 and times the network's learnt scale: 0 at best, and comparable between pictures.
Probabilities are the softmax over the options, as CLIP classifies pictures (Radford et al. 2021,
section 3.1.2); SigLIP's bias is the same for every option and cancels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.models.base import TEXT_AND_PICTURES, Model, choice_scores
from seesay.models.pictures import picture_or_blank
from seesay.models.vision.dual_encoder import DualEncoder, Vectors
from seesay.questions import SLOT, Prompt, Scores

DUAL_ENCODERS = frozenset({"align", "altclip", "chinese_clip", "clip", "siglip", "siglip2"})
"""The model types in configurations that have both halves."""
PROMPTS = 32


class SimilarityModel(Model):
    """A dual encoder that is asked questions with options."""

    family = "dual-encoder"
    scope = "similarity"
    accepts = TEXT_AND_PICTURES

    def __init__(
        self,
        name: str,
        encoder: DualEncoder,
        fingerprint: str,
        batch_size: int | None = None,
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self._encoder = encoder
        self.prompts_per_batch = batch_size or PROMPTS
        self._pictures: dict[str, Vectors] = {}

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """The score of every option by its similarity with the picture."""
        if any(prompt.shots for prompt in prompts):
            raise UserError(
                f"'{self.name}' compares one picture with one text: ask it without --shots."
            )
        texts = [
            prompt.text.replace(SLOT, option) for prompt in prompts for option in prompt.options
        ]
        pictures = [self.picture(prompt.picture) for prompt in prompts]
        ends = np.cumsum([len(prompt.options) for prompt in prompts])
        rows = np.split(self._encoder.texts(texts), ends[:-1])
        scores = []
        for prompt, options, picture in zip(prompts, rows, pictures, strict=True):
            scores.append(choice_scores(prompt, self.similarities(options, picture)))
        return scores

    def similarities(self, texts: Vectors, picture: Vectors) -> list[float]:
        """The scaled similarities of texts with one picture, at most 0."""
        # CLIP's scale is about 100, so that float32 would leave few digits of a difference
        cosines = texts.astype(np.float64) @ picture.astype(np.float64)
        # Of unit vectors in float32 a cosine may come out a little above 1.
        logits: NDArray[np.float64] = self._encoder.scale * (np.minimum(cosines, 1.0) - 1.0)
        return [float(logit) for logit in logits]

    def picture(self, path: str | None) -> Vectors:
        """The vector of a picture, encoded once; without one, of a plain gray picture."""
        key = path or ""
        if key not in self._pictures:
            self._pictures[key] = self._encoder.pictures([picture_or_blank(path, self)])[0]
        return self._pictures[key]
