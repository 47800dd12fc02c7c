"""ViPhy's figures: scores by number of labels, category and scene, few-shot curves, and the
distribution of labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

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
from seesay.tasks.viphy.human import SharedThings

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
    """Return the linear probes of a task, or, where there are none, its other runs."""
    groups = material.groups_of(task)
    linear_groups = [group for group in groups if is_linear(group)]
    return [entry for group in linear_groups or groups for entry in group.entries]


def sliced(entry: LabelledRun, metric: str, tag: str) -> dict[str, float]:
    """Return a run's figures by the values of a tag, in percent."""
    return {part: 100 * figure.value for part, figure in entry.figures_by(tag, metric)}


def _two(value: float | None) -> str | None:
    """Return two decimals, as the paper prints percentages; None for a missing value."""
    return None if value is None else f"{value:.2f}"


def _average(name: str) -> dict[str, float]:
    """Return the mean of the models that the paper draws, by the number of typical colours."""
    curves = PUBLISHED[f"Figure 5, {name}"].numbers
    average = {}
    for number in LABELS:
        # the paper averages what it draws, not the models of its tables
        values = [curves[model][number] for model in _MODELS]
        average[number] = round(fmean(values), 2)
    return average


def by_cardinality(material: Material) -> Rendered:
    """Figure 5: relaxed accuracy and confidence by the number of typical colours.

    People and the average of the paper's models are drawn beside ours.
    """
    curves: dict[str, dict[str, dict[str, float]]] = {metric: {} for metric in METRICS}
    people = f"{PEOPLE}, ours"
    notes = []
    try:
        things = source.shared_things(material)
    except UserError as error:
        notes.append(f"People: {error}")
    else:
        has_hit = np.asarray(things.hits.any(axis=1), float)
        curves["relaxed_accuracy"][people] = _people_curve(things, has_hit)
        curves["true_confidence"][people] = _people_curve(things, things.confidence)
    runs = entries_of(material, "viphy-color")
    for entry in runs:
        for metric in METRICS:
            curves[metric][entry.label] = sliced(entry, metric, "labels")
    if not runs and notes:
        raise UserError(" ".join(["There is no run of viphy-color among the folders.", *notes]))
    charts = []
    rows: Cells = []
    for metric, name in METRICS.items():
        charts.append(_cardinality_chart(name, curves[metric]))
        for model, points in curves[metric].items():
            rows.append(
                [
                    model,
                    name,
                    *(_two(points.get(number)) for number in LABELS),
                ]
            )
    text = (
        "The published curves are linear probes. For seven colours, which five objects have, they "
        "are as plotted: of FLAVA's relaxed accuracy the authors' own count gives 80.0, where 91.3 "
        "is drawn."
    )
    if not runs:
        text += " There is no run of viphy-color among the folders: people alone are ours."
    table = DataTable(["ours, in percent", "metric", *LABELS], rows, "Ours")
    status = Status.of(bool(runs) and not notes)
    return Rendered("\n\n".join([text, *notes]), [table], charts, status=status)


def _people_curve(things: SharedThings, values: NDArray[Any]) -> dict[str, float]:
    """Return people's mean in percent for each number of typical colours."""
    counts = things.gold.sum(axis=1)
    curve = {}
    for count in np.unique(counts):
        curve[str(count)] = 100 * float(values[counts == count].mean())
    return curve


def _cardinality_chart(name: str, curves: Mapping[str, dict[str, float]]) -> Markup:
    """Draw our curves of a metric, then the published ones."""
    printed = PUBLISHED[f"Figure 5, {name}"].numbers
    printed["average"] = _average(name)
    # people's published points are the same as ours
    if f"{PEOPLE}, ours" in curves:
        del printed[PEOPLE]
    all_curves = dict(curves)
    for model, points in printed.items():
        all_curves[f"{model} (published)"] = points
    series = []
    for model, points in all_curves.items():
        numbers = [int(number) for number in points]
        series.append(Series(model, numbers, list(points.values())))
    return lines(
        series,
        title=name.capitalize(),
        x_label="typical colours of the object",
        y_label=f"{name}, percent",
    )


def by_tag(task: str, tag: str, figure: str) -> Callable[[Material], Rendered]:
    """Figures 6 and 13: relaxed accuracy by the value of a tag."""

    def render(material: Material) -> Rendered:
        runs = entries_of(material, task)
        by_model = {entry.label: sliced(entry, "relaxed_accuracy", tag) for entry in runs}
        if not any(by_model.values()):
            raise UserError(f"There is no run of {task} with the tag '{tag}' among the folders.")
        printed = PUBLISHED[figure].numbers
        our_parts = [part for values in by_model.values() for part in values]
        # the paper's parts first, in its order
        parts = list(dict.fromkeys([*printed, *our_parts]))
        chart_bars = []
        rows: Cells = []
        for part in parts:
            row = [values.get(part) for values in by_model.values()]
            rows.append([part, *map(_two, row)])
            for model, value in zip(by_model, row, strict=True):
                if value is not None:
                    chart_bars.append(Bar(part, value, series=model))
            for model, value in printed.get(part, {}).items():
                chart_bars.append(Bar(part, value, series=f"{model} (published)"))
        chart = bars(
            chart_bars,
            title=f"Relaxed accuracy by {tag}, percent",
            x_label="relaxed accuracy, percent",
        )
        text = (
            "The published figures are linear probes. Small parts have wide intervals: the run's "
            "own report has them."
        )
        return Rendered(text, [DataTable([tag, *by_model], rows, "Ours, in percent")], [chart])

    return render


def learning_curves(material: Material) -> list[Band]:
    """Return the curves that `seesay probe --how learning-curve` wrote to the folders.

    The headline of each task comes first.
    """
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
        # a learning curve has every metric of its task, the headline first
        headline = curves[0].metric if curves else ""
        curves = [band for band in curves if band.metric == headline]
        if not curves:
            raise UserError(f"There is no learning curve of {task} among the folders.")
        series = curve_series(curves, 100)
        for model, values in PUBLISHED[figure].numbers.items():
            # the published columns are percentages of the training split
            fractions = [int(column.removesuffix("%")) / 100 for column in values]
            series.append(Series(f"{model} (published)", fractions, list(values.values())))
        chart = lines(
            series,
            title=f"{task}: learning curve",
            x_label="fraction of the training questions",
            y_label=f"{metric_name(headline)}, percent",
            log_x=True,
        )
        text = (
            "The published curves train the whole probe for one epoch, ours until the best of 50 "
            "on the validation questions: that is why the published ones end below Tables 4 and 6, "
            "most of them at the share of the commonest label."
        )
        rows: Cells = []
        for band in curves:
            percentages = [100 * value for value in (band.mean, band.low, band.high)]
            rows.append(
                [
                    band.model,
                    band.fraction,
                    band.questions,
                    *percentages,
                ]
            )
        header = ["model", "fraction", "questions", "mean, percent", "lowest", "highest"]
        return Rendered(
            text,
            charts=[chart],
            numbers=DataTable(header, rows),
        )

    return render


def cardinality(material: Material) -> Rendered:
    """Figures 10 and 11: how many objects have one typical colour, two, or more, and which.

    ViPhy and CoDa stand side by side.
    """
    facts = source.rows(material, ColorFact)
    shares = np.array([fact.shares for fact in facts])
    # only typical colours count: what is left of the others is noise of the answers
    is_typical = [[color in fact.typical for color in COLORS] for fact in facts]
    typical_shares = shares * is_typical
    tables = {"ViPhy": typical_shares / typical_shares.sum(axis=1, keepdims=True)}
    notes = []
    try:
        tables["CoDa"] = source.shared_things(material).typical
    except UserError as error:
        notes.append(f"CoDa: {error}")
    number_of_colors = {name: (table > 0).sum(axis=1) for name, table in tables.items()}
    most = max(int(numbers.max()) for numbers in number_of_colors.values())
    counted = []
    divided = []
    rows: Cells = []
    for number in range(1, most + 1):
        for name, table in tables.items():
            members = table[number_of_colors[name] == number]
            percentage = 100 * len(members) / len(table)
            counted.append(Bar(str(number), percentage, series=f"{name} ({len(table):,} objects)"))
            if len(members):
                means = members.mean(axis=0).tolist()
                divided.append((f"{number}, {name} ({len(members):,})", means))
                percentages = [round(100 * mean, 1) for mean in means]
                rows.append(
                    [
                        str(number),
                        name,
                        len(members),
                        *percentages,
                    ]
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
        "same rule. The shares of colours are means over objects, every object weighted equally."
    )
    numbers = DataTable(["typical colours", "data", "objects", *COLORS], rows)
    status = Status.of(not notes)
    return Rendered(
        "\n\n".join([text, *notes]),
        charts=charts,
        numbers=numbers,
        status=status,
    )


def kitchen(material: Material) -> Rendered:
    """Figure 14: pairs of objects in the kitchen."""
    rows = scene_pairs(source.rows(material, PlaceFact), "kitchen")
    sample = even_steps(rows, PAIRS)
    title = f"{len(sample)} of the {len(rows):,} pairs in a kitchen"
    bars = [(row.part, [row.shares[place] for place in PLACES]) for row in sample]
    text = (
        "Pairs of objects in a kitchen: how often the first is above the second, level with it, "
        "and below it. The paper draws thirty pairs at random; these stand at even steps of the "
        "order, in percent."
    )
    chart = stacked_bars(bars, PLACES, title=title, room=WIDE)
    return Rendered(text, charts=[chart], numbers=_in_percent(sample))


def scene_pairs(facts: Sequence[PlaceFact], scene: str) -> list[LabelShares]:
    """Return how often the first of two objects is above, level and below, from the most often
    above to the most often below.

    Every pair is taken in one direction.
    """
    rows = []
    for fact in facts:
        total = fact.above + fact.level + fact.below
        # the published table has every pair twice, once in each direction
        if fact.scene.replace("_", " ") != scene or fact.a >= fact.b or not total:
            continue
        shares = {
            "above": fact.above / total,
            "similar level": fact.level / total,
            "below": fact.below / total,
        }
        rows.append(LabelShares(f"{fact.a} – {fact.b}", total, shares))
    return sorted(rows, key=lambda row: (row.shares["below"] - row.shares["above"], row.part))


def _in_percent(rows: Sequence[AnalysisRow]) -> DataTable | None:
    """Return shares as a table of percentages."""
    percentages = []
    for row in rows:
        if isinstance(row, LabelShares):
            shares = {name: round(100 * share, 1) for name, share in row.shares.items()}
            percentages.append(replace(row, shares=shares))
    return as_table(percentages)


def category_colors(material: Material) -> Rendered:
    """Figure 15: the colours of each category, in percent."""
    analysis = by_category(material.task("viphy-color"))
    text = f"{analysis.text} In percent, of the test questions."
    return Rendered(
        text,
        charts=analysis.charts,
        numbers=_in_percent(analysis.rows),
    )


def ninety_objects(material: Material) -> Rendered:
    """Figure 16: the paper's ninety objects, from one colour to many."""
    released = {}
    for fact in source.rows(material, ColorFact):
        released[fact.object] = dict(zip(COLORS, fact.shares, strict=True))
    objects = PUBLISHED["Figure 16"].rows
    # some of the ninety objects are not in the released table: the figure was drawn from an older
    # one
    distributions = {name: released.get(name) or _shares(cells) for name, cells in objects.items()}
    entropies = {name: entropy(shares.values()) for name, shares in distributions.items()}
    missing = [name for name in objects if name not in released]
    chart_rows = []
    rows: Cells = []
    for name in sorted(distributions, key=lambda name: (entropies[name], name)):
        shares = [distributions[name].get(color, 0.0) for color in COLORS]
        mark = " *" if name in missing else ""
        chart_rows.append((name + mark, shares))
        percentages = [f"{100 * share:.1f}" for share in shares]
        rows.append(
            [
                name,
                round(entropies[name], 3),
                *percentages,
            ]
        )
    chart = stacked_bars(
        chart_rows, COLORS, title="The paper's 90 objects, by entropy of their typical colours"
    )
    text = (
        f"All ninety, in percent of their typical colours. {len(missing)} (*) are not in the "
        "released table and stand with the shares of the authors' earlier file."
    )
    numbers = DataTable(["object", "entropy, bits", *COLORS], rows)
    return Rendered(text, charts=[chart], numbers=numbers)


def _shares(cells: Sequence[str]) -> dict[str, float]:
    """Return the shares of colours, which are printed as "blue 0.6".

    >>> _shares(["blue 0.6", "black 0.4"])
    {'blue': 0.6, 'black': 0.4}
    """
    pairs = [cell.split() for cell in cells]
    return {color: float(share) for color, share in pairs}
