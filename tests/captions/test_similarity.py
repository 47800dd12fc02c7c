"""Relevance of captions to pictures: vectors made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seesay.captions import relevance

CAPTIONS = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [0.0, 0.0]])
PICTURES = np.array([[3.0, 4.0], [0.0, -5.0], [0.0, 1.0], [1.0, 0.0]])
# cosines: 3/5; −1, which counts as 0; 1/√2; a vector of zeros points nowhere


def test_by_hand() -> None:
    measured = relevance(CAPTIONS, PICTURES)
    expected = [2.5 * 0.6, 0.0, 2.5 / math.sqrt(2), 0.0]
    assert measured.scores == pytest.approx(expected)
    assert measured.value == pytest.approx(sum(expected) / 4)
    assert measured.name == "relevance"


def test_lengths_of_vectors_change_nothing_and_the_weight_is_a_factor() -> None:
    longer = relevance(7 * CAPTIONS, 0.01 * PICTURES, weight=1.0)
    assert 2.5 * longer.scores == pytest.approx(relevance(CAPTIONS, PICTURES).scores)
