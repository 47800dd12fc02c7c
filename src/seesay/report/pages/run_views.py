"""What the page's template is given: rows of figures, each with its drawing and its words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from seesay import metrics
from seesay.questions import SLOT, Published, Template
from seesay.report import answers
from seesay.report.answers import Said
from seesay.report.charts.dotplot import Mark, Scale, axis, bar, describe, dots, scale, swatch
from seesay.report.formatting import finding, is_shown, metric_name, number
from seesay.report.groups import Entry, Group
from seesay.runs.figures import CALIBRATED
from seesay.runs.records import Comparison, Figure

TAGS = {"labels": "number of right labels", "level": "may be at a similar level"}
"""Tags whose name says too little by itself."""

LONG = 14
"""A tag with more values than this is folded away."""


@dataclass(frozen=True)
class Row:
    """One line under a plot; `figures` are the models' figures in order, `source` is set for a published one."""

    name: Markup | str
    plot: Markup
    figures: tuple[Figure | None, ...] = ()
    published: Published | None = None
    lane: int | None = None
    paint: str | None = None


@dataclass(frozen=True)
class Plot:
    """Rows that share a scale."""

    title: str
    axis: Markup
    rows: tuple[Row, ...]
    folded: bool = False


def headline(group: Group) -> Plot:
    """The task's headline figure for each model, and the published ones under them."""
    published = [row for row in group.task.published if row.metric == group.headline and row.slice is None]
    figures = [entry.figure(group.headline) for entry in group.entries]
    shared = _scale(figures, (row.value for row in published))
    rows = [
        Row(entry.label, _dots(shared, [(entry, figure)]), (figure,), lane=entry.lane)
        for entry, figure in zip(group.entries, figures, strict=True)
    ]
    for row in published:
        drawing = dots(shared, [Mark(row.value)], f"As published: {describe(row.model, row.value)}")
        rows.append(Row(row.model, drawing, published=row))
    return Plot(metric_name(group.headline), axis(shared), tuple(rows))


def templates(group: Group) -> Plot:
    """The headline in each wording, the wording that serves the first model best on top."""
    found = [
        (template, [entry.figure(group.headline, template.name) for entry in group.entries])
        for template in group.task.templates
    ]
    found = [(template, figures) for template, figures in found if any(figures)]
    sign = 1 if metrics.get(group.headline).lower_is_better else -1
    found.sort(key=lambda item: sign * next(figure.value for figure in item[1] if figure))
    shared = _scale([figure for _, figures in found for figure in figures])
    rows = [Row(wording(t), _dots(shared, zip(group.entries, f, strict=True)), tuple(f)) for t, f in found]
    return Plot(metric_name(group.headline), axis(shared), tuple(rows))


def slices(group: Group) -> list[Plot]:
    """The headline for the parts of the questions, one plot a tag."""
    names = dict.fromkeys(
        figure.slice
        for entry in group.entries
        for figure in entry.run.figures
        if figure.slice and figure.template is None and figure.metric == group.headline
    )
    found = {name: [entry.figure(group.headline, part=name) for entry in group.entries] for name in names}
    shared = _scale([figure for figures in found.values() for figure in figures])
    tags: dict[str, list[Row]] = {}
    for name, figures in found.items():
        tag, _, value = name.partition("=")
        published = [r for r in group.task.published if r.slice == name and r.metric == group.headline]
        drawing = _dots(shared, zip(group.entries, figures, strict=True))
        tags.setdefault(tag, []).append(Row(value or tag, drawing, tuple(figures), paint=swatch(value)))
        for row in published:
            mark = dots(shared, [Mark(row.value)], f"As published: {describe(row.model, row.value)}")
            tags[tag].append(Row(row.model, mark, published=row))
    return [Plot(TAGS.get(tag, tag), axis(shared), tuple(rows), len(rows) > LONG) for tag, rows in tags.items()]


def calibrated(group: Group) -> Plot | None:
    """Each metric as it is (filled) and under the calibrated rule (hollow), where the run has both."""
    pairs = [
        (entry, metric, entry.figure(metric), entry.figure(CALIBRATED + metric))
        for entry in group.entries
        for metric in entry.metrics
    ]
    both = [(entry, metric, plain, other) for entry, metric, plain, other in pairs if plain and other]
    if not both:
        return None
    shared = _scale([figure for *_, plain, other in both for figure in (plain, other)])
    rows = []
    for entry, metric, plain, other in both:
        marks = [_mark(entry, plain), _mark(entry, other, hollow=True)]
        label = "; ".join((_described("plain", plain), _described("calibrated", other)))
        name = (
            Markup("{} <span class='quiet'>{}</span>").format(metric, entry.label) if len(group.entries) > 1 else metric
        )
        rows.append(Row(name, dots(shared, marks, f"{entry.label}, {metric}: {label}", plain.chance), (plain, other)))
    return Plot("plain and calibrated", axis(shared), tuple(rows))


def answer_shares(group: Group, made: Sequence[Mapping[tuple[str, str], Said]]) -> dict[str, Any] | None:
    """How gold and answers are shared among a few options, and what is taken for what."""
    options = answers.shared_options(group.task)
    if options is None:
        return None
    paint = answers.swatches(options)
    lines: list[tuple[str, list[float], int | None]] = [("gold", answers.gold_shares(group.task, options), None)]
    lines += [(e.label, answers.said_shares(m, options), e.lane) for e, m in zip(group.entries, made, strict=True)]
    tables = [answers.confusion(group.task, m, options) for m in made]
    return {
        "options": list(zip(options, paint, strict=True)),
        "bars": [(name, lane, _bar(name, options, paint, shares)) for name, shares, lane in lines],
        "confusions": [
            (entry.label, entry.lane, list(zip(options, paint, table, strict=True)))
            for entry, table in zip(group.entries, tables, strict=True)
        ],
    }


def comparisons(found: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Paired differences on one scale with zero in its middle."""
    shared = scale([end for c in found for end in (c.low, c.high, c.difference)], centred=True)
    return [
        {
            "comparison": c,
            "axis": axis(shared),
            "shown": is_shown(c),
            "finding": finding(c),
            "plot": dots(shared, [Mark(c.difference, c.low, c.high, 0, not is_shown(c))], finding(c), zero=True),
        }
        for c in found
    ]


def wording(template: Template) -> Markup:
    """A template as people read it: its fields in italics, a blank for the slot."""
    blank = Markup('<span class="slot" role="img" aria-label="blank"></span>')
    parts = []
    for text, field in answers.pieces(template):
        before, slot, after = text.partition(SLOT)
        parts.append(Markup("{}{}{}").format(before, blank if slot else "", after))
        if field:
            parts.append(Markup("<i>{}</i>").format(field))
    return Markup("").join(parts)


def _bar(name: str, options: Sequence[str], paint: Sequence[str], shares: Sequence[float]) -> Markup:
    spoken = ", ".join(f"{o} {100 * s:.0f} %" for o, s in zip(options, shares, strict=True) if s > 0)
    return bar(list(zip(options, paint, shares, strict=True)), f"{name}: {spoken}")


def _scale(figures: Sequence[Figure | None], others: Iterable[float] = ()) -> Scale:
    ends = [end for figure in figures if figure for end in (figure.value, figure.low, figure.high, figure.chance)]
    return scale([*ends, *others])


def _mark(entry: Entry, figure: Figure, hollow: bool = False) -> Mark:
    return Mark(figure.value, figure.low, figure.high, entry.lane, hollow)


def _described(name: str, figure: Figure) -> str:
    return describe(name, figure.value, figure.low, figure.high)


def _dots(shared: Scale, pairs: Iterable[tuple[Entry, Figure | None]]) -> Markup:
    known = [(entry, figure) for entry, figure in pairs if figure]
    chance = next((figure.chance for _, figure in known if figure.chance is not None), None)
    label = "; ".join(_described(entry.label, figure) for entry, figure in known)
    if chance is not None:
        label += f"; chance {number(chance)}"
    return dots(shared, [_mark(entry, figure) for entry, figure in known], label, chance)
