"""Objects that a network proposes itself: their layout, and that the reasoning is as before."""

from __future__ import annotations

import torch
from tests.scenes.reasoners.small import SENTENCES, random_network

from seesay.scenes.reasoners.features.objects import SLOT_SIZE
from seesay.scenes.reasoners.networks.learnt_objects import LearntObjects
from seesay.scenes.reasoners.networks.object_centred import ObjectCentred


def build() -> tuple[LearntObjects, torch.Tensor, torch.Tensor]:
    """A network in evaluation mode with pictures of 32 pixels and sentences."""
    network, config = random_network("learnt-objects")
    assert isinstance(network, LearntObjects)
    generator = torch.Generator().manual_seed(0)
    pictures = torch.randint(0, 256, (3, 3, 32, 32), dtype=torch.uint8, generator=generator)
    return network, pictures, torch.from_numpy(config.vocabulary.encode(SENTENCES))


@torch.inference_mode()
def test_every_cell_proposes_an_object() -> None:
    network, pictures, words = build()
    slots = network.find(pictures)
    side = round(slots.shape[1] ** 0.5)
    assert slots.shape == (3, side * side, SLOT_SIZE)
    assert (slots[:, :, 0] > 0).all()
    assert (slots[:, :, 0] < 1).all()
    assert (slots[:, :, 1] > 0).all()
    # boxes are the cells, row by row, as shares of the picture
    top, left, bottom, right = slots[0, :, 2:6].unbind(1)
    torch.testing.assert_close(bottom - top, torch.full_like(top, 1 / side))
    torch.testing.assert_close(right - left, torch.full_like(top, 1 / side))
    assert (top[1], left[1]) == (0, 1 / side)
    first, second = network.attention_maps(pictures, words)[0]
    # probabilities of the target over all cells
    assert abs(float(first.weights.sum()) - 1) < 1e-6
    assert float(second.weights.max()) == 1


@torch.inference_mode()
def test_answers_are_the_object_centred_networks_over_these_objects() -> None:
    network, pictures, words = build()
    by_slots = ObjectCentred.forward(network, network.find(pictures), words)
    torch.testing.assert_close(network(pictures, words), by_slots)


def test_gradients_reach_the_pixels_network_from_answers_and_presupposition() -> None:
    network, pictures, words = build()
    for loss in (network(pictures, words).square().sum(), network.auxiliary_loss(pictures, words)):
        network.zero_grad()
        loss.backward()
        gradient = network.propose.weight.grad
        assert gradient is not None
        assert gradient.isfinite().all()
        # presence and looks; what a presupposition says nothing of is the size
        assert gradient[0].abs().sum() > 0
        assert gradient[2:].abs().sum() > 0
