"""A ladder: names at their heights, highest on top, from how often each stands above or below the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from seesay.report.charts.kernel import WIDTH, chart, element, nothing, text, tooltip
from seesay.report.charts.lines import spread

RUNG = 15.0
RAIL = 60.0


def heights(pairs: Sequence[tuple[str, str, float]]) -> dict[str, float]:
    """A height for each name, so that the differences fit the pairs' in the least-squares sense; the mean is zero.

    A pair (a, b, d) says that a stands d above b, from -1 (always below) to 1 (always above).

    >>> heights([("lamp", "table", 1.0), ("table", "floor", 1.0), ("lamp", "floor", 1.0)])["lamp"] > 0
    True
    """
    names = sorted({name for a, b, _ in pairs for name in (a, b)})
    place = {name: i for i, name in enumerate(names)}
    rows = np.zeros((len(pairs), len(names)))
    for row, (a, b, _) in zip(rows, pairs, strict=True):
        row[place[a]] += 1
        row[place[b]] -= 1
    found = np.linalg.lstsq(rows, np.array([difference for *_, difference in pairs]), rcond=None)[0]
    return dict(zip(names, (found - found.mean()).tolist(), strict=True))


def ladder(pairs: Sequence[tuple[str, str, float]], *, title: str) -> Markup:
    """Names on a rail at their heights; names that would overlap move apart, with a line to their rung."""
    if not pairs:
        return nothing("ladder", title)
    placed = sorted(heights(pairs).items(), key=lambda item: (-item[1], item[0]))
    high, low = placed[0][1], placed[-1][1]
    bottom = RUNG * max(len(placed), 4)
    rungs = [8 + (bottom - 16) * ((high - value) / (high - low) if high > low else 0.5) for _, value in placed]
    parts = [element("line", x1=RAIL, x2=RAIL, y1=0.0, y2=bottom, class_="base")]
    parts += [text(RAIL - 12, 12, "above", "note end"), text(RAIL - 12, bottom - 4, "below", "note end")]
    for (name, value), rung, at in zip(placed, rungs, spread(rungs, RUNG, 8, bottom - 4), strict=True):
        told = tooltip(f"{name}: {value:+.2f}")
        parts.append(element("circle", told, cx=RAIL, cy=rung, r=3.0, class_="spot"))
        parts.append(element("path", d=f"M{RAIL + 5:.2f} {rung:.2f}L{RAIL + 24:.2f} {at:.2f}", class_="leader"))
        parts.append(text(RAIL + 28, at + 3.5, name, room=WIDTH - RAIL - 30))
    return chart("ladder", WIDTH, bottom, title, parts)
