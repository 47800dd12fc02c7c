"""ViPhy's figures: scores by number of labels, category and scene, few-shot curves, and the
distribution of labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from seesay.data.knowledge import COLORS, ColorFact, PlaceFact
from seesay.errors import UserError
from seesay.files import read_json
from seesay.papers.material import CURVES, Material
from seesay.papers.paper import Rendered, Status
from seesay.papers.published import published_tables
from seesay.papers.viphy import source
from seesay.papers.viphy.tables import is_linear
from seesay.reports.analysis import AnalysisRow, LabelShares, as_table
from seesay.reports.charts import Bar, Series, bars, lines, stacked_bars
from seesay.reports.formatting import metric_name
from seesay.reports.gold_analyses import by_category, entropy, even_steps
from seesay.reports.groups import LabelledRun
from seesay.reports.pages.sections import DataTable
from seesay.reports.score_analyses import curve_series
from seesay.runs.learning_curve import Band

Cells = list[list[str | float | None]]

METRICS = {"relaxed_accuracy": "relaxed accuracy", "true_confidence": "confidence"}
_MODELS = ("BERT", "FLAVA", "CLIP")
PEOPLE = "people (CoDa)"
LABELS = [str(n) for n in range(1, 8)]
"""Numbers of typical colours."""
PUBLISHED = published_tables("viphy")
PLACES = ("above", "similar level", "below")
PAIRS = 30
"""Pairs drawn of a scene, as in the paper's Figure 14."""
WIDE = 270.0
"""Room for the names of pairs."""


def entries_of(material: Material, task: str) -> list[LabelledRun]:
    """The linear probes of a task, or, where there are none, its other runs."""
    groups = material.groups_of(task)
    chosen = [group for group in groups if is_linear(group)] or groups
    return [entry for group in chosen for entry in group.entries]


def sliced(entry: LabelledRun, metric: str, tag: str) -> dict[str, float]:
    """A run's figures by the values of a tag, in percent."""
    return {part: 100 * figure.value for part, figure in entry.figures_by(tag, metric)}


def published_cardinality() -> list[DataTable]:
    """Figure 5 as numbers, with the mean of the three models that the paper draws."""
    tables = []
    for name in METRICS.values():
        table = PUBLISHED[f"Figure 5, {name}"].as_printed
        average = ["average of the three models", *map(_two, _average(name).values())]
        tables.append(replace(table, rows=[*table.rows, average]))
    return tables


def _two(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"


def _average(name: str) -> dict[str, float]:
    """The mean of the models that the paper draws, by the number of typical colours."""
    curves = PUBLISHED[f"Figure 5, {name}"].numbers
    return {n: round(fmean(curves[model][n] for model in _MODELS), 2) for n in LABELS}


def by_cardinality(material: Material) -> Rendered:
    """Figure 5: relaxed accuracy and confidence by the number of typical colours, with people and
    the average."""
    ours: dict[str, dict[str, dict[str, float]]] = {metric: {} for metric in METRICS}
    notes = []
    try:
        things = source.shared_things(material)
    except UserError as error:
        notes.append(f"People: {error}")
    else:
        number = things.gold.sum(axis=1)
        by_metric = (things.hits.any(axis=1).astype(float), things.confidence)
        for metric, values in zip(METRICS, by_metric, strict=True):
            curve = {str(n): 100 * float(values[number == n].mean()) for n in np.unique(number)}
            ours[metric][f"{PEOPLE}, ours"] = curve
    runs = entries_of(material, "viphy-color")
    for entry in runs:
        for metric in METRICS:
            ours[metric][entry.label] = sliced(entry, metric, "labels")
    if not runs and notes:
        raise UserError(" ".join(["There is no run of viphy-color among the folders.", *notes]))
    charts = []
    rows: Cells = []
    for metric, name in METRICS.items():
        curves = PUBLISHED[f"Figure 5, {name}"].numbers
        curves["average"] = _average(name)
        if f"{PEOPLE}, ours" in ours[metric]:
            del curves[PEOPLE]  # the same points
        printed = {f"{model} (published)": points for model, points in curves.items()}
        series = [
            Series(model, [int(n) for n in points], list(points.values()))
            for model, points in (ours[metric] | printed).items()
        ]
        x_label = "typical colours of the object"
        y_label = f"{name}, percent"
        charts.append(lines(series, title=name.capitalize(), x_label=x_label, y_label=y_label))
        rows += [
            [model, name, *(_two(points.get(n)) for n in LABELS)]
            for model, points in ours[metric].items()
        ]
    text = (
        "The published curves are linear probes. For seven colours, which five objects have, they "
        "are as plotted: of "
        "FLAVA's relaxed accuracy the authors' own count gives 80.0, where 91.3 is drawn."
    )
    if not runs:
        text += " There is no run of viphy-color among the folders: people alone are ours."
    table = DataTable(["ours, in percent", "metric", *LABELS], rows, "Ours")
    status = Status.SHOWN if runs and not notes else Status.IN_PART
    return Rendered("\n\n".join([text, *notes]), [table], charts, status=status)


def by_tag(task: str, tag: str, figure: str) -> Callable[[Material], Rendered]:
    """Figures 6 and 13: relaxed accuracy by the value of a tag."""

    def render(material: Material) -> Rendered:
        runs = entries_of(material, task)
        ours = {entry.label: sliced(entry, "relaxed_accuracy", tag) for entry in runs}
        if not any(ours.values()):
            raise UserError(f"There is no run of {task} with the tag '{tag}' among the folders.")
        printed = PUBLISHED[figure].numbers
        parts = list(
            dict.fromkeys([*printed, *(part for values in ours.values() for part in values)])
        )
        drawn = [
            Bar(part, values[part], series=model)
            for part in parts
            for model, values in ours.items()
            if part in values
        ]
        for model in PUBLISHED[figure].header[1:]:
            drawn += [
                Bar(part, values[model], series=f"{model} (published)")
                for part, values in printed.items()
            ]
        drawn.sort(key=lambda bar: parts.index(bar.name))
        chart = bars(
            drawn, title=f"Relaxed accuracy by {tag}, percent", x_label="relaxed accuracy, percent"
        )
        rows = [[part, *(_two(values.get(part)) for values in ours.values())] for part in parts]
        text = "The published figures are linear probes. Small parts have wide intervals: the run's own report has them."
        return Rendered(text, [DataTable([tag, *ours], rows, "Ours, in percent")], [chart])

    return render


def learning_curves(material: Material) -> list[Band]:
    """The curves that `seesay probe --how learning-curve` wrote to the folders, the headline of
    each task first."""
    curves = []
    for folder in material.folders["curves"]:
        path = folder / CURVES
        try:
            curves += [Band(**row) for row in read_json(path)["curves"]]
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path} is damaged ({error!r}): make it again.") from error
    return curves


def few_shot(task: str, figure: str) -> Callable[[Material], Rendered]:
    """Figures 8 and 9: what is learnt from a part of the training questions."""

    def render(material: Material) -> Rendered:
        curves = [band for band in learning_curves(material) if band.task == task]
        headline = curves[0].metric if curves else ""
        curves = [band for band in curves if band.metric == headline]
        if not curves:
            raise UserError(f"There is no learning curve of {task} among the folders.")
        series = curve_series(curves, 100)
        for model, values in PUBLISHED[figure].numbers.items():
            fractions = [int(column.removesuffix("%")) / 100 for column in values]
            series.append(Series(f"{model} (published)", fractions, list(values.values())))
        x_label = "fraction of the training questions"
        y_label = f"{metric_name(headline)}, percent"
        chart = lines(
            series, title=f"{task}: learning curve", x_label=x_label, y_label=y_label, log_x=True
        )
        text = (
            "The published curves train the whole probe for one epoch, ours until the best of 50 "
            "on the validation "
            "questions: that is why the published ones end below Tables 4 and 6, most of them at "
            "the share of the "
            "commonest label."
        )
        rows: Cells = [
            [b.model, b.fraction, b.questions, 100 * b.mean, 100 * b.low, 100 * b.high]
            for b in curves
        ]
        header = ["model", "fraction", "questions", "mean, percent", "lowest", "highest"]
        return Rendered(text, charts=[chart], numbers=DataTable(header, rows))

    return render


def cardinality(material: Material) -> Rendered:
    """Figures 10 and 11: how many objects have one typical colour, two, or more, and which, in
    ViPhy and in CoDa."""
    facts = source.rows(material, ColorFact)
    shares = np.array([fact.shares for fact in facts]) * [
        [color in fact.typical for color in COLORS] for fact in facts
    ]
    tables = {"ViPhy": shares / shares.sum(axis=1, keepdims=True)}
    notes = []
    try:
        tables["CoDa"] = source.shared_things(material).typical
    except UserError as error:
        notes.append(f"CoDa: {error}")
    counted = []
    divided = []
    rows: Cells = []
    for n in range(1, max(int((table > 0).sum(axis=1).max()) for table in tables.values()) + 1):
        for name, table in tables.items():
            members = table[(table > 0).sum(axis=1) == n]
            counted.append(
                Bar(
                    str(n),
                    100 * len(members) / len(table),
                    series=f"{name} ({len(table):,} objects)",
                )
            )
            if len(members):
                mean = members.mean(axis=0)
                divided.append((f"{n}, {name} ({len(members):,})", mean.tolist()))
                rows.append(
                    [str(n), name, len(members), *(round(100 * float(share), 1) for share in mean)]
                )
    charts = [
        bars(
            counted,
            title="Objects by number of typical colours, percent",
            x_label="percent of the objects",
        ),
        stacked_bars(divided, COLORS, title="Colours by number of typical colours"),
    ]
    text = (
        "CoDa's objects are those that it shares with ViPhy; its typical colours are found by the "
        "same rule. The "
        "shares of colours are means over objects, every object weighted equally."
    )
    numbers = DataTable(["typical colours", "data", "objects", *COLORS], rows)
    status = Status.IN_PART if notes else Status.SHOWN
    return Rendered("\n\n".join([text, *notes]), charts=charts, numbers=numbers, status=status)


def kitchen(material: Material) -> Rendered:
    """Figure 14: pairs of objects in the kitchen."""
    rows = scene_pairs(source.rows(material, PlaceFact), "kitchen")
    drawn = even_steps(rows, PAIRS)
    title = f"{len(drawn)} of the {len(rows):,} pairs in a kitchen"
    bars = [(row.part, [row.shares[place] for place in PLACES]) for row in drawn]
    text = (
        "Pairs of objects in a kitchen: how often the first is above the second, level with it, "
        "and below it. The "
        "paper draws thirty pairs at random; these stand at even steps of the order, in percent."
    )
    chart = stacked_bars(bars, PLACES, title=title, room=WIDE)
    return Rendered(text, charts=[chart], numbers=_in_percent(drawn))


def scene_pairs(facts: Sequence[PlaceFact], scene: str) -> list[LabelShares]:
    """How often the first of two objects is above, level and below, from the most often above to
    the most often below.

    Every pair is taken in one direction.
    """
    rows = []
    for fact in facts:
        counts = (fact.above, fact.level, fact.below)
        if fact.scene.replace("_", " ") == scene and fact.a < fact.b and any(counts):
            shares = {
                place: count / sum(counts) for place, count in zip(PLACES, counts, strict=True)
            }
            rows.append(LabelShares(f"{fact.a} – {fact.b}", sum(counts), shares))
    return sorted(rows, key=lambda row: (row.shares["below"] - row.shares["above"], row.part))


def _in_percent(rows: Sequence[AnalysisRow]) -> DataTable | None:
    shares = [row for row in rows if isinstance(row, LabelShares)]
    return as_table(
        [
            replace(row, shares={name: round(100 * share, 1) for name, share in row.shares.items()})
            for row in shares
        ]
    )


def category_colors(material: Material) -> Rendered:
    """Figure 15: the colours of each category, in percent."""
    analysis = by_category(material.task("viphy-color"))
    text = f"{analysis.text} In percent, of the test questions."
    return Rendered(text, charts=analysis.charts, numbers=_in_percent(analysis.rows))


def ninety_objects(material: Material) -> Rendered:
    """Figure 16: the paper's ninety objects, from one colour to many."""
    released = {
        fact.object: dict(zip(COLORS, fact.shares, strict=True))
        for fact in source.rows(material, ColorFact)
    }
    objects = PUBLISHED["Figure 16"].rows
    distributions = {name: released.get(name) or _shares(cells) for name, cells in objects.items()}
    ordered = sorted(distributions, key=lambda name: (entropy(distributions[name].values()), name))
    missing = [name for name in objects if name not in released]
    drawn = []
    for name in ordered:
        mark = " *" if name in missing else ""
        drawn.append((name + mark, [distributions[name].get(color, 0.0) for color in COLORS]))
    chart = stacked_bars(
        drawn, COLORS, title="The paper's 90 objects, by entropy of their typical colours"
    )
    rows: Cells = [
        [
            name,
            round(entropy(shares.values()), 3),
            *(f"{100 * shares.get(color, 0.0):.1f}" for color in COLORS),
        ]
        for name, shares in ((name, distributions[name]) for name in ordered)
    ]
    text = (
        f"All ninety, in percent of their typical colours. {len(missing)} (*) are not in the "
        "released table and "
        "stand with the shares of the authors' earlier file."
    )
    numbers = DataTable(["object", "entropy, bits", *COLORS], rows)
    return Rendered(text, charts=[chart], numbers=numbers)


def _shares(cells: Sequence[str]) -> dict[str, float]:
    """
    >>> _shares(["blue 0.6", "black 0.4"])
    {'blue': 0.6, 'black': 0.4}
    """
    return {color: float(share) for color, share in (cell.split() for cell in cells)}
