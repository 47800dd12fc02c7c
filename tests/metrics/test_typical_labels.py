"""The typical-label filter beside ViPhy's published tables."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.shared_data import shared

from seesay.metrics.base import FloatArray
from seesay.metrics.typical_labels import typical_labels, typical_size_labels, typical_space_labels

COLOURS = (
    "red",
    "orange",
    "yellow",
    "brown",
    "green",
    "blue",
    "purple",
    "pink",
    "white",
    "gray",
    "black",
)


@pytest.mark.parametrize(
    ("given_row", "expected"),
    [
        # 0.05 goes; of three, 0.15/0.95 < 0.2 goes; of two, 0.3/0.8 ≥ 0.3 stays.
        ([0.5, 0.3, 0.15, 0.05], [0.625, 0.375, 0.0, 0.0]),
        # Two remain from the first pass: 0.25 < 0.3 goes.
        ([0.75, 0.25, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]),
        # Four of at least 0.1 stay.
        ([0.4, 0.3, 0.2, 0.1], [0.4, 0.3, 0.2, 0.1]),
        # Three remain after 0.09 goes: 0.11/0.91 < 0.2, then 0.35/0.8 ≥ 0.3.
        ([0.45, 0.35, 0.11, 0.09], [0.5625, 0.4375, 0.0, 0.0]),
    ],
)
def test_colour_rule_by_hand(given_row: list[float], expected: list[float]) -> None:
    assert typical_labels(np.array([given_row]))[0] == pytest.approx(expected, abs=1e-6)


def test_nothing_typical_returns_the_input() -> None:
    uniform = np.full((1, 11), 1 / 11)
    assert typical_labels(uniform)[0] == pytest.approx(uniform[0])


def test_space_rule_by_hand() -> None:
    rows = np.array([[0.5, 0.3, 0.2], [0.62, 0.22, 0.16], [0.6, 0.3, 0.1], [0.85, 0.15, 0.0]])
    # Three stay; 0.22/0.84 < 0.3; 0.3/0.9 ≥ 0.3; one stays.
    assert (typical_space_labels(rows) > 0).tolist() == [
        [True, True, True],
        [True, False, False],
        [True, True, False],
        [True, False, False],
    ]


@given(st.lists(st.integers(0, 100), min_size=2, max_size=12).filter(any), st.integers(0, 1000))
def test_rows_do_not_touch_each_other(counts: list[int], seed: int) -> None:
    row = np.array(counts) / sum(counts)
    crowd = np.random.default_rng(seed).dirichlet(np.ones(len(row)), size=5)
    together = typical_labels(np.vstack([crowd, row]))
    assert together[-1].tolist() == typical_labels(row[None])[0].tolist()
    assert together.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert (together[-1][row == 0] == 0).all()
    assert together[-1][row.argmax()] > 0


def joined(shares: FloatArray, names: str) -> list[str]:
    return [
        ",".join(name for name, stays in zip(names, row, strict=True) if stays)
        for row in shares > 0
    ]


@pytest.mark.parametrize(
    ("path", "names", "rule"),
    [
        ("viphy/results/size.csv", "><", typical_size_labels),
        ("viphy/results/spatial.csv", ">=<", typical_space_labels),
    ],
)
def test_published_relations(path: str, names: str, rule: object) -> None:
    with shared(path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    counts = np.array([[float(row[name]) for name in names] for row in rows])
    assert callable(rule)
    assert len(rows) in (43_096, 6_570)
    assert joined(rule(counts / counts.sum(axis=1, keepdims=True)), names) == [
        row["typical"] for row in rows
    ]


def test_the_strict_rule_drops_what_lies_on_a_threshold() -> None:
    """0.1 of four, 0.2 of three and 0.3 of two are dropped; so are 0.7 of two sizes and 0.2 or 0.3
    of places."""
    colours = np.array(
        [[0.4, 0.3, 0.2, 0.1], [0.5, 0.3, 0.2, 0.0], [0.7, 0.3, 0.0, 0.0], [0.5, 0.25, 0.25, 0.0]]
    )
    # 0.1 goes; then of three 0.2/0.9 > 0.2 stays | 0.2 goes; of two 0.3/0.8 stays | 0.3 goes |
    # three of more than 0.2
    assert (typical_labels(colours, strict=True) > 0).sum(axis=1).tolist() == [3, 2, 1, 3]
    assert (typical_labels(colours) > 0).sum(axis=1).tolist() == [4, 3, 2, 3]
    assert typical_size_labels(np.array([[0.7, 0.3]]), strict=True).tolist() == [[0.0, 0.0]]
    assert (typical_space_labels(np.array([[0.6, 0.2, 0.2]]), strict=True) > 0).sum() == 1


@pytest.mark.parametrize(
    ("path", "names", "rule", "changed"),
    [
        ("viphy/results/size.csv", "><", typical_size_labels, 58),
        ("viphy/results/spatial.csv", ">=<", typical_space_labels, 6),
    ],
)
def test_strict_and_published_relations(
    path: str, names: str, rule: Callable[..., FloatArray], changed: int
) -> None:
    """How many rows of the published tables lie on a threshold. With exact fractions 58 sizes do,
    and 10 places, of which single precision, in which the published labels come out, puts 4 on the
    other side."""
    with shared(path).open(encoding="utf-8", newline="") as file:
        counts = np.array([[float(row[name]) for name in names] for row in csv.DictReader(file)])
    shares = counts / counts.sum(axis=1, keepdims=True)
    assert ((rule(shares, strict=True) > 0) != (rule(shares) > 0)).any(axis=1).sum() == changed


def test_published_colours_but_those_on_a_threshold_are_typical() -> None:
    """The published shares have been through the filter and its single precision already: 14 things
    have a share that lies on a threshold (0.2 of three labels, 0.1 of more) but for its last
    digits, and a second pass tips it."""
    table = json.loads(shared("viphy/results/colors.json").read_text(encoding="utf-8"))
    published = np.array([[row.get(colour, 0.0) for colour in COLOURS] for row in table.values()])
    ours = typical_labels(published)
    same = ((ours > 0) == (published > 0)).all(axis=1)
    assert len(published) == 13_250
    assert same.sum() == 13_236
    assert set((published[~same] > 0).sum(axis=1)) == {3, 5, 6}
    threshold = np.where((published[~same] > 0).sum(axis=1) == 3, 0.2, 0.1)
    assert np.abs(published[~same] - threshold[:, None]).min(axis=1).max() < 5e-8
    assert np.abs(ours - published)[same].max() < 1e-6
