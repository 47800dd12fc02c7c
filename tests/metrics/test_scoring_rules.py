"""Length rules and calibration."""

from __future__ import annotations

import math

import pytest

from seesay.errors import UserError
from seesay.metrics.scoring_rules import LENGTHS, adjust, calibrate
from seesay.questions import Scores

SAID = Scores(logp=(-6.0, -8.0), tokens=(2, 4), chars=(12, 16))


def test_length_rules() -> None:
    assert adjust(SAID, "sum").tolist() == [-6.0, -8.0]
    assert adjust(SAID, "mean").tolist() == [-3.0, -2.0]
    assert adjust(SAID, "char").tolist() == [-0.5, -0.5]
    with pytest.raises(UserError, match="Unknown length rule 'median'"):
        adjust(SAID, "median")


@pytest.mark.parametrize("length", LENGTHS)
def test_an_option_that_owes_nothing_to_the_object_gains_nothing(length: str) -> None:
    neutral = Scores(logp=SAID.logp, tokens=(1, 3), chars=(6, 9))
    assert calibrate(SAID, neutral, length).tolist() == [0.0, 0.0]


def test_the_gain_is_spread_over_the_real_sentence() -> None:
    neutral = Scores(logp=(-7.0, -7.0), tokens=(1, 1), chars=(6, 6))
    assert calibrate(SAID, neutral, "mean").tolist() == [0.5, -0.25]
    assert math.isclose(calibrate(SAID, neutral, "char")[0], 1 / 12)
