"""What was joined with what, and how far apart they were."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from seesay.report.charts.kernel import WIDTH, Axis, axis, breadth, chart, element, nothing, short, text, tooltip
from seesay.report.formatting import brief

ROW = 14.0
ROOM = 150.0


def dendrogram(merges: Sequence[Sequence[float]], labels: Sequence[str], *, title: str) -> Markup:
    """A tree of leaves at the right, each join as far to the left as its distance.

    `merges` is laid out as SciPy's linkage: rows of (one, other, distance, size), where 0 … n−1 are the leaves and
    n + i is what row i joined.
    """
    if not labels:
        return nothing("dendrogram", title)
    if len(merges) != len(labels) - 1:
        raise ValueError(f"{len(labels)} leaves need {len(labels) - 1} merges, not {len(merges)}")
    n = len(labels)
    order = leaf_order(merges, n)
    right = WIDTH - breadth(labels, ROOM) - 10
    x = axis([float(merge[2]) for merge in merges], right, 8, zero=True)
    rank = {leaf: place for place, leaf in enumerate(order)}
    at = [(x.at(0), ROW * (rank[leaf] + 0.5)) for leaf in range(n)]
    parts = _guides(x, ROW * n)
    for one, other, distance, *_ in merges:
        (x1, y1), (x2, y2) = at[int(one)], at[int(other)]
        if not math.isfinite(distance):
            raise ValueError("a merge needs a finite distance")
        joint = x.at(distance)
        told = tooltip(f"distance {brief(distance)}")
        path = f"M{short(x1)} {short(y1)}H{short(joint)}V{short(y2)}H{short(x2)}"
        parts.append(element("path", told, d=path, class_="branch"))
        at.append((joint, (y1 + y2) / 2))
    parts += [text(right + 8, at[leaf][1] + 3.5, labels[leaf], room=ROOM) for leaf in range(n)]
    return chart("dendrogram", WIDTH, ROW * n + 38, title, parts)


def leaf_order(merges: Sequence[Sequence[float]], n: int) -> list[int]:
    """The leaves from first to last, so that no branches cross.

    >>> leaf_order([(1, 2, 0.5, 2), (3, 0, 1.0, 3)], 3)
    [1, 2, 0]
    """
    order: list[int] = []
    waiting = [n + len(merges) - 1]
    while waiting:
        node = waiting.pop()
        if node < n:
            order.append(node)
        else:
            one, other, *_ = merges[node - n]
            waiting += [int(other), int(one)]
    return order


def _guides(x: Axis, bottom: float) -> list[Markup]:
    parts = []
    for tick in x.ticks:
        parts.append(element("line", x1=x.at(tick), x2=x.at(tick), y1=0, y2=bottom + 2, class_="guide"))
        parts.append(text(x.at(tick), bottom + 15, brief(tick), "tick middle"))
    return [*parts, text((x.start + x.end) / 2, bottom + 31, "distance", "note middle")]
