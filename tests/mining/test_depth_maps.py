"""Depth maps of every kind, and a region's depth from them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.mining.sample_pictures import DepthRegion, places, row, table

from seesay.mining.depth import distances
from seesay.mining.depth_maps import BadDepthMapError, read_map, region_depths
from seesay.mining.masks import corners, outline
from seesay.mining.records import Region


def test_kinds_of_maps(tmp_path: Path) -> None:
    Image.fromarray(np.array([[500, 2000]], dtype=np.uint16)).save(tmp_path / "mm.png")
    np.save(tmp_path / "m.npy", np.array([[0.5, 2.0]]))
    Image.fromarray(np.array([[200, 50, 0]], dtype=np.uint8)).save(tmp_path / "near.png")
    for name in ("mm.png", "m.npy"):
        depth_map, relative = read_map(tmp_path / name)
        assert (depth_map.tolist(), relative) == ([[0.5, 2.0]], False)
    depth_map, relative = read_map(tmp_path / "near.png")
    assert (depth_map.tolist(), relative) == ([[0.0, 0.75, 1.0]], True)  # white is nearest


def test_files_that_are_no_depth_map(tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("no picture")
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    for name, reason in (
        ("none.png", "missing"),
        ("text.png", "broken"),
        ("cube.npy", "two-dimensional array of numbers"),
    ):
        with pytest.raises(BadDepthMapError, match=reason):
            read_map(tmp_path / name)
    with pytest.raises(BadDepthMapError, match="no distance"):
        region_depths(np.zeros((2, 2), dtype=np.float32), 2, 2, [])


def test_means_over_boxes_and_polygons() -> None:
    depth_map = np.array(
        [[1, 1, 4, 4], [1, 1, 4, 4], [2, 2, 2, 0], [2, 2, 2, np.nan]], dtype=np.float32
    )
    box = Region("box", (20.0, 0.0, 20.0, 20.0))  # of a picture ten times as large
    both = Region("both", (0.0, 0.0, 40.0, 20.0))
    holes = Region("holes", (20.0, 20.0, 20.0, 20.0))  # a 0 and a NaN count for nothing
    left = Region("left", (0.0, 0.0, 40.0, 20.0), (0.0, 0.0, 19.0, 0.0, 19.0, 19.0, 0.0, 19.0))
    empty = Region("empty", (30.0, 20.0, 10.0, 20.0))
    depths = region_depths(depth_map, 40, 40, [box, both, holes, left, empty])
    assert (depths.nearest, depths.farthest) == (1.0, 4.0)
    assert depths.distances[:4] == [4.0, 2.5, 2.0, 1.0]
    assert np.isnan(depths.distances[4])
    # nearness of 2 m between 1 and 4: (1/2 − 1/4) / (1 − 1/4) = 1/3
    assert depths.nearness[:4] == pytest.approx([0.0, 0.5, 1 / 3, 1.0])


def test_relative_distances() -> None:
    """Nothing is a hole, the nearest point least of all; nearness is what is missing to 1."""
    depth_map = np.array([[0.0, 0.5, 1.0, np.nan]], dtype=np.float32)
    regions = [Region(str(i), (float(i), 0.0, 1.0, 1.0)) for i in range(4)]
    depths = region_depths(depth_map, 4, 1, regions, relative=True)
    assert (depths.nearest, depths.farthest) == (0.0, 1.0)
    assert depths.distances == pytest.approx([0.0, 0.5, 1.0, np.nan], nan_ok=True)
    assert depths.nearness == pytest.approx([1.0, 0.5, 0.0, np.nan], nan_ok=True)


def test_partitions_of_relative_depth_are_of_uniform_size() -> None:
    """Thirty things, a level apart in nearness: with three partitions each is compared with the
    nine beside it."""
    nearness = np.linspace(0, 1, 30, dtype=np.float32)[None]
    things = [Region(f"n{i:02d}", (float(i), 0.0, 1.0, 1.0)) for i in range(30)]
    depths = region_depths(distances(nearness), 30, 1, things, relative=True)
    shown = row([DepthRegion(thing.name, thing.box) for thing in things], "1") | asdict(depths)
    assert len(places(table([shown]), "apart")) == 3 * 45  # pairs of ten


def test_pixel_is_inside_if_its_middle_is() -> None:
    square = np.array([[1.0, 1.0], [3.0, 1.0], [3.0, 3.0], [1.0, 3.0]])
    expected = np.zeros((5, 5), dtype=bool)
    expected[1:3, 1:3] = True
    for moved in (0.0, 0.4, -0.4):
        assert (outline(square + moved, (0, 0, 5, 5)) == expected).all()
    assert (outline(square, (2, 1, 5, 5)) == expected[1:, 2:]).all()
    triangle = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    rows = ["1110", "1100", "1000", "0000"]  # a middle on the slope is outside
    assert [
        "".join("01"[i] for i in row) for row in outline(triangle, (0, 0, 4, 4)).astype(int)
    ] == rows
    assert outline(square + 50, (0, 0, 4, 4)).all()  # it holds none of them


@given(st.lists(st.tuples(st.floats(-5, 15), st.floats(-5, 15)), min_size=3, max_size=3))
def test_triangle_is_the_intersection_of_half_planes(
    corners: list[tuple[float, float]],
) -> None:
    points = np.array(corners)
    y, x = np.mgrid[0:10, 0:10] + 0.5
    middles = np.stack([x.ravel(), y.ravel()], axis=1)
    a, b, c = points
    sides = [
        (q[0] - p[0]) * (middles[:, 1] - p[1]) - (q[1] - p[1]) * (middles[:, 0] - p[0])
        for p, q in ((a, b), (b, c), (c, a))
    ]
    clear = np.min(np.abs(sides), axis=0) > 1e-6
    inside = np.all(np.array(sides) > 0, axis=0) | np.all(np.array(sides) < 0, axis=0)
    mask = outline(points, (0, 0, 10, 10)).ravel()
    if inside[clear].any():
        assert (mask[clear] == inside[clear]).all()


def test_corners() -> None:
    assert corners((-5.0, 1.4, 7.4, 0.2), 10, 10) == (0, 1, 2, 2)
    assert corners((9.9, 20.0, 5.0, 5.0), 10, 10) == (9, 9, 10, 10)
