"""Objects found in pictures: how many, how large, of what colour, whatever stands beside them."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from seesay.scenes.config import SceneConfig
from seesay.scenes.plan import make_plan
from seesay.scenes.raster import rgb
from seesay.scenes.reasoners.features.objects import (
    IMAGE_SIZE,
    OUTLINE,
    SLOT_SIZE,
    SLOTS,
    find_objects,
)
from seesay.scenes.scene_batches import batches
from seesay.scenes.world import (
    CANVAS,
    LEVELS,
    RADII,
    RGB,
    SCENE_COLORS,
    SHAPES,
    TALL,
    WIDE,
    Scene,
    SceneObject,
    anchor,
    area,
    brightness,
    extent,
)

PIXEL = CANVAS / IMAGE_SIZE
Slots = NDArray[np.float32]


def slots(*things: SceneObject) -> Slots:
    """The slots that have an object in them."""
    detected = find_objects(rgb(Scene(things), IMAGE_SIZE)[None])[0]
    assert detected.shape == (SLOTS, SLOT_SIZE)
    assert not detected[detected[:, 0] == 0].any()
    there: Slots = detected[detected[:, 0] == 1]
    return there


def box(thing: SceneObject) -> NDArray[np.float64]:
    """Top, left, bottom, right in shares of the canvas."""
    form = thing.shape, thing.radius, thing.turn
    (down, right), (rows, columns) = anchor(*form), extent(*form)
    top, left = thing.row - down, thing.column - right
    return np.array((top, left, top + rows, left + columns)) / CANVAS


@st.composite
def things(draw: st.DrawFn) -> SceneObject:
    shape, radius = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(RADII))
    turn = draw(st.sampled_from((WIDE, TALL))) if shape in ("rectangle", "triangle") else WIDE
    (down, right), (rows, columns) = anchor(shape, radius, turn), extent(shape, radius, turn)
    row, column = draw(st.integers(0, CANVAS - rows)), draw(st.integers(0, CANVAS - columns))
    level = draw(st.integers(1, LEVELS))
    return SceneObject(
        shape, draw(st.sampled_from(SCENE_COLORS)), radius, row + down, column + right, turn, level
    )


@given(things())
@settings(max_examples=60)
def test_single_object(thing: SceneObject) -> None:
    (slot,) = slots(thing)
    assert slot[1] * CANVAS**2 == pytest.approx(area(thing.shape, thing.radius), rel=0.02)
    assert np.abs(slot[2:6] - box(thing)).max() <= 2 / IMAGE_SIZE
    shine = brightness(thing.level)
    assert slot[6:9] * 255 == pytest.approx(
        [part * shine // 255 for part in RGB[thing.color]], abs=0.01
    )


@given(things(), st.integers(-6, 6), st.integers(-6, 6))
@settings(max_examples=40)
def test_moving_an_object_changes_only_its_box(thing: SceneObject, down: int, right: int) -> None:
    """By whole pixels of the picture: 16 of the canvas are three."""
    moved = replace(thing, row=thing.row + 16 * down, column=thing.column + 16 * right)
    before, after = box(thing), box(moved)
    if after.min() < 0 or after.max() > 1:
        return
    (one,), (other,) = slots(thing), slots(moved)
    # Sums over a window that the picture's edge cuts are taken in another order: the last bit may
    # differ.
    assert np.delete(one, range(2, 6)) == pytest.approx(
        np.delete(other, range(2, 6)), rel=1e-6, abs=1e-7
    )
    assert other[2:6] - one[2:6] == pytest.approx(after - before, abs=1e-6)


def gap(one: SceneObject, other: SceneObject) -> float:
    """How far apart their boxes are, in pixels of the picture; below zero they reach into each
    other."""
    (top, left, bottom, right), (north, west, south, east) = box(one), box(other)
    return float(max(north - bottom, top - south, west - right, left - east) * IMAGE_SIZE)


@pytest.mark.seconds
@pytest.mark.parametrize("task", ["sup1", "pos", "set+pos"])
def test_all_objects_of_generated_scenes_are_found(task: str) -> None:
    """Two of one colour may be seen as one where they form one convex shape; a pixel that two share
    is neither's."""
    miscounted = 0
    for batch in batches(SceneConfig(task), make_plan(task, 200), "train", size=IMAGE_SIZE):
        for slot, item in zip(find_objects(batch.pictures), batch.items, strict=True):
            near = [
                (one, other)
                for one, other in permutations(item.scene.objects, 2)
                if gap(one, other) < 2
            ]
            detected = slot[slot[:, 0] == 1]
            if any(one.color == other.color for one, other in near):
                miscounted += len(detected) != len(item.scene.objects)
                continue
            assert len(detected) == len(item.scene.objects)
            centres = detected[:, 2:4] + detected[:, 4:6]
            for thing in item.scene.objects:
                at = box(thing)
                nearest = detected[np.abs(centres - at[:2] - at[2:]).sum(1).argmin()]
                off = 0.05 if any(thing is one for one, _ in near) else 0.02
                assert nearest[1] * CANVAS**2 == pytest.approx(
                    area(thing.shape, thing.radius), rel=off
                )
                assert nearest[6:9] == pytest.approx(np.array(RGB[thing.color]) / 255, abs=0.01)
    assert miscounted <= 1  # of 160 pictures, where up to 20 have neighbours of one colour


def test_touching_objects_of_one_colour_are_split() -> None:
    """A circle on a square, and a triangle beside a small square: the areas of each."""
    objects = (
        SceneObject("square", "red", 80, 500, 300),
        SceneObject("circle", "red", 60, 360, 300),
        SceneObject("square", "red", 40, 500, 660),
        # its base on the left, at the square's right side
        SceneObject("triangle", "red", 60, 500, 820, TALL),
    )
    expected = sorted((area(obj.shape, obj.radius) for obj in objects), reverse=True)
    assert slots(*objects)[:, 1] * CANVAS**2 == pytest.approx(expected, rel=0.05)


def test_what_forms_one_convex_shape_is_one_object() -> None:
    """Two squares side by side are a rectangle: nothing in the picture tells that they are two."""
    assert (
        len(
            slots(
                SceneObject("square", "red", 60, 500, 300),
                SceneObject("square", "red", 60, 500, 420),
            )
        )
        == 1
    )


def test_touching_objects_are_separated_by_colour() -> None:
    side = 64  # twelve pixels of the picture: no pixel has both
    detected = slots(
        SceneObject("square", "red", side, 256, 256),
        SceneObject("square", "blue", side, 256, 256 + 2 * side),
        SceneObject("square", "yellow", side, 256 + 2 * side, 256),
    )
    assert len(detected) == 3
    assert {tuple(slot[6:9].round().astype(int)) for slot in detected} == {
        (1, 0, 0),
        (0, 0, 1),
        (1, 1, 0),
    }
    assert detected[:, 1] * CANVAS**2 == pytest.approx([4 * side**2] * 3, rel=0.02)


@given(st.integers(100, 600), st.integers(100, 600), st.permutations(SCENE_COLORS))
@settings(max_examples=30)
def test_border_of_touching_objects_is_no_object(row: int, column: int, colours: list[str]) -> None:
    """Wherever the line between them falls, inside a pixel or between two."""
    one, other = (
        SceneObject("square", colour, 60, row, column + 120 * i)
        for i, colour in enumerate(colours[:2])
    )
    detected = slots(one, other)
    assert len(detected) == 2
    # the pixels on the line are nobody's
    assert detected[:, 1] * CANVAS**2 == pytest.approx([4 * 60**2] * 2, rel=0.1)


def test_dark_objects_are_found_beside_bright_ones() -> None:
    dark, bright = (
        SceneObject("circle", "blue", 60, 300, 300, level=1),
        SceneObject("circle", "white", 120, 300, 600),
    )
    detected = slots(dark, bright)
    assert detected[:, 1] * CANVAS**2 == pytest.approx(
        [area("circle", 120), area("circle", 60)], rel=0.02
    )
    assert detected[1, 6:9] * 255 == pytest.approx((0, 0, brightness(1)), abs=0.01)


def test_an_empty_picture_has_no_objects() -> None:
    assert len(slots()) == 0
    noise = np.random.default_rng(0).integers(0, 20, (2, IMAGE_SIZE, IMAGE_SIZE, 3), dtype=np.uint8)
    assert not find_objects(noise).any()  # what is nearly black is background


def test_only_the_biggest_objects_fill_the_slots() -> None:
    grid = [(row, column) for row in range(85, CANVAS, 170) for column in range(85, CANVAS, 170)]
    sizes = [30 + i for i in range(len(grid))]
    detected = slots(
        *(SceneObject("square", "green", size, *at) for size, at in zip(sizes, grid, strict=True))
    )
    assert len(detected) == SLOTS < len(grid)
    largest = sorted(sizes, reverse=True)[:SLOTS]
    assert detected[:, 1] * CANVAS**2 == pytest.approx([4 * size**2 for size in largest], rel=0.02)


def test_outlines_depend_on_shape_not_size() -> None:
    def outline(shape: str, radius: int, turn: int = WIDE) -> Slots:
        (slot,) = slots(SceneObject(shape, "red", radius, 512, 512, turn))
        cells: Slots = slot[9:].reshape(OUTLINE, OUTLINE)
        return cells

    for shape, radius in product(SHAPES, RADII):
        assert np.abs(outline(shape, radius) - outline(shape, 120)).mean() < (
            0.02 if shape == "square" else 0.05
        )
    assert outline("square", 96).min() > 0.9
    # 1 : 4, so two rows of the eight
    lying, standing = outline("rectangle", 96), outline("rectangle", 96, TALL)
    assert lying.sum() == pytest.approx(16, rel=0.05)
    # cells are summed along the other side first
    assert standing == pytest.approx(lying.T, abs=1e-6)
    assert lying[3:5].min() > 0.9
    assert outline("circle", 96).sum() == pytest.approx(64 * np.pi / 4, rel=0.05)
