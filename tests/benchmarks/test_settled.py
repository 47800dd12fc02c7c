"""What it would take to look once."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.settled import share_at_once


def test_half_of_a_list_at_which_the_interval_just_leaves_out_zero() -> None:
    """100 gains of mean 0.2 and variance 0.96: 1.96 √(0.96 (1 − s) / 100 s) = 0.2 at s = 0.480."""
    gains = np.where(np.arange(100) < 60, 1.0, -1.0)
    share = share_at_once(gains)
    assert share == pytest.approx(0.480, abs=0.001)
    half_width = 1.96 * np.sqrt(0.96 * (1 - share) / (100 * share))
    assert half_width == pytest.approx(0.2, abs=0.001)
    # what does not count is no part of the list
    assert share_at_once(np.append(gains, np.nan)) == share
