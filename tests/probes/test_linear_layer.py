"""The layer and its optimiser, against PyTorch and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seesay.probes.linear_layer import (
    Adam,
    ProbeConfig,
    gradient,
    initial_weights,
    log_softmax,
    relaxed_accuracy,
    targets_of,
    train_layer,
    with_bias,
)


def made_up(rows: int, size: int, labels: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Vectors, and gold labels that they give away but for some noise."""
    draw = np.random.default_rng(seed)
    vectors = draw.normal(size=(rows, size)).astype(np.float32)
    truth = np.random.default_rng(99).normal(size=(size, labels))
    scores = vectors @ truth + draw.normal(size=(rows, labels))
    gold = scores >= np.sort(scores, axis=1)[:, -1:] - 0.5
    return vectors, gold


def test_the_same_steps_as_torch_adam_on_a_linear_layer() -> None:
    """200 batches of eight: soft targets, so PyTorch's own cross-entropy with probabilities is the
    reference."""
    vectors, gold = made_up(64, 20, 5)
    targets = targets_of(gold)
    weights = initial_weights(21, 5, np.random.default_rng(1))
    layer = torch.nn.Linear(20, 5)
    layer.weight.data = torch.from_numpy(weights[:-1].T.copy())
    layer.bias.data = torch.from_numpy(weights[-1].copy())
    theirs = torch.optim.Adam(layer.parameters(), 1e-2)
    ours = Adam(weights, 1e-2)
    for step in range(200):
        rows = np.arange(8 * step, 8 * step + 8) % 64
        theirs.zero_grad()
        loss = torch.nn.functional.cross_entropy(
            layer(torch.from_numpy(vectors[rows])), torch.from_numpy(targets[rows])
        )
        loss.backward()
        theirs.step()
        ours.step(gradient(weights, with_bias(vectors[rows]), targets[rows]))
    np.testing.assert_allclose(weights[:-1].T, layer.weight.detach().numpy(), atol=2e-5)
    np.testing.assert_allclose(weights[-1], layer.bias.detach().numpy(), atol=2e-5)


def test_the_first_step_by_hand() -> None:
    """Adam's first step is the rate, against the gradient's sign (Kingma & Ba 2015, section
    2.1)."""
    weights = np.array([[1.0, 1.0]], np.float32)
    Adam(weights, rate=0.1).step(np.array([[0.5, -2.0]], np.float32))
    np.testing.assert_allclose(weights, [[0.9, 1.1]], atol=1e-6)


def test_the_gradient_by_hand() -> None:
    """Even logits of two labels, one row of (2, 1): soft-max (½, ½) minus target (1, 0), times the
    row."""
    result = gradient(
        np.zeros((2, 2), np.float32),
        np.array([[2.0, 1.0]], np.float32),
        np.array([[1.0, 0.0]], np.float32),
    )
    np.testing.assert_allclose(result, [[-1.0, 1.0], [-0.5, 0.5]])


def test_the_best_epoch_is_kept() -> None:
    vectors, gold = made_up(200, 10, 3)
    val_vectors, val_gold = made_up(80, 10, 3, seed=1)
    trained = train_layer(
        vectors, gold, val_vectors, val_gold, seed=0, config=ProbeConfig(epochs=12, rate=0.05)
    )
    assert len(trained.history) == 12
    assert trained.history[trained.epoch - 1] == max(trained.history)
    assert trained.history.index(max(trained.history)) == trained.epoch - 1
    assert relaxed_accuracy(with_bias(val_vectors) @ trained.weights, val_gold) == max(
        trained.history
    )


def test_training_is_deterministic_in_the_seed() -> None:
    sets = (*made_up(50, 6, 3), *made_up(30, 6, 3, seed=1))
    config = ProbeConfig(epochs=3, rate=0.01)
    first, again, other = (train_layer(*sets, seed=seed, config=config) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.weights, again.weights)
    assert not np.array_equal(first.weights, other.weights)


def test_it_learns_a_separable_problem() -> None:
    vectors, gold = made_up(800, 16, 4)
    val, test = made_up(200, 16, 4, seed=1), made_up(400, 16, 4, seed=2)
    trained = train_layer(vectors, gold, *val, seed=0, config=ProbeConfig(rate=1e-3))
    right = relaxed_accuracy(with_bias(test[0]) @ trained.weights, test[1])
    assert right > 0.8 > test[1].mean(axis=0).max() + 0.3


def test_initial_weights_are_distributed_as_in_pytorch() -> None:
    """Both even within ±1/√64 = ±0.125: standard deviation 0.125/√3."""
    weights = initial_weights(65, 2000, np.random.default_rng(0))
    theirs = torch.nn.Linear(64, 2000)
    assert np.abs(weights).max() <= 0.125
    assert weights[:-1].std() == pytest.approx(0.125 / 3**0.5, rel=0.01)
    assert weights[:-1].std() == pytest.approx(float(theirs.weight.detach().std()), rel=0.02)
    assert weights[-1].std() == pytest.approx(float(theirs.bias.detach().std()), rel=0.1)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.lists(st.floats(-50, 50, width=32), min_size=3, max_size=3), min_size=1, max_size=6)
)
def test_probabilities_sum_to_one(rows: list[list[float]]) -> None:
    logits = np.array(rows, np.float32)
    np.testing.assert_allclose(np.exp(log_softmax(logits)).sum(axis=1), 1, atol=1e-5)
