"""Named rules that turn a model's log-probabilities into one score per option."""

from __future__ import annotations

import numpy as np

from seesay.errors import UserError
from seesay.metrics.base import FloatArray
from seesay.questions import Answer, Scores

LENGTHS = ("sum", "mean", "char")


def adjust(scores: Scores, length: str) -> FloatArray:
    """Log-probabilities under a length rule: as they are, per token, or per character.

    >>> adjust(Scores(logp=(-4.0, -6.0), tokens=(1, 2), chars=(3, 12)), "mean").tolist()
    [-4.0, -3.0]
    """
    return _per_unit(np.asarray(scores.logp), scores, length)


def calibrated(answer: Answer, length: str) -> FloatArray:
    """An option's gain over the same prompt without the object (domain-conditional PMI, Holtzman et
    al. 2021).

    What an option owes to its own frequency and to the template cancels out.
    """
    if answer.neutral is None:
        raise ValueError(f"question {answer.question!r} has no neutral prompt to calibrate by")
    neutral = np.asarray(answer.neutral.logp)
    if np.isneginf(neutral).all():  # no answer to the neutral prompt leaves nothing to take off
        neutral = np.zeros_like(neutral)
    with np.errstate(invalid="ignore"):  # impossible with and without the object: no number
        gain = np.asarray(answer.scores.logp) - neutral
    return _per_unit(gain, answer.scores, length)


def _per_unit(logp: FloatArray, scores: Scores, length: str) -> FloatArray:
    if length == "sum":
        return logp
    if length == "mean":
        return logp / np.maximum(scores.tokens, 1)
    if length == "char":
        return logp / np.maximum(scores.chars, 1)
    raise UserError(f"Unknown length rule '{length}': choose one of {', '.join(LENGTHS)}.")
