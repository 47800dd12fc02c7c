"""Pictures of things: every thing in every condition, the region found and repainted, the same
bytes for a seed."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.needs import absent
from typer.testing import CliRunner

from seesay.cli import app
from seesay.data.color_names import color_names
from seesay.data.colors import COLORS
from seesay.data.knowledge import COLORS as NAMED
from seesay.errors import NewerVersionError, UserError
from seesay.pictures import icons
from seesay.pictures.dataset_writer import MANIFEST, read_manifest, write_pictures
from seesay.pictures.drawing import png, rgb
from seesay.pictures.look import compare_sizes, dominant_color
from seesay.pictures.oklab import from_rgb, to_rgb
from seesay.pictures.plan import (
    EQUAL,
    MIN_RATIO,
    ColorPicture,
    SizePicture,
    color_pictures,
    is_held_out,
    size_pairs,
    size_pictures,
)
from seesay.pictures.recolor import PROTOTYPES, draw_color, find_region, repaint
from seesay.pictures.things import Thing, color_things, left_out, things


@pytest.fixture(autouse=True)
def fetched() -> None:
    try:
        icons.icon("lemon")
    except UserError as error:
        absent(str(error))


@pytest.mark.seconds
def test_enough_things_and_pairs() -> None:
    assert len(color_things()) == 240
    assert len(size_pairs()) >= 150
    assert len({thing.name for thing in things()}) == len(things())
    for thing in color_things():
        assert find_region(thing.icon, thing.colors).share >= 0.5, thing.name


def test_what_is_left_out_has_a_reason() -> None:
    color_names = {thing.name for thing in color_things()}
    rows = left_out()
    assert all(reason for _, _, reason in rows)
    assert not color_names & {name for name, about, _ in rows if about == "color"}
    drawn = {thing.name for thing in things() if thing.colors}
    assert drawn - color_names == {name for name, about, _ in rows if about == "color"} & drawn


def test_every_condition_that_applies() -> None:
    by_thing: dict[str, list[ColorPicture]] = {}
    for picture in color_pictures():
        by_thing.setdefault(
            picture.subject if isinstance(picture.subject, str) else picture.subject.name, []
        ).append(picture)
    for thing in color_things():
        pictures = by_thing[thing.name]
        shown = Counter(picture.condition for picture in pictures)
        assert shown["typical"] == 1
        assert shown["counterfactual"] == 2
        assert shown["gray"] == ("gray" not in thing.colors)
        assert shown["silhouette"] == ("black" not in thing.colors)
        others = [picture.color for picture in pictures if picture.condition == "counterfactual"]
        assert len(set(others)) == 2
        assert not {*others} & {*thing.colors, *thing.everyday_colors, "gray"}
    used = Counter(
        picture.color for picture in color_pictures() if picture.condition == "counterfactual"
    )
    assert set(used) == set(COLORS) - {"gray"}
    assert max(used.values()) - min(used.values()) <= 1


@pytest.mark.parametrize(
    ("name", "color"),
    [("onion", "yellow"), ("bean", "green"), ("goose", "brown"), ("seal", "brown")],
)
def test_colors_that_everybody_has_seen_are_right(name: str, color: str) -> None:
    (thing,) = [thing for thing in color_things() if thing.name == name]
    assert color in thing.colors


def test_everyday_colors_are_none_of_the_typical_ones() -> None:
    everyday = {thing.name: set(thing.everyday_colors) for thing in color_things()}
    assert {"brown", "green"} == everyday["banana"]
    for thing in color_things():
        assert everyday[thing.name] <= set(COLORS) - set(thing.colors)


def test_sizes_in_every_order() -> None:
    for first, second in size_pairs():
        assert first.metres
        assert second.metres
        assert max(first.metres, second.metres) >= MIN_RATIO * min(first.metres, second.metres)
    pictures = [picture for picture in size_pictures() if picture.condition != "control"]
    assert Counter(picture.condition for picture in pictures) == dict.fromkeys(
        ("world", "reversed", "equal"), 180
    )
    for picture in pictures:
        assert (picture.shown == picture.usual) == (picture.condition == "world")
        assert (picture.shown == EQUAL) == (picture.condition == "equal")
    first_larger = sum(picture.usual == "larger" for picture in pictures) / len(pictures)
    assert 0.35 < first_larger < 0.65


def test_a_fifth_of_the_things_is_held_out() -> None:
    assert sum(map(is_held_out, color_things())) == 48


def test_stem_stays_green_and_shading_stays() -> None:
    lemon = icons.icon("lemon")
    region = find_region("lemon", ("yellow",))
    assert region.colors == ("#fcd53f",)  # the fruit, not the leaf
    blue = repaint(lemon, region, "blue", draw_color("blue", np.random.default_rng(0)))
    assert "#86d72f" in blue  # the leaf
    assert "#fcd53f" not in blue
    bear = icons.icon("teddy-bear")
    region = find_region("teddy-bear", ("brown",))
    painted = repaint(bear, region, "purple", draw_color("purple", np.random.default_rng(0)))
    before, after = (
        len({match[2] for match in icons.PAINT.finditer(body)}) for body in (bear.body, painted)
    )
    assert after == before  # as many shades as there were


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_oklab_and_back(channels: list[float]) -> None:
    color = np.array(channels)
    assert to_rgb(from_rgb(color)) == pytest.approx(color, abs=2e-4)


def test_oklab_of_published_colors() -> None:
    """Ottosson 2020, 'A perceptual color space for image processing': white is (1, 0, 0), and the
    hues of sRGB."""
    assert from_rgb(np.ones(3)) == pytest.approx([1, 0, 0], abs=1e-3)
    assert from_rgb(np.array([1.0, 0, 0])) == pytest.approx([0.628, 0.225, 0.126], abs=1e-3)


@pytest.mark.parametrize("color", COLORS)
def test_drawn_colors_have_their_name(color: str) -> None:
    generator = np.random.default_rng(0)
    drawn = np.stack([draw_color(color, generator) for _ in range(200)])
    assert set(color_names(to_rgb(drawn))) == {NAMED.index(color)}
    assert PROTOTYPES[color]


@pytest.mark.seconds
def test_pixels_agree_with_the_plan(tmp_path: Path) -> None:
    pictures = color_pictures()[::9]
    wrong = []
    for picture in pictures:
        path = tmp_path / f"{picture.name}.png"
        path.write_bytes(png(picture, 96))
        if dominant_color(path) != picture.color:
            wrong.append(picture.name)
    assert len(wrong) <= 0.03 * len(pictures), wrong
    pairs = size_pictures()[::7]
    for pair in pairs:
        path = tmp_path / f"{pair.name}.png"
        path.write_bytes(png(pair, 96))
        assert compare_sizes(path) == pair.shown, pair.name


def test_silhouettes_are_black_on_white() -> None:
    picture = next(p for p in color_pictures() if p.condition == "silhouette")
    pixels = rgb(picture, 64)
    assert set(np.unique(pixels[0])) == {255}
    assert (pixels == pixels[..., :1]).all()  # black, white, and the edge between them
    assert (pixels < 20).mean() > 0.2


@pytest.mark.seconds
def test_same_seed_same_bytes(tmp_path: Path) -> None:
    one, two, other = (tmp_path / name for name in ("one", "two", "other"))
    for folder, seed in ((one, 3), (two, 3), (other, 4)):
        write_pictures("prior-size", folder, seed=seed, size=16)
    files = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(two) for path in two.rglob("*") if path.is_file())
    assert all((one / file).read_bytes() == (two / file).read_bytes() for file in files)
    annotation = Path("annotation") / "test_annotation.json"
    assert (one / annotation).read_bytes() != (other / annotation).read_bytes()
    (one / annotation).unlink()  # as after a kill
    next((one / "images" / "test").iterdir()).write_bytes(b"half")
    write_pictures("prior-size", one, seed=3, size=16)
    assert all((one / file).read_bytes() == (two / file).read_bytes() for file in files)
    with pytest.raises(UserError, match="was started with seed 3, not 4: choose another folder"):
        write_pictures("prior-size", one, seed=4, size=16)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="other files"):
        write_pictures("prior-size", tmp_path / "full", size=16)


@pytest.mark.seconds
def test_a_thousand_pictures_in_ten_seconds() -> None:
    pictures = color_pictures()[:200]
    png(pictures[0])  # icons are read once
    start = time.process_time()
    for picture in pictures:
        png(picture)
    assert 5 * (time.process_time() - start) < 10


def test_pictures_of_a_newer_format_are_refused(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text(json.dumps({"format": 2, "task": "prior-color", "seed": 0}))
    with pytest.raises(
        NewerVersionError, match=r"The data set in .* was written by a newer version of seesay"
    ):
        read_manifest(tmp_path)


def test_pictures_of_an_older_plan_are_refused(tmp_path: Path) -> None:
    """Their files have other colours than the questions."""
    settings = {"task": "prior-color", "seed": 0, "version": "1"}
    (tmp_path / MANIFEST).write_text(json.dumps(settings))
    with pytest.raises(UserError, match="another version of prior-color"):
        read_manifest(tmp_path)


def test_make_and_load_dataset(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    folder = tmp_path / "sizes"
    arguments = [
        "pictures",
        "make",
        "--task",
        "prior-size",
        "--size",
        "32",
        "--arrays",
        "16",
        "--json",
    ]
    result = CliRunner().invoke(app, [*arguments, "--output", str(folder)])
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["pictures"] == 576
    questions = json.loads((folder / "dataset" / "test.json").read_text())["questions"]
    loaded = datasets.load_dataset(str(folder), split="test", cache_dir=str(tmp_path / "cache"))
    assert len(loaded) == len(questions) == 1296
    assert loaded[1]["picture"].size == (32, 32)
    assert loaded[0]["picture"] is None  # blind
    assert np.load(folder / "arrays" / "test.npy", mmap_mode="r").shape == (576, 16, 16, 3)


def test_contact_sheet_and_list_of_what_is_left_out(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.png"
    arguments = ["pictures", "show", "--task", "prior-color", "--size", "32", "-o", str(sheet)]
    result = CliRunner().invoke(app, [*arguments, "--condition", "control"])
    assert result.exit_code == 0, result.output
    assert sheet.read_bytes().startswith(b"\x89PNG")
    result = CliRunner().invoke(app, [*arguments, "--condition", "upside-down"])
    assert isinstance(result.exception, UserError)
    result = CliRunner().invoke(app, ["pictures", "show", "--left-out", "--json"])
    reasons = {row["thing"]: row["reason"] for row in json.loads(result.output)}
    assert reasons["zebra"] == "two typical colours at once"
    assert reasons["turmeric"] == "no icon shows it"


def test_subjects_are_things_or_shapes() -> None:
    assert all(isinstance(p.subject, Thing) != (p.condition == "control") for p in color_pictures())
    assert all(isinstance(p, SizePicture) for p in size_pictures())
