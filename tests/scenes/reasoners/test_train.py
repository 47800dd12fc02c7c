"""Training: it learns, twice the same, and a stopped one ends as one that was never stopped."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from tests.scenes.reasoners.one_epoch import load_one
from tests.scenes.reasoners.small import ALL, OVER_PIXELS, scene_items, small_config

from seesay.errors import UserError
from seesay.scenes import raster
from seesay.scenes.reasoners import checkpoints
from seesay.scenes.reasoners import train as train_module
from seesay.scenes.reasoners.config import ReasonerConfig
from seesay.scenes.reasoners.dataset import ReasonerDataset
from seesay.scenes.reasoners.evaluate import SceneTest, predict
from seesay.scenes.reasoners.experiment import accuracies
from seesay.scenes.reasoners.networks.base import ReasonerNetwork
from seesay.scenes.reasoners.train import ReasonerBatch, ReasonerBatches, train
from seesay.scenes.reasoners.vocabulary import SentenceVocabulary
from seesay.scenes.world import RADII, SHAPES, TALL, WIDE
from seesay.training import checkpoint

SETTINGS = {"task": "pos", "items": 80}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A cache of the session's own; one thread, as sums come out the same to the last bit with as
    many threads only."""
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path_factory.getbasetemp() / "reasoners-cache"))
    torch.set_num_threads(1)


def run(folder: Path, config: ReasonerConfig, **given: Any) -> dict[str, torch.Tensor]:
    """The weights that a training of 64 items ends with."""
    items, validation = scene_items(config.network), scene_items(config.network, split="val")
    train(items, validation, folder, config, settings=SETTINGS, device="cpu", **given)
    return load_file(folder / "model.safetensors")


def equal(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def untimed(folder: Path) -> list[dict[str, float]]:
    lines = checkpoint.read_history(folder / "training")
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


@pytest.mark.parametrize("name", ALL)
def test_the_same_seed_gives_the_same_weights(name: str, tmp_path: Path) -> None:
    config = small_config(name, augment=name in OVER_PIXELS)
    first = run(tmp_path / "a", config)
    assert equal(first, run(tmp_path / "b", config))
    other = replace(config, schedule=config.schedule.override(seed=1))
    assert not equal(first, run(tmp_path / "c", other))


@pytest.mark.parametrize("at", [(1,), (3,), (4,), (6, 1)])
@pytest.mark.parametrize("name", ["film", "object-centred"])
def test_interrupted_and_resumed_it_ends_with_the_same_weights(
    name: str, at: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four steps an epoch; Ctrl-C within a step. Mirrored pictures, dropout and batch norms go on
    where they were."""
    sizes = {
        "width": 8,
        "blocks": 2,
        "embedding": 8,
        "hidden": 16,
        "classifier": 16,
        "dropout": 0.2,
    }
    config = small_config(
        name, augment=name in OVER_PIXELS, sizes=sizes, warmup=0.1, decay="cosine"
    )
    whole = run(tmp_path / "whole", config)
    real = train_module.losses
    for stop in at:
        taken = 0

        def interrupted(
            network: ReasonerNetwork, batch: ReasonerBatch, stop: int = stop
        ) -> dict[str, torch.Tensor]:
            nonlocal taken
            taken += network.training
            if taken == stop and network.training:
                os.kill(os.getpid(), signal.SIGINT)
            return real(network, batch)

        monkeypatch.setattr(train_module, "losses", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "parts", config)
        assert not (tmp_path / "parts" / "config.json").exists()  # half a training is no model
    monkeypatch.setattr(train_module, "losses", real)
    assert equal(run(tmp_path / "parts", config), whole)
    assert untimed(tmp_path / "parts") == untimed(tmp_path / "whole")


@pytest.mark.parametrize("name", OVER_PIXELS)
def test_network_memorises_64_items(name: str, tmp_path: Path) -> None:
    items = scene_items(name, total=80)
    sizes = {"width": 16, "blocks": 2, "embedding": 16, "hidden": 32, "classifier": 32}
    config = small_config(name, sizes=sizes, epochs=40, learning_rate=5e-3, decay="cosine")
    result = train(items, items, tmp_path, config, settings={}, device="cpu")
    assert len(items) == 64
    history = checkpoint.read_history(tmp_path / "training")
    assert history[0]["validation_accuracy"] < 0.7
    assert result.best > 0.95


def test_the_folder_is_a_model_with_its_best_weights(tmp_path: Path) -> None:
    config = small_config("film", epochs=3)
    items, validation = scene_items("film"), scene_items("film", split="val", total=200)
    result = train(items, validation, tmp_path, config, settings=SETTINGS, device="cpu")
    network, network_config, fields = checkpoints.load(tmp_path)
    assert (fields["network"], fields["features"], fields["image_size"]) == ("film", "pixels", 32)
    assert network_config.answers == ("no", "yes")
    with torch.inference_mode():
        words = torch.from_numpy(network_config.vocabulary.encode(validation.sentences))
        logits = network(torch.from_numpy(np.array(validation.features)), words)
    right = (logits.argmax(1).numpy() == validation.answers).mean()
    assert right == pytest.approx(result.best)
    assert result.best == max(
        line["validation_accuracy"] for line in checkpoint.read_history(tmp_path / "training")
    )


def test_other_settings_in_the_same_folder_are_refused(tmp_path: Path) -> None:
    config = small_config("film", epochs=1)
    run(tmp_path, config)
    with pytest.raises(UserError, match=r"was started with batch_size 16, not 8"):
        run(tmp_path, replace(config, batch_size=8))


def test_object_centred_network_requires_yes_no_answers(tmp_path: Path) -> None:
    items = ReasonerDataset(
        np.zeros((2, 12, 73), dtype=np.float32),
        ("a", "b"),
        np.array([0, 1]),
        "",
        ("circle", "square"),
    )
    with pytest.raises(UserError, match="these items have other answers"):
        train(items, items, tmp_path, small_config("object-centred"), settings={})


def test_a_mirrored_batch_keeps_its_words_and_answers() -> None:
    items = scene_items("film")
    words = SentenceVocabulary.of(items.sentences).encode(items.sentences)
    order = np.arange(len(items))
    plain_batches = ReasonerBatches(items, words, order, 8)
    mirrored = []
    for epoch in range(8):
        batches = ReasonerBatches(items, words, order, 8, (0, 1, epoch))
        for plain, other, again in zip(plain_batches, batches, batches, strict=True):
            assert torch.equal(plain.words, other.words)
            assert torch.equal(plain.answers, other.answers)
            # looked up twice, it is mirrored or not both times
            assert torch.equal(other.features, again.features)
            mirrored.append(torch.equal(other.features, plain.features.mT))
            assert mirrored[-1] or torch.equal(other.features, plain.features)
    assert 0.3 < np.mean(mirrored) < 0.7


@pytest.mark.parametrize("radius", RADII)
def test_mirroring_along_the_diagonal_makes_only_what_scenes_contain(radius: int) -> None:
    """Circles and squares stay; a wide rectangle or triangle becomes a tall one, but for two pixels
    of the canvas.

    Flipped up and down, flipped left and right, or turned by 90 degrees, one of the two triangles
    is none of a scene.
    """
    for shape in SHAPES:
        for turn, other in ((WIDE, TALL), (TALL, WIDE)):
            assert (padded(shape, radius, other) != padded(shape, radius, turn).T).sum() <= 2
    known = [padded("triangle", radius, turn) for turn in (WIDE, TALL)]
    for flips, quarters in ((0, 0), (1, 0), ((), 1), ((), 3)):
        moved = [centred(np.rot90(np.flip(canvas, flips), quarters)) for canvas in known]
        assert any(
            all((canvas != centred(each)).sum() > radius**2 for each in known) for canvas in moved
        )


def padded(shape: str, radius: int, turn: int) -> NDArray[np.bool_]:
    """A shape on a canvas, at its place from its stored point."""
    row, column, inside = raster.mask(shape, radius, turn)
    canvas = np.zeros((1024, 1024), dtype=bool)
    canvas[
        512 + row : 512 + row + inside.shape[0], 512 + column : 512 + column + inside.shape[1]
    ] = inside
    return canvas


def centred(canvas: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The shape with its box in the middle."""
    middle = [512 - (places.min() + places.max()) // 2 for places in np.nonzero(canvas)]
    return np.roll(canvas, middle, (0, 1))


def test_every_item_occurs_once_per_epoch() -> None:
    items = scene_items("film")
    words = SentenceVocabulary.of(items.sentences).encode(items.sentences)
    order = np.random.default_rng(0).permutation(len(items))
    batches = ReasonerBatches(items, words, order, 10)
    assert [len(batch.answers) for batch in batches] == [10] * 6 + [4]
    assert len(batches) == 7
    shown = torch.cat([batch.features for batch in batches]).numpy()
    assert np.array_equal(shown[np.argsort(order)], items.features)
    assert np.array_equal(
        torch.cat([batch.answers for batch in batches])[np.argsort(order)], items.answers
    )


def test_training_starts_from_the_weights_of_another(tmp_path: Path) -> None:
    """POS has the word "object", which SET+POS lacks; the vectors of all words that both have are
    taken over."""
    before = run(tmp_path / "pos", small_config("film"))
    known = checkpoints.load(tmp_path / "pos")[1].vocabulary
    items, validation = scene_items("film", "set+pos"), scene_items("film", "set+pos", split="val")
    untouched = small_config("film", epochs=0)
    train(
        items,
        validation,
        tmp_path / "on",
        untouched,
        settings=SETTINGS,
        start=tmp_path / "pos",
        device="cpu",
    )
    network, config, _ = checkpoints.load(tmp_path / "on")
    after = network.state_dict()
    assert "object" in known.ids
    assert "object" not in config.vocabulary.ids
    vectors = "reader.embedding.weight"
    for word, number in config.vocabulary.ids.items():
        assert torch.equal(after[vectors][number], before[vectors][known.ids[word]])
    assert all(torch.equal(after[name], before[name]) for name in before if name != vectors)


def test_weights_of_another_network_are_refused(tmp_path: Path) -> None:
    run(tmp_path / "film", small_config("film"))
    with pytest.raises(UserError, match="other layers"):
        run(tmp_path / "on", small_config("stacked-attention"), start=tmp_path / "film")


def test_published_answers_and_validations(tmp_path: Path) -> None:
    """64 items in batches of 16: 4 steps per epoch, validated every 3 steps and at the end, never
    before the first; six answers, of which two are ever right."""
    config = small_config(
        "film", validate_every=3, validate_epochs=False, validate_untrained=False, epochs=2
    )
    run(tmp_path, replace(config, published_tokens=True))
    assert [line["step"] for line in untimed(tmp_path)] == [3, 6, 8]
    network, network_config, _ = checkpoints.load(tmp_path)
    assert network_config.answers == ("<NULL>", "<START>", "<END>", "<UNK>", "no", "yes")
    assert "The" in network_config.vocabulary.words
    items = scene_items("film", split="val")
    accuracy = accuracies(tmp_path, {"val": items}, "cpu")["val"]
    with torch.no_grad():
        words = torch.from_numpy(network_config.vocabulary.encode(items.sentences))
        logits = network(torch.from_numpy(np.array(items.features)), words)
    right = logits.argmax(1).numpy() == items.answers + 4
    assert accuracy == right.mean()
    rows = predict(load_one(tmp_path), SceneTest("pos", 8))
    # yes and no share what the other four answers get
    assert all(0 < row.p_yes < 1 for row in rows)
