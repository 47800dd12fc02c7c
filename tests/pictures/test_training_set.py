"""prior-color as training items: mixtures, things never met, and a network that is trained and
asked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.needs import absent
from typer.testing import CliRunner

from seesay.cli import app
from seesay.data.colors import COLORS
from seesay.errors import UserError
from seesay.models import load_model
from seesay.pictures import icons
from seesay.pictures.things import Thing
from seesay.pictures.training_set import TESTS, PriorColorSet
from seesay.runs.ask import Settings, limit_questions, run
from seesay.scenes.reasoners.features.extractor import PixelExtractor
from seesay.scenes.reasoners.sources import open_source, picture_set_source
from seesay.tasks import load_task


@pytest.fixture(autouse=True)
def fetched() -> None:
    try:
        icons.icon("lemon")
    except UserError as error:
        absent(str(error))


def names(source: PriorColorSet, split: str) -> set[str]:
    return {
        picture.subject.name
        for picture in source.pictures(split)
        if isinstance(picture.subject, Thing)
    }


@pytest.mark.parametrize(("percent", "recolored"), [(0, 0), (5, 100), (50, 1000)])
def test_mixtures(percent: int, recolored: int) -> None:
    source = PriorColorSet(percent)
    pictures = source.pictures("train")
    assert Counter(picture.condition for picture in pictures)["counterfactual"] == recolored
    for picture in pictures:
        assert isinstance(picture.subject, Thing)
        assert (picture.color == picture.subject.colors[0]) == (picture.condition == "typical")
        assert picture.condition == "typical" or picture.color not in picture.subject.colors
    assert not names(source, "train") & names(source, "unmet-recolored")
    assert names(source, "train") == names(source, "met-typical")
    assert source.splits == {
        "train": 2000,
        "val": 250,
        "met-typical": 192,
        "met-recolored": 192,
        "unmet-typical": 48,
        "unmet-recolored": 48,
    }


def test_tests_are_the_same_for_every_mixture() -> None:
    for test in TESTS:
        assert PriorColorSet(0).pictures(test) == PriorColorSet(50).pictures(test)
    assert all(
        picture.condition == "counterfactual"
        for picture in PriorColorSet(0).pictures("met-recolored")
    )


def test_names_of_mixtures() -> None:
    assert open_source("prior-color").name == "prior-color-0"
    assert open_source("prior-color-20", items=64).splits["train"] == 64
    for wrong in ("prior-color-many", "prior-color-101"):
        with pytest.raises(UserError, match="percentage of recoloured"):
            open_source(wrong)


def test_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = PriorColorSet(50, 40)
    library = icons.ICONS  # fetched before the cache moves
    assert library.member
    icons.icon("lemon")
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path))
    items = picture_set_source(source).load("val", PixelExtractor(16))
    assert items.answer_names == COLORS
    pictures = source.pictures("val")
    assert [COLORS[answer] for answer in items.answers] == [picture.color for picture in pictures]
    assert items.sentences[0].startswith("What is the color of the ")
    again = picture_set_source(source).load("val", PixelExtractor(16))
    assert np.array_equal(items.features, again.features)


def test_train_and_probe(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    arguments = [
        "reasoner",
        "train",
        "film",
        "--task",
        "prior-color-50",
        "--items",
        "64",
        "--epochs",
        "1",
    ]
    result = CliRunner().invoke(
        app, [*arguments, "--preset", "cpu", "-o", str(folder), "--device", "cpu", "--quiet"]
    )
    assert result.exit_code == 0, result.output
    task = limit_questions(load_task("prior-color"), 20, 0)
    finished = run(load_model(str(folder)), task, tmp_path / "runs", Settings(resamples=100))
    assert {figure.metric for figure in finished.figures} == {
        "relaxed_accuracy",
        "prior_pull",
        "picture_pull",
    }
    assert any("plain gray" in note for note in finished.manifest.notes)
