"""The formatting of numbers, names and findings, the same in the terminal and on the page."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from typing import Protocol

from seesay import metrics
from seesay.defaults import FEWEST_OBJECTS
from seesay.questions import Slice
from seesay.runs.compare import SIGNIFICANT
from seesay.runs.figures import CALIBRATED
from seesay.runs.records import Comparison, Figure


class Bounded(Protocol):
    """A figure, a difference or a layer's figure: what has an interval."""

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...

    @property
    def too_few(self) -> bool: ...


NONE = "–"
FEW = "†"
"""Marks the interval of a figure that rests on too few objects."""

SAMPLE = "‡"
"""Marks a figure of fewer or of other questions than others of its column."""


def number(value: float | None, sign: bool = False) -> str:
    """Return three decimals with a real minus; a dash where there is no number.

    >>> number(0.5), number(-0.0504, sign=True), number(None)
    ('0.500', '−0.050', '–')
    """
    if value is None or not math.isfinite(value):
        return NONE
    text = f"{value:+.3f}" if sign else f"{value:.3f}"
    # what rounds to zero has no sign
    if not text.strip("+-0."):
        text = text.lstrip("+-")
    return text.replace("-", "−")


def brief(value: float) -> str:
    """Return a number with at most four digits, as for axis ticks.

    >>> brief(-0.25), brief(20000), brief(1 / 3), brief(float("nan"))
    ('−0.25', '20,000', '0.3333', '–')
    """
    if not math.isfinite(value):
        return NONE
    # four digits of a large number would be written with an exponent
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text.replace("-", "−")


def size(count: float) -> str:
    """Return a number of parameters with three digits.

    >>> size(260_032), size(134_515_008), size(1.1e9)
    ('260 K', '135 M', '1.1 B')
    """
    for power, unit in ((9, "B"), (6, "M"), (3, "K")):
        if count >= 10**power:
            return f"{float(f'{count:.3g}') / 10**power:g} {unit}"
    return f"{count:.0f}"


def cell(value: str | float | None) -> str:
    """Return the text of a table cell: text as it is, numbers in brief, a dash for None."""
    if isinstance(value, str):
        return value
    if value is None:
        return NONE
    return brief(value)


def interval(low: float, high: float) -> str:
    """Return both ends of an interval, with a dash between them unless it could be taken for a
    minus.

    >>> interval(0.1, 0.25), interval(-0.1, 0.25)
    ('0.100–0.250', '−0.100 to 0.250')
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return NONE
    joint = "–" if min(low, high) >= 0 else " to "
    return f"{number(low)}{joint}{number(high)}"


def ends(figure: Bounded) -> str:
    """Return both ends of a figure's interval, marked where it rests on too few objects."""
    mark = FEW if figure.too_few else ""
    return interval(figure.low, figure.high) + mark


def few_note(figures: Iterable[Bounded]) -> str:
    """Return what the mark means, if any of these figures has it."""
    if not any(figure.too_few for figure in figures):
        return ""
    return (
        f"{FEW} Fewer than {FEWEST_OBJECTS} objects (n counts questions): too few, the interval "
        "may be too narrow."
    )


def metric_name(name: str) -> str:
    """Return a metric's name, with an arrow where lower is better.

    >>> metric_name("accuracy"), metric_name("jensen_shannon")
    ('accuracy', 'jensen_shannon ↓')
    """
    if lower_is_better(name):
        return f"{name} ↓"
    return name


def part_name(part: Slice) -> str:
    """Return a slice by its values alone, for where its tags are named beside it.

    >>> part_name(Slice.of(answers="colour", segment="pf>=2"))
    'colour · pf>=2'
    """
    return " · ".join(value or tag for tag, value in part.items)


def with_part(name: str, part: Slice | None) -> str:
    """Return a name, and the part of the questions that it is about.

    >>> with_part("accuracy", Slice.of(segment="pf>=2")), with_part("accuracy", None)
    ('accuracy, pf>=2', 'accuracy')
    """
    if part:
        return f"{name}, {part_name(part)}"
    return name


def figure_cells(figure: Figure) -> list[str]:
    """Return a figure as cells: value, interval, spread over templates, chance."""
    return [
        number(figure.value),
        ends(figure),
        number(figure.spread),
        number(figure.chance),
    ]


def lower_is_better(metric: str) -> bool:
    """Return whether less is better for this metric, plain or calibrated.

    For metrics that are not registered, more is.
    """
    name = metric.removeprefix(CALIBRATED)
    return name in metrics.names() and metrics.get(name).lower_is_better


def ranking_sign(metric: str) -> int:
    """Return the factor that makes the best value of a metric the least one."""
    return 1 if lower_is_better(metric) else -1


def p_value(p: float | None) -> str:
    """Return a p-value with three decimals, never "0.000".

    >>> p_value(0.0002), p_value(0.25)
    ('<0.001', '0.250')
    """
    if p is not None and p < 0.001:
        return "<0.001"
    return number(p)


def count_range(counts: Iterable[int]) -> str:
    """Return the least and the greatest of some counts, or the one that all are.

    >>> count_range([1200, 30, 400]), count_range([7, 7]), count_range([])
    ('30–1,200', '7', '')
    """
    different = sorted(set(counts))
    ends = different
    if len(different) > 2:
        ends = [different[0], different[-1]]
    return "–".join(f"{count:,}" for count in ends)


def printable(text: str) -> str:
    """Return a name that is safe in a terminal: without control codes and direction overrides."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(char) in {"Cc", "Cf", "Cs"} else char
        for char in text
    )


def is_shown(comparison: Comparison) -> bool:
    """Return whether a difference is significant.

    It is after correction, and if its 95 % interval excludes zero.
    """
    excludes_zero = comparison.low > 0 or comparison.high < 0
    return comparison.p_holm <= SIGNIFICANT and excludes_zero


def verdict(comparison: Comparison) -> str:
    """Return who is ahead in words; it claims no more than the corrected test and the interval."""
    if not is_shown(comparison):
        return "no difference shown"
    is_a_higher = comparison.difference > 0
    place = "behind" if is_a_higher == lower_is_better(comparison.metric) else "ahead"
    is_people = "|family:people|" in comparison.signature_a
    return f"{comparison.a} {'are' if is_people else 'is'} {place}"


def finding(comparison: Comparison) -> str:
    """Return one comparison in a line, with the sign that its difference has everywhere else."""
    c = comparison
    ends = f"{number(c.low)} to {number(c.high)}"
    return f"{c.a} vs {c.b}: {number(c.difference, sign=True)} ({ends}), {verdict(c)}."
