"""Items: looked at once, kept whole, and the same from a folder as from memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.scenes.reasoners.small import feature_shape

from seesay.errors import UserError
from seesay.scenes.caches import REASONER_FEATURES
from seesay.scenes.config import SceneConfig
from seesay.scenes.dataset_writer import SceneOutput, write_dataset
from seesay.scenes.plan import make_plan
from seesay.scenes.raster import PUBLISHED
from seesay.scenes.reasoners.dataset import (
    LabelledPictures,
    ReasonerDataset,
    extract_cached,
    from_folder,
    from_scenes,
)
from seesay.scenes.reasoners.features.extractor import ObjectExtractor, Pictures, PixelExtractor

NAMES = ("left", "right", "neither")


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))


def labelled_batches(stop: int | None = None) -> Iterator[LabelledPictures]:
    """Three batches of two; `stop` breaks off before that batch."""
    for batch in range(3):
        if batch == stop:
            raise KeyboardInterrupt
        pictures: Pictures = np.full((2, 8, 8, 3), 10 * batch, dtype=np.uint8)
        yield pictures, [f"number {2 * batch}", f"number {2 * batch + 1}"], [batch, 0]


def test_items_are_stored_as_given() -> None:
    steps: list[tuple[int, int]] = []
    dataset = extract_cached(
        "made-up",
        labelled_batches(),
        6,
        PixelExtractor(8),
        NAMES,
        lambda done, total: steps.append((done, total)),
    )
    assert len(dataset) == 6
    assert dataset.features.shape == (6, 3, 8, 8)
    assert [look.max() for look in dataset.features] == [0, 0, 10, 10, 20, 20]
    assert dataset.sentences[3] == "number 3"
    assert dataset.answers.tolist() == [0, 0, 1, 0, 2, 0]
    assert dataset.answer_names == NAMES
    assert steps == [(2, 6), (2, 6), (2, 6)]


def test_cached_features_are_not_extracted_again() -> None:
    first = extract_cached("made-up", labelled_batches(), 6, PixelExtractor(8), NAMES)
    # would raise if it were read
    again = extract_cached("made-up", labelled_batches(stop=0), 6, PixelExtractor(8), NAMES)
    assert np.array_equal(first.features, again.features)
    assert (first.sentences, first.answers.tolist(), first.answer_names) == (
        again.sentences,
        again.answers.tolist(),
        again.answer_names,
    )
    assert isinstance(again.features, np.memmap)


def test_another_extractor_has_its_own_cache() -> None:
    extract_cached("made-up", labelled_batches(), 6, PixelExtractor(8), NAMES)
    with pytest.raises(KeyboardInterrupt):
        extract_cached("made-up", labelled_batches(stop=0), 6, PixelExtractor(9), NAMES)


@pytest.mark.parametrize("stop", [0, 1, 2])
def test_incomplete_cache_is_extracted_again(stop: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        extract_cached("made-up", labelled_batches(stop), 6, PixelExtractor(8), NAMES)
    assert not list((REASONER_FEATURES.folder / "made-up-pixels-8").glob("[!.]*"))
    assert [
        look.max()
        for look in extract_cached(
            "made-up", labelled_batches(), 6, PixelExtractor(8), NAMES
        ).features
    ] == [
        0,
        0,
        10,
        10,
        20,
        20,
    ]


def cached_items(**fields: object) -> bytes:
    """The items of a cache, some of whose fields are of another type or range."""
    items = {"sentences": ["a"] * 6, "answers": [0] * 6, "answer_names": ["a", "b"]}
    return json.dumps({**items, **fields}).encode()


def test_damaged_cache_gives_one_sentence() -> None:
    extract_cached("made-up", labelled_batches(), 6, PixelExtractor(8), NAMES)
    folder = REASONER_FEATURES.folder / "made-up-pixels-8"
    for name, damage in (
        ("items.json", b"{"),
        ("items.json", b"[]"),
        ("items.json", cached_items(sentences=[1] * 6)),
        ("items.json", cached_items(answers=[0.5] * 6)),
        ("items.json", cached_items(answers=[7] * 6)),
        ("items.json", cached_items(answers=[-1] * 6)),
        ("items.json", cached_items(answer_names="ab")),
        ("features.npy", b""),
        ("features.npy", b"\x93NUMPY"),
    ):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(damage)
        with pytest.raises(UserError, match=r"made-up-pixels-8 is damaged .*: delete that folder"):
            extract_cached("made-up", labelled_batches(), 6, PixelExtractor(8), NAMES)
        (folder / name).write_bytes(content)


def test_take_returns_a_subset() -> None:
    dataset = extract_cached("made-up", labelled_batches(), 6, PixelExtractor(8), NAMES)
    some = dataset.take(np.array([4, 1]))
    assert some.sentences == ("number 4", "number 1")
    assert some.answers.tolist() == [2, 0]
    assert [look.max() for look in some.features] == [20, 0]
    assert dataset.take(slice(2, 4)).sentences == ("number 2", "number 3")


def test_empty_data_sets_are_refused() -> None:
    with pytest.raises(UserError, match="has no items"):
        extract_cached("empty", iter(()), 0, PixelExtractor(8), NAMES)


def on_disk(folder: Path, picture: int, seed: int = 0) -> Path:
    write_dataset(
        SceneConfig("pos", seed=seed),
        make_plan("pos", 20),
        SceneOutput(folder, picture, formats=("json",)),
        workers=1,
    )
    return folder


def same_but_for_looks(one: ReasonerDataset, other: ReasonerDataset) -> bool:
    return (one.sentences, one.answers.tolist(), one.answer_names) == (
        other.sentences,
        other.answers.tolist(),
        other.answer_names,
    )


@pytest.mark.parametrize(
    ("picture", "apart"),
    [
        (64, 0),
        (1024, 1),  # rounded once instead of never before the mean
        # drawn with the nearest colour: an edge is off by up to a canvas pixel of 16, a corner by
        # two edges
        (PUBLISHED, 255 / 16 * 2),
    ],
)
def test_folder_has_the_features_of_generated_scenes(
    tmp_path: Path, picture: int, apart: float
) -> None:
    eye = PixelExtractor(64)
    made = from_scenes(make_plan("pos", 20), "train", eye)
    read = from_folder(on_disk(tmp_path / "pos", picture), "train", eye)
    assert len(read) == 16
    assert same_but_for_looks(made, read)
    assert np.abs(made.features.astype(int) - read.features).max() <= apart


def test_rewritten_folder_is_extracted_again(tmp_path: Path) -> None:
    """The sentences of POS are the same with every seed: what tells the two apart are the
    pictures."""
    first = np.array(
        from_folder(on_disk(tmp_path / "pos", 64), "train", PixelExtractor(64)).features
    )
    (tmp_path / "pos").rename(tmp_path / "old")
    second = from_folder(on_disk(tmp_path / "pos", 64, seed=1), "train", PixelExtractor(64))
    assert np.array_equal(
        second.features,
        from_scenes(make_plan("pos", 20), "train", PixelExtractor(64), seed=1).features,
    )
    assert not np.array_equal(first, second.features)


def test_object_features_are_cached() -> None:
    dataset = from_scenes(make_plan("pos", 20), "val", ObjectExtractor())
    assert dataset.features.shape == (2, *feature_shape(ObjectExtractor()))
    assert (dataset.features[:, :, 0].sum(1) >= 5).all()  # a scene of POS has five things or more


def test_wrong_folders_are_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="MALeViC's layout"):
        from_folder(tmp_path, "train", PixelExtractor(8))
    folder = on_disk(tmp_path / "pos", 64)
    with pytest.raises(UserError, match=r"There is no .*nosuch\.json"):
        from_folder(folder, "nosuch", PixelExtractor(8))
    (folder / "images" / "train" / "3.png").write_bytes(b"no picture")
    with pytest.raises(UserError, match=r"3\.png cannot be read"):
        from_folder(folder, "train", PixelExtractor(8))
    (folder / "images" / "train" / "3.png").unlink()
    with pytest.raises(UserError, match=r"3\.png cannot be read"):
        from_folder(folder, "train", PixelExtractor(8))
    file = folder / "dataset" / "val.json"
    rows = json.loads(file.read_text())
    rows["questions"][1]["answer"] = "perhaps"
    file.write_text(json.dumps(rows))
    with pytest.raises(UserError, match="a training set must be complete"):
        from_folder(folder, "val", PixelExtractor(8))


def test_missing_splits_are_reported() -> None:
    with pytest.raises(UserError, match="has no train items: it has test"):
        from_scenes(make_plan("pos-hard", 20), "train", PixelExtractor(8))
