"""Prior against picture: what pulls a model to a wrong answer, and what it gains by looking.

A question about a blue lemon has a wrong answer that the prior suggests (*here* it is blue, and
yellow is the pull) or one that the picture suggests (*usually* it is yellow, and blue is the pull).
Each measure is defined on the questions that have such an answer and counts for no other.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from seesay.metrics.base import BoolArray, FloatArray, Metric, ScoredItems, mean_metric, softmax

LEAST = 1e-6
"""Probabilities below this count as this in log-odds, which would else be infinite."""


def _marked(items: ScoredItems, source: str) -> BoolArray | None:
    """Return which labels the source suggests; None where it suggests none of any item."""
    marked = items.marks.get(source)
    if marked is None or not marked.any():
        return None
    return marked


def _undefined(items: ScoredItems) -> FloatArray:
    return np.full(len(items), np.nan)


def pull(items: ScoredItems, source: str) -> FloatArray:
    """Return the share of the labels with the top score that the source suggests.

    It is NaN where it suggests none.
    """
    marked = _marked(items, source)
    if marked is None:
        return _undefined(items)
    # several labels may share the top score: an item without any scores has none
    tied = np.maximum(items.top.sum(axis=1), 1)
    credit = (items.top & marked).sum(axis=1) / tied
    return np.where(marked.any(axis=1), credit, np.nan)


def pull_log_odds(items: ScoredItems, source: str) -> FloatArray:
    """Return the log-odds of what the source suggests against what is right.

    Above 0, the source wins.
    """
    marked = _marked(items, source)
    if marked is None:
        return _undefined(items)
    suggested = np.where(marked, items.probabilities, 0.0).sum(axis=1)
    right = np.where(items.is_gold, items.probabilities, 0.0).sum(axis=1)
    odds = np.log(np.maximum(suggested, LEAST)) - np.log(np.maximum(right, LEAST))
    return np.where(marked.any(axis=1), odds, np.nan)


def gain_over_blind(items: ScoredItems) -> FloatArray:
    """Return how much probability the right answer gains by the picture: from -1 to 1."""
    if items.twin is None:
        return _undefined(items)
    missing = np.isnan(items.twin)
    has_twin = np.asarray(~missing.all(axis=1))
    has_scores = np.isfinite(items.twin).any(axis=1, keepdims=True)
    # scores that are all -inf say nothing: the same probability for every label
    scores = np.where(has_scores, items.twin, 0.0)
    scores = np.where(missing, -np.inf, scores)
    blind = softmax(np.where(has_twin[:, None], scores, 0.0))
    gain = np.where(items.is_gold, items.probabilities - blind, 0.0).sum(axis=1)
    return np.where(has_twin, gain, np.nan)


def _pull_metrics(source: str, question: str) -> tuple[Metric[ScoredItems], Metric[ScoredItems]]:
    """Return the metrics of the pull of a source, as a share and as log-odds."""
    return (
        mean_metric(
            f"{source}_pull",
            f"How often {question} is answered with what the {source} suggests, where that is "
            "wrong.",
            lambda items: pull(items, source),
            binary=True,
            lower_is_better=True,
        ),
        replace(
            mean_metric(
                f"{source}_log_odds",
                f"The log-odds of what the {source} suggests against what is right, where "
                f"{question} is asked.",
                lambda items: pull_log_odds(items, source),
                lower_is_better=True,
            ),
            signed=True,
            most=-math.log(LEAST),
        ),
    )


PRIOR_PULL, PRIOR_LOG_ODDS = _pull_metrics("prior", "what is shown")
PICTURE_PULL, PICTURE_LOG_ODDS = _pull_metrics("picture", "what is usual")
GAIN_OVER_BLIND = replace(
    mean_metric(
        "gain_over_blind",
        "How much probability the right answer gains over the same question without its picture.",
        gain_over_blind,
        guess=lambda items: np.zeros(len(items)),
    ),
    signed=True,
)
