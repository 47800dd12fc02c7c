"""Dendrograms."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from seesay.reports.charts.kernel import (
    WIDTH,
    axis,
    chart,
    coordinate,
    element,
    empty_chart,
    text,
    text_width,
    tooltip,
    x_axis,
)
from seesay.reports.formatting import brief

ROW = 14.0
ROOM = 150.0


def dendrogram(merges: Sequence[Sequence[float]], labels: Sequence[str], *, title: str) -> Markup:
    """A tree with its leaves at the right; each merge is as far to the left as its distance.

    `merges` is in the format of SciPy's linkage: rows of (left, right, distance, size), where 0 …
    n−1 are the leaves and n + i is the node of row i.
    """
    if not labels:
        return empty_chart("dendrogram", title)
    if len(merges) != len(labels) - 1:
        raise ValueError(f"{len(labels)} leaves need {len(labels) - 1} merges, not {len(merges)}")
    n = len(labels)
    order = leaf_order(merges, n)
    right = WIDTH - text_width(labels, ROOM) - 10
    x = axis([float(merge[2]) for merge in merges], right, 8, zero=True)
    rank = {leaf: i for i, leaf in enumerate(order)}
    at = [(x.at(0), ROW * (rank[leaf] + 0.5)) for leaf in range(n)]
    parts = x_axis(x, ROW * n, "distance", top=0)
    for first, second, distance, *_ in merges:
        (x1, y1), (x2, y2) = at[int(first)], at[int(second)]
        if not math.isfinite(distance):
            raise ValueError("a merge needs a finite distance")
        joint = x.at(distance)
        tip = tooltip(f"distance {brief(distance)}")
        path = "M{} {}H{}V{}H{}".format(*map(coordinate, (x1, y1, joint, y2, x2)))
        parts.append(element("path", tip, d=path, class_="branch"))
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
            left, right, *_ = merges[node - n]
            waiting += [int(right), int(left)]
    return order
