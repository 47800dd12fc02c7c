"""Counting by hand, published intervals, and the maps of small networks that really were
trained."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tests.scenes.reasoners.one_epoch import load_one, train_one

from seesay.errors import UserError
from seesay.scenes.plan import test_plan as plan_of
from seesay.scenes.reasoners import diagnostics, evaluate
from seesay.scenes.reasoners.attention_maps import channel_maxima
from seesay.scenes.reasoners.dataset import from_scenes
from seesay.scenes.reasoners.diagnostics import (
    Diagnosis,
    GroupAccuracy,
    accuracies,
    bins,
    diagnose,
    mixtures,
    shares,
)
from seesay.scenes.reasoners.evaluate import (
    Prediction,
    SceneTest,
    extract_items,
    predict,
    read_network_and_task,
)
from seesay.scenes.reasoners.networks.film import Film
from seesay.scenes.reasoners.networks.registry import NAMES
from seesay.scenes.world import area

Folder = Callable[[str, str], Path]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    """A small network trained on a task, once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEESAY_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield cache(
            lambda network, task: train_one(network, task, tmp_path_factory.mktemp(network))
        )


def make_prediction(  # noqa: PLR0913 - a field each
    adjective: str,
    shape: str,
    answer: bool,
    yes: float,
    k: float | None = 0.29,
    distance: float | None = 0.1,
    fixed: bool = True,
    color: str = "red",
    test: str = "pos",
) -> Prediction:
    return Prediction(test, adjective, color, shape, answer, yes, k, distance, {"fixed-k": fixed})


MADE_UP = [
    make_prediction("big", "circle", True, 0.9, k=0.10, distance=0.02),
    make_prediction("big", "circle", True, 0.4, k=0.20, distance=0.05, color="blue"),
    make_prediction("big", "square", True, 0.7, k=0.30, distance=None),
    make_prediction("big", "circle", False, 0.3, k=0.30, distance=0.9),
    make_prediction("small", "circle", False, 0.5, k=None, distance=0.04, fixed=False),
    make_prediction("small", "circle", False, 0.8, k=0.45, distance=0.01, fixed=True),
    make_prediction(
        "small", "circle", False, 0.1, k=0.50, distance=0.02, fixed=False, test="pos-hard"
    ),
]


def counts(rows: list[GroupAccuracy]) -> dict[tuple[str, ...], tuple[int, int]]:
    return {(row.test, *row.group): (row.right, row.items) for row in rows}


def test_accuracy_of_the_reasoner_and_of_the_rule() -> None:
    """Wrong are: 0.4 for a true one, 0.8 for a false one; one half is a no. The rule errs where it
    says what is not."""
    assert counts(accuracies(MADE_UP)) == {
        ("pos", "reasoner"): (4, 6),
        ("pos", "fixed-k"): (4, 6),
        ("pos-hard", "reasoner"): (1, 1),
        ("pos-hard", "fixed-k"): (1, 1),
    }


def test_groups_by_hand() -> None:
    assert counts(shares(MADE_UP, diagnostics.sentence_type)) == {
        ("pos", "big", "true"): (2, 3),
        ("pos", "big", "false"): (1, 1),
        ("pos", "small", "false"): (1, 2),
        ("pos-hard", "small", "false"): (1, 1),
    }
    assert counts(shares(MADE_UP, lambda one: (one.shape,)))["pos", "circle"] == (3, 5)
    assert counts(shares(MADE_UP, lambda one: (one.color,)))["pos", "blue"] == (0, 1)


def test_bins_by_hand() -> None:
    """An edge belongs to the bin above it; an item without the value is in none."""
    rows = bins(MADE_UP, lambda one: one.k, (0.2, 0.3), lambda _: ())
    assert [
        (row.share.test, row.start, row.end, row.share.right, row.share.items) for row in rows
    ] == [
        ("pos", None, 0.2, 1, 1),
        ("pos", 0.2, 0.3, 0, 1),
        ("pos", 0.3, None, 2, 3),
        ("pos-hard", 0.3, None, 1, 1),
    ]
    assert rows[2].mean == pytest.approx((0.30 + 0.30 + 0.45) / 3)
    assert rows[2].ceiling == pytest.approx(1 / 3)
    near = bins(MADE_UP, lambda one: one.distance, (0.05,), lambda _: ())
    assert [(row.share.right, row.share.items) for row in near] == [(2, 3), (1, 2), (1, 1)]


@given(st.lists(st.tuples(st.floats(-1, 2), st.booleans(), st.booleans()), min_size=1))
def test_bins_hold_every_item_once(drawn: list[tuple[float, bool, bool]]) -> None:
    made = [
        make_prediction("big", "circle", answer, float(right == answer), distance=at)
        for at, answer, right in drawn
    ]
    rows = bins(
        made, lambda one: one.distance, diagnostics.DISTANCE_EDGES, diagnostics.sentence_type
    )
    assert sum(row.share.items for row in rows) == len(made)
    assert sum(row.share.right for row in rows) == sum(one.right for one in made)
    assert all((row.start is None or row.mean >= row.start - 1e-9) for row in rows)
    assert all((row.end is None or row.mean < row.end + 1e-9) for row in rows)


def make_diagnosis(network: str, task: str, right: int, items: int = 10) -> Diagnosis:
    row = diagnostics.share("compositional-unseen", ("reasoner",), right, items)
    return Diagnosis(task, network, task, ("compositional-unseen",), (row,), (), (), (), (), ())


def test_mixtures_pool_seeds() -> None:
    some = [
        make_diagnosis("film", "mixture-64", 3),
        make_diagnosis("film", "compositional", 1),
        make_diagnosis("film", "mixture-64", 6),
    ]
    result = [
        (network, count, row.right, row.items)
        for network, count, row in mixtures([*some, make_diagnosis("film", "pos", 9)])
    ]
    assert result == [("film", 0, 1, 10), ("film", 64, 9, 20)]


def test_tests_of_a_task() -> None:
    assert evaluate.tests_for("pos") == ("pos", "pos-hard")
    assert evaluate.tests_for("set+pos") == ("set+pos", "set+pos-hard")
    assert evaluate.tests_for("sup1") == ("sup1",)
    for task in ("compositional", "mixture-64"):
        assert evaluate.tests_for(task) == ("compositional-seen", "compositional-unseen")


def test_maxima_by_hand() -> None:
    """One channel has its maximum in one cell, one in two, and one is 0 everywhere."""
    maps = np.array([[[0, 3.0], [1, 2]], [[5, 0], [0, 5]], [[0, 0], [0, 0]]])
    assert channel_maxima(maps).weights.tolist() == [[0.5, 1.0], [0.0, 0.5]]


@given(arrays.arrays(np.float64, st.tuples(*[st.integers(1, 5)] * 3), elements=st.floats(0, 3)))
def test_maxima_sum_to_the_channels(
    maps: np.ndarray[tuple[int, int, int], np.dtype[np.float64]],
) -> None:
    assert channel_maxima(maps).weights.sum() == pytest.approx((maps.max((1, 2)) > 0).sum())


def test_predictions_have_the_facts_of_their_scene(folder: Folder) -> None:
    """Distance and the fixed k from the definition, over plain numbers."""
    test = SceneTest("set+pos-hard", 20)
    judged = predict(load_one(folder("film", "set+pos")), test)
    assert len(judged) == 20
    for one, item in zip(judged, test.items, strict=True):
        things = [thing for thing in item.scene.objects if thing.shape == item.cell.shape]
        aim = item.scene.objects[item.target]
        size, target = (
            [area(each.shape, each.radius) for each in things],
            area(aim.shape, aim.radius),
        )
        assert item.scene.k is not None
        line, usual = (max(size) - k * (max(size) - min(size)) for k in (item.scene.k, 0.29))
        assert one.distance == pytest.approx(abs(target - line) / (max(size) - min(size)))
        assert one.answer == ((target > line) == (one.adjective == "big"))
        assert one.rules["fixed-k"] == ((target > usual) == (one.adjective == "big"))
        assert one.rules["max-is-big"] == (one.adjective == "small")  # the hard set has no maximum


@pytest.mark.parametrize("network", NAMES)
# looks are memory-mapped
@pytest.mark.filterwarnings("error:The given NumPy array is not writable")
def test_tables_of_a_trained_network(
    network: str, folder: Folder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path))
    reasoner = load_one(folder(network, "pos"))
    progress_calls: list[tuple[int, int]] = []
    result = diagnose(
        reasoner,
        network,
        "pos",
        [SceneTest("pos", 40), SceneTest("pos-hard", 20)],
        examples=3,
        progress=lambda done, total: progress_calls.append((done, total)),
    )
    assert sum(done for done, _ in progress_calls) == 60
    assert {total for _, total in progress_calls} == {60}
    items = from_scenes(plan_of("pos", 40), "test", reasoner.extractor)
    right = reasoner.log_probabilities(items.features, items.sentences).argmax(1) == items.answers
    own = result.of("pos")
    assert own is not None
    assert (own.right, own.items) == (right.sum(), 40)
    assert result.task_tests == ("pos",)
    by_k, by_distance = ([row.share for row in rows] for rows in (result.k, result.distance))
    for test, count in (("pos", 40), ("pos-hard", 20)):
        counted = result.of(test)
        assert counted is not None
        for rows in (result.types, result.colors, by_k, by_distance):
            mine = [row for row in rows if row.test == test]
            assert (sum(row.right for row in mine), sum(row.items for row in mine)) == (
                counted.right,
                count,
            )
    assert result.of("pos", "whole-scene") is None  # it would be the fixed k again
    assert len(result.examples) == 3
    assert {one.right for one in result.examples} == {True, False}
    assert json.loads(json.dumps(result.to_json(), allow_nan=False))["accuracy"][0]["items"] == 40


def test_superlatives_have_neither_k_nor_distance(folder: Folder) -> None:
    result = diagnose(
        load_one(folder("film", "pos")), "film", "sup1", [SceneTest("sup1", 20)], examples=0
    )
    assert (result.k, result.distance, result.examples) == ((), (), ())
    assert [(row.group, row.accuracy) for row in result.accuracy if row.group != ("reasoner",)] == [
        (("fixed-k",), 1.0)
    ]
    assert {row.group[0] for row in result.types} == {"biggest", "smallest"}


def test_attention_maps_of_networks(folder: Folder) -> None:
    import torch

    test = SceneTest("pos", 6)
    sentences = [test.sentence(item) for item in test.items]
    shown = {}
    for network in NAMES:
        reasoner = load_one(folder(network, "pos"))
        features = extract_items(reasoner, test.items)
        shown[network] = reasoner.attention_maps(features, sentences)
        assert len(shown[network]) == 6
        if isinstance(reasoner.network, Film):
            words = torch.from_numpy(reasoner.config.vocabulary.encode(sentences))
            with torch.no_grad():
                peaks = reasoner.network.feature_maps(torch.from_numpy(features), words).amax(
                    (2, 3)
                )
            live = (peaks > 0).sum(1).tolist()
            # each live channel's weights sum to 1 up to the rounding of 32-bit floats
            assert [one[0].weights.sum() for one in shown[network]] == pytest.approx(live, abs=1e-5)
            assert max(live) > 0
    assert shown["cnn-lstm"] == [()] * 6
    for rounds in shown["stacked-attention"]:
        assert len(rounds) == 2
        assert [one.weights.sum() for one in rounds] == pytest.approx([1, 1], abs=1e-5)
    for (target, among), item in zip(shown["object-centred"], test.items, strict=True):
        assert target.weights.sum() == pytest.approx(1, abs=1e-4)
        assert ((among.weights >= 0) & (among.weights <= 1)).all()
        assert target.boxes is not None
        assert target.boxes.shape == (len(item.scene.objects), 4) == (len(target.weights), 4)


def test_network_and_task_of_a_folder(folder: Folder, tmp_path: Path) -> None:
    assert read_network_and_task(folder("film", "pos")) == ("film", "pos")
    with pytest.raises(UserError, match="no trained reasoner"):
        read_network_and_task(tmp_path)
    (tmp_path / "training").mkdir()
    (tmp_path / "config.json").write_text('{"network": "film"}')
    (tmp_path / "training" / "settings.json").write_text('{"data": "mine"}')
    with pytest.raises(UserError, match="--task"):
        read_network_and_task(tmp_path)
    assert read_network_and_task(tmp_path, "set+pos") == ("film", "set+pos")
    with pytest.raises(UserError, match="no test of scenes"):
        read_network_and_task(tmp_path, "pos-hard")
