"""Objects found by a network that learns which pixels belong together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.scenes.config import SceneConfig
from seesay.scenes.plan import make_plan
from seesay.scenes.raster import rgb
from seesay.scenes.reasoners import experiment
from seesay.scenes.reasoners.config import preset_config
from seesay.scenes.reasoners.features.extractor import (
    ObjectExtractor,
    PixelExtractor,
    open_extractor,
)
from seesay.scenes.reasoners.features.learnt_objects import (
    DIMENSIONS,
    GRID,
    MARGIN,
    LearntObjectExtractor,
    group_cells,
    grouping_losses,
    measure_groups,
    present_cells,
    to_grid,
    train_finder,
)
from seesay.scenes.reasoners.features.objects import (
    IMAGE_SIZE,
    SLOT_SIZE,
    SLOTS,
    find_objects,
    to_slots,
)
from seesay.scenes.reasoners.sources import scene_source
from seesay.scenes.scene_batches import scene_items
from seesay.scenes.world import Scene, SceneObject
from seesay.training.schedule import Schedule

# red in the left half, blue in the right one
HALVES = np.zeros((1, 3, 16, 16), dtype=np.float32)
HALVES[:, 0, :, :8] = 1
HALVES[:, 2, :, 8:] = 1
EVERYWHERE = torch.ones(1, 16, 16, dtype=torch.bool)


def losses(places: NDArray[np.float32], pictures: NDArray[np.float32]) -> dict[str, float]:
    generator = torch.Generator().manual_seed(0)
    tensors = torch.from_numpy(places), torch.from_numpy(pictures)
    rows = grouping_losses(*tensors, EVERYWHERE, generator)
    return {name: float(value) for name, value in rows.items()}


def test_one_place_for_everything_is_close_and_not_apart() -> None:
    together = losses(np.zeros((1, DIMENSIONS, 16, 16), dtype=np.float32), HALVES)
    assert together["closeness"] == pytest.approx(0, abs=1e-6)
    # every pair that should be apart lacks the whole margin
    assert together["separation"] == pytest.approx(MARGIN**2, rel=1e-3)
    assert together["border"] == pytest.approx(MARGIN**2, rel=1e-3)


def test_colors_apart_by_the_margin_leave_only_what_is_far_within_them() -> None:
    places = np.zeros((1, DIMENSIONS, 16, 16), dtype=np.float32)
    places[:, 3, :, 8:] = MARGIN + 0.01
    apart = losses(places, HALVES)
    # the border between the colors draws nothing together
    assert apart["closeness"] == pytest.approx(0, abs=1e-6)
    assert apart["border"] == 0
    # of one color, the halves are drawn together where they meet
    one_color = losses(places, np.ones_like(HALVES))
    assert (one_color["border"], one_color["closeness"] > 0.1) == (0, True)
    assert 0 < apart["separation"] < losses(np.zeros_like(places), HALVES)["separation"] / 2


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_clusters_apart_are_groups(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    present = rng.random((12, 12)) < 0.5
    owners = rng.integers(count, size=present.shape)
    # middles on the axes are a margin and more apart; members stay within an eighth of it
    middles = np.eye(DIMENSIONS) * MARGIN
    noise = rng.uniform(-1, 1, (*present.shape, DIMENSIONS)) * MARGIN / 8 / DIMENSIONS**0.5
    places = (middles[owners] + noise).transpose(2, 0, 1).astype(np.float32)
    groups = group_cells(places, present)
    assert not groups[~present].any()
    pairs = {*zip(owners[present].tolist(), groups[present].tolist(), strict=True)}
    # every owner has one group, and every group one owner
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def test_true_groups_are_measured_as_connected_pixels_are() -> None:
    config = SceneConfig("set+pos")
    compared = 0
    for item in scene_items(config, make_plan("set+pos", 80), "val"):
        things = item.scene.objects
        picture = rgb(item.scene, IMAGE_SIZE)
        cells = np.stack([rgb(Scene((thing,)), GRID).max(2) for thing in things])
        groups = np.where(cells.max(0) > 127, cells.argmax(0) + 1, 0)
        slots = to_slots(measure_groups(picture, groups), IMAGE_SIZE)
        connected = find_objects(picture[None])[0]
        assert slots[:, 0].sum() == connected[:, 0].sum() == len(things)
        # whose edges share a cell are measured to a cell
        assert np.abs(np.sqrt(slots[:, 1]) - np.sqrt(connected[:, 1])).max() < 1 / GRID
        compared += 1
    assert compared == 8


def test_cells_are_means_of_pixels() -> None:
    square = Scene((SceneObject("square", "red", 120, 512, 512),))
    cells = to_grid(rgb(square, IMAGE_SIZE)[None])
    assert np.abs(cells[0].astype(int) - rgb(square, GRID)).max() <= 1
    # 240 of 1,024 pixels are 15 of 64 cells
    assert present_cells(cells).sum() == pytest.approx(15**2, abs=31)


def test_training_lowers_the_loss_and_gives_features(tmp_path: Path) -> None:
    source = scene_source("compositional", 160)
    pixels = PixelExtractor(GRID)
    train_items, held_out = (source.load(split, pixels) for split in ("train", "val"))
    schedule = Schedule(3, 2e-3, seed=1)
    result = train_finder(train_items, held_out, tmp_path, schedule)
    first = (tmp_path / "training" / "history.jsonl").read_text().splitlines()[0]
    assert f'"validation_loss": {result.best}' not in first
    assert result.best_step > 0
    # a finished training is read, not repeated
    assert train_finder(train_items, held_out, tmp_path, schedule) == result

    config = preset_config("object-centred")
    config, extractor = experiment.with_features(config, f"objects:{tmp_path}")
    assert isinstance(extractor, LearntObjectExtractor)
    assert (config.features, config.image_size) == (f"objects:{tmp_path}", IMAGE_SIZE)
    slots = source.load("val", extractor).features
    assert slots.shape == (20, SLOTS, SLOT_SIZE)
    # something is found in every picture, and no more than all of it
    area = slots[:, :, 1].sum(1)
    connected = source.load("val", ObjectExtractor()).features[:, :, 1].sum(1)
    assert area == pytest.approx(connected, rel=0.05)


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no network that finds objects"):
        open_extractor(f"objects:{tmp_path}", IMAGE_SIZE)
    with pytest.raises(UserError, match="takes pixels or feature maps, not objects"):
        experiment.with_features(preset_config("film", "cpu"), f"objects:{tmp_path}")
