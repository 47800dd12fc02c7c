"""The charts of a diagnosis: accuracy by sentence type, k, distance, and unseen examples."""

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
    """Return a task or test as the paper writes it; the compositional tasks by their items.

    >>> title_of("set+pos-hard"), title_of("compositional-unseen")
    ('SET+POS-hard', 'unseen combinations')
    >>> title_of("compositional"), title_of("mixture-64")
    ('seen only', '64 unseen')
    """
    base, dash, variant = task.partition("-")
    if task == "compositional":
        return "seen only"
    if base == "compositional":
        return f"{variant} combinations"
    if base == "mixture":
        return f"{variant} unseen"
    return base.upper() + dash + variant


def labels(diagnoses: Sequence[Diagnosis]) -> list[str]:
    """Return network and task of each, with its folder where two would share a label."""
    names = [f"{NAMES[diagnosis.network]}, {title_of(diagnosis.task)}" for diagnosis in diagnoses]
    unique = []
    for name, diagnosis in zip(names, diagnoses, strict=True):
        if names.count(name) > 1:
            unique.append(f"{name} ({diagnosis.name})")
        else:
            unique.append(name)
    return unique


def accuracy(diagnoses: Sequence[Diagnosis]) -> dict[str, Markup]:
    """Draw a chart for every test: the reasoners, and the rules on the same items."""
    reasoners: dict[str, list[tuple[str, GroupAccuracy, str]]] = {}
    rules: dict[str, dict[str, GroupAccuracy]] = {}
    for name, diagnosis in zip(labels(diagnoses), diagnoses, strict=True):
        for row in diagnosis.accuracy:
            if row.group == (REASONER,):
                reasoners.setdefault(row.test, []).append((name, row, "reasoners"))
            else:
                # rules answer the same items for every reasoner: one bar of each is enough
                rules.setdefault(row.test, {})[row.group[0]] = row
    charts = {}
    for test, rows in reasoners.items():
        rows += [(RULES[rule], row, "rules") for rule, row in rules.get(test, {}).items()]
        charts[test] = _bars(rows, f"{title_of(test)}: share of items answered right")
    return charts


def types(diagnosis: Diagnosis, name: str) -> list[Markup]:
    """Draw sentence types by shape, then colors, separately for each of the task's tests."""
    tests = diagnosis.task_tests
    rows = [row for row in diagnosis.types if row.test in tests]
    rows.sort(key=lambda row: _true_first(row.group))
    by_type = [(", ".join(row.group[:2]), row, f"{row.group[2]}s") for row in rows]
    titles = {test: title_of(test) if len(tests) > 1 else "" for test in tests}
    colors = [row for row in diagnosis.colors if row.test in tests]
    by_color = [(row.group[0], row, titles[row.test]) for row in colors]
    return [
        _bars(by_type, f"{name}: by sentence type and shape"),
        _bars(by_color, f"{name}: by colour of the target"),
    ]


def by_k(diagnosis: Diagnosis, name: str) -> list[Markup]:
    """Draw sentence types over k, for each of the task's tests."""
    charts = []
    for title, rows in _by_test(diagnosis, name, diagnosis.k):
        kinds: dict[tuple[str, ...], list[BinAccuracy]] = {}
        for row in rows:
            kinds.setdefault(row.share.group, []).append(row)
        series = [_curve(", ".join(kind), kinds[kind]) for kind in sorted(kinds, key=_true_first)]
        charts.append(_lines(series, f"{title}: by the scene's k", "k"))
    return charts


def by_distance(diagnosis: Diagnosis, name: str) -> list[Markup]:
    """Draw numbers of right and wrong answers, and the accuracy beside the ceiling."""
    charts = []
    by = "by distance from the threshold"
    label = "distance, in shares of the set's range"
    for title, rows in _by_test(diagnosis, name, diagnosis.distance):
        means = [row.mean for row in rows]
        ceilings = [row.ceiling for row in rows]
        series = [_curve("reasoner", rows), Series("k = 0.29", means, ceilings)]
        charts.append(right_and_wrong(rows, f"{title}: right and wrong answers {by}", label))
        charts.append(_lines(series, f"{title}: accuracy {by}", label))
    return charts


def unseen(diagnoses: Sequence[Diagnosis]) -> Markup | None:
    """Draw the accuracy on unseen combinations by how many of them were trained on.

    Returns None where there is only one such number.
    """
    by_network: dict[str, dict[int, GroupAccuracy]] = {}
    for network, count, row in mixtures(diagnoses):
        if row.test.endswith("unseen"):
            by_network.setdefault(network, {})[count] = row
    counts = sorted({count for rows in by_network.values() for count in rows})
    if len(counts) < 2:
        return None
    # at least one, since there are two numbers or more
    positive = [count for count in counts if count]
    series = []
    for network, rows in by_network.items():
        name = NAMES[network]
        # a logarithmic axis has no zero: the accuracy without any of them is a horizontal line
        without = rows.pop(0, None)
        if rows:
            series.append(_shares(name, list(rows), list(rows.values())))
        if without is not None:
            ends = list(dict.fromkeys((positive[0], positive[-1])))
            series.append(Series(f"{name}, 0", ends, [without.accuracy] * len(ends)))
    return lines(
        series,
        title="Accuracy on unseen combinations, by how many of them were in training",
        x_label="unseen-combination examples among the training items",
        y_label="accuracy on unseen combinations",
        log_x=True,
        y_ends=(0, 1),
    )


def _bars(rows: Iterable[tuple[str, GroupAccuracy, str]], title: str) -> Markup:
    """Draw a bar for every accuracy, with its name and series."""
    accuracies = [
        Bar(
            name,
            row.accuracy,
            row.low,
            row.high,
            series,
        )
        for name, row, series in rows
    ]
    return bars(accuracies, title=title, x_label="accuracy", x_end=1)


def _lines(series: Sequence[Series], title: str, x_label: str) -> Markup:
    return lines(
        series,
        title=title,
        x_label=x_label,
        y_label="accuracy",
        y_ends=(0, 1),
    )


def _by_test(
    diagnosis: Diagnosis, name: str, rows: Sequence[BinAccuracy]
) -> Iterator[tuple[str, list[BinAccuracy]]]:
    """Yield the title of a chart and its rows, for each of the task's tests that has any."""
    for test in diagnosis.task_tests:
        in_test = [row for row in rows if row.share.test == test]
        title = name
        if len(diagnosis.task_tests) > 1:
            title += f", {title_of(test)}"
        if in_test:
            yield title, in_test


def _true_first(kind: tuple[str, ...]) -> tuple[str, bool]:
    """Return the place of a sentence type in an order by adjective, true ones first."""
    return kind[0], kind[1] == "false"


def _curve(name: str, rows: Sequence[BinAccuracy]) -> Series:
    return _shares(name, [row.mean for row in rows], [row.share for row in rows])


def _shares(name: str, x: Sequence[float], rows: Sequence[GroupAccuracy]) -> Series:
    return Series(
        name,
        x,
        [row.accuracy for row in rows],
        [row.low for row in rows],
        [row.high for row in rows],
    )


def right_and_wrong(rows: Sequence[BinAccuracy], title: str, x_label: str) -> Markup:
    """Draw columns of right answers with the wrong ones on top, one per bin."""
    parts, top = svg.series_legend(("right", "wrong"), svg.square("fill"))
    bottom = HEIGHT + top
    y = svg.axis(
        [row.share.items for row in rows],
        bottom,
        top + 26,
        zero=True,
        whole=True,
    )
    parts += svg.y_axis(y, LEFT, svg.WIDTH, "items", top + 12)
    step = (svg.WIDTH - LEFT) / len(rows)
    for i, row in enumerate(rows):
        x = LEFT + step * i
        right = row.share.right
        items = row.share.items
        hint = svg.tooltip(f"{between(row)}: {right} right, {items - right} wrong")
        for number, (low, high) in enumerate(((0, right), (right, items))):
            bar = svg.element(
                "rect",
                hint,
                x=x + 1,
                y=y.at(high),
                width=step - 2,
                height=y.at(low) - y.at(high),
                class_="fill",
            )
            parts.append(svg.element("g", bar, class_=svg.series_class(number)))
        # every second edge: more numbers would run into one another
        if i % 2 == 0:
            parts.append(
                svg.text(
                    x,
                    bottom + 16,
                    brief(row.start or 0.0),
                    "tick middle",
                )
            )
    middle = (LEFT + svg.WIDTH) / 2
    parts.append(svg.text(middle, bottom + 32, x_label, "note middle", svg.WIDTH))
    return svg.chart("columns", svg.WIDTH, bottom + 40, title, parts)


def between(row: BinAccuracy) -> str:
    """Return the range of a bin."""
    if row.end is None:
        return f"from {brief(row.start or 0.0)}"
    if row.start is None:
        return f"up to {brief(row.end)}"
    return f"{brief(row.start)} to {brief(row.end)}"
