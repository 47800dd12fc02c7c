"""Named rules that turn a model's log-probabilities into one score per option."""

from __future__ import annotations

from dataclasses import replace

from seesay.errors import UserError
from seesay.questions import Answer, Scores

LENGTHS = ("sum", "mean", "char")


def adjust(scores: Scores, length: str) -> tuple[float, ...]:
    """Log-probabilities under a length rule: as they are, per token, or per character.

    >>> adjust(Scores(logp=(-4.0, -6.0), tokens=(1, 2), chars=(3, 12)), "mean")
    (-4.0, -3.0)
    """
    if length == "sum":
        return scores.logp
    if length == "mean":
        return tuple(logp / max(n, 1) for logp, n in zip(scores.logp, scores.tokens, strict=True))
    if length == "char":
        return tuple(logp / max(n, 1) for logp, n in zip(scores.logp, scores.chars, strict=True))
    raise UserError(f"Unknown length rule '{length}': choose one of {', '.join(LENGTHS)}.")


def calibrated(answer: Answer, length: str) -> tuple[float, ...]:
    """An option's gain over the same prompt without the object (domain-conditional PMI, Holtzman et al. 2021).

    What an option owes to its own frequency and to the template cancels out.
    """
    if answer.neutral is None:
        raise ValueError(f"question {answer.question!r} has no neutral prompt to calibrate by")
    gain = tuple(a - b for a, b in zip(answer.scores.logp, answer.neutral.logp, strict=True))
    return adjust(replace(answer.scores, logp=gain), length)
