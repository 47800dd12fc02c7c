"""The networks: what must not matter to them does not, and what is saved comes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from tests.reasoners.small import ALL, PICTURED, SENTENCES, looks, random_network, recipe, saved

from seesay.errors import UserError
from seesay.reasoners import checkpoints
from seesay.reasoners.networks import registry
from seesay.reasoners.networks.film import Block, Film
from seesay.reasoners.networks.stacked_attention import StackedAttention
from seesay.reasoners.vocabulary import END, NULL


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path_factory.getbasetemp() / "reasoners-cache"))
    torch.set_num_threads(1)


def six() -> list[str]:
    return [*SENTENCES, *SENTENCES]


@pytest.mark.parametrize("name", ALL)
@torch.inference_mode()
def test_what_follows_the_end_changes_nothing(name: str) -> None:
    network, shape = random_network(name)
    seen, words = looks(name), torch.from_numpy(shape.words.encode(six()))
    cut = [row[: int((row == END).nonzero()) + 1] for row in words]
    alone = torch.cat([network(seen[i : i + 1], row[None]) for i, row in enumerate(cut)])
    torch.testing.assert_close(network(seen, words), alone, rtol=1e-5, atol=1e-6)
    longer = torch.nn.functional.pad(words, (0, 9), value=NULL)
    torch.testing.assert_close(network(seen, longer), alone, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ALL)
@torch.inference_mode()
def test_the_order_within_a_batch_does_not_matter(name: str) -> None:
    network, shape = random_network(name)
    seen, words = looks(name), torch.from_numpy(shape.words.encode(six()))
    order = torch.tensor([4, 2, 0, 5, 1, 3])
    torch.testing.assert_close(network(seen[order], words[order]), network(seen, words)[order], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ALL)
@torch.inference_mode()
def test_picture_and_sentence_both_matter(name: str) -> None:
    network, shape = random_network(name)
    seen, words = looks(name), torch.from_numpy(shape.words.encode(six()))
    said = network(seen, words)
    assert said.shape == (6, 2)
    assert not torch.allclose(said, network(seen.flip(0), words))
    assert not torch.allclose(said, network(seen, words.roll(1, 0)))


@torch.inference_mode()
def test_film_without_modulation_ignores_the_sentence() -> None:
    network, shape = random_network("film")
    assert isinstance(network, Film)
    seen, words = looks("film"), torch.from_numpy(shape.words.encode(six()))
    network.modulate.weight.zero_()
    network.modulate.bias.zero_()
    assert torch.equal(network(seen, words), network(seen, words.roll(1, 0)))


@torch.inference_mode()
def test_film_turned_off_by_its_scale_shows_the_shift_alone() -> None:
    """1 + γ = 0 leaves relu(β) of a block, whatever the convolution saw (equation 2 of Perez et al.)."""
    network, _ = random_network("film")
    assert isinstance(network, Film)
    block, seen = next(iter(network.blocks)), torch.randn(2, 8, 5, 5)
    assert isinstance(block, Block)
    scale, shift = torch.full((2, 8, 1, 1), -1.0), torch.linspace(-1, 1, 16).view(2, 8, 1, 1)
    narrow = torch.relu(block.narrow(with_places(seen)))
    torch.testing.assert_close(block(seen, scale, shift) - narrow, shift.clamp(min=0).expand(2, 8, 5, 5))


def with_places(seen: torch.Tensor) -> torch.Tensor:
    """The two channels of places by hand: rows from −1 to 1, then columns."""
    line = torch.tensor([-1.0, -0.5, 0.0, 0.5, 1.0])
    rows, columns = torch.meshgrid(line, line, indexing="ij")
    return torch.cat((seen, torch.stack((rows, columns)).expand(len(seen), 2, 5, 5)), 1)


@torch.inference_mode()
def test_attention_is_spread_over_the_picture() -> None:
    network, shape = random_network("stacked-attention")
    assert isinstance(network, StackedAttention)
    seen, words = looks("stacked-attention"), torch.from_numpy(shape.words.encode(six()))
    maps = network.maps(seen, words)
    assert maps.shape == (6, 2, 8, 8)  # rounds; 32 pixels halved twice
    assert (maps >= 0).all()
    torch.testing.assert_close(maps.sum((2, 3)), torch.ones(6, 2))


@pytest.mark.parametrize("name", PICTURED)
@pytest.mark.parametrize("side", [(31, 31), (33, 33), (30, 47), (7, 64)])
@pytest.mark.parametrize("halvings", [0, 1, 3])
@torch.inference_mode()
def test_pictures_of_any_size(name: str, side: tuple[int, int], halvings: int) -> None:
    network, shape = random_network(name, (3, *side), halvings=halvings, levels=1, batch_norm=False)
    words = torch.from_numpy(shape.words.encode(SENTENCES))
    said = network(torch.randint(0, 256, (3, 3, *side), dtype=torch.uint8), words)
    assert said.shape == (3, 2)
    assert said.isfinite().all()


@torch.inference_mode()
def test_features_are_taken_as_they_are_and_pixels_from_0_to_1() -> None:
    network, shape = random_network("film")
    seen, words = looks("film"), torch.from_numpy(shape.words.encode(six()))
    torch.testing.assert_close(network(seen, words), network(seen.float() / 255, words))


@pytest.mark.parametrize("preset", registry.PRESETS)
@pytest.mark.parametrize("name", registry.NAMES)
def test_presets_are_of_their_network(name: str, preset: str) -> None:
    made = registry.recipe(name, preset)
    assert made.network == name
    assert not (made.turns and made.eye != "pixels")  # features and objects cannot be turned


def test_unknown_names_are_told() -> None:
    with pytest.raises(UserError, match="No network 'flim': choose cnn-lstm"):
        registry.recipe("flim")
    with pytest.raises(UserError, match="choose paper, cpu or auto"):
        registry.recipe("film", "gpu")


@pytest.mark.parametrize("name", ALL)
@torch.inference_mode()
def test_saved_and_loaded_it_says_the_same(name: str, tmp_path: Path) -> None:
    network, shape = saved(name, tmp_path)
    loaded, its_shape, config = checkpoints.load(tmp_path)
    assert its_shape == shape
    assert (config["eye"], config["side"]) == (recipe(name).eye, recipe(name).side)
    assert not loaded.training
    seen, words = looks(name), torch.from_numpy(shape.words.encode(six()))
    # loaded weights lie at other addresses, where sums may be taken in another order
    torch.testing.assert_close(loaded(seen, words), network(seen, words), rtol=1e-5, atol=1e-6)


def changed(folder: Path, **given: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **given}))


def test_damaged_folders_are_told(tmp_path: Path) -> None:
    def refused(reason: str) -> None:
        with pytest.raises(UserError, match=reason):
            checkpoints.load(tmp_path)
        saved("film", tmp_path)

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
    for shape in (3, {}, {"words": 3}, json.loads(config.read_text())["shape"] | {"width": 9}):
        changed(tmp_path, shape=shape)
        refused("missing or damaged")
    config.write_text("[]")
    refused("missing or damaged")
    for left_out in ("eye", "side", "network", "shape"):
        kept = {name: value for name, value in json.loads(config.read_text()).items() if name != left_out}
        config.write_text(json.dumps(kept))
        refused(left_out)
