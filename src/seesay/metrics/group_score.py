"""Winoground's three scores (Thrush et al. 2022, section 3.2): two pictures, two captions.

A question shows one picture and offers both captions, its twin shows the other picture. Of the four
scores s(caption, picture) the text score compares the captions of each picture, the image score the
pictures of each caption, and the group score asks for both. Contexts may stand for pictures, and
what follows them for captions.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from seesay.metrics.base import BoolArray, FloatArray, Metric, ScoredItems, mean_metric


def score_pairs(
    items: ScoredItems,
    *,
    text: bool,
    image: bool,
) -> FloatArray:
    """Return 1 where a question and its twin are right, NaN where the twin was not asked.

    `text`: the captions of each picture are compared; `image`: the pictures of each caption. Ties
    are wrong, as published.
    """
    twin = items.twin
    twin_gold = items.twin_gold
    if twin is None or twin_gold is None:
        return np.full(len(items), np.nan)
    has_twin = ~np.isnan(twin).all(axis=1)
    right = has_twin.copy()
    if text:
        right &= _best(items.scores, items.is_gold) > _best(items.scores, ~items.is_gold)
        right &= _best(twin, twin_gold > 0) > _best(twin, twin_gold == 0)
    if image:
        right &= _best(items.scores, items.is_gold) > _best(twin, items.is_gold)
        right &= _best(twin, twin_gold > 0) > _best(items.scores, twin_gold > 0)
    return np.where(has_twin, right.astype(np.float64), np.nan)


def _best(scores: FloatArray, labels: BoolArray) -> FloatArray:
    """Return the best score of each item among some labels; −inf where none of them has one."""
    usable = labels & ~np.isnan(scores)
    return np.asarray(np.where(usable, scores, -np.inf).max(axis=1))


def _metric(
    name: str,
    meaning: str,
    chance: float,
    *,
    text: bool,
    image: bool,
) -> Metric[ScoredItems]:
    """Return one of the three; `chance` is that of a random order of the four scores."""
    metric = mean_metric(
        name,
        meaning,
        partial(score_pairs, text=text, image=image),
        binary=True,
        guess=lambda items: np.full(len(items), chance),
    )
    return replace(metric, across_questions=image)


TEXT_SCORE = _metric(
    "text_score",
    "How often a question and its twin are both right.",
    1 / 4,
    text=True,
    image=False,
)
IMAGE_SCORE = _metric(
    "image_score",
    "How often both right answers score higher with their own picture than with the twin's.",
    1 / 4,
    text=False,
    image=True,
)
GROUP_SCORE = _metric(
    "group_score",
    "How often text score and image score are both right.",
    1 / 6,
    text=True,
    image=True,
)
