"""A ladder of names by height, computed from how often each is above or below the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from seesay.reports.charts.kernel import (
    WIDTH,
    chart,
    element,
    empty_chart,
    text,
    tooltip,
    vertical_line,
)
from seesay.reports.charts.lines import spread_apart

RUNG = 15.0
RAIL = 60.0


def heights(pairs: Sequence[tuple[str, str, float]]) -> dict[str, float]:
    """Return heights with mean zero whose differences fit those of the pairs in the least-squares
    sense.

    A pair (a, b, d) means that a is above b by d, from -1 (always below) to 1 (always above).

    >>> pairs = [("lamp", "table", 1.0), ("table", "floor", 1.0), ("lamp", "floor", 1.0)]
    >>> heights(pairs)["lamp"] > 0
    True
    """
    names = sorted({name for a, b, _ in pairs for name in (a, b)})
    index = {name: i for i, name in enumerate(names)}
    # one equation per pair: height of a - height of b = difference
    rows = np.zeros((len(pairs), len(names)))
    for row, (a, b, _) in zip(rows, pairs, strict=True):
        row[index[a]] += 1
        row[index[b]] -= 1
    differences = np.array([difference for *_, difference in pairs])
    solution, *_ = np.linalg.lstsq(rows, differences, rcond=None)
    # differences say nothing of the level, which the solver is free to choose
    centered = solution - solution.mean()
    return dict(zip(names, centered.tolist(), strict=True))


def ladder(pairs: Sequence[tuple[str, str, float]], *, title: str) -> Markup:
    """Draw names on a rail at their heights.

    Overlapping names are moved apart, with a line to their rung.
    """
    if not pairs:
        return empty_chart("ladder", title)
    by_height = sorted(heights(pairs).items(), key=lambda item: (-item[1], item[0]))
    high = by_height[0][1]
    low = by_height[-1][1]
    bottom = RUNG * max(len(by_height), 4)
    rungs = []
    for _, height in by_height:
        # where all are at the same height, they stand in the middle
        share = (high - height) / (high - low) if high > low else 0.5
        rungs.append(8 + (bottom - 16) * share)
    label_heights = spread_apart(rungs, RUNG, 8, bottom - 4)
    parts = [
        vertical_line(RAIL, 0.0, bottom, "base"),
        text(RAIL - 12, 12, "above", "note end"),
        text(RAIL - 12, bottom - 4, "below", "note end"),
    ]
    for (name, height), rung, y in zip(by_height, rungs, label_heights, strict=True):
        tip = tooltip(f"{name}: {height:+.2f}")
        path = f"M{RAIL + 5:.2f} {rung:.2f}L{RAIL + 24:.2f} {y:.2f}"
        parts += [
            element(
                "circle",
                tip,
                cx=RAIL,
                cy=rung,
                r=3.0,
                class_="spot",
            ),
            element("path", d=path, class_="leader"),
            text(
                RAIL + 28,
                y + 3.5,
                name,
                room=WIDTH - RAIL - 30,
            ),
        ]
    return chart("ladder", WIDTH, bottom, title, parts)
