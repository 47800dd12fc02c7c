"""The formatting of numbers, names and findings, the same in the terminal and on the page."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable

from seesay import metrics
from seesay.questions import Slice
from seesay.runs.compare import SIGNIFICANT
from seesay.runs.figures import CALIBRATED
from seesay.runs.records import Comparison, Figure

NONE = "–"


def number(value: float | None, sign: bool = False) -> str:
    """Three decimals with a real minus; a dash where there is no number.

    >>> number(0.5), number(-0.0504, sign=True), number(None)
    ('0.500', '−0.050', '–')
    """
    if value is None or not math.isfinite(value):
        return NONE
    text = f"{value:+.3f}" if sign else f"{value:.3f}"
    if not text.strip("+-0."):
        text = text.lstrip("+-")
    return text.replace("-", "−")


def brief(value: float) -> str:
    """A number with at most four digits, as for axis ticks.

    >>> brief(-0.25), brief(20000), brief(1 / 3), brief(float("nan"))
    ('−0.25', '20,000', '0.3333', '–')
    """
    if not math.isfinite(value):
        return NONE
    return (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}").replace("-", "−")


def cell(value: str | float | None) -> str:
    """A table cell: text as it is, numbers in brief, a dash for None."""
    if isinstance(value, str):
        return value
    return brief(math.nan if value is None else value)


def interval(low: float, high: float) -> str:
    """Both ends of an interval, with a dash between them unless it could be taken for a minus.

    >>> interval(0.1, 0.25), interval(-0.1, 0.25)
    ('0.100–0.250', '−0.100 to 0.250')
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return NONE
    joint = "–" if min(low, high) >= 0 else " to "
    return f"{number(low)}{joint}{number(high)}"


def metric_name(name: str) -> str:
    """A metric's name, with an arrow where lower is better.

    >>> metric_name("accuracy"), metric_name("jensen_shannon")
    ('accuracy', 'jensen_shannon ↓')
    """
    return f"{name} ↓" if lower_is_better(name) else name


def part_name(part: Slice) -> str:
    """A slice by its values alone, for where its tags are named beside it.

    >>> part_name(Slice.of(answers="colour", segment="pf>=2"))
    'colour · pf>=2'
    """
    return " · ".join(value or tag for tag, value in part.items)


def with_part(name: str, part: Slice | None) -> str:
    """A name, and the part of the questions that it is about.

    >>> with_part("accuracy", Slice.of(segment="pf>=2")), with_part("accuracy", None)
    ('accuracy, pf>=2', 'accuracy')
    """
    return f"{name}, {part_name(part)}" if part else name


def figure_cells(figure: Figure) -> list[str]:
    """A figure in a table: value, interval, spread over templates, chance."""
    return [
        number(figure.value),
        interval(figure.low, figure.high),
        number(figure.spread),
        number(figure.chance),
    ]


def lower_is_better(metric: str) -> bool:
    """Whether less is better for this metric, plain or calibrated; False for metrics that are not
    registered."""
    name = metric.removeprefix(CALIBRATED)
    return name in metrics.names() and metrics.get(name).lower_is_better


def p_value(p: float | None) -> str:
    """A p-value with three decimals, never "0.000".

    >>> p_value(0.0002), p_value(0.25)
    ('<0.001', '0.250')
    """
    return "<0.001" if p is not None and p < 0.001 else number(p)


def count_range(counts: Iterable[int]) -> str:
    """The least and the greatest of some counts, or the one that all are.

    >>> count_range([1200, 30, 400]), count_range([7, 7]), count_range([])
    ('30–1,200', '7', '')
    """
    different = sorted(set(counts))
    return "–".join(f"{n:,}" for n in dict.fromkeys((*different[:1], *different[-1:])))


def printable(text: str) -> str:
    """A name that is safe in a terminal: without control codes and direction overrides."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in {"Cc", "Cf", "Cs"} else c
        for c in text
    )


def is_shown(comparison: Comparison) -> bool:
    """Whether the difference is significant after correction, and its 95 % interval excludes
    zero."""
    return comparison.p_holm <= SIGNIFICANT and (comparison.low > 0 or comparison.high < 0)


def finding(comparison: Comparison) -> str:
    """One comparison as a plain sentence that claims no more than the corrected test and the
    interval do."""
    c = comparison
    if not is_shown(c):
        ends = f"{number(c.difference, sign=True)} ({number(c.low)} to {number(c.high)})"
        return f"No difference shown between {c.a} and {c.b}: {ends}."
    low, high = sorted((abs(c.low), abs(c.high)))
    ahead, behind = (c.a, c.b) if (c.difference > 0) != lower_is_better(c.metric) else (c.b, c.a)
    return f"{ahead} is ahead of {behind} by {number(abs(c.difference))} ({number(low)} to {number(high)})."
