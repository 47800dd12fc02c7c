"""ViPhy's formulas: its two metrics and its rule of typical labels, on numbers that can be checked
by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seesay import metrics
from seesay.metrics.base import ScoredItems
from seesay.metrics.typical_labels import typical_labels
from seesay.papers.material import Material
from seesay.papers.paper import Rendered
from seesay.reports.formatting import number
from seesay.reports.pages.sections import DataTable

PROBABILITIES = np.array([[0.6, 0.4, 0.0], [0.5, 0.3, 0.2]])
TYPICAL = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
"""What a model gives red, white and black for two objects, and which of them are right."""
BY_HAND = {
    "relaxed_accuracy": ("R-Acc", "(1 + 0) / 2 = 0.500"),
    "true_confidence": ("Conf", "(0.6 + (0.3 + 0.2)) / 2 = 0.550"),
}
SHARES = {
    (0.5, 0.3, 0.12, 0.08): (
        "8 % go, then 12 / 92 of three; 50 / 80 and 30 / 80 remain",
        "the same",
    ),
    (0.7, 0.3): ("30 % is not more than 30 %: 100", "30 % is enough: 70, 30"),
}
"""Distributions of labels, and what remains of each by the paper and by its code."""


def scores(material: Material) -> Rendered:
    """Section 4: relaxed accuracy and true confidence of two objects."""
    # a probability of 0 is a score of −inf
    with np.errstate(divide="ignore"):
        items = ScoredItems(np.log(PROBABILITIES), TYPICAL)
    rows = []
    for name, (printed_name, by_hand) in BY_HAND.items():
        metric = metrics.get(name)
        value = float(metric.value(metric.stats(items).sum(axis=0)))
        rows.append([printed_name, by_hand, number(value)])
    text = (
        "Worked on two objects and three colours. A model gives the first 0.6 red and 0.4 white, "
        "and red is right; it gives the second 0.5 red, 0.3 white and 0.2 black, and white and "
        "black are right."
    )
    return Rendered(text, [DataTable(["metric", "by hand", "computed"], rows, "Ours, worked")])


def labels_of_colors(material: Material) -> Rendered:
    """Appendix A.2: what remains of two distributions, by the paper and by its code."""
    rows = []
    for shares, remarks in SHARES.items():
        for rule, remark in zip(("the paper", "its code"), remarks, strict=True):
            typical = typical_labels(np.array([shares]), strict=rule == "the paper")[0]
            given = _percentages(shares)
            rows.append([given, rule, remark, _percentages(typical.tolist())])
    text = (
        "Labels at or below the minimum are dropped, the others renormalised, and the rule is "
        "applied again until nothing changes. The paper asks for more than the minimum, the "
        "published code lets a label reach it, and the published files are the code's; `seesay "
        "mine --label-rule` has both."
    )
    header = ["shares, in percent", "rule of", "by hand", "typical, computed"]
    return Rendered(text, [DataTable(header, rows, "Ours, worked")])


def _percentages(shares: Sequence[float]) -> str:
    """Return shares in percent, those of dropped labels left out.

    >>> _percentages([0.625, 0.375, 0.0])
    '62.5, 37.5'
    """
    return ", ".join(f"{100 * share:.3g}" for share in shares if share)
