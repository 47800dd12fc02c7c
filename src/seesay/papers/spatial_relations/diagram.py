"""Figure 1: from a corpus to the vector of one relation, as a diagram."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from seesay.reports.charts.kernel import (
    WIDTH,
    chart,
    coordinate,
    element,
    text,
    tooltip,
)

LINE = 13.0
HEAD = 4.0
"""Half the width of an arrow's head."""
BOX_WIDTH = 78.0
BIN_WIDTH = 46.0
BIN_LEFT = 212.0
BINS = 3
"""Context bins that are drawn before the last one."""
STRIP_TOP = 80.0
STRIP_HEIGHT = 12.0

Point = tuple[float, float]


def vector_diagram(relation: str, contexts: Sequence[str], values: Sequence[float]) -> Markup:
    """Draw the way from a corpus to the vector of a relation, whose values are one for each context
    bin; without values the vector is left blank."""
    parts = [
        *_box(0, 58, BOX_WIDTH, ["Corpus"]),
        *_box(106, 8, BOX_WIDTH, ["Training"]),
        *_box(106, 100, BOX_WIDTH, ["Held-out"]),
        *_box(106, 152, BOX_WIDTH, ["dictionary of", "multiword", "relations"]),
        *_box(262, 8, 130, ["LSTM", "language model"]),
        _arrow([(78, 70), (92, 70), (92, 26), (106, 26)]),
        _arrow([(78, 82), (92, 82), (92, 118), (106, 118)]),
        _arrow([(184, 26), (262, 26)]),
        _arrow([(184, 118), (198, 118), (198, 150), (BIN_LEFT, 150)]),
        _arrow([(184, 178), (198, 178), (198, 162), (BIN_LEFT, 162)]),
        _arrow([(327, 56), (327, STRIP_TOP)]),
        *_strip(contexts, values),
        *_bins(contexts),
    ]
    middle = (BIN_LEFT + WIDTH) / 2
    parts.append(_arrow([(middle, 226), (middle, 198)]))
    parts.append(text(middle, 240, f"rel_i = “{relation}”", "small middle"))
    return chart("diagram", WIDTH, 248, "Generating the vector of a spatial relation", parts)


def _box(left: float, top: float, width: float, lines: Sequence[str]) -> list[Markup]:
    """Draw a frame around a few lines of text."""
    height = LINE * len(lines) + 22
    frame = element(
        "rect",
        x=left,
        y=top,
        width=width,
        height=height,
        rx=3,
        fill="none",
        class_="base",
    )
    parts = [frame]
    for number, line in enumerate(lines):
        height_of_line = top + 22 + LINE * number
        parts.append(text(left + width / 2, height_of_line, line, "small middle"))
    return parts


def _arrow(points: Sequence[Point]) -> Markup:
    """Draw an arrow along points, its head at the last."""
    path = "M" + "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in points)
    (_, before_y), (x, y) = points[-2:]
    # the last piece is level or upright
    if before_y == y:
        back = x - 2 * HEAD
        head = [(back, y - HEAD), (x, y), (back, y + HEAD)]
    else:
        back = y - 2 * HEAD if y > before_y else y + 2 * HEAD
        head = [(x - HEAD, back), (x, y), (x + HEAD, back)]
    path += "M" + "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in head)
    return element("path", d=path, fill="none", class_="base")


def _strip(contexts: Sequence[str], values: Sequence[float]) -> list[Markup]:
    """Draw the vector: a cell for each context bin, the darker, the higher its value."""
    width = (WIDTH - BIN_LEFT) / len(contexts)
    highest = max(values, default=1.0)
    parts = []
    for number, context in enumerate(contexts):
        description = context
        shade = 0.0
        if values:
            shade = values[number] / highest
            description = f"{context}: {values[number]:.4g}"
        parts.append(
            element(
                "rect",
                tooltip(description),
                x=BIN_LEFT + width * number,
                y=STRIP_TOP,
                width=width,
                height=STRIP_HEIGHT,
                class_="heat",
                fill_opacity=shade,
            )
        )
    outline = element(
        "rect",
        x=BIN_LEFT,
        y=STRIP_TOP,
        width=WIDTH - BIN_LEFT,
        height=STRIP_HEIGHT,
        class_="outline",
    )
    label = text(WIDTH, STRIP_TOP - 8, "PP(rel_i, context_j)", "note end")
    return [*parts, outline, label]


def _bins(contexts: Sequence[str]) -> list[Markup]:
    """Draw the first context bins and the last, each with an arrow to its cell of the vector."""
    cell = (WIDTH - BIN_LEFT) / len(contexts)
    first = [(number, BIN_LEFT + (BIN_WIDTH + 6) * number) for number in range(BINS)]
    last = (len(contexts) - 1, WIDTH - BIN_WIDTH)
    parts = []
    for number, left in (*first, last):
        parts += _box(left, 134, BIN_WIDTH, ["context", f"bin {number + 1}", contexts[number]])
        at = BIN_LEFT + cell * (number + 0.5)
        bottom = STRIP_TOP + STRIP_HEIGHT
        # each goes over at a height of its own, so that no two of them lie on one another
        level = 124.0 - 8 * number if number < BINS else 124.0
        middle = left + BIN_WIDTH / 2
        parts.append(_arrow([(middle, 134), (middle, level), (at, level), (at, bottom)]))
    parts.append(text((first[-1][1] + BIN_WIDTH + last[1]) / 2, 166, "…", "middle"))
    return parts
