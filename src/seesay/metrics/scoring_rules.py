"""Named rules that turn a model's log-probabilities into one score per option."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from seesay.errors import UserError
from seesay.metrics.base import FloatArray

LENGTHS = ("sum", "mean", "char")


class OptionScores(Protocol):
    """The scores of one prompt (`Scores`), or of many, prompts × options."""

    @property
    def logp(self) -> npt.ArrayLike: ...
    @property
    def tokens(self) -> npt.ArrayLike: ...
    @property
    def chars(self) -> npt.ArrayLike: ...


def adjust(scores: OptionScores, length: str) -> FloatArray:
    """Return the log-probabilities under a length rule: as they are, per token, or per character.

    >>> from seesay.answers import Scores
    >>> adjust(Scores(logp=(-4.0, -6.0), tokens=(1, 2), chars=(3, 12)), "mean").tolist()
    [-4.0, -3.0]
    """
    return _per_unit(np.asarray(scores.logp), scores, length)


def calibrate(scores: OptionScores, neutral: OptionScores, length: str) -> FloatArray:
    """Return each option's gain over the same prompt without the object.

    This is domain-conditional PMI (Holtzman et al. 2021).

    What an option owes to its own frequency and to the template cancels out.
    """
    prior = np.asarray(neutral.logp)
    # no answer to the neutral prompt leaves nothing to take off
    prior = np.where(
        np.isneginf(prior).all(axis=-1, keepdims=True),
        0.0,
        prior,
    )
    with np.errstate(invalid="ignore"):  # impossible with and without the object: no number
        gain = np.asarray(scores.logp) - prior
    # the lengths of the real sentence, since that is what the gain is spread over
    return _per_unit(gain, scores, length)


def _per_unit(logp: FloatArray, scores: OptionScores, length: str) -> FloatArray:
    """Return log-probabilities under a length rule; lengths of 0 count as 1."""
    if length == "sum":
        return logp
    if length == "mean":
        return np.asarray(logp / np.maximum(scores.tokens, 1))
    if length == "char":
        return np.asarray(logp / np.maximum(scores.chars, 1))
    raise UserError(f"Unknown length rule '{length}': choose one of {', '.join(LENGTHS)}.")
