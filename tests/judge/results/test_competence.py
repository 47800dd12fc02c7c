"""Dawid and Skene's model: one step by hand, and planted annotators found again."""

from __future__ import annotations

import numpy as np
import pytest

from seesay.judge.results.competence import dawid_skene


def test_one_step_by_hand() -> None:
    """Three annotators. The first item gets 0, 0, 1, the second 1, 1, 1.

    Start: P = (2/3, 1/3) and (0, 1), the shares of the answers. Then the first two annotators give
    0 where 0 is true, and where 1 is true 0 with weight 1/3 and 1 with weight 1, so (1/4, 3/4); the
    third always gives 1. The prior is (1/3, 2/3). The first item: 1/3 · 1 · 1 · 1 = 8/24 against
    2/3 · 1/4 · 1/4 · 1 = 1/24, so 8/9; the second: 1.
    """
    item, annotator = np.repeat([0, 1], 3), np.tile([0, 1, 2], 2)
    fit = dawid_skene(item, annotator, np.array([0, 0, 1, 1, 1, 1]), labels=2, iterations=1)
    assert fit.confusion == pytest.approx(
        np.array([[[1, 0], [1 / 4, 3 / 4]]] * 2 + [[[0, 1], [0, 1]]])
    )
    assert fit.prior == pytest.approx(np.array([1 / 3, 2 / 3]))
    assert fit.labels == pytest.approx(np.array([[8 / 9, 1 / 9], [0, 1]]))
    assert fit.competence == pytest.approx(np.array([1 / 3 + 2 / 3 * 3 / 4] * 2 + [2 / 3]))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_known_competence_is_recovered(seed: int) -> None:
    """Forty annotators of known competence on 300 items of four labels: estimates follow the
    truth."""
    rng = np.random.default_rng(seed)
    truth, competence = rng.integers(0, 4, 300), rng.uniform(0.3, 0.98, 40)
    item, annotator = (
        np.repeat(np.arange(300), 8),
        np.concatenate([rng.permutation(40)[:8] for _ in range(300)]),
    )
    right = rng.random(len(item)) < competence[annotator]
    label = np.where(right, truth[item], (truth[item] + rng.integers(1, 4, len(item))) % 4)
    fit = dawid_skene(item, annotator, label, labels=4, smoothing=0.5)
    assert np.corrcoef(fit.competence, competence)[0, 1] > 0.9
    majority = np.array([np.bincount(label[item == i], minlength=4).argmax() for i in range(300)])
    assert (fit.labels.argmax(axis=1) == truth).mean() > (majority == truth).mean()
    assert fit.labels.sum(axis=1) == pytest.approx(1)
