"""Depth maps of every kind, and a region's depth from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from seesay.mine.maps import BadMapError, read_map, region_depths
from seesay.mine.records import Region


def test_kinds_of_maps(tmp_path: Path) -> None:
    Image.fromarray(np.array([[500, 2000]], dtype=np.uint16)).save(tmp_path / "mm.png")
    np.save(tmp_path / "m.npy", np.array([[0.5, 2.0]]))
    Image.fromarray(np.array([[255, 0]], dtype=np.uint8)).save(tmp_path / "near.png")
    for name in ("mm.png", "m.npy"):
        assert read_map(tmp_path / name).tolist() == [[0.5, 2.0]]
    assert read_map(tmp_path / "near.png").round(4).tolist() == [[1.0, 20.0]]  # white is nearest


def test_what_is_no_map(tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("no picture")
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    for name, reason in (("none.png", "missing"), ("text.png", "broken"), ("cube.npy", "plane of numbers")):
        with pytest.raises(BadMapError, match=reason):
            read_map(tmp_path / name)
    with pytest.raises(BadMapError, match="no distance"):
        region_depths(np.zeros((2, 2), dtype=np.float32), 2, 2, [])


def test_means_over_boxes_and_polygons() -> None:
    found = np.array([[1, 1, 4, 4], [1, 1, 4, 4], [2, 2, 2, 0], [2, 2, 2, np.nan]], dtype=np.float32)
    box = Region("box", (20.0, 0.0, 20.0, 20.0))  # of a picture ten times as large
    both = Region("both", (0.0, 0.0, 40.0, 20.0))
    holes = Region("holes", (20.0, 20.0, 20.0, 20.0))  # a 0 and a NaN count for nothing
    left = Region("left", (0.0, 0.0, 40.0, 20.0), (0.0, 0.0, 19.0, 0.0, 19.0, 19.0, 0.0, 19.0))
    empty = Region("empty", (30.0, 20.0, 10.0, 20.0))
    depths = region_depths(found, 40, 40, [box, both, holes, left, empty])
    assert (depths.nearest, depths.farthest) == (1.0, 4.0)
    assert depths.distances[:4] == [4.0, 2.5, 2.0, 1.0]
    assert np.isnan(depths.distances[4])
    # nearness of 2 m between 1 and 4: (1/2 − 1/4) / (1 − 1/4) = 1/3
    assert depths.nearness[:4] == pytest.approx([0.0, 0.5, 1 / 3, 1.0])
