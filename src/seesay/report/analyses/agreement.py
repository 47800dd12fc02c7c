"""Our categories beside the published ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from seesay.report.analyses.base import Analysis, Shares
from seesay.report.charts import heat_map
from seesay.tasks.categories import CATEGORIES, agreement


def categories(ours: Mapping[str, str], theirs: Mapping[str, str], encoder: str) -> Analysis:
    """Where the names of each published category go when an encoder assigns them (Table 8)."""
    found = agreement(ours, theirs)
    labels = list(dict.fromkeys((*CATEGORIES, *ours.values())))
    pairs = Counter((theirs[name], ours[name]) for name in ours if name in theirs)
    rows = []
    for label in sorted({theirs[name] for name in ours if name in theirs}):
        n = sum(pairs[label, other] for other in labels)
        rows.append(Shares(label, n, {other: pairs[label, other] / n for other in labels}))
    chart = heat_map(
        [[row.shares[label] for label in labels] for row in rows],
        [row.part for row in rows],
        labels,
        title=f"Published category (rows) and category by {encoder} (columns)",
    )
    text = (
        f"{encoder} puts {100 * found.share:.1f} % of {found.names:,} names into their published category "
        f"(Cohen's kappa {found.kappa:.3f})."
    )
    return Analysis(
        "category-agreement", "viphy-color", "Categories by a sentence encoder", "Table 8", text, rows, (chart,)
    )
