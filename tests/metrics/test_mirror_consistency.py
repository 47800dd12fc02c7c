"""Mirror consistency: worked out by hand, with ties, without answers, and from a task file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from seesay import api, metrics
from seesay.metrics import ScoredItems
from seesay.metrics.mirror_consistency import mirror_consistency

NAN = float("nan")
NO = -np.inf

LARGER, SMALLER = [-0.1, -2.0], [-2.0, -0.1]


def items(scores: list[list[float]], twins: list[list[float]] | None) -> ScoredItems:
    gold = np.zeros((len(scores), len(scores[0])))
    gold[:, 0] = 1.0
    return ScoredItems(np.array(scores), gold, twin=None if twins is None else np.array(twins))


def test_a_pair_and_its_mirror_image() -> None:
    scored = items([LARGER, LARGER, SMALLER, SMALLER], [SMALLER, LARGER, LARGER, SMALLER])
    assert mirror_consistency(scored).tolist() == [1.0, 0.0, 1.0, 0.0]
    assert metrics.get("mirror_consistency")(scored) == 0.5


def test_it_asks_for_agreement_and_not_for_truth() -> None:
    wrong_twice = items([SMALLER], [LARGER])
    assert metrics.get("accuracy")(wrong_twice) == 0.0
    assert mirror_consistency(wrong_twice).tolist() == [1.0]


def test_above_mirrors_below_and_level_mirrors_level() -> None:
    above, level, below = [0.0, -3.0, -3.0], [-3.0, 0.0, -3.0], [-3.0, -3.0, 0.0]
    scored = items([above, level, below, above], [below, level, above, level])
    assert mirror_consistency(scored).tolist() == [1.0, 1.0, 1.0, 0.0]


def test_ties_share_and_no_answer_agrees_with_nothing() -> None:
    tie = [-1.0, -1.0]
    scored = items([tie, tie, LARGER, [NO, NO]], [tie, SMALLER, [NO, NO], [NO, NO]])
    assert mirror_consistency(scored).tolist() == [0.5, 0.5, 0.0, 0.0]


def test_what_was_not_asked_counts_for_nothing() -> None:
    scored = items([LARGER, LARGER], [[NAN, NAN], SMALLER])
    values = mirror_consistency(scored)
    assert np.isnan(values[0])
    assert metrics.get("mirror_consistency")(scored) == 1.0
    assert np.isnan(metrics.get("mirror_consistency")(items([LARGER], None)))


def test_guessing_agrees_as_often_as_there_are_labels() -> None:
    metric = metrics.get("mirror_consistency")
    assert metrics.chance(metric, items([LARGER, SMALLER], [SMALLER, SMALLER])) == 0.5


def test_a_task_file_names_the_mirror_image(tmp_path: Path) -> None:
    """`baseline:majority` always says the same: never consistent, however often it is right."""
    (tmp_path / "sizes.csv").write_text(
        "a,b,answer\ncat,mouse,larger\nmouse,cat,smaller\nhouse,cat,larger\n"
    )
    (tmp_path / "sizes.yaml").write_text(
        "rows: sizes.csv\nid: [a, b]\ntwin: [b, a]\nobject: [a, b]\ngold: answer\n"
        "options: [larger, smaller]\n"
        'templates: {size: "the {a} is [MASK] than the {b}"}\n'
        "metrics: [accuracy, mirror_consistency]\n"
    )
    results = api.probe(
        ["baseline:majority"], [str(tmp_path / "sizes.yaml")], output=tmp_path / "runs"
    )
    (run,) = results.runs
    figures = {figure.metric: figure for figure in run.figures}
    assert figures["accuracy"].value == pytest.approx(2 / 3)
    assert figures["mirror_consistency"].value == 0.0
