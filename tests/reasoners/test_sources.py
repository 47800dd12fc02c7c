"""Where items come from, and the recipe that looks at them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seesay.errors import UserError
from seesay.reasoners import experiment, sources
from seesay.reasoners.networks.registry import recipe
from seesay.reasoners.sources import scenes
from seesay.scenes.config import SceneConfig
from seesay.scenes.dataset_writer import SceneOutput, write_dataset
from seesay.scenes.plan import make_plan


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
    assert scenes(task).splits == splits


@pytest.mark.parametrize("task", sources.TASKS)
def test_an_eighth_for_validation_and_every_test(task: str) -> None:
    """4,808 / 8 = 601: not a round number of the 80 classes, and exactly what was asked for."""
    made = scenes(task, 4_808)
    assert made.splits.pop("train") == 4_808
    assert {made.splits[name] for name in ("val", *sources.tests(made))} == {601}


def test_fewer_items_are_the_beginning_of_more() -> None:
    """A mixture keeps its unseen combinations whatever its size."""
    few, many = scenes("mixture-64", 400).plan, scenes("mixture-64").plan
    assert list(few.items("train", 0, 336)) == list(many.items("train", 0, 336))
    unseen = [cell for _, cell, stream, _ in few.items("train", 0, 400) if stream == few.parts[1].stream]
    assert len(unseen) == 64
    with pytest.raises(UserError, match=r"mixture-64 needs more than 64 training items"):
        scenes("mixture-64", 64)


def test_a_test_alone_is_not_learnt_from() -> None:
    with pytest.raises(UserError, match=r"set\+pos-hard is a test alone: train on set\+pos"):
        scenes("set+pos-hard")


def test_a_data_set_on_disk(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    write_dataset(
        SceneConfig("pos"), make_plan("pos", 100), SceneOutput(folder, picture=64, formats=("json",)), workers=1
    )
    found = sources.folder(folder)
    assert found.splits == {"train": 80, "val": 10, "test": 10}
    assert sources.tests(found) == ("test",)
    picture = folder / "images" / "train" / "0.png"
    drawn = picture.read_bytes()
    picture.write_bytes((folder / "images" / "train" / "1.png").read_bytes())
    assert sources.folder(folder).settings != found.settings  # the same sentences about another picture
    picture.write_bytes(drawn)
    assert sources.folder(folder).settings == found.settings
    file = folder / "dataset" / "val.json"
    said = json.loads(file.read_text(encoding="utf-8"))
    said["questions"][0]["question"] = "The red square is a big object"
    file.write_text(json.dumps(said), encoding="utf-8")
    assert sources.folder(folder).settings != found.settings  # it is another data set now
    said["questions"] = []
    file.write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(UserError, match="has no question that can be read"):
        sources.folder(folder)
    file.unlink()
    with pytest.raises(UserError, match=r"has no val items: write dataset/val\.json"):
        sources.folder(folder)


def test_another_eye_brings_its_own_layers() -> None:
    """Pixels under the published sizes still become 14 x 14 cells: 224 halved four times."""
    looking, eye = experiment.look_with(recipe("film", "paper"), "pixels")
    assert (looking.eye, looking.side, looking.sizes["halvings"]) == ("pixels", 224, 4)
    assert eye.look_of == (3, 224, 224)
    same, _ = experiment.look_with(recipe("film", "cpu"))
    assert same == recipe("film", "cpu")


@pytest.mark.parametrize(
    ("network", "eye", "side", "sentence"),
    [
        ("object-centred", "pixels", None, "looks with objects alone"),
        ("film", "objects", None, "looks with pixels or features, not objects"),
        ("object-centred", None, 64, "--side is 64: the eye 'objects' takes pictures of"),
    ],
)
def test_eyes_that_do_not_fit(network: str, eye: str | None, side: int | None, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        experiment.look_with(recipe(network, "cpu"), eye, side)
