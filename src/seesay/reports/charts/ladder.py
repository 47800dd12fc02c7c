"""A ladder of names by height, computed from how often each is above or below the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from seesay.reports.charts.kernel import WIDTH, chart, element, empty_chart, text, tooltip
from seesay.reports.charts.lines import spread_apart

RUNG = 15.0
RAIL = 60.0


def heights(pairs: Sequence[tuple[str, str, float]]) -> dict[str, float]:
    """Heights with mean zero whose differences fit those of the pairs in the least-squares sense.

    A pair (a, b, d) means that a is above b by d, from -1 (always below) to 1 (always above).

    >>> heights([("lamp", "table", 1.0), ("table", "floor", 1.0), ("lamp", "floor", 1.0)])["lamp"] > 0
    True
    """
    names = sorted({name for a, b, _ in pairs for name in (a, b)})
    index = {name: i for i, name in enumerate(names)}
    rows = np.zeros((len(pairs), len(names)))
    for row, (a, b, _) in zip(rows, pairs, strict=True):
        row[index[a]] += 1
        row[index[b]] -= 1
    fitted = np.linalg.lstsq(rows, np.array([difference for *_, difference in pairs]), rcond=None)[
        0
    ]
    return dict(zip(names, (fitted - fitted.mean()).tolist(), strict=True))


def ladder(pairs: Sequence[tuple[str, str, float]], *, title: str) -> Markup:
    """Names on a rail at their heights; overlapping names are moved apart, with a line to their
    rung."""
    if not pairs:
        return empty_chart("ladder", title)
    placed = sorted(heights(pairs).items(), key=lambda item: (-item[1], item[0]))
    high = placed[0][1]
    low = placed[-1][1]
    bottom = RUNG * max(len(placed), 4)
    rungs = [
        8 + (bottom - 16) * ((high - value) / (high - low) if high > low else 0.5)
        for _, value in placed
    ]
    parts = [element("line", x1=RAIL, x2=RAIL, y1=0.0, y2=bottom, class_="base")]
    parts += [
        text(RAIL - 12, 12, "above", "note end"),
        text(RAIL - 12, bottom - 4, "below", "note end"),
    ]
    for (name, value), rung, y in zip(
        placed, rungs, spread_apart(rungs, RUNG, 8, bottom - 4), strict=True
    ):
        tip = tooltip(f"{name}: {value:+.2f}")
        parts.append(element("circle", tip, cx=RAIL, cy=rung, r=3.0, class_="spot"))
        parts.append(
            element(
                "path", d=f"M{RAIL + 5:.2f} {rung:.2f}L{RAIL + 24:.2f} {y:.2f}", class_="leader"
            )
        )
        parts.append(text(RAIL + 28, y + 3.5, name, room=WIDTH - RAIL - 30))
    return chart("ladder", WIDTH, bottom, title, parts)
