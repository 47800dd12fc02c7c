"""Categories by a sentence encoder compared with the published ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from seesay.reports.charts import heat_map
from seesay.reports.papers.viphy.analysis import Analysis, LabelShares
from seesay.tasks.categories import CATEGORIES, agreement


def category_agreement(ours: Mapping[str, str], published: Mapping[str, str], encoder: str) -> Analysis:
    """How the names of each published category are distributed when an encoder assigns them (Table 8)."""
    agreed = agreement(ours, published)
    labels = list(dict.fromkeys((*CATEGORIES, *ours.values())))
    pairs = Counter((published[name], ours[name]) for name in ours if name in published)
    rows = []
    for label in sorted({theirs for theirs, _ in pairs}):
        n = sum(pairs[label, other] for other in labels)
        rows.append(LabelShares(label, n, {other: pairs[label, other] / n for other in labels}))
    chart = heat_map(
        [[row.shares[label] for label in labels] for row in rows],
        [row.part for row in rows],
        labels,
        title=f"Published category (rows) and category by {encoder} (columns)",
    )
    text = (
        f"{encoder} puts {100 * agreed.share:.1f} % of {agreed.names:,} names into their published category "
        f"(Cohen's kappa {agreed.kappa:.3f})."
    )
    return Analysis(
        "category-agreement", "viphy-color", "Categories by a sentence encoder", "Table 8", text, rows, (chart,)
    )
