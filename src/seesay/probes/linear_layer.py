"""One linear layer, trained with Adam on fixed vectors. The optimiser's step is written out: with
batches of eight, a framework spends far more time on calls than on computing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Gold = NDArray[np.bool_]


@dataclass(frozen=True)
class ProbeConfig:
    """The published training (Singh, Qasemi & Chen 2023, appendix; Adam as Kingma & Ba 2015 set
    it)."""

    epochs: int = 50
    batch: int = 8
    rate: float = 1e-4


@dataclass(frozen=True)
class LinearLayer:
    """The weights of the best epoch, the bias in the last row. `history` has the validation
    accuracy of every epoch."""

    weights: Floats
    epoch: int
    config: ProbeConfig
    history: tuple[float, ...]


@dataclass
class Adam:
    """Kingma & Ba 2015, algorithm 1, on one array, in place."""

    weights: Floats
    rate: float
    decay: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    steps: int = 0
    mean: Floats = field(init=False)
    square: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.mean = np.zeros_like(self.weights)
        self.square = np.zeros_like(self.weights)

    def step(self, gradient: Floats) -> None:
        """Move the weights against the gradient."""
        first, second = self.decay
        self.steps += 1
        self.mean = self.mean * first + gradient * (1 - first)
        self.square = self.square * second + gradient * gradient * (1 - second)
        deviation = np.sqrt(self.square) * (1 - second**self.steps) ** -0.5 + self.epsilon
        self.weights -= self.mean / deviation * (self.rate / (1 - first**self.steps))


def train_layer(
    vectors: Floats,
    gold: Gold,
    val_vectors: Floats,
    val_gold: Gold,
    *,
    seed: int,
    config: ProbeConfig | None = None,
) -> LinearLayer:
    """The layer after the epoch with the best relaxed accuracy on the validation questions; the
    first of equals."""
    return train_layers(vectors[None], gold, val_vectors[None], val_gold, seed=seed, config=config)[
        0
    ]


def train_layers(
    vectors: Floats,
    gold: Gold,
    val_vectors: Floats,
    val_gold: Gold,
    *,
    seed: int,
    config: ProbeConfig | None = None,
) -> list[LinearLayer]:
    """The same for several vectors of each question, kinds × questions × width: one layer for each
    kind.

    All of them take a step at once, which costs little more than one alone; each has the weights it
    would have alone.
    """
    config = config or ProbeConfig()
    rng = np.random.default_rng(seed)
    inputs = with_bias(vectors)
    targets = targets_of(gold)
    val_inputs = with_bias(val_vectors)
    start = initial_weights(inputs.shape[-1], targets.shape[-1], rng)
    weights = np.repeat(start[None], len(inputs), axis=0)
    adam = Adam(weights, config.rate)
    best = weights.copy()
    history = np.zeros((0, len(inputs)))
    for _ in range(config.epochs):
        for rows, batch_targets in batches(inputs, targets, config.batch, rng):
            adam.step(gradient(weights, rows, batch_targets))
        accuracies = [relaxed_accuracy(logits, val_gold) for logits in val_inputs @ weights]
        better = accuracies > history.max(axis=0, initial=-1.0)
        best[better] = weights[better]
        history = np.vstack([history, accuracies])
    return [
        LinearLayer(chosen, int(np.argmax(own)) + 1, config, tuple(own.tolist()))
        for chosen, own in zip(best, history.T, strict=True)
    ]


def batches(
    inputs: Floats, targets: Floats, size: int, rng: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """All questions once, in random order; the last batch may be smaller."""
    order = rng.permutation(len(targets))
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        yield inputs[:, chosen], targets[chosen]


def gradient(weights: Floats, rows: Floats, targets: Floats) -> Floats:
    """Of the batch's mean cross-entropy between the target distribution and the softmax of the
    layer's output."""
    logits = rows @ weights
    logits -= logits.max(axis=-1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=-1, keepdims=True)
    logits -= targets
    logits /= len(targets)
    result: Floats = rows.swapaxes(-1, -2) @ logits
    return result


def targets_of(gold: Gold) -> Floats:
    """The target distribution: uniform over the gold labels, zero elsewhere.

    The published code samples one gold label each time a question comes up; this is the expectation
    of that loss.

    >>> targets_of(np.array([[True, False, True]])).tolist()
    [[0.5, 0.0, 0.5]]
    """
    uniform: Floats = (gold / gold.sum(axis=1, keepdims=True)).astype(np.float32)
    return uniform


def initial_weights(size: int, labels: int, rng: np.random.Generator) -> Floats:
    """Weights and bias as PyTorch's linear layer initialises them: uniform within ±1/√inputs (the
    bias is no input)."""
    bound = (size - 1) ** -0.5
    return rng.uniform(-bound, bound, (size, labels)).astype(np.float32)


def with_bias(vectors: Floats) -> Floats:
    """The vectors with a column of ones, which the bias multiplies."""
    return np.concatenate([vectors, np.ones((*vectors.shape[:-1], 1), np.float32)], axis=-1)


def log_softmax(logits: Floats) -> Floats:
    """Log-probabilities, row by row."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    result: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return result


def relaxed_accuracy(logits: Floats, gold: Gold) -> float:
    """How often the most probable label is gold; in single precision and without ties, so cheaper
    than the metric."""
    return float(gold[np.arange(len(gold)), logits.argmax(axis=1)].mean())
