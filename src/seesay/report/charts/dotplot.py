"""Small inline SVG drawings: dots with whiskers on a shared scale, and bars of colours.

Positions are percentages of a drawing without a view box, so that it stretches with its table cell while marks and
lines keep their shape. Nothing is styled in place: the page's policy forbids it, and both colour schemes need classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from seesay.report.formatting import number

COLOURS = ("black", "blue", "brown", "gray", "green", "orange", "pink", "purple", "red", "white", "yellow")
LANES = 6

_MARKS = (
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z",
    "M-4-4H4V4H-4Z",
    "M0-5.5L5.5 0L0 5.5L-5.5 0Z",
    "M0-5L5 4H-5Z",
    "M0 5L5-4H-5Z",
    "M-1.6-5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6Z",
)


@dataclass(frozen=True)
class Mark:
    """A value with its interval, where one is known. `lane` gives colour and shape; None marks a published figure."""

    value: float
    low: float | None = None
    high: float | None = None
    lane: int | None = None
    hollow: bool = False


@dataclass(frozen=True)
class Scale:
    """The range that drawings share, with its ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> str:
        """Where a value stands, in per cent; what lies outside is drawn at the edge."""
        share = (value - self.low) / (self.high - self.low)
        return f"{100 * min(max(share, 0), 1):.2f}%"


def scale(values: Iterable[float | None], centred: bool = False) -> Scale:
    """The plainest range for the values: 0 to 1, −1 to 1, or round numbers; `centred` has zero in the middle."""
    known = [value for value in values if value is not None and math.isfinite(value)] or [0.0]
    low, high = min(known), max(known)
    if centred:
        reach = _round_up(max(abs(low), abs(high), 1e-3))
        return Scale(-reach, reach, (-reach, -reach / 2, 0.0, reach / 2, reach))
    if low >= 0 and high <= 1:
        return Scale(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))
    if low >= -1 and high <= 1:
        return Scale(-1.0, 1.0, (-1.0, -0.5, 0.0, 0.5, 1.0))
    top, bottom = (_round_up(high) if high > 0 else 0.0), (-_round_up(-low) if low < 0 else 0.0)
    return Scale(bottom, top, tuple(bottom + (top - bottom) * i / 4 for i in range(5)))


def dots(scale: Scale, marks: Sequence[Mark], label: str, chance: float | None = None, zero: bool = False) -> Markup:
    """One row of a dot plot: a mark and whisker for each value, one under the other, and chance as a tick."""
    parts = [_line("grid", scale.at(tick), "0", scale.at(tick), "100%") for tick in scale.ticks]
    if zero:
        parts.append(_line("zero", scale.at(0), "0", scale.at(0), "100%"))
    if chance is not None and math.isfinite(chance):
        parts.append(_line("chance", scale.at(chance), "12%", scale.at(chance), "88%"))
    drawn = [mark for mark in marks if math.isfinite(mark.value)]
    for index, mark in enumerate(drawn):
        parts.append(_mark(scale, mark, f"{15 + 70 * (index + 0.5) / len(drawn):.2f}%"))
    return _svg("dots", label, parts)


def axis(scale: Scale) -> Markup:
    """The scale's numbers, to stand above rows of dots."""
    texts = []
    for tick in scale.ticks:
        text = f"{tick:.3g}".replace("-", "−")
        texts.append(Markup('<text x="{}" y="70%">{}</text>').format(scale.at(tick), text))
    return Markup('<svg class="axis" aria-hidden="true">{}</svg>').format(Markup("").join(texts))


def bar(shares: Sequence[tuple[str, str, float]], label: str) -> Markup:
    """A bar divided among labels (name, swatch class, share), drawn in their colours."""
    parts, start = [], 0.0
    for name, swatch, share in shares:
        if share > 0:
            rect = Markup(
                '<rect class="{}" x="{:.3f}%" width="{:.3f}%" height="100%"><title>{} {:.0f} %</title></rect>'
            )
            parts.append(rect.format(swatch, 100 * start, 100 * share, name, 100 * share))
        start += share
    return _svg("bar", label, parts)


def swatch(label: str) -> str | None:
    """The class that paints a colour word; None for any other word.

    >>> swatch("Grey"), swatch("banana")
    ('c-gray', None)
    """
    word = label.strip().lower().replace("grey", "gray")
    return f"c-{word}" if word in COLOURS else None


def hue(lane: int) -> int:
    """A model's colour; shapes and colours run out of step, so that even the seventh model has a mark of its own."""
    return (lane + lane // LANES) % LANES


def describe(name: str, value: float, low: float | None = None, high: float | None = None) -> str:
    """What a mark shows, for those who do not see it."""
    ends = "" if low is None or high is None else f" ({number(low)} to {number(high)})"
    return f"{name} {number(value)}{ends}"


def _mark(scale: Scale, mark: Mark, y: str) -> Markup:
    lane = "published" if mark.lane is None else f"m{hue(mark.lane)}"
    shape = _MARKS[2 if mark.lane is None else mark.lane % LANES]
    whisker = Markup("")
    if mark.low is not None and mark.high is not None and math.isfinite(mark.low) and math.isfinite(mark.high):
        whisker = _line("whisker", scale.at(mark.low), y, scale.at(mark.high), y)
    kind = f"{lane} hollow" if mark.hollow or mark.lane is None else lane
    point = Markup('<svg x="{}" y="{}" class="point"><path d="{}"/></svg>').format(scale.at(mark.value), y, shape)
    return Markup('<g class="{}">{}{}</g>').format(kind, whisker, point)


def key(lane: int | None, hollow: bool = False) -> Markup:
    """The mark of a model, to stand beside its name."""
    mark = _mark(Scale(0, 1, ()), Mark(0.5, lane=lane, hollow=hollow), "50%")
    return Markup('<svg class="key" width="14" height="14" aria-hidden="true">{}</svg>').format(mark)


def _line(kind: str, x1: str, y1: str, x2: str, y2: str) -> Markup:
    return Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(kind, x1, y1, x2, y2)


def _svg(kind: str, label: str, parts: Iterable[Markup]) -> Markup:
    return Markup('<svg class="{}" role="img" aria-label="{}">{}</svg>').format(kind, label, Markup("").join(parts))


def _round_up(value: float) -> float:
    """The next number that is round enough to halve."""
    power: float = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * power >= value * (1 - 1e-9))
