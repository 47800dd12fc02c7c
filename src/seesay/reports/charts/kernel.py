"""The SVG kernel of all charts: elements, texts that fit, axes with round ticks, legends and color
classes.

A chart is drawn for a narrow screen (440 units wide) and stretches with its column. Colors come
from classes: the page has them in light and dark, and a stand-alone file carries the light ones.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from seesay.data.colors import COLORS
from seesay.reports.formatting import brief, printable

WIDTH = 440.0
SERIES = 6
"""Hues, and as many shapes of marks."""

RAMP = 12
"""Shades for labels that are no color words."""

LINE = 16.0
"""Line height."""

_CHARACTER = 6.5
"""The width of an average character: texts are fitted without access to the font."""


def element(name: str, content: object = "", /, **attributes: object) -> Markup:
    """An element; `class_` and `text_anchor` are written as SVG does, numbers with at most two
    decimals.

    >>> element("rect", x=1.504, width=20, class_="a<b")
    Markup('<rect x="1.5" width="20" class="a&lt;b"/>')
    """
    written = "".join(
        " "
        f'{key.rstrip("_").replace("_", "-")}="{coordinate(value) if isinstance(value, float) else escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = escape(content)
    return Markup(f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>")


def coordinate(value: float) -> str:
    """A coordinate, with no more digits than can be seen.

    >>> coordinate(10.0), coordinate(-0.001), coordinate(1 / 3)
    ('10', '0', '0.33')
    """
    written = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def text(
    x: float, y: float, words: str, class_: str = "", room: float = math.inf, **attributes: object
) -> Markup:
    """A text; one longer than its room ends in an ellipsis and is shown in full as a tooltip."""
    words = printable(words)
    fitted = truncate(words, room)
    content = escape(fitted) if fitted == words else escape(fitted) + tooltip(words)
    return element("text", content, x=x, y=y, class_=class_ or None, **attributes)


def tooltip(words: str) -> Markup:
    """The tooltip of an element."""
    return element("title", printable(words))


def truncate(words: str, room: float) -> str:
    """
    >>> truncate("chair", 60), truncate("kitchen cabinet", 60)
    ('chair', 'kitchen…')
    """
    most = len(words) if room == math.inf else max(int(room / _CHARACTER), 1)
    if len(words) <= most:
        return words
    return words[: most - 1].rstrip() + "…"


def text_width(names: Iterable[str], most: float) -> float:
    """The width of the longest name, `most` at most; capitals and signs such as + are a third wider
    than letters."""
    widths = (
        sum(4 / 3 if c.isupper() or c in "+=±" else 1.0 for c in printable(name)) for name in names
    )
    return min(max((width * _CHARACTER + 4 for width in widths), default=0.0), most)


def chart(
    kind: str, width: float, height: float, title: str, parts: Iterable[Markup], wide: bool = False
) -> Markup:
    """A complete chart under its title of at most three lines; `height` is that of the drawing
    without the title."""
    lines = textwrap.wrap(
        printable(title), max(int(width / 8.2), 10), max_lines=3, placeholder=" …"
    ) or [""]
    heading = [text(0, 13 + LINE * index, line, "title") for index, line in enumerate(lines)]
    body = element(
        "g", Markup("").join(parts), transform=f"translate(0 {coordinate(LINE * len(lines) + 8)})"
    )
    height += LINE * len(lines) + 8
    return element(
        "svg",
        Markup("").join((*heading, body)),
        xmlns="http://www.w3.org/2000/svg",
        class_=f"chart {kind}{' wide' if wide else ''}",
        viewBox=f"0 0 {coordinate(width)} {coordinate(height)}",
        width=width,
        height=height,
        role="img",
        aria_label=printable(title),
    )


def empty_chart(kind: str, title: str) -> Markup:
    """The chart shown where there is no data."""
    return chart(kind, WIDTH, 40, title, [text(0, 20, "No data.", "note")])


@dataclass(frozen=True)
class Axis:
    """A mapping from a range of values to a range of coordinates, with round ticks."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    log: bool = False

    def at(self, value: float) -> float:
        """The coordinate of a value."""
        low, high, value = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        # exact at both ends
        return self.start + (self.end - self.start) * ((value - low) / (high - low))


TINY = 1e-290
"""Values closer than this are drawn as equal: a step between them could not be computed."""


def axis(
    values: Iterable[float],
    start: float,
    end: float,
    zero: bool = False,
    tight: bool = False,
    whole: bool = False,
) -> Axis:
    """An axis over the finite values with round numbers at its ends, or with `tight`, the outermost
    values.

    Ticks of counts are `whole` numbers.
    """
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    low = min(finite)
    high = max(finite)
    if zero:
        low = min(low, 0.0)
        high = max(high, 0.0)
    if high - low < TINY:
        margin = abs(low) / 2 if abs(low) >= TINY else 0.5
        low, high = (low, high + 2 * margin) if zero and low == 0 else (low - margin, high + margin)
    step = _step(high - low)
    if whole:
        step = float(math.ceil(step))
    if not tight:
        low = math.floor(low / step + 1e-9) * step
        high = math.ceil(high / step - 1e-9) * step
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return Axis(low, high, start, end, tuple(step * index for index in range(first, last + 1)))


def log_axis(values: Iterable[float], start: float, end: float) -> Axis:
    """A logarithmic axis from the least value to the greatest, ticks at 1, 10, 100 (also 2 and 5 on
    a short axis)."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (1.0, 10.0)
    if low <= 0:
        raise ValueError(f"a logarithmic axis needs values above 0, not {low}")
    if low == high:
        low = low / 2
        high = high * 2
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    few = math.log10(high / low) < 2
    ticks = (10.0**power * digit for power in powers for digit in ((1, 2, 5) if few else (1,)))
    inside = tuple(tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9))
    return Axis(low, high, start, end, inside, log=True)


def x_axis(x: Axis, bottom: float, label: str, top: float | None = None) -> list[Markup]:
    """Tick labels and the name of the axis below `bottom`, with guides from `top` or else short
    ticks."""
    parts = []
    y1, y2 = (bottom, bottom + 4) if top is None else (top, bottom)
    for tick in x.ticks:
        at = x.at(tick)
        kind = "guide" if tick and top is not None else "base"
        parts.append(element("line", x1=at, x2=at, y1=y1, y2=y2, class_=kind))
        # no label is cut at the edge
        right = max(WIDTH, x.end) - text_width([brief(tick)], WIDTH) / 2
        parts.append(text(min(at, right), bottom + 15, brief(tick), "tick middle"))
    return [*parts, text((x.start + x.end) / 2, bottom + 31, label, "note middle", WIDTH)]


def y_axis(y: Axis, left: float, right: float, label: str, top: float = 8) -> list[Markup]:
    """The name of the axis at the `top`, and guides from left to right with their tick labels."""
    parts = [text(0, top, label, "note", WIDTH)]
    for tick in y.ticks:
        at = y.at(tick)
        parts.append(
            element("line", x1=left, x2=right, y1=at, y2=at, class_="guide" if tick else "base")
        )
        parts.append(text(left - 6, at + 3.5, brief(tick), "tick end"))
    return parts


def series_legend(
    names: Sequence[str], key: Markup, top: float = 0.0
) -> tuple[list[Markup], float]:
    """A legend of series: the same key in the color of each."""
    return legend(
        names, [element("g", key, class_=series_class(index)) for index in range(len(names))], top
    )


def legend(
    names: Sequence[str], keys: Sequence[Markup], top: float = 0.0
) -> tuple[list[Markup], float]:
    """Keys with their names in as many lines as needed, and the total height. Keys are centered on
    (0, 0)."""
    parts = []
    x = 0.0
    y = top
    for name, drawn in zip(names, keys, strict=True):
        needed = text_width([name], WIDTH - 20) + 20
        if x and x + needed > WIDTH:
            x = 0.0
            y = y + LINE
        parts.append(
            element("g", drawn, transform=f"translate({coordinate(x + 6)} {coordinate(y + 8)})")
        )
        parts.append(text(x + 16, y + 12, name, room=needed - 20))
        x += needed + 8
    return parts, (y + LINE - top if names else 0.0)


def square(class_: str) -> Markup:
    """A legend key for a filled area."""
    return element("rect", x=-5, y=-5, width=10, height=10, rx=2, class_=class_)


def hue(series: int) -> int:
    """The hue of a series; shapes and hues run out of step, so that the seventh series still has a
    mark of its own."""
    return (series + series // SERIES) % SERIES


def series_class(series: int) -> str:
    """The class that colors a series."""
    return f"m{hue(series)}"


def swatch(label: str) -> str | None:
    """The class that paints a color word; None for any other word.

    >>> swatch("Grey"), swatch("banana")
    ('c-gray', None)
    """
    word = label.strip().lower().replace("grey", "gray")
    return f"c-{word}" if word in COLORS else None


def swatches(labels: Sequence[str]) -> list[str]:
    """A class for each of a few labels: color words in their own color, others in a quiet ramp."""
    return [swatch(label) or f"k{index % RAMP}" for index, label in enumerate(labels)]


def _step(span: float, most: int = 5) -> float:
    power: float = 10.0 ** math.floor(math.log10(span / most))
    return next(
        step * power for step in (1, 2, 2.5, 5, 10) if step * power * most >= span * (1 - 1e-9)
    )
