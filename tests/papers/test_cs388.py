"""The CS388 notes: every worked example comes out as it does by hand."""

from __future__ import annotations

import re

import pytest

from seesay.papers import load_paper
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status, render_entries


@pytest.fixture(scope="module")
def page() -> dict[str, Rendered]:
    return {
        entry.number: rendered
        for entry, rendered in render_entries(load_paper("cs388"), Material())
    }


@pytest.mark.parametrize("number", ["Equations 1 and 2", "Section 2", "Section 4.2"])
def test_what_is_computed_is_what_is_worked_by_hand(page: dict[str, Rendered], number: str) -> None:
    shown = page[number]
    worked = shown.tables[-1]
    assert shown.status is Status.SHOWN
    assert worked.header == ("what", "by hand", "computed")
    for what, by_hand, computed in worked.rows:
        # the last number of "2^(7/3) = 5.040"
        assert re.findall(r"\d+\.\d+", str(by_hand))[-1] == computed, what


def test_both_equations_give_one_perplexity_over_words(page: dict[str, Rendered]) -> None:
    """P(W) = 2⁻³ · 2⁻⁴ over 3 words in 5 tokens: 2^(7/3) = 5.0397, 2^(7/5) = 2.6390."""
    rows = {row[0]: row[2] for row in page["Equations 1 and 2"].tables[-1].rows}
    assert list(rows.values()) == ["5.040", "5.040", "2.639"]


def test_the_average_is_the_plain_mean_of_the_four(page: dict[str, Rendered]) -> None:
    shown = page["Section 4.1"]
    values = {str(row[0]): float(str(row[1])) for row in shown.tables[-1].rows}
    names = list(values)
    # without METEOR's data it goes by the names of its matchers
    meteor = next(name for name in names if name.startswith("METEOR"))
    four = [values[name] for name in ("BLEU-4", meteor, "ROUGE-L", "CIDEr-D")]
    assert values["average fusion"] == pytest.approx(sum(four) / 4, abs=1e-3)
    assert shown.status is Status.of(meteor == "METEOR")


def test_what_is_no_measure_is_shown_as_it_stands_there(page: dict[str, Rendered]) -> None:
    """Section 3.1 has a joke and nothing to compute: all of it is what is printed."""
    shown = page["Section 3.1"]
    (table,) = shown.tables
    assert shown.status is Status.SHOWN
    assert "two fish in a tank" in str({row[0]: row[1] for row in table.rows}["example"])


def test_both_equations_are_shown_as_printed(page: dict[str, Rendered]) -> None:
    printed = {row[0]: str(row[1]) for row in page["Equations 1 and 2"].tables[0].rows}
    assert printed["Equation 1"].startswith("PP(W) = \\sqrt[N]")
    assert printed["Equation 2"].startswith("PP(W) = \\exp")
