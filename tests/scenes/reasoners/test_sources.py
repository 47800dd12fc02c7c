"""Where items come from, and the recipe that looks at them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.scenes.reasoners.small import feature_shape

from seesay.errors import UserError
from seesay.scenes.config import SceneConfig
from seesay.scenes.dataset_writer import SceneOutput, write_dataset
from seesay.scenes.plan import make_plan
from seesay.scenes.reasoners import experiment, sources
from seesay.scenes.reasoners.config import preset_config
from seesay.scenes.reasoners.features.extractor import PixelExtractor
from seesay.scenes.reasoners.sources import scene_source


@pytest.mark.parametrize(
    ("task", "splits"),
    [
        ("pos", {"train": 16_000, "val": 2_000, "test": 2_000, "pos-hard": 2_000}),
        ("SET-POS", {"train": 16_000, "val": 2_000, "test": 2_000, "set+pos-hard": 2_000}),
        ("sup1", {"train": 16_000, "val": 2_000, "test": 2_000}),
        ("compositional", {"train": 8_000, "val": 1_000, "test_seen": 1_000, "test_unseen": 1_000}),
        ("mixture-64", {"train": 8_000, "val": 1_000, "test_seen": 1_000, "test_unseen": 1_000}),
    ],
)
def test_as_many_items_as_published(task: str, splits: dict[str, int]) -> None:
    assert scene_source(task).splits == splits


@pytest.mark.parametrize("task", sources.TASKS)
def test_an_eighth_for_validation_and_every_test(task: str) -> None:
    """4,808 / 8 = 601: not a round number of the 80 classes, and exactly what was asked for."""
    made = scene_source(task, 4_808)
    assert made.splits.pop("train") == 4_808
    assert {made.splits[name] for name in ("val", *made.tests)} == {601}


def test_fewer_items_are_the_beginning_of_more() -> None:
    """A mixture keeps its unseen combinations whatever its size."""
    few, many = sources.training_plan("mixture-64", 400), sources.training_plan("mixture-64")
    assert list(few.items("train", 0, 336)) == list(many.items("train", 0, 336))
    unseen = [
        cell for _, cell, stream, _ in few.items("train", 0, 400) if stream == few.parts[1].stream
    ]
    assert len(unseen) == 64
    with pytest.raises(UserError, match=r"mixture-64 needs more than 64 training items"):
        scene_source("mixture-64", 64)


def test_several_tasks_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Items and sentences of all, one after the other, and the tests of each under its own name."""
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path))
    joint = sources.open_source("sup1, compositional", items=16)
    assert joint.name == "sup1,compositional"
    tests = {"sup1": 2, "compositional-seen": 2, "compositional-unseen": 2}
    assert joint.splits == {"train": 32, "val": 4, **tests}
    extractor = PixelExtractor(16)
    items, parts = (
        joint.load("train", extractor),
        [scene_source(task, 16).load("train", extractor) for task in ("sup1", "compositional")],
    )
    assert items.sentences == parts[0].sentences + parts[1].sentences
    assert items.features.shape == (32, 3, 16, 16)
    rows = np.array([31, 0, 15, 16])
    expected = [
        parts[1].features[15],
        parts[0].features[0],
        parts[0].features[15],
        parts[1].features[0],
    ]
    assert np.array_equal(items.features[rows], np.stack(expected))
    assert items.answers[rows].tolist() == [
        int(part.answers[i])
        for part, i in zip((parts[1], parts[0], parts[0], parts[1]), (15, 0, 15, 0), strict=True)
    ]
    unseen = joint.load("compositional-unseen", extractor)
    assert (
        unseen.sentences
        == scene_source("compositional", 16).load("test_unseen", extractor).sentences
    )
    with pytest.raises(UserError, match="Unknown scene task 'easy-vqa'"):
        sources.open_source("sup1,easy-vqa")


def test_pure_tests_are_not_trained_on() -> None:
    with pytest.raises(UserError, match=r"set\+pos-hard is only a test: train on set\+pos"):
        scene_source("set+pos-hard")


def test_a_data_set_on_disk(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    write_dataset(
        SceneConfig("pos"),
        make_plan("pos", 100),
        SceneOutput(folder, picture=64, formats=("json",)),
        workers=1,
    )
    opened = sources.folder_source(folder)
    assert opened.splits == {"train": 80, "val": 10, "test": 10}
    assert opened.tests == ("test",)
    picture = folder / "images" / "train" / "0.png"
    drawn = picture.read_bytes()
    picture.write_bytes((folder / "images" / "train" / "1.png").read_bytes())
    # the same sentences about another picture
    assert sources.folder_source(folder).settings != opened.settings
    picture.write_bytes(drawn)
    assert sources.folder_source(folder).settings == opened.settings
    file = folder / "dataset" / "val.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    content["questions"][0]["question"] = "The red square is a big object"
    file.write_text(json.dumps(content), encoding="utf-8")
    assert sources.folder_source(folder).settings != opened.settings  # it is another data set now
    content["questions"] = []
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UserError, match="has no question that can be read"):
        sources.folder_source(folder)
    file.unlink()
    with pytest.raises(UserError, match=r"has no val items: write dataset/val\.json"):
        sources.folder_source(folder)


def test_other_features_bring_their_own_layers() -> None:
    """Pixels under the published sizes still become 14 x 14 cells: 224 and four strided layers."""
    config, extractor = experiment.with_features(preset_config("film", "paper"), "pixels")
    assert (config.features, config.image_size, config.sizes["strided_layers"]) == (
        "pixels",
        224,
        4,
    )
    assert feature_shape(extractor) == (3, 224, 224)
    same, _ = experiment.with_features(preset_config("film", "cpu"))
    assert same == preset_config("film", "cpu")


@pytest.mark.parametrize(
    ("network", "features", "image_size", "sentence"),
    [
        ("object-centred", "pixels", None, "takes objects only"),
        ("film", "objects", None, "takes pixels or feature maps, not objects"),
        ("object-centred", None, 64, "--image-size is 64: the features 'objects' need pictures of"),
    ],
)
def test_features_that_do_not_fit(
    network: str, features: str | None, image_size: int | None, sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence):
        experiment.with_features(preset_config(network, "cpu"), features, image_size)
