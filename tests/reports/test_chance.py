"""Figures against chance."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.reports.made_up import run, task

from seesay.reports.chance import LIKE_CHANCE, WORSE, p_of_chance, standings
from seesay.reports.groups import group_runs
from seesay.reports.pages.runs import render
from seesay.reports.site import write_site
from seesay.runs.records import Figure
from seesay.runs.run import Run

FIGURE = next(f for f in run(task()).figures if f.metric == "accuracy")


MANY = 1_000_000
"""So many objects that their standard error is known."""


def figure(
    value: float, low: float, high: float, chance: float | None = 0.5, objects: int = MANY
) -> Figure:
    numbers = {"value": value, "low": low, "high": high, "chance": chance, "objects": objects}
    return FIGURE.model_copy(update=numbers)


def model(name: str, value: float, low: float, high: float, metric: str = "accuracy") -> Run:
    """A run with this headline figure, chance being 0.5."""
    made = run(replace(task(), metrics=(metric,)), name)
    ends = {"value": value, "low": low, "high": high, "chance": 0.5, "objects": MANY}
    figures = tuple(f.model_copy(update=ends) for f in made.figures)
    return replace(made, figures=figures)


def test_p_is_what_the_interval_implies() -> None:
    # 0.6 ± 0.1 is 1.96 standard errors from 0.5: p is 0.05
    assert p_of_chance(figure(0.6, 0.5, 0.7)) == pytest.approx(0.05, abs=1e-6)
    # two standard errors of 0.05: P(|Z| > 2) = 0.0455
    two = figure(0.6, 0.6 - 0.05 * 1.959964, 0.9)
    assert p_of_chance(two) == pytest.approx(0.0455, abs=1e-4)
    # only the half that reaches towards chance counts
    assert p_of_chance(figure(0.4, 0.1, 0.5)) == pytest.approx(0.05, abs=1e-6)
    assert p_of_chance(figure(0.5, 0.5, 0.5)) == 1
    assert p_of_chance(figure(0.7, 0.6, 0.8, chance=None)) == 1


def test_few_objects_show_less() -> None:
    """Forty objects: Student's t has 2.023 where the normal has 1.960, and the spread of forty is
    estimated √(40/39) too small; 1.960 / (2.023 / 1.960 · 1.013) = 1.875, of which p is 0.061."""
    assert p_of_chance(figure(0.6, 0.5, 0.7, objects=40)) == pytest.approx(0.061, abs=1e-3)


def test_the_interval_of_fewer_objects_has_students_t_already() -> None:
    assert p_of_chance(figure(0.6, 0.5, 0.7, objects=29)) == pytest.approx(0.05, abs=1e-6)


def test_rounding_is_no_difference() -> None:
    assert p_of_chance(figure(0.5 + 1e-15, 0.5 + 2e-15, 0.5 + 3e-15)) == 1
    assert p_of_chance(figure(0.5 - 1e-15, 0.5 - 1e-15, 0.5 - 2e-15)) == 1


def test_as_many_figures_as_there_are_take_a_smaller_p() -> None:
    """p = 0.03 is below 0.05 alone, and 0.06 is not as one of two."""
    # 2.17 standard errors of 0.05
    close = model("close", 0.6085, 0.6085 - 0.05 * 1.96, 0.7)
    like = model("like", 0.51, 0.40, 0.62)
    (alone,) = group_runs([close])
    assert standings(alone) == {}
    (both,) = group_runs([close, like])
    assert set(standings(both).values()) == {LIKE_CHANCE}
    assert len(standings(both)) == 2


def test_worse_than_chance_depends_on_the_metric() -> None:
    (low,) = group_runs([model("low", 0.2, 0.1, 0.3)])
    assert list(standings(low).values()) == [WORSE]
    (less_is_better,) = group_runs([model("low", 0.2, 0.1, 0.3, "jensen_shannon")])
    assert standings(less_is_better) == {}


def test_the_page_says_so() -> None:
    text = render([model("low", 0.2, 0.1, 0.3), model("like", 0.51, 0.40, 0.62)])
    assert "worse than chance</small>" in text
    assert '<span class="like-chance" title="not shown to differ from chance">0.510</span>' in text
    assert "A grey figure is not shown to differ from chance" in text


def test_the_leaderboard_says_so(tmp_path: Path) -> None:
    runs = [model("low", 0.2, 0.1, 0.3), model("like", 0.51, 0.40, 0.62)]
    text = write_site(tmp_path, runs).read_text(encoding="utf-8")
    assert "worse than chance</small>" in text
    assert '<span class="like-chance" title="not shown to differ from chance">0.510</span>' in text
    assert "A grey figure is not shown to differ from chance" in text
