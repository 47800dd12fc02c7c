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
    """The fitted model."""

    labels: FloatArray
    """Items by labels: the probability that each is the true one."""
    confusion: FloatArray
    """Annotators by true label by the label that they give: the probability of each."""
    prior: FloatArray
    """How often each label is true."""

    @property
    def competence(self) -> FloatArray:
        """Return the probability that an annotator gives the true label.

        Labels are weighted by how often they are true.
        """
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
    """Fit the model to answers by expectation-maximisation.

    `item`, `annotator`, `label`: one element per answer.
    `labels`: how many labels there are.
    `tolerance`: the change of a probability below which the fit has converged.
    `smoothing`: answers added to every cell of a confusion matrix, for annotators with few of them.
    """
    items = int(item.max()) + 1
    annotators = int(annotator.max()) + 1
    # The first estimate of the labels: the shares of the answers.
    probability = np.zeros((items, labels))
    np.add.at(probability, (item, label), 1.0)
    probability /= probability.sum(axis=1, keepdims=True).clip(min=1.0)
    while True:
        # Equation 2.3: confusion matrices, from the labels' probabilities.
        confusion = np.full((annotators, labels, labels), smoothing)
        np.add.at(confusion.transpose(0, 2, 1), (annotator, label), probability[item])
        totals = confusion.sum(axis=2, keepdims=True)
        # A label that an annotator has never met says nothing: all answers are equally likely.
        uniform = np.full_like(confusion, 1.0 / labels)
        confusion = np.divide(confusion, totals, out=uniform, where=totals > 0)
        # Equation 2.4: how often each label is true.
        prior = probability.mean(axis=0)
        # Equation 2.5: the labels' probabilities, in logarithms, since products underflow.
        with np.errstate(divide="ignore"):
            log_probability = np.tile(np.log(prior), (items, 1))
            np.add.at(log_probability, item, np.log(confusion[annotator, :, label]))
        log_probability -= log_probability.max(axis=1, keepdims=True)
        updated = np.exp(log_probability)
        updated /= updated.sum(axis=1, keepdims=True)
        change = float(np.abs(updated - probability).max())
        probability = updated
        iterations -= 1
        if change < tolerance or iterations <= 0:
            return DawidSkene(probability, confusion, prior)
