"""Items: looked at once, kept whole, and the same from a folder as from memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from seesay.errors import UserError
from seesay.folders import cache_folder
from seesay.reasoners.dataset import Items, Seen, from_folder, from_scenes, looked_at
from seesay.reasoners.features.extractor import Objects, Pictures, Pixels
from seesay.scenes.config import SceneConfig
from seesay.scenes.dataset_writer import SceneOutput, write_dataset
from seesay.scenes.plan import make_plan
from seesay.scenes.raster import PUBLISHED

NAMES = ("left", "right", "neither")


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))


def seen(stop: int | None = None) -> Iterator[Seen]:
    """Three batches of two; `stop` breaks off before that batch."""
    for batch in range(3):
        if batch == stop:
            raise KeyboardInterrupt
        pictures: Pictures = np.full((2, 8, 8, 3), 10 * batch, dtype=np.uint8)
        yield pictures, [f"number {2 * batch}", f"number {2 * batch + 1}"], [batch, 0]


def test_what_is_given_is_kept() -> None:
    steps: list[tuple[int, int]] = []
    found = looked_at("made-up", seen(), 6, Pixels(8), NAMES, lambda done, total: steps.append((done, total)))
    assert len(found) == 6
    assert found.looks.shape == (6, 3, 8, 8)
    assert [look.max() for look in found.looks] == [0, 0, 10, 10, 20, 20]
    assert found.sentences[3] == "number 3"
    assert found.answers.tolist() == [0, 0, 1, 0, 2, 0]
    assert found.names == NAMES
    assert steps == [(2, 6), (4, 6), (6, 6)]


def test_the_second_time_nothing_is_looked_at() -> None:
    first = looked_at("made-up", seen(), 6, Pixels(8), NAMES)
    again = looked_at("made-up", seen(stop=0), 6, Pixels(8), NAMES)  # would raise if it were read
    assert np.array_equal(first.looks, again.looks)
    assert (first.sentences, first.answers.tolist(), first.names) == (
        again.sentences,
        again.answers.tolist(),
        again.names,
    )
    assert isinstance(again.looks, np.memmap)


def test_another_eye_looks_for_itself() -> None:
    looked_at("made-up", seen(), 6, Pixels(8), NAMES)
    with pytest.raises(KeyboardInterrupt):
        looked_at("made-up", seen(stop=0), 6, Pixels(9), NAMES)


@pytest.mark.parametrize("stop", [0, 1, 2])
def test_half_a_folder_is_made_anew(stop: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        looked_at("made-up", seen(stop), 6, Pixels(8), NAMES)
    assert not (cache_folder() / "reasoners" / "made-up-pixels-8").exists()
    assert [look.max() for look in looked_at("made-up", seen(), 6, Pixels(8), NAMES).looks] == [0, 0, 10, 10, 20, 20]


def test_some_of_them() -> None:
    found = looked_at("made-up", seen(), 6, Pixels(8), NAMES)
    some = found.take(np.array([4, 1]))
    assert some.sentences == ("number 4", "number 1")
    assert some.answers.tolist() == [2, 0]
    assert [look.max() for look in some.looks] == [20, 0]
    assert found.take(slice(2, 4)).sentences == ("number 2", "number 3")


def test_without_items_there_is_nothing_to_look_at() -> None:
    with pytest.raises(UserError, match="has no items"):
        looked_at("empty", iter(()), 0, Pixels(8), NAMES)


def on_disk(folder: Path, picture: int, seed: int = 0) -> Path:
    write_dataset(
        SceneConfig("pos", seed=seed), make_plan("pos", 20), SceneOutput(folder, picture, formats=("json",)), workers=1
    )
    return folder


def same_but_for_looks(one: Items, other: Items) -> bool:
    return (one.sentences, one.answers.tolist(), one.names) == (other.sentences, other.answers.tolist(), other.names)


@pytest.mark.parametrize(
    ("picture", "apart"),
    [
        (64, 0),
        (1024, 1),  # rounded once instead of never before the mean
        (
            PUBLISHED,
            255 / 16 * 2,
        ),  # drawn with the nearest colour: an edge is off by up to a canvas pixel of 16, a corner by two edges
    ],
)
def test_a_folder_shows_what_the_scenes_do(tmp_path: Path, picture: int, apart: float) -> None:
    eye = Pixels(64)
    made = from_scenes(make_plan("pos", 20), "train", eye)
    read = from_folder(on_disk(tmp_path / "pos", picture), "train", eye)
    assert len(read) == 16
    assert same_but_for_looks(made, read)
    assert np.abs(made.looks.astype(int) - read.looks).max() <= apart


def test_a_folder_made_anew_is_looked_at_anew(tmp_path: Path) -> None:
    """The sentences of POS are the same with every seed: what tells the two apart are the pictures."""
    first = np.array(from_folder(on_disk(tmp_path / "pos", 64), "train", Pixels(64)).looks)
    (tmp_path / "pos").rename(tmp_path / "old")
    second = from_folder(on_disk(tmp_path / "pos", 64, seed=1), "train", Pixels(64))
    assert np.array_equal(second.looks, from_scenes(make_plan("pos", 20), "train", Pixels(64), seed=1).looks)
    assert not np.array_equal(first, second.looks)


def test_objects_are_looked_at_too() -> None:
    found = from_scenes(make_plan("pos", 20), "val", Objects())
    assert found.looks.shape == (2, *Objects.look_of)
    assert (found.looks[:, :, 0].sum(1) >= 5).all()  # a scene of POS has five things or more


def test_wrong_folders_are_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="MALeViC's layout"):
        from_folder(tmp_path, "train", Pixels(8))
    folder = on_disk(tmp_path / "pos", 64)
    with pytest.raises(UserError, match=r"There is no .*nosuch\.json"):
        from_folder(folder, "nosuch", Pixels(8))
    (folder / "images" / "train" / "3.png").write_bytes(b"no picture")
    with pytest.raises(UserError, match=r"3\.png cannot be read"):
        from_folder(folder, "train", Pixels(8))
    (folder / "images" / "train" / "3.png").unlink()
    with pytest.raises(UserError, match=r"3\.png cannot be read"):
        from_folder(folder, "train", Pixels(8))
    file = folder / "dataset" / "val.json"
    rows = json.loads(file.read_text())
    rows["questions"][1]["answer"] = "perhaps"
    file.write_text(json.dumps(rows))
    with pytest.raises(UserError, match="a training set must be whole"):
        from_folder(folder, "val", Pixels(8))


def test_splits_that_are_not_there_are_told() -> None:
    with pytest.raises(UserError, match="has no train items: it has test"):
        from_scenes(make_plan("pos-hard", 20), "train", Pixels(8))
