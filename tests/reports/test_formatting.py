"""Numbers and findings as people read them."""

from __future__ import annotations

import math

import pytest
from tests.reports.made_up import comparison

from seesay.reports.charts.dotplot import DotMark, dot_row, percent_axis, position
from seesay.reports.charts.kernel import hue, swatch
from seesay.reports.formatting import finding, interval, number, p_value, printable


def test_numbers_have_three_decimals_and_a_real_minus() -> None:
    assert [number(x) for x in (0.5, -0.25, None, math.nan, -0.0001)] == [
        "0.500",
        "−0.250",
        "–",
        "–",
        "0.000",
    ]
    assert number(0.05, sign=True) == "+0.050"
    assert interval(0.1, 0.2) == "0.100–0.200"
    assert interval(-0.1, 0.2) == "−0.100 to 0.200"
    assert [p_value(p) for p in (0.0009, 0.001, None)] == ["<0.001", "0.001", "–"]


@pytest.mark.parametrize(
    ("difference", "metric", "sentence"),
    [
        (0.05, "accuracy", "a vs b: +0.050 (0.020 to 0.080), a is ahead."),
        (-0.05, "accuracy", "a vs b: −0.050 (−0.080 to −0.020), a is behind."),
        (-0.05, "jensen_shannon", "a vs b: −0.050 (−0.080 to −0.020), a is ahead."),
        (0.01, "accuracy", "a vs b: +0.010 (−0.020 to 0.040), no difference shown."),
    ],
)
def test_a_finding_claims_no_more_than_its_interval(
    difference: float, metric: str, sentence: str
) -> None:
    assert finding(comparison("a", "b", difference, metric)) == sentence


def test_a_terminal_never_sees_control_codes() -> None:
    assert printable("a\x1b[31m\u202eb\n") == "a\ufffd[31m\ufffdb\ufffd"


def test_an_axis_is_the_plainest_that_holds_the_values() -> None:
    assert (percent_axis([0.2, 0.9]).low, percent_axis([0.2, 0.9]).high) == (0, 1)
    assert (percent_axis([-0.2, 0.9]).low, percent_axis([-0.2, 0.9]).high) == (-1, 1)
    assert (percent_axis([0, 37.0]).low, percent_axis([0, 37.0]).high) == (0, 40)
    assert (
        percent_axis([-0.12, 0.2], centered=True).low,
        percent_axis([], centered=True).high,
    ) == (-0.2, 0.001)
    assert position(percent_axis([None, math.nan]), 2.0) == "100.00%"


def test_a_value_that_is_not_a_number_draws_no_mark() -> None:
    assert "point" not in dot_row(
        percent_axis([0.5]), [DotMark(math.nan, math.nan, math.nan, 0)], "none"
    )


def test_swatches_and_marks() -> None:
    assert [swatch(word) for word in ("Grey", "gray", " red ", "greyhound", "lemon")] == [
        "c-gray",
        "c-gray",
        "c-red",
        None,
        None,
    ]
    assert len({(series % 6, hue(series)) for series in range(12)}) == 12


def test_a_difference_that_correction_takes_away_is_not_called_ahead() -> None:
    corrected = comparison("a", "b", 0.05).model_copy(update={"p_holm": 0.06})
    assert finding(corrected) == "a vs b: +0.050 (0.020 to 0.080), no difference shown."
