"""One linear layer, trained with Adam on fixed vectors. The optimiser's step is written out: with
batches of eight, a framework spends far more time on calls than on computing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.quantities import quantity

Floats = NDArray[np.float32]
Gold = NDArray[np.bool_]


@dataclass(frozen=True)
class ProbeConfig:
    """The published training (Singh, Qasemi & Chen 2023, section 4; Adam as Kingma & Ba 2015 set
    it).

    Without `validation` the layer is that of the last epoch, as in the published learning curves,
    which train for one.
    """

    epochs: int = 50
    batch: int = 8
    rate: float = 1e-4
    validation: bool = True

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise UserError(f"--epochs is {self.epochs}: a probe is trained for one at least.")

    def __str__(self) -> str:
        """How long a probe is trained, in words."""
        epochs = quantity(self.epochs, "epoch")
        if self.validation:
            return f"best of {epochs}"
        return f"{epochs}, no validation"


@dataclass(frozen=True)
class LinearLayer:
    """The weights of the best epoch, the bias in the last row. `history` has the validation
    accuracy of every epoch; without validation it is empty, and the epoch is the last."""

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
        beta_1, beta_2 = self.decay
        self.steps += 1
        self.mean = self.mean * beta_1 + gradient * (1 - beta_1)
        self.square = self.square * beta_2 + gradient * gradient * (1 - beta_2)
        # both moments start at zero and are corrected for it; ε is added after the correction, as
        # PyTorch does, to which a test holds every step
        square_correction = (1 - beta_2**self.steps) ** -0.5
        deviation = np.sqrt(self.square) * square_correction + self.epsilon
        corrected_rate = self.rate / (1 - beta_1**self.steps)
        self.weights -= self.mean / deviation * corrected_rate


def train_layer(
    vectors: Floats,
    gold: Gold,
    val_vectors: Floats,
    val_gold: Gold,
    *,
    seed: int,
    config: ProbeConfig | None = None,
) -> LinearLayer:
    """Return the layer after the epoch with the best relaxed accuracy on the validation questions;
    the first of equals."""
    (layer,) = train_layers(
        vectors[None],
        gold,
        val_vectors[None],
        val_gold,
        seed=seed,
        config=config,
    )
    return layer


def train_layers(
    vectors: Floats,
    gold: Gold,
    val_vectors: Floats,
    val_gold: Gold,
    *,
    seed: int,
    config: ProbeConfig | None = None,
) -> list[LinearLayer]:
    """Return one layer for each kind of vectors, which are kinds × questions × width: each after
    its own best epoch.

    All of them take a step at once, which costs little more than one alone; each has the weights it
    would have alone.
    """
    config = config or ProbeConfig()
    rng = np.random.default_rng(seed)
    inputs = with_bias(vectors)
    targets = targets_of(gold)
    val_inputs = with_bias(val_vectors)
    # every kind starts from the same weights and sees the same batches, as it would alone
    start = initial_weights(
        inputs.shape[-1],
        targets.shape[-1],
        rng,
    )
    weights = np.repeat(
        start[None],
        len(inputs),
        axis=0,
    )
    adam = Adam(weights, config.rate)
    best = weights.copy()
    history = np.zeros((0, len(inputs)))
    for _ in range(config.epochs):
        for rows, batch_targets in batches(
            inputs,
            targets,
            config.batch,
            rng,
        ):
            adam.step(gradient(weights, rows, batch_targets))
        if not config.validation:
            continue
        accuracies = [relaxed_accuracy(logits, val_gold) for logits in val_inputs @ weights]
        # strictly better: of equal epochs the first stays, as argmax below counts
        better = accuracies > history.max(axis=0, initial=-1.0)
        best[better] = weights[better]
        history = np.vstack([history, accuracies])
    if not config.validation:
        return [LinearLayer(last, config.epochs, config, ()) for last in weights]
    layers = []
    for best_weights, kind_history in zip(best, history.T, strict=True):
        epoch = int(np.argmax(kind_history)) + 1
        layers.append(
            LinearLayer(
                best_weights,
                epoch,
                config,
                tuple(kind_history.tolist()),
            )
        )
    return layers


def batches(
    inputs: Floats,
    targets: Floats,
    size: int,
    rng: np.random.Generator,
) -> Iterator[tuple[Floats, Floats]]:
    """Yield all questions once, in random order; the last batch may be smaller."""
    order = rng.permutation(len(targets))
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        yield inputs[:, rows], targets[rows]


def gradient(
    weights: Floats,
    rows: Floats,
    targets: Floats,
) -> Floats:
    """Return the gradient of the batch's mean cross-entropy between the target distribution and
    the softmax of the layer's output."""
    # one array throughout, since batches are small and allocations would dominate:
    # softmax(rows · weights) − targets is the derivative by the logits
    logits = rows @ weights
    logits -= logits.max(axis=-1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=-1, keepdims=True)
    logits -= targets
    logits /= len(targets)
    result: Floats = rows.swapaxes(-1, -2) @ logits
    return result


def targets_of(gold: Gold) -> Floats:
    """Return the target distribution: uniform over the gold labels, zero elsewhere.

    The published code samples one gold label each time a question comes up; this is the expectation
    of that loss.

    >>> targets_of(np.array([[True, False, True]])).tolist()
    [[0.5, 0.0, 0.5]]
    """
    uniform: Floats = (gold / gold.sum(axis=1, keepdims=True)).astype(np.float32)
    return uniform


def initial_weights(
    size: int,
    labels: int,
    rng: np.random.Generator,
) -> Floats:
    """Return weights and bias as PyTorch's linear layer initialises them."""
    # uniform within ±1/√inputs; the bias, the last of `size` rows, is no input
    bound = (size - 1) ** -0.5
    return rng.uniform(
        -bound,
        bound,
        (size, labels),
    ).astype(np.float32)


def with_bias(vectors: Floats) -> Floats:
    """Return the vectors with a column of ones, which the bias multiplies."""
    ones = np.ones((*vectors.shape[:-1], 1), np.float32)
    return np.concatenate([vectors, ones], axis=-1)


def log_softmax(logits: Floats) -> Floats:
    """Return log-probabilities, row by row."""
    # the largest logit becomes 0: no exponential overflows
    shifted = logits - logits.max(axis=1, keepdims=True)
    totals = np.exp(shifted).sum(axis=1, keepdims=True)
    result: Floats = shifted - np.log(totals)
    return result


def relaxed_accuracy(
    logits: Floats,
    gold: Gold,
) -> float:
    """Return how often the most probable label is gold; in single precision and without ties, so
    cheaper than the metric."""
    most_probable = logits.argmax(axis=1)
    return float(gold[np.arange(len(gold)), most_probable].mean())
