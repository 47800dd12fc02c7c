"""Pixels: published areas, exact sizes, and the mean at the others."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.modules import needed

from seesay.errors import UserError
from seesay.scenes.png import encode_halves, encode_indices, encode_rgb
from seesay.scenes.raster import PUBLISHED, mask, paint, paint_changes, palette, rgb
from seesay.scenes.world import (
    CANVAS,
    LEVELS,
    RADII,
    SCENE_COLORS,
    SHAPES,
    TALL,
    WIDE,
    Scene,
    SceneObject,
    anchor,
    area,
    extent,
)

CIRCLES = (2809, 5013, 7825, 11277, 15361, 20069, 25433, 31397, 37969, 45213)


@st.composite
def objects(draw: st.DrawFn, levels: bool = False) -> SceneObject:
    shape, radius, turn = (
        draw(st.sampled_from(SHAPES)),
        draw(st.sampled_from(RADII)),
        draw(st.integers(0, 1)),
    )
    if shape in ("circle", "square"):
        turn = 0
    rows, columns = extent(shape, radius, turn)
    down, right = anchor(shape, radius, turn)
    row, column = draw(st.integers(0, CANVAS - rows)), draw(st.integers(0, CANVAS - columns))
    level = draw(st.integers(1, LEVELS)) if levels else LEVELS
    return SceneObject(
        shape, draw(st.sampled_from(SCENE_COLORS)), radius, row + down, column + right, turn, level
    )


def test_areas_of_circles_are_the_published_ones() -> None:
    assert tuple(area("circle", radius) for radius in RADII) == CIRCLES


@given(st.sampled_from(SHAPES), st.integers(2, 130), st.integers(0, 1))
def test_area_counts_the_masks_pixels(shape: str, radius: int, turn: int) -> None:
    if shape == "rectangle" and radius % 2:
        radius += 1
    assert mask(shape, radius, turn)[2].sum() == area(shape, radius)


@given(objects())
@settings(max_examples=40, deadline=None)
def test_object_covers_its_area_at_canvas_size(obj: SceneObject) -> None:
    assert (paint(Scene((obj,))) > 0).sum() == area(obj.shape, obj.radius)


def box_mean(picture: NDArray[np.uint8], size: int) -> NDArray[np.float64]:
    """The mean over the area of every pixel, by brute force."""
    edges = np.arange(size + 1) * CANVAS / size
    weights = np.clip(
        np.minimum.outer(edges[1:], np.arange(1, CANVAS + 1))
        - np.maximum.outer(edges[:-1], np.arange(CANVAS)),
        0,
        None,
    )
    weights /= weights.sum(axis=1, keepdims=True)
    return np.stack(
        [weights @ picture[:, :, channel].astype(float) @ weights.T for channel in range(3)],
        axis=-1,
    )


@given(objects(levels=True), objects(levels=True), st.sampled_from((17, 64, 100, 128, 224, 331)))
@settings(max_examples=12, deadline=None)
def test_other_sizes_are_means_over_the_area(
    one: SceneObject, other: SceneObject, size: int
) -> None:
    scene = Scene((one,))
    if not ((paint(scene) > 0) & (paint(Scene((other,))) > 0)).any():
        scene = Scene((one, other))
    exact = palette(LEVELS)[paint(scene)]
    assert np.abs(rgb(scene, size) - box_mean(exact, size)).max() <= 0.5 + 1e-6


def test_doubling_repeats_pixels() -> None:
    scene = Scene((SceneObject("triangle", "red", 60, 500, 500),))
    assert np.array_equal(
        rgb(scene, 2 * CANVAS), rgb(scene, CANVAS).repeat(2, axis=0).repeat(2, axis=1)
    )


def _assert_changes_hold_the_pixels(scene: Scene) -> None:
    for size in (CANVAS, PUBLISHED):
        changes = np.empty((size, size // 2), dtype=np.uint8)
        paint_changes(scene, size, changes)
        halves = np.cumsum(changes, axis=0, dtype=np.uint8)
        both = np.stack([halves >> 4, halves & 15], axis=-1).reshape(size, size)
        assert np.array_equal(both, paint(scene, size))


@given(objects())
@settings(max_examples=15, deadline=None)
def test_changes_between_rows_hold_the_same_pixels(each: SceneObject) -> None:
    _assert_changes_hold_the_pixels(Scene((each,)))


@pytest.mark.parametrize("turn", [WIDE, TALL])
@pytest.mark.parametrize("shape", SHAPES)
def test_changes_of_objects_at_every_edge(shape: str, turn: int) -> None:
    """The canvas' first row is lost in the published picture, its last column as well."""
    turn = turn if shape in ("rectangle", "triangle") else WIDE
    (rows, columns), (down, right) = extent(shape, 50, turn), anchor(shape, 50, turn)
    for color, top, left in (
        ("red", 0, 0),
        ("white", CANVAS - rows, CANVAS - columns),
        ("blue", 400, 333),
    ):
        _assert_changes_hold_the_pixels(
            Scene((SceneObject(shape, color, 50, top + down, left + right, turn),))
        )


def test_changes_of_neighbours_that_share_a_byte() -> None:
    scene = Scene(
        (SceneObject("square", "red", 30, 100, 101), SceneObject("circle", "white", 30, 105, 160))
    )
    _assert_changes_hold_the_pixels(scene)


def test_png_is_read_back() -> None:
    image = needed("PIL.Image")
    scene = Scene(
        (
            SceneObject("circle", "green", 90, 300, 400),
            SceneObject("triangle", "white", 50, 800, 700, 1, 4),
        )
    )
    picture, colors = paint(scene, PUBLISHED), palette(LEVELS)
    back = image.open(io.BytesIO(encode_indices(picture, colors)))
    assert (back.mode, back.size) == ("P", (PUBLISHED, PUBLISHED))
    assert np.array_equal(np.asarray(back.convert("RGB")), colors[picture])
    bright = Scene(scene.objects[:1])
    lines = np.empty((PUBLISHED, PUBLISHED // 2 + 1), dtype=np.uint8)
    paint_changes(bright, PUBLISHED, lines[:, 1:])
    back = image.open(io.BytesIO(encode_halves(lines, palette())))
    assert np.array_equal(np.asarray(back.convert("RGB")), rgb(bright, PUBLISHED))
    small = rgb(scene, 97)
    assert np.array_equal(np.asarray(image.open(io.BytesIO(encode_rgb(small)))), small)


def test_impossible_pictures_are_refused() -> None:
    scene = Scene((SceneObject("circle", "red", 60, 10, 500),))
    with pytest.raises(UserError, match="leaves the canvas"):
        paint(scene)
    with pytest.raises(UserError, match="8 to 8192"):
        rgb(Scene(()), 3)
    with pytest.raises(ValueError, match="use `rgb`"):
        paint(Scene(()), 224)
