"""Linear layers laid out for oneDNN give what PyTorch's give, and are used where they are
faster."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

from seesay.models.hf import packed
from seesay.models.hf.packed import PackedLinear, pack_linear_layers


@pytest.fixture
def wide_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor on which packed layers are faster."""
    monkeypatch.setattr(packed, "is_faster_packed", lambda: True)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(40, 48), (3, 20, 48), (1, 48), (0, 48)])
def test_a_packed_layer_gives_the_same(shape: tuple[int, ...], bias: bool) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(48, 24, bias=bias)
    states = torch.randn(shape)
    with torch.inference_mode():
        expected = layer(states)
        torch.testing.assert_close(PackedLinear(layer)(states), expected, rtol=1e-5, atol=1e-5)


def test_a_row_does_not_depend_on_the_others() -> None:
    torch.manual_seed(0)
    layer = PackedLinear(nn.Linear(48, 24))
    states = torch.randn(70, 48)
    with torch.inference_mode():
        together = layer(states)
        alone = torch.cat([layer(row) for row in states.split(1)])
    assert torch.equal(alone, together)


def test_gradients_go_through_the_weights() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(8, 4)
    states = torch.randn(32, 8)
    PackedLinear(layer)(states).sum().backward()
    assert layer.weight.grad is not None
    torch.testing.assert_close(layer.weight.grad, states.sum(0).expand(4, 8))


@pytest.mark.usefixtures("wide_processor")
def test_a_network_keeps_its_weights_and_names() -> None:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=99,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        tie_word_embeddings=True,
    )
    network = LlamaForCausalLM(config).eval()
    names = list(network.state_dict())
    ids = torch.arange(32)[None]
    with torch.inference_mode():
        expected = network(input_ids=ids).logits
        assert pack_linear_layers(network) is network
        torch.testing.assert_close(network(input_ids=ids).logits, expected, rtol=1e-4, atol=1e-5)
    head = network.get_output_embeddings()
    assert isinstance(head, PackedLinear)
    assert head.weight is network.get_input_embeddings().weight
    assert list(network.state_dict()) == names


@pytest.mark.usefixtures("wide_processor")
def test_what_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    class OwnArithmetic(nn.Linear):
        pass

    network = nn.Sequential(nn.Linear(4, 4).bfloat16(), OwnArithmetic(4, 4), nn.Linear(4, 4))
    kinds = [type(layer) for layer in pack_linear_layers(network)]
    assert kinds == [nn.Linear, OwnArithmetic, PackedLinear]

    monkeypatch.setattr(packed, "MOST_PARAMETERS", 19)
    large = pack_linear_layers(nn.Sequential(nn.Linear(4, 4)))
    assert type(large[0]) is nn.Linear


@pytest.mark.parametrize(
    ("family", "capability", "is_faster"),
    [(26, "AVX512", True), (25, "AVX512", False), (26, "AVX2", False), (0, "AVX512", False)],
)
def test_the_processor_decides(
    monkeypatch: pytest.MonkeyPatch, family: int, capability: str, is_faster: bool
) -> None:
    monkeypatch.setattr(packed, "amd_family", lambda: family)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)
    assert packed.is_faster_packed() is is_faster
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert not packed.is_faster_packed()
