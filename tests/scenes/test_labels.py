"""Thresholds and labels, by numbers worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seesay.errors import UserError
from seesay.scenes import labels
from seesay.scenes.adjectives import ADJECTIVES, adjective, height
from seesay.scenes.config import SceneConfig
from seesay.scenes.labels import label_objects, positives, superlatives
from seesay.scenes.raster import mask
from seesay.scenes.task_kinds import task_kind
from seesay.scenes.thresholds import THRESHOLDS, threshold
from seesay.scenes.world import LEVELS, RADII, SHAPES, Scene, SceneObject, brightness


def squares(*radii: int, k: float | None = 0.29) -> Scene:
    return Scene(tuple(SceneObject("square", "red", radius, 500, 500) for radius in radii), k)


def test_rh_r_by_hand() -> None:
    """Areas 3,600, 14,400 and 57,600: T = 57,600 − 0.29 · 54,000 = 41,940."""
    small, middle, big = positives(squares(30, 60, 120), by_set=True)
    assert [small.word, middle.word, big.word] == ["small", "small", "big"]
    assert big.distance == pytest.approx(0.29)
    assert middle.distance == pytest.approx((41940 - 14400) / 54000)
    assert big.prob == pytest.approx(0.99914, abs=1e-5)  # Φ(15,660 · 1e-5 / 0.05) = Φ(3.132)
    assert not any(label.vague for label in (small, middle, big))


def test_a_label_that_depends_on_the_speaker_is_vague() -> None:
    """Area 40,000 is above the line at k = 0.35 (38,700) but not at 0.29 (41,940)."""
    assert positives(squares(30, 100, 120, k=0.35), by_set=True)[1].vague
    assert not positives(squares(30, 100, 120, k=0.25), by_set=True)[1].vague


def test_equal_sizes_are_small() -> None:
    for label in positives(squares(60, 60), by_set=True):
        assert (label.word, label.prob, label.distance, label.vague) == ("small", 0.5, None, False)


def test_reference_set_is_the_scene_or_the_shape() -> None:
    """The circle is the largest circle (alone), but small beside the square."""
    scene = Scene(
        (
            SceneObject("circle", "red", 60, 200, 200),
            SceneObject("circle", "blue", 40, 200, 600),
            SceneObject("square", "white", 120, 700, 700),
        ),
        0.29,
    )
    assert positives(scene, by_set=False)[0].word == "small"
    assert positives(scene, by_set=True)[0].word == "big"


def test_ties_have_no_superlative() -> None:
    assert [label.word for label in superlatives(squares(30, 60, 120))] == [
        "smallest",
        "NA",
        "biggest",
    ]
    assert [label.word for label in superlatives(squares(30, 30, 120))] == ["NA", "NA", "biggest"]


SET = np.array([[10.0, 20.0, 30.0, 40.0, 100.0]])
ALL = np.ones_like(SET, dtype=bool)


@pytest.mark.parametrize(
    ("name", "k", "line"),
    [
        ("rh-r", 0.29, 100 - 0.29 * 90),
        ("rh-n", 0.3, 30.0),  # the top 1.5 objects, two: 100 and 40; the first below is 30
        ("rh-n", 0.0, 100.0),
        ("rh-n", 1.0, 10.0),
        # mean 40, variance (900 + 400 + 100 + 0 + 3600) / 5
        ("rh-sd", 0.5, 40 + 0.5 * np.sqrt(1000)),
        ("ah", 55.0, 55.0),
    ],
)
def test_threshold_functions_by_hand(name: str, k: float, line: float) -> None:
    assert THRESHOLDS[name].line(SET, ALL, np.array([k]))[0] == pytest.approx(line)


@given(
    st.lists(st.integers(1, 10**5), min_size=2, max_size=9),
    st.sampled_from(("rh-r", "rh-n", "rh-sd")),
    st.floats(0.05, 0.6),
)
def test_labels_are_monotonic_in_size(sizes: list[int], name: str, k: float) -> None:
    values = np.array([sizes], dtype=float)
    line = THRESHOLDS[name].line(values, np.ones_like(values, dtype=bool), np.array([k]))[0]
    big = values[0] > line
    assert not big.all()
    assert all(values[0][big].min(initial=np.inf) > small for small in values[0][~big])


@given(st.permutations(RADII))
def test_order_does_not_matter(radii: list[int]) -> None:
    by_radius = dict(zip(radii, positives(squares(*radii), by_set=True), strict=True))
    assert by_radius == dict(zip(RADII, positives(squares(*RADII), by_set=True), strict=True))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("turn", [0, 1])
def test_height_counts_rows(shape: str, turn: int) -> None:
    for radius in RADII:
        own = turn if shape in ("rectangle", "triangle") else 0
        assert height(shape, radius, own) == mask(shape, radius, own)[2].any(axis=1).sum()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("turn", [0, 1])
def test_width_counts_columns(shape: str, turn: int) -> None:
    for radius in RADII:
        own = turn if shape in ("rectangle", "triangle") else 0
        columns = mask(shape, radius, own)[2].any(axis=0).sum()
        assert ADJECTIVES["wide"].measure(SceneObject(shape, "red", radius, 0, 0, own)) == columns


def test_brightness_rises_to_the_full_color() -> None:
    shine = [brightness(level) for level in range(1, 11)]
    assert shine == sorted(set(shine))
    assert (shine[0], shine[-1]) == (71, 255)


def test_other_adjectives_use_their_own_dimension() -> None:
    lying, standing = (
        SceneObject("rectangle", "red", 100, 100, 300, 0),
        SceneObject("rectangle", "blue", 50, 600, 500, 1),
    )
    scene = Scene((lying, standing), 0.29)
    config = SceneConfig("pos", adjective="tall", objects=(2, 2))
    assert [
        label.word
        for label in label_objects(scene, config.kind, config.adjectives, config.threshold_fn)
    ] == [
        "short",
        "tall",
    ]
    assert [label.word for label in label_objects(scene, config.kind)] == ["big", "small"]
    assert set(ADJECTIVES) == {"big", "tall", "wide", "bright"}


def test_unknown_names_give_one_sentence() -> None:
    for call in (lambda: adjective("heavy"), lambda: threshold("rh-x"), lambda: task_kind("pos2")):
        with pytest.raises(UserError, match="choose"):
            call()


def test_the_extremes_of_brightness_follow_the_number_of_levels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bright = ADJECTIVES["bright"]
    for levels in (LEVELS, 7):
        monkeypatch.setattr(labels, "LEVELS", levels)
        objects = [
            SceneObject("circle", "red", 60, 512, 512, level=level)
            for level in range(1, levels + 1)
        ]
        assert [obj.level for obj in objects if labels.has_extreme_size(obj, bright)] == [1, levels]
