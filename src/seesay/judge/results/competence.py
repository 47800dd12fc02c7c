"""How far each annotator can be trusted, from the answers alone (Dawid & Skene 1979).

Every annotator has a confusion matrix, every item an unknown true label. Expectation-maximisation
alternates between the labels' probabilities given the matrices, and the matrices given the labels
(their equations 2.3 to 2.5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seesay.metrics.base import FloatArray, IntArray


@dataclass(frozen=True)
class DawidSkene:
    """`labels`: items by labels, the probability of each; `confusion`: annotators by true by given
    label."""

    labels: FloatArray
    confusion: FloatArray
    prior: FloatArray

    @property
    def competence(self) -> FloatArray:
        """The probability that an annotator gives the true label, weighted by how often labels are
        true."""
        diagonal = np.einsum("ajj->aj", self.confusion)
        return np.asarray(diagonal @ self.prior, dtype=np.float64)


def dawid_skene(
    item: IntArray,
    annotator: IntArray,
    label: IntArray,
    *,
    labels: int,
    iterations: int = 200,
    tolerance: float = 1e-7,
    smoothing: float = 0.0,
) -> DawidSkene:
    """Fit the model to answers: the item, the annotator and the given label of each. `smoothing`
    adds so many answers to every cell of a confusion matrix, for annotators with few answers."""
    items = int(item.max()) + 1
    annotators = int(annotator.max()) + 1
    probability = np.zeros((items, labels))
    np.add.at(probability, (item, label), 1.0)
    probability /= probability.sum(axis=1, keepdims=True).clip(min=1.0)
    while True:
        confusion = np.full((annotators, labels, labels), smoothing)
        np.add.at(confusion.transpose(0, 2, 1), (annotator, label), probability[item])
        rows = confusion.sum(axis=2, keepdims=True)
        confusion = np.divide(
            confusion, rows, out=np.full_like(confusion, 1.0 / labels), where=rows > 0
        )
        prior = probability.mean(axis=0)
        with np.errstate(divide="ignore"):
            logp = np.tile(np.log(prior), (items, 1))
            np.add.at(logp, item, np.log(confusion[annotator, :, label]))
        logp -= logp.max(axis=1, keepdims=True)
        updated = np.exp(logp)
        updated /= updated.sum(axis=1, keepdims=True)
        change = float(np.abs(updated - probability).max())
        probability = updated
        iterations = iterations - 1
        if change < tolerance or iterations <= 0:
            return DawidSkene(probability, confusion, prior)
