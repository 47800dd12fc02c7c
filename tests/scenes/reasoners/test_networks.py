"""The networks: what must not matter to them does not, and what is saved comes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from tests.scenes.reasoners.small import (
    ALL,
    OVER_PIXELS,
    SENTENCES,
    random_network,
    save_random,
    scene_features,
    small_config,
)
from torch.nn.functional import conv2d

from seesay.errors import UserError
from seesay.scenes.reasoners import checkpoints
from seesay.scenes.reasoners import config as configs
from seesay.scenes.reasoners.networks.film import Film, FilmBlock
from seesay.scenes.reasoners.networks.layers import CoordinateConv
from seesay.scenes.reasoners.networks.registry import NAMES
from seesay.scenes.reasoners.networks.stacked_attention import StackedAttention
from seesay.scenes.reasoners.vocabulary import END, NULL


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path_factory.getbasetemp() / "reasoners-cache"))
    torch.set_num_threads(1)


def six() -> list[str]:
    return [*SENTENCES, *SENTENCES]


@pytest.mark.parametrize("name", ALL)
@torch.inference_mode()
def test_padding_does_not_change_the_output(name: str) -> None:
    network, config = random_network(name)
    features, words = scene_features(name), torch.from_numpy(config.vocabulary.encode(six()))
    cut = [row[: int((row == END).nonzero()) + 1] for row in words]
    one_by_one = torch.cat([network(features[i : i + 1], row[None]) for i, row in enumerate(cut)])
    torch.testing.assert_close(network(features, words), one_by_one, rtol=1e-5, atol=1e-6)
    longer = torch.nn.functional.pad(words, (0, 9), value=NULL)
    torch.testing.assert_close(network(features, longer), one_by_one, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ALL)
@torch.inference_mode()
def test_the_order_within_a_batch_does_not_matter(name: str) -> None:
    network, config = random_network(name)
    features, words = scene_features(name), torch.from_numpy(config.vocabulary.encode(six()))
    order = torch.tensor([4, 2, 0, 5, 1, 3])
    torch.testing.assert_close(
        network(features[order], words[order]),
        network(features, words)[order],
        rtol=1e-5,
        atol=1e-6,
    )


@pytest.mark.parametrize("name", ALL)
@torch.inference_mode()
def test_picture_and_sentence_both_matter(name: str) -> None:
    network, config = random_network(name)
    features, words = scene_features(name), torch.from_numpy(config.vocabulary.encode(six()))
    logits = network(features, words)
    assert logits.shape == (6, 2)
    assert not torch.allclose(logits, network(features.flip(0), words))
    assert not torch.allclose(logits, network(features, words.roll(1, 0)))


@torch.inference_mode()
def test_film_without_modulation_ignores_the_sentence() -> None:
    network, config = random_network("film")
    assert isinstance(network, Film)
    features, words = scene_features("film"), torch.from_numpy(config.vocabulary.encode(six()))
    network.modulate.weight.zero_()
    network.modulate.bias.zero_()
    assert torch.equal(network(features, words), network(features, words.roll(1, 0)))


@torch.inference_mode()
def test_film_turned_off_by_its_scale_shows_the_shift_alone() -> None:
    """1 + γ = 0 leaves relu(β) of a block, whatever the convolution saw (equation 2 of Perez et
    al.)."""
    network, _ = random_network("film")
    assert isinstance(network, Film)
    block, features = next(iter(network.blocks)), torch.randn(2, 8, 5, 5)
    assert isinstance(block, FilmBlock)
    scale, shift = torch.full((2, 8, 1, 1), -1.0), torch.linspace(-1, 1, 16).view(2, 8, 1, 1)
    narrow = torch.relu(conv2d(with_coordinates(features), block.narrow.weight, block.narrow.bias))
    torch.testing.assert_close(
        block(features, scale, shift) - narrow, shift.clamp(min=0).expand(2, 8, 5, 5)
    )


@pytest.mark.parametrize("kernel", [1, 3])
def test_coordinates_are_as_if_concatenated(kernel: int) -> None:
    """Outputs and gradients are those of a convolution over the maps and two channels more."""
    torch.manual_seed(0)
    maps, layer = torch.randn(2, 8, 5, 5, requires_grad=True), CoordinateConv(8, 6, kernel)
    plain = conv2d(with_coordinates(maps), layer.weight, layer.bias, padding=kernel // 2)
    assert layer.bias is not None
    ours, inputs = layer(maps), (maps, layer.weight, layer.bias)
    torch.testing.assert_close(ours, plain)
    error = torch.randn_like(plain)
    for gradient, expected in zip(
        torch.autograd.grad(ours, inputs, error),
        torch.autograd.grad(plain, inputs, error),
        strict=True,
    ):
        torch.testing.assert_close(gradient, expected, rtol=1e-5, atol=1e-5)


def with_coordinates(features: torch.Tensor) -> torch.Tensor:
    """The two coordinate channels by hand: rows from −1 to 1, then columns."""
    line = torch.tensor([-1.0, -0.5, 0.0, 0.5, 1.0])
    rows, columns = torch.meshgrid(line, line, indexing="ij")
    return torch.cat((features, torch.stack((rows, columns)).expand(len(features), 2, 5, 5)), 1)


@torch.inference_mode()
def test_attention_is_spread_over_the_picture() -> None:
    network, config = random_network("stacked-attention")
    assert isinstance(network, StackedAttention)
    features, words = (
        scene_features("stacked-attention"),
        torch.from_numpy(config.vocabulary.encode(six())),
    )
    maps = network.attend(features, words)[1]
    assert maps.shape == (6, 2, 8, 8)  # rounds; 32 pixels and two strided layers
    assert (maps >= 0).all()
    torch.testing.assert_close(maps.sum((2, 3)), torch.ones(6, 2))


@pytest.mark.parametrize("name", OVER_PIXELS)
@pytest.mark.parametrize("image_size", [(31, 31), (33, 33), (30, 47), (9, 64)])
@pytest.mark.parametrize("strided_layers", [0, 1, 3])
@torch.inference_mode()
def test_pictures_of_any_size(name: str, image_size: tuple[int, int], strided_layers: int) -> None:
    network, config = random_network(
        name, (3, *image_size), strided_layers=strided_layers, plain_layers=1, batch_norm=False
    )
    words = torch.from_numpy(config.vocabulary.encode(SENTENCES))
    logits = network(torch.randint(0, 256, (3, 3, *image_size), dtype=torch.uint8), words)
    assert logits.shape == (3, 2)
    assert logits.isfinite().all()


@torch.inference_mode()
def test_features_are_taken_as_they_are_and_pixels_from_0_to_1() -> None:
    network, config = random_network("film")
    features, words = scene_features("film"), torch.from_numpy(config.vocabulary.encode(six()))
    torch.testing.assert_close(network(features, words), network(features.float() / 255, words))


@pytest.mark.parametrize("preset", configs.PRESETS)
@pytest.mark.parametrize("name", NAMES)
def test_presets_are_of_their_network(name: str, preset: str) -> None:
    config = configs.preset_config(name, preset)
    assert config.network == name
    # feature maps and objects cannot be rotated
    assert not (config.augment and config.features != "pixels")


def test_unknown_names_list_the_choices() -> None:
    with pytest.raises(UserError, match="Unknown network 'flim': choose one of cnn-lstm"):
        configs.preset_config("flim")
    with pytest.raises(UserError, match="choose paper, cpu or auto"):
        configs.preset_config("film", "gpu")


@pytest.mark.parametrize("name", ALL)
@torch.inference_mode()
def test_save_and_load_preserve_the_output(name: str, tmp_path: Path) -> None:
    network, config = save_random(name, tmp_path)
    loaded, loaded_config, fields = checkpoints.load(tmp_path)
    assert loaded_config == config
    assert (fields["features"], fields["image_size"]) == (
        small_config(name).features,
        small_config(name).image_size,
    )
    assert not loaded.training
    features, words = scene_features(name), torch.from_numpy(config.vocabulary.encode(six()))
    # loaded weights lie at other addresses, where sums may be taken in another order
    torch.testing.assert_close(
        loaded(features, words), network(features, words), rtol=1e-5, atol=1e-6
    )


def changed(folder: Path, **given: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **given}))


def test_damaged_folders_are_reported(tmp_path: Path) -> None:
    def refused(reason: str) -> None:
        with pytest.raises(UserError, match=reason):
            checkpoints.load(tmp_path)
        save_random("film", tmp_path)

    refused("No such file")
    weights, config = tmp_path / "model.safetensors", tmp_path / "config.json"
    weights.write_bytes(weights.read_bytes()[:-20])
    refused("missing or damaged")
    weights.unlink()
    refused("missing or damaged")
    config.write_text(config.read_text()[:-20])
    refused("missing or damaged")
    changed(tmp_path, network="flim")
    refused("there is no network 'flim'")
    for sizes in (
        3,
        {},
        {"vocabulary": 3},
        json.loads(config.read_text())["config"] | {"width": 9},
    ):
        changed(tmp_path, config=sizes)
        refused("missing or damaged")
    config.write_text("[]")
    refused("missing or damaged")
    for left_out in ("features", "image_size", "network", "config"):
        kept = {
            name: value
            for name, value in json.loads(config.read_text()).items()
            if name != left_out
        }
        config.write_text(json.dumps(kept))
        refused(left_out)
