"""Rooms: what is written is what is seen, and what is true is what stands there."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from tests.mining.rooms.published_formats import write_published_formats

from seesay.data.knowledge import COLORS
from seesay.mining.readers import read
from seesay.mining.records import Picture
from seesay.mining.rooms import (
    Room,
    RoomObject,
    RoomTruth,
    elevation,
    larger,
    snapshot,
    snapshots,
    write_rooms,
)
from seesay.mining.rooms.kinds import KINDS, SCENES, SHAPES
from seesay.mining.rooms.raster import FOCAL, render

EYE = (0.0, 1.5, 0.0)


def a_thing(
    name: str, size: tuple[float, float, float], at: tuple[float, float, float], turn: float = 0.0
) -> RoomObject:
    return RoomObject(name, name, "red", (200.0, 30.0, 30.0), size, at, turn)


def a_room(*things: RoomObject) -> Room:
    grey = (200.0, 200.0, 200.0)
    return Room("office", (6.0, 3.0, 6.0), EYE, 0.0, grey, grey, boards=False, objects=things)


def view(
    *things: RoomObject, width: int = 320, height: int = 240
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    seen = render(a_room(*things), width, height, np.random.default_rng(0))
    return seen.rgb, seen.depth, seen.ids


def test_pinhole_projection_of_a_box() -> None:
    """A box 1 m wide, its front 4 m away and level with the eye: 320 · 0.85 / 4 = 68 pixels a
    metre."""
    _, depth, ids = view(a_thing("book", (1.0, 1.0, 0.5), (0.0, 1.0, 4.25)))
    rows, columns = np.nonzero(ids == 0)
    assert (columns.min(), columns.max() + 1) == (160 - 34, 160 + 34)
    assert (rows.min(), rows.max() + 1) == (120 - 34, 120 + 34)
    assert depth[120, 160] == pytest.approx(4.0, abs=1e-4)


def test_depth_of_the_bare_room() -> None:
    _, depth, ids = view()
    assert (ids == -1).all()
    assert depth[120, 160] == pytest.approx(6.0, abs=1e-4)  # the back wall
    down = (239.5 - 120) / (FOCAL * 320)
    # the floor, the eye 1.5 m above it
    assert depth[239, 160] == pytest.approx(1.5 / down, rel=1e-4)


def test_nearer_object_hides_the_farther() -> None:
    far, near = (
        a_thing("book", (1, 1, 0.2), (0, 1, 5.0)),
        a_thing("book", (0.4, 0.4, 0.2), (0, 1.3, 3.0)),
    )
    _, depth, ids = view(far, near)
    _, same_depth, swapped = view(near, far)
    assert ids[120, 160] == 1
    assert swapped[120, 160] == 0
    np.testing.assert_array_equal(depth, same_depth)


@pytest.mark.parametrize("name", ["book", "cup", "vase"])  # a box, a cylinder, an ellipsoid
def test_solids_cover_their_projected_area(name: str) -> None:
    """Far away, a thing covers its outline: all of a box's rectangle and a cylinder's, π/4 of an
    ellipsoid's."""
    _, _, ids = view(a_thing(name, (1.0, 1.0, 0.02), (0.0, 1.0, 5.06)), width=640, height=480)
    pixels_a_metre = FOCAL * 640 / 5.05  # its front
    share = {"book": 1.0, "cup": 1.0, "vase": math.pi / 4}[name]
    assert (ids == 0).sum() == pytest.approx(share * pixels_a_metre**2, rel=0.02)


def test_object_turned_by_a_right_angle_shows_its_side() -> None:
    _, _, ids = view(a_thing("book", (2.0, 1.0, 0.5), (0.0, 1.0, 4.0), turn=math.pi / 2))
    columns = np.flatnonzero((ids == 0).any(axis=0))
    # its near side is 3 m away
    assert len(columns) == pytest.approx(0.5 * FOCAL * 320 / 3.0, abs=2)


def test_every_shape_stays_inside_its_object() -> None:
    for parts in SHAPES.values():
        for part in parts:
            for (low, high), centre, size in zip(
                ((-0.5, 0.5), (0, 1), (-0.5, 0.5)), part.centre, part.size, strict=True
            ):
                assert low - 1e-9 <= centre - size / 2
                assert centre + size / 2 <= high + 1e-9


def test_catalogue_is_consistent() -> None:
    assert set(SCENES) == {"bathroom", "bedroom", "kitchen", "living_room", "office"}
    for name, kind in KINDS.items():
        assert sum(kind.colors.values()) == pytest.approx(1), name
        assert set(kind.colors) <= set(COLORS)
        assert kind.stand != "on" or set(kind.supports) <= KINDS.keys()
        assert all(subtype.endswith(name) for subtype in kind.subtypes)


def test_elevation_by_hand() -> None:
    """Lowest point above the other's middle: a cup (0.75 m up) on a table (0 to 0.75 m), a chair (0
    to 0.9 m) by it."""
    table, cup = (
        a_thing("table", (1.2, 0.75, 0.8), (0, 0, 4)),
        a_thing("cup", (0.1, 0.1, 0.1), (0, 0.75, 4)),
    )
    chair = a_thing("chair", (0.5, 0.9, 0.5), (1, 0, 4))
    assert [elevation(cup, table), elevation(table, cup), elevation(table, chair)] == [
        ">",
        "<",
        "=",
    ]
    assert [larger(table, cup), larger(cup, table)] == [">", "<"]  # 0.9 against 0.01 square metres
    tally = RoomTruth()
    tally.add("kitchen", [table, cup, replace(cup, color="blue"), chair])
    truth = tally.to_json()
    assert {
        "scene": "kitchen",
        "a": "cup",
        "b": "table",
        "above": 2,
        "level": 0,
        "below": 0,
    } in truth["places"]
    assert {"a": "cup", "b": "table", "larger": 0, "smaller": 2} in truth["sizes"]
    assert truth["colors"]["cup"] == {"red": 1, "blue": 1}
    assert len(truth["sizes"]) == 3  # two cups are no pair


@given(index=st.integers(0, 10_000), seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_every_room_is_consistent(index: int, seed: int) -> None:
    shot = snapshot(index, seed)
    room, seen = shot.room, shot.view
    assert np.isfinite(seen.depth).all()
    assert (seen.depth > 0.5).all()
    for thing in room.objects:
        assert thing.lowest >= 0
        assert thing.lowest + thing.size[1] <= room.size[1] + 1e-6
        x0, x1, _, z1 = thing.footprint
        assert -room.size[0] / 2 <= x0
        assert x1 <= room.size[0] / 2
        assert z1 <= room.size[2]
        if thing.support is not None:
            assert room.objects[thing.support].name in KINDS[thing.name].supports
    for thing, region in zip(shot.objects, shot.picture.regions, strict=True):
        mask = seen.ids == room.objects.index(thing)
        x, y, w, h = (int(side) for side in region.box)
        assert mask[y : y + h, x : x + w].sum() == mask.sum()
        assert mask[y].any()
        assert mask[:, x].any()
        xs, ys = np.array(region.polygon[::2]), np.array(region.polygon[1::2])
        assert (x <= xs).all()
        assert (xs <= x + w).all()
        assert (y <= ys).all()
        assert (ys <= y + h).all()


def test_hidden_objects_are_not_annotated() -> None:
    """Over 25 rooms: what is annotated shows at least half of itself, and some things are
    hidden."""
    hidden = 0
    for shot in snapshots(25, seed=3):
        for i, thing in enumerate(shot.room.objects):
            if thing in shot.objects:
                assert (shot.view.ids == i).sum() >= 0.5 * shot.view.covered[i]
            else:
                hidden += 1
    assert hidden > 5


def test_pictures_do_not_depend_on_the_count() -> None:
    first = [shot.picture for shot in snapshots(3, seed=5)]
    assert [shot.picture for shot in snapshots(5, seed=5)][:3] == first
    assert next(snapshots(1, seed=6)).picture != first[0]


def test_all_formats_agree(tmp_path: Path) -> None:
    reported: list[tuple[int, int]] = []
    write_rooms(tmp_path, 5, seed=1, progress=lambda done, total: reported.append((done, total)))
    assert reported == [(1, 5)] * 5
    write_published_formats(tmp_path, snapshots(5, seed=1))
    plain = list(read(f"plain:{tmp_path / 'annotations.parquet'}"))
    assert len(plain) == 5
    assert all(isinstance(picture, Picture) for picture in plain)
    assert list(read(f"plain:{tmp_path / 'annotations.jsonl'}")) == plain
    others = [
        read(f"visual-genome:{tmp_path / 'visual_genome'}", tmp_path),
        read(
            f"coco:{tmp_path / 'coco/instances.json'},{tmp_path / 'coco/captions.json'}",
            tmp_path / "images",
        ),
    ]
    for pictures in others:
        for picture, other in zip(plain, pictures, strict=True):
            assert isinstance(picture, Picture)
            assert isinstance(other, Picture)
            assert (picture.id, picture.captions, picture.path) == (
                other.id,
                other.captions,
                other.path,
            )
            assert [(r.name, r.box) for r in picture.regions] == [
                (r.name, r.box) for r in other.regions
            ]
    truth = json.loads((tmp_path / "truth.json").read_text())
    lines = (tmp_path / "things.jsonl").read_text().splitlines()
    assert sum(sum(n.values()) for n in truth["colors"].values()) == sum(
        len(json.loads(line)["things"]) for line in lines
    )
    shot = snapshot(4, seed=1)
    with Image.open(tmp_path / "depth/5.png") as depth:
        np.testing.assert_allclose(np.asarray(depth) / 1000, shot.view.depth, atol=0.001)
    with Image.open(tmp_path / "images/5.jpg") as image:
        assert np.abs(np.asarray(image).astype(int) - shot.view.rgb).mean() < 4


def test_rooms_without_pictures(tmp_path: Path) -> None:
    write_rooms(tmp_path, 0)
    assert (tmp_path / "annotations.jsonl").read_text() == ""
    assert list(read(f"plain:{tmp_path / 'annotations.parquet'}")) == []


@pytest.mark.slow
def test_speed() -> None:
    """At least 30 pictures a core second."""
    list(snapshots(5))
    began = time.process_time()
    list(snapshots(60))
    assert 60 / (time.process_time() - began) >= 30
