"""The charts of a diagnosis: accuracy by sentence type, k, distance, and the number of unseen
examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup

from seesay.reports.charts import Bar, Series, bars, lines
from seesay.reports.charts import kernel as svg
from seesay.reports.formatting import brief
from seesay.scenes.reasoners.diagnostics import (
    REASONER,
    BinAccuracy,
    Diagnosis,
    GroupAccuracy,
    mixtures,
)
from seesay.scenes.reasoners.networks.registry import NAMES

RULES = {
    "fixed-k": "k = 0.29 (ceiling)",
    "whole-scene": "k = 0.29, whole scene",
    "max-is-big": "only the biggest is big",
}
HEIGHT = 180.0
LEFT = 46.0


def title_of(task: str) -> str:
    """A task or test as the paper writes it; the compositional tasks by their training items.

    >>> title_of("set+pos-hard"), title_of("compositional-unseen"), title_of("compositional"), title_of("mixture-64")
    ('SET+POS-hard', 'unseen combinations', 'seen only', '64 unseen')
    """
    base, _, rest = task.partition("-")
    if base == "compositional":
        return f"{rest} combinations" if rest else "seen only"
    if base == "mixture":
        return f"{rest} unseen"
    return f"{base.upper()}-{rest}" if rest else base.upper()


def labels(diagnoses: Sequence[Diagnosis]) -> list[str]:
    """Network and task of each, with its folder where two would share a label."""
    names = [f"{NAMES[diagnosis.network]}, {title_of(diagnosis.task)}" for diagnosis in diagnoses]
    named = zip(names, diagnoses, strict=True)
    return [
        f"{name} ({diagnosis.name})" if names.count(name) > 1 else name for name, diagnosis in named
    ]


def accuracy(diagnoses: Sequence[Diagnosis]) -> dict[str, Markup]:
    """A chart for every test: the reasoners, and the rules on the same items."""
    tests = dict.fromkeys(row.test for diagnosis in diagnoses for row in diagnosis.accuracy)
    return {test: _on_one_test(test, diagnoses) for test in tests}


def _on_one_test(test: str, diagnoses: Sequence[Diagnosis]) -> Markup:
    reasoners = []
    by_rule = {}
    for name, diagnosis in zip(labels(diagnoses), diagnoses, strict=True):
        for row in diagnosis.accuracy:
            if row.test == test and row.group == (REASONER,):
                reasoners.append((name, row, "reasoners"))
            elif row.test == test:
                by_rule[row.group[0]] = row
    rules = [(RULES[rule], row, "rules") for rule, row in by_rule.items()]
    return _bars([*reasoners, *rules], f"{title_of(test)}: share of items answered right")


def types(diagnosis: Diagnosis, name: str) -> list[Markup]:
    """Sentence type by shape; then by color, separately for each of the task's own tests."""
    own = diagnosis.own
    types = sorted(
        (row for row in diagnosis.types if row.test in own), key=lambda row: _true_first(row.group)
    )
    by_type = [(", ".join(row.group[:2]), row, f"{row.group[2]}s") for row in types]
    colors = [row for row in diagnosis.colors if row.test in own]
    by_color = [(row.group[0], row, title_of(row.test) if len(own) > 1 else "") for row in colors]
    return [
        _bars(by_type, f"{name}: by sentence type and shape"),
        _bars(by_color, f"{name}: by colour of the target"),
    ]


def by_k(diagnosis: Diagnosis, name: str) -> list[Markup]:
    """Sentence types over k, for each of the task's own tests."""
    charts = []
    for title, rows in _own(diagnosis, name, diagnosis.k):
        kinds = sorted({row.share.group for row in rows}, key=_true_first)
        series = [
            _curve(", ".join(kind), [row for row in rows if row.share.group == kind])
            for kind in kinds
        ]
        charts.append(_lines(series, f"{title}: by the scene's k", "k"))
    return charts


def by_distance(diagnosis: Diagnosis, name: str) -> list[Markup]:
    """Numbers of right and wrong answers, and the accuracy beside the ceiling."""
    charts = []
    by = "by distance from the threshold"
    label = "distance, in shares of the set's range"
    for title, rows in _own(diagnosis, name, diagnosis.distance):
        series = [
            _curve("reasoner", rows),
            Series("k = 0.29", [r.mean for r in rows], [r.ceiling for r in rows]),
        ]
        charts.append(right_and_wrong(rows, f"{title}: right and wrong answers {by}", label))
        charts.append(_lines(series, f"{title}: accuracy {by}", label))
    return charts


def unseen(diagnoses: Sequence[Diagnosis]) -> Markup | None:
    """Accuracy on unseen combinations by how many of them were trained on; None where there is only
    one number.

    A logarithmic axis has no zero: the accuracy without any of them is a horizontal line.
    """
    rows = [
        (network, count, row)
        for network, count, row in mixtures(diagnoses)
        if row.test.endswith("unseen")
    ]
    counts = sorted({count for _, count, _ in rows if count})
    if not counts or len({count for _, count, _ in rows}) < 2:
        return None
    series = []
    for network in dict.fromkeys(network for network, *_ in rows):
        name = NAMES[network]
        own = [(count, row) for other, count, row in rows if other == network]
        mixed = [(count, row) for count, row in own if count]
        if mixed:
            series.append(_shares(name, [count for count, _ in mixed], [row for _, row in mixed]))
        for row in [row for count, row in own if not count][:1]:
            ends = dict.fromkeys((counts[0], counts[-1]))
            series.append(Series(f"{name}, 0", list(ends), [row.accuracy] * len(ends)))
    return lines(
        series,
        title="Accuracy on unseen combinations, by how many of them were in training",
        x_label="unseen-combination examples among the training items",
        y_label="accuracy on unseen combinations",
        log_x=True,
        y_ends=(0, 1),
    )


def _bars(rows: Iterable[tuple[str, GroupAccuracy, str]], title: str) -> Markup:
    """A bar for every accuracy, with its name and series."""
    drawn = [Bar(name, row.accuracy, row.low, row.high, series) for name, row, series in rows]
    return bars(drawn, title=title, x_label="accuracy", x_end=1)


def _lines(series: Sequence[Series], title: str, x_label: str) -> Markup:
    return lines(series, title=title, x_label=x_label, y_label="accuracy", y_ends=(0, 1))


def _own(
    diagnosis: Diagnosis, name: str, rows: Sequence[BinAccuracy]
) -> Iterator[tuple[str, list[BinAccuracy]]]:
    """The rows of each of the task's own tests that has any, and the title of its chart."""
    for test in diagnosis.own:
        if in_test := [row for row in rows if row.share.test == test]:
            yield f"{name}, {title_of(test)}" if len(diagnosis.own) > 1 else name, in_test


def _true_first(kind: tuple[str, ...]) -> tuple[str, bool]:
    return kind[0], kind[1] == "false"


def _curve(name: str, rows: Sequence[BinAccuracy]) -> Series:
    return _shares(name, [row.mean for row in rows], [row.share for row in rows])


def _shares(name: str, x: Sequence[float], rows: Sequence[GroupAccuracy]) -> Series:
    return Series(
        name, x, [r.accuracy for r in rows], [r.low for r in rows], [r.high for r in rows]
    )


def right_and_wrong(rows: Sequence[BinAccuracy], title: str, x_label: str) -> Markup:
    """Columns of right answers with the wrong ones on top, one per bin."""
    parts, top = svg.series_legend(("right", "wrong"), svg.square("fill"))
    y = svg.axis([row.share.items for row in rows], HEIGHT + top, top + 26, zero=True, whole=True)
    parts += svg.y_axis(y, LEFT, svg.WIDTH, "items", top + 12)
    step = (svg.WIDTH - LEFT) / len(rows)
    for i, row in enumerate(rows):
        x = LEFT + step * i
        right = row.share.right
        items = row.share.items
        hint = f"{between(row)}: {right} right, {items - right} wrong"
        for number, (low, high) in enumerate(((0, right), (right, items))):
            box = {"x": x + 1, "y": y.at(high), "width": step - 2, "height": y.at(low) - y.at(high)}
            bar = svg.element("rect", svg.tooltip(hint), **box, class_="fill")
            parts.append(svg.element("g", bar, class_=svg.series_class(number)))
        if i % 2 == 0:
            parts.append(svg.text(x, HEIGHT + top + 16, brief(row.start or 0.0), "tick middle"))
    parts.append(
        svg.text((LEFT + svg.WIDTH) / 2, HEIGHT + top + 32, x_label, "note middle", svg.WIDTH)
    )
    return svg.chart("columns", svg.WIDTH, HEIGHT + top + 40, title, parts)


def between(row: BinAccuracy) -> str:
    """The range of a bin."""
    if row.end is None:
        return f"from {brief(row.start or 0.0)}"
    if row.start is None:
        return f"up to {brief(row.end)}"
    return f"{brief(row.start)} to {brief(row.end)}"
