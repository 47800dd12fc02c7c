"""Looking at pictures: what can be opened is seen, what cannot is counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from tests.mining.test_depth import save_tiny

from seesay.mining.records import Picture, Region, to_batch
from seesay.mining.visual_features import VisualFeatureExtractor

CUP = Region("cup", (10.0, 10.0, 20.0, 20.0))


def table(*pictures: Picture) -> pa.Table:
    return pa.Table.from_batches([to_batch(pictures)])


def test_estimated_depth_of_pictures_of_several_shapes(tmp_path: Path) -> None:
    save_tiny("depth_anything", tmp_path / "model")
    extract = VisualFeatureExtractor(depth=str(tmp_path / "model"))
    pictures = []
    for i, (width, height) in enumerate([(80, 60), (40, 90)]):
        rows = np.random.default_rng(i).integers(0, 255, (height, width, 3), dtype=np.uint8)
        Image.fromarray(rows).save(tmp_path / f"{i}.png")
        pictures.append(Picture(str(i), width, height, (CUP,), path=str(tmp_path / f"{i}.png")))
    broken = Picture("2", 9, 9, (CUP,), path=str(tmp_path / "none.png"))
    batch, _, bad = extract(table(pictures[0], broken, pictures[1]))
    assert batch.column("nearest").to_pylist() == [0.0, pytest.approx(np.nan, nan_ok=True), 0.0]
    first, none, last = batch.column("distances").to_pylist()
    assert np.isnan(none).tolist() == [True]
    assert 0 < first[0] < 1
    assert 0 < last[0] < 1
    assert bad == {"the picture file cannot be opened (FileNotFoundError)": 1}
    # a batch of which none opens, and pictures without a name
    batch, _, bad = extract(table(broken, Picture("3", 9, 9, (CUP,))))
    assert batch.column("distances").to_pylist() == [[pytest.approx(np.nan, nan_ok=True)]] * 2
    assert bad["no picture file is named"] == 1


def test_depth_maps_of_the_annotation_and_colours(tmp_path: Path) -> None:
    Image.new("RGB", (40, 40), (200, 20, 30)).save(tmp_path / "a.png")
    nearness = np.full((40, 40), 51, dtype=np.uint8)
    nearness[0, :2] = 0, 255
    Image.fromarray(nearness).save(tmp_path / "near.png")
    shown = Picture(
        "1", 40, 40, (CUP,), path=str(tmp_path / "a.png"), depth=str(tmp_path / "near.png")
    )
    extract = VisualFeatureExtractor(depth="given", colors="pixels")
    batch, colors, bad = extract(table(shown, Picture("2", 40, 40, (CUP,))))
    assert batch.column("distances").to_pylist() == [
        [pytest.approx(0.8)],
        [pytest.approx(np.nan, nan_ok=True)],
    ]
    assert batch.column("nearness").to_pylist() == [
        [pytest.approx(0.2)],
        [pytest.approx(np.nan, nan_ok=True)],
    ]
    assert colors == [[("red",)], []]
    assert bad == {"no picture file is named": 1, "no depth map is named": 1}
    # whose columns are more than an annotation's
    _, again, _ = VisualFeatureExtractor(colors="pixels")(batch)
    assert again == colors
