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
from functools import cache, lru_cache

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
    """Return an element; `class_` and `text_anchor` are written as SVG does, numbers with at most
    two decimals.

    >>> element("rect", x=1.504, width=20, class_="a<b")
    Markup('<rect x="1.5" width="20" class="a&lt;b"/>')
    """
    words = [name]
    for key, value in attributes.items():
        if value is None:
            continue
        quoted = coordinate(value) if isinstance(value, float) else _escape(value)
        words.append(f'{_attribute(key)}="{quoted}"')
    start = " ".join(words)
    inside = content if isinstance(content, Markup) else escape(content)
    if not inside:
        return Markup(f"<{start}/>")
    return Markup(f"<{start}>{inside}</{name}>")


# a page has tens of thousands of elements, and few attributes and classes
@cache
def _attribute(key: str) -> str:
    """Return the name of an attribute."""
    # a trailing underscore keeps `class_` apart from Python's keyword
    return key.rstrip("_").replace("_", "-")


@lru_cache(maxsize=4096, typed=True)
def _escape(value: object) -> str:
    """Return the value of an attribute."""
    return str(escape(value))


def coordinate(value: float) -> str:
    """Return a coordinate as text, with no more digits than can be seen.

    >>> coordinate(10.0), coordinate(-0.001), coordinate(1 / 3)
    ('10', '0', '0.33')
    """
    digits = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if digits == "-0" else digits


def text(
    x: float,
    y: float,
    words: str,
    class_: str = "",
    room: float = math.inf,
    **attributes: object,
) -> Markup:
    """Return a text; one longer than its room ends in an ellipsis, and its tooltip is in full."""
    words = printable(words)
    # a browser would measure the text, but pages have no script for it and files no browser
    fitted = truncate(words, room)
    content = escape(fitted)
    if fitted != words:
        content += tooltip(words)
    return element(
        "text",
        content,
        x=x,
        y=y,
        class_=class_ or None,
        **attributes,
    )


def tooltip(words: str) -> Markup:
    """Return the tooltip of an element."""
    return element("title", printable(words))


def truncate(words: str, room: float) -> str:
    """Return a text that fits into its room, with an ellipsis where its end is cut off.

    >>> truncate("chair", 60), truncate("kitchen cabinet", 60)
    ('chair', 'kitchen…')
    """
    if room == math.inf:
        return words
    longest = max(int(room / _CHARACTER), 1)
    if len(words) <= longest:
        return words
    return words[: longest - 1].rstrip() + "…"


def text_width(names: Iterable[str], most: float) -> float:
    """Return the width of the longest name, `most` at most."""
    widths = (_characters(printable(name)) * _CHARACTER + 4 for name in names)
    return min(max(widths, default=0.0), most)


def _characters(name: str) -> float:
    """Count average characters: capitals and signs such as + are a third wider than letters."""
    return sum(4 / 3 if char.isupper() or char in "+=±" else 1.0 for char in name)


def group(parts: Iterable[Markup], class_: str) -> Markup:
    """Return elements as one, under a class that they share."""
    return element("g", Markup("".join(parts)), class_=class_)


def vertical_line(
    x: float,
    y1: float,
    y2: float,
    class_: str,
) -> Markup:
    """Return a line from one height to another."""
    return element(
        "line",
        x1=x,
        x2=x,
        y1=y1,
        y2=y2,
        class_=class_,
    )


def horizontal_line(
    x1: float,
    x2: float,
    y: float,
    class_: str,
) -> Markup:
    """Return a line from left to right."""
    return element(
        "line",
        x1=x1,
        x2=x2,
        y1=y,
        y2=y,
        class_=class_,
    )


def is_interval(low: float | None, high: float | None) -> bool:
    """Return whether both ends are given and finite, so that a whisker can be drawn."""
    return all(end is not None and math.isfinite(end) for end in (low, high))


def chart(
    kind: str,
    width: float,
    height: float,
    title: str,
    parts: Iterable[Markup],
    wide: bool = False,
) -> Markup:
    """Return a complete chart under its title of at most three lines.

    `height` is that of the drawing without the title.
    """
    title = printable(title)
    # the title's letters are larger than those of labels
    characters = max(int(width / 8.2), 10)
    lines = textwrap.wrap(title, characters, max_lines=3, placeholder=" …") or [""]
    heading = [text(0, 13 + LINE * index, line, "title") for index, line in enumerate(lines)]
    heading_height = LINE * len(lines) + 8
    body = element(
        "g", Markup("".join(parts)), transform=f"translate(0 {coordinate(heading_height)})"
    )
    height += heading_height
    classes = f"chart {kind}"
    if wide:
        classes += " wide"
    return element(
        "svg",
        Markup("").join((*heading, body)),
        xmlns="http://www.w3.org/2000/svg",
        class_=classes,
        viewBox=f"0 0 {coordinate(width)} {coordinate(height)}",
        width=width,
        height=height,
        role="img",
        aria_label=title,
    )


def empty_chart(kind: str, title: str) -> Markup:
    """Return the chart that is shown where there is no data."""
    return chart(
        kind,
        WIDTH,
        40,
        title,
        [text(0, 20, "No data.", "note")],
    )


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
        """Return the coordinate of a value."""
        low = self.low
        high = self.high
        if self.log:
            low = math.log(low)
            high = math.log(high)
            value = math.log(value)
        # divided first: the share is exactly 0 and 1, and the coordinate exact, at both ends
        share = (value - low) / (high - low)
        return self.start + (self.end - self.start) * share


TINY = 1e-290
"""Values closer than this are drawn as equal: a step between them could not be computed."""

_ROUNDING = 1e-9


def axis(
    values: Iterable[float],
    start: float,
    end: float,
    zero: bool = False,
    tight: bool = False,
    whole: bool = False,
) -> Axis:
    """Return an axis over the finite values with round numbers at its ends, or with `tight`, the
    outermost values.

    Ticks of counts are `whole` numbers.
    """
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    low = min(finite)
    high = max(finite)
    if zero:
        low = min(low, 0.0)
        high = max(high, 0.0)
    # a single value gets room on both sides, but an axis that starts at zero goes on doing so
    if high - low < TINY:
        margin = abs(low) / 2 if abs(low) >= TINY else 0.5
        if zero and low == 0:
            high += 2 * margin
        else:
            low -= margin
            high += margin
    step = _step(high - low)
    if whole:
        step = float(math.ceil(step))
    # The small terms absorb rounding errors: a value that is a multiple of the step up to its last
    # digits must not push the axis, or a tick, one step further.
    if not tight:
        low = math.floor(low / step + _ROUNDING) * step
        high = math.ceil(high / step - _ROUNDING) * step
    first = math.ceil(low / step - _ROUNDING)
    last = math.floor(high / step + _ROUNDING)
    ticks = tuple(step * index for index in range(first, last + 1))
    return Axis(low, high, start, end, ticks)


def log_axis(values: Iterable[float], start: float, end: float) -> Axis:
    """Return a logarithmic axis from the least value to the greatest.

    Ticks are at 1, 10, 100, on a short axis also at 2 and 5.
    """
    finite = [value for value in values if math.isfinite(value)] or [1.0, 10.0]
    low = min(finite)
    high = max(finite)
    # a bug in the caller: which values go on such an axis is decided there
    if low <= 0:
        raise ValueError(f"a logarithmic axis needs values above 0, not {low}")
    if low == high:
        low = low / 2
        high = high * 2
    first_power = math.floor(math.log10(low))
    last_power = math.ceil(math.log10(high))
    powers = range(first_power, last_power + 1)
    # less than two powers of ten would leave one tick, or none
    is_short = math.log10(high / low) < 2
    digits = (1, 2, 5) if is_short else (1,)
    ticks = [10.0**power * digit for power in powers for digit in digits]
    lowest = low * (1 - _ROUNDING)
    highest = high * (1 + _ROUNDING)
    inside = tuple(tick for tick in ticks if lowest <= tick <= highest)
    return Axis(low, high, start, end, inside, log=True)


def x_axis(
    x: Axis,
    bottom: float,
    label: str,
    top: float | None = None,
) -> list[Markup]:
    """Return tick labels and the name of the axis below `bottom`.

    Guides go up to `top`; without it there are short ticks.
    """
    parts = []
    for tick in x.ticks:
        at = x.at(tick)
        if top is None:
            parts.append(vertical_line(at, bottom, bottom + 4, "base"))
        else:
            parts.append(vertical_line(at, top, bottom, _guide_class(tick)))
        label_text = brief(tick)
        # no label is cut at an edge
        half = text_width([label_text], WIDTH) / 2
        inside = max(min(at, max(WIDTH, x.end) - half), half)
        parts.append(text(inside, bottom + 15, label_text, "tick middle"))
    # below the middle of the axis, which begins at the right of a tree
    middle = (x.start + x.end) / 2
    parts.append(text(middle, bottom + 31, label, "note middle", WIDTH))
    return parts


def y_room(y: Axis, least: float) -> float:
    """Return where a chart begins at the left, so that no label of this axis is cut."""
    return max(least, text_width(map(brief, y.ticks), WIDTH) + 8)


def y_axis(
    y: Axis,
    left: float,
    right: float,
    label: str,
    top: float = 8,
) -> list[Markup]:
    """Return the name of the axis at the `top`, and guides with their tick labels."""
    parts = [text(0, top, label, "note", WIDTH)]
    for tick in y.ticks:
        at = y.at(tick)
        parts.append(horizontal_line(left, right, at, _guide_class(tick)))
        parts.append(
            text(
                left - 6,
                at + 3.5,
                brief(tick),
                "tick end",
            )
        )
    return parts


def _guide_class(tick: float) -> str:
    """The guide at zero is the base line, which is drawn stronger than the others."""
    return "guide" if tick else "base"


def series_legend(
    names: Sequence[str], key: Markup, top: float = 0.0
) -> tuple[list[Markup], float]:
    """Return a legend of series, with the same key in the color of each, and its height."""
    keys = [element("g", key, class_=series_class(index)) for index in range(len(names))]
    return legend(names, keys, top)


def legend(
    names: Sequence[str], keys: Sequence[Markup], top: float = 0.0
) -> tuple[list[Markup], float]:
    """Return keys with their names in as many lines as needed, and the total height.

    Keys are centered on (0, 0).
    """
    if not names:
        return [], 0.0
    parts = []
    x = 0.0
    y = top
    for name, key in zip(names, keys, strict=True):
        width = text_width([name], WIDTH - 20) + 20
        # a name that is too long for any line starts one of its own
        if x and x + width > WIDTH:
            x = 0.0
            y += LINE
        place = f"translate({coordinate(x + 6)} {coordinate(y + 8)})"
        parts.append(element("g", key, transform=place))
        parts.append(
            text(
                x + 16,
                y + 12,
                name,
                room=width - 20,
            )
        )
        x += width + 8
    return parts, y + LINE - top


def square(class_: str) -> Markup:
    """Return a legend key for a filled area."""
    return element(
        "rect",
        x=-5,
        y=-5,
        width=10,
        height=10,
        rx=2,
        class_=class_,
    )


def hue(series: int) -> int:
    """Return the hue of a series."""
    # shapes and hues run out of step, so that the seventh series still has a mark of its own
    return (series + series // SERIES) % SERIES


def series_class(series: int) -> str:
    """Return the class that colors a series."""
    return f"m{hue(series)}"


def swatch(label: str) -> str | None:
    """Return the class that paints a color word; None for any other word.

    >>> swatch("Grey"), swatch("banana")
    ('c-gray', None)
    """
    word = label.strip().lower().replace("grey", "gray")
    if word not in COLORS:
        return None
    return f"c-{word}"


def swatches(labels: Sequence[str]) -> list[str]:
    """Return a class for each of a few labels.

    Color words have their own color, others a shade.
    """
    return [swatch(label) or f"k{index % RAMP}" for index, label in enumerate(labels)]


def _step(span: float, most: int = 5) -> float:
    """Return the smallest round step that covers the span in at most so many steps."""
    power: float = 10.0 ** math.floor(math.log10(span / most))
    steps = (digit * power for digit in (1, 2, 2.5, 5, 10))
    return next(step for step in steps if step * most >= span * (1 - _ROUNDING))
