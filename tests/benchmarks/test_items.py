"""How well forms can order models at best: worlds in which the answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.items import Responses, Worlds, probabilities
from tests.runs.test_settle import yes_or_no

from seesay.metrics.base import FloatArray

TASK = yes_or_no(200)


def responses(credits: FloatArray) -> Responses:
    return Responses(TASK, credits, np.arange(len(credits)))


def test_the_order_of_equal_models_is_as_good_as_the_share_of_questions_that_was_asked() -> None:
    """A form of a quarter correlates by its root with the whole: tau is 2/π asin 0.5, a third."""
    credits = (np.random.default_rng(0).random((40, 200)) < 0.5) * 1.0
    taus = Worlds(responses(credits)).best_taus(50)
    assert np.mean(taus) == pytest.approx(2 / math.pi * math.asin(0.5), abs=0.1)


def test_models_far_apart_are_ordered_by_few_questions() -> None:
    shares = np.linspace(0.1, 0.9, 9)
    credits = (np.random.default_rng(0).random((9, 200)) < shares[:, None]) * 1.0
    worlds = Worlds(responses(credits))
    few, many, whole = [np.mean(worlds.best_taus(count)) for count in (20, 100, 200)]
    assert 0.6 < few < many < whole
    assert whole == pytest.approx(1)


def test_no_form_of_ours_is_better_than_the_best() -> None:
    shares = np.linspace(0.3, 0.6, 9)
    credits = (np.random.default_rng(1).random((9, 200)) < shares[:, None]) * 1.0
    worlds = Worlds(responses(credits))
    ours, best = np.mean(worlds.rule_taus(40)), np.mean(worlds.best_taus(40))
    assert 0.3 < ours < best


def test_a_model_that_is_right_about_one_kind_alone_is_expected_to_be() -> None:
    kinds = np.arange(40) % 2
    credits = np.tile((kinds == 0) * 1.0, (3, 1))
    credits[1:] = 0.5
    p = probabilities(credits, kinds)
    assert p[0, 0] > 0.8
    assert p[0, 1] < 0.2
