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
    """Draw a tree with its leaves at the right; each merge is as far to the left as its distance.

    `merges` is in the format of SciPy's linkage: rows of (left, right, distance, size), where 0 …
    n−1 are the leaves and n + i is the node of row i.
    """
    if not labels:
        return empty_chart("dendrogram", title)
    if len(merges) != len(labels) - 1:
        raise ValueError(f"{len(labels)} leaves need {len(labels) - 1} merges, not {len(merges)}")
    n = len(labels)
    right = WIDTH - text_width(labels, ROOM) - 10
    distances = [float(merge[2]) for merge in merges]
    x = axis(distances, right, 8, zero=True)
    ranks = {leaf: rank for rank, leaf in enumerate(leaf_order(merges, n))}
    # the place of every node: first of the leaves, then of each merge as it is drawn
    nodes = [(x.at(0), ROW * (ranks[leaf] + 0.5)) for leaf in range(n)]
    parts = x_axis(x, ROW * n, "distance", top=0)
    for first, second, distance, *_ in merges:
        if not math.isfinite(distance):
            raise ValueError("a merge needs a finite distance")
        x1, y1 = nodes[int(first)]
        x2, y2 = nodes[int(second)]
        joint = x.at(distance)
        tip = tooltip(f"distance {brief(distance)}")
        start = f"M{coordinate(x1)} {coordinate(y1)}"
        path = f"{start}H{coordinate(joint)}V{coordinate(y2)}H{coordinate(x2)}"
        parts.append(element("path", tip, d=path, class_="branch"))
        nodes.append((joint, (y1 + y2) / 2))
    for label, (_, y) in zip(labels, nodes, strict=False):
        parts.append(text(right + 8, y + 3.5, label, room=ROOM))
    return chart(
        "dendrogram",
        WIDTH,
        ROW * n + 38,
        title,
        parts,
    )


def leaf_order(merges: Sequence[Sequence[float]], n: int) -> list[int]:
    """Return the leaves from first to last, so that no branches cross.

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
            # a stack: the left branch is taken from it first
            waiting += [int(right), int(left)]
    return order
