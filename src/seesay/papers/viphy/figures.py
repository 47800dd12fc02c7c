"""ViPhy's figures: scores by number of labels, category and scene, few-shot curves, and the distribution of labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from seesay.data.knowledge import COLORS, ColorFact, PlaceFact
from seesay.errors import UserError
from seesay.files import read_json
from seesay.papers.material import CURVES, Material
from seesay.papers.paper import Rendered, Status
from seesay.papers.viphy import source
from seesay.papers.viphy.gold import PAIRS, by_category, entropy, even_steps, scene_pairs
from seesay.papers.viphy.published import CARDINALITY, FEW_SHOT, FEW_SHOT_FRACTIONS, NOT_RELEASED, OBJECTS
from seesay.papers.viphy.scores import curve_series
from seesay.papers.viphy.tables import is_linear
from seesay.reports.analysis import Analysis, LabelShares, as_table
from seesay.reports.charts import Bar, Series, bars, lines, stacked_bars
from seesay.reports.formatting import metric_name
from seesay.reports.groups import LabelledRun
from seesay.reports.pages.sections import DataTable
from seesay.runs.learning_curve import Band

Cells = list[list[str | float | None]]

METRICS = {"relaxed_accuracy": "relaxed accuracy", "true_confidence": "confidence"}
_MODELS = ("BERT", "FLAVA", "CLIP")


def entries_of(material: Material, task: str) -> list[LabelledRun]:
    """The linear probes of a task, or, where there are none, its other runs."""
    groups = material.groups_of(task)
    chosen = [group for group in groups if is_linear(group)] or groups
    return [entry for group in chosen for entry in group.entries]


def sliced(entry: LabelledRun, metric: str, tag: str) -> dict[str, float]:
    """A run's figures by the values of a tag, in percent."""
    return {
        figure.slice[tag]: 100 * figure.value
        for figure in entry.run.figures
        if figure.metric == metric and figure.template is None and figure.slice and figure.slice.tags == (tag,)
    }


def published_cardinality() -> list[DataTable]:
    """Figure 5 as numbers, with the mean of the three models that the paper draws."""
    tables = []
    for column, name in enumerate(METRICS.values()):
        curves = {model: values[column] for model, values in CARDINALITY.items()}
        curves["average of the three models"] = _average(column)
        rows = [[model, *map(_two, values), *([None] * (7 - len(values)))] for model, values in curves.items()]
        tables.append(DataTable(["published, in percent", *map(str, range(1, 8))], rows, f"{name} by number of labels"))
    return tables


def _two(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"


def _average(column: int) -> list[float]:
    return [round(fmean(values), 2) for values in zip(*(CARDINALITY[model][column] for model in _MODELS), strict=True)]


def by_cardinality(material: Material) -> Rendered:
    """Figure 5: relaxed accuracy and confidence by the number of typical colours, with people and the average."""
    ours: dict[str, dict[str, dict[int, float]]] = {metric: {} for metric in METRICS}
    notes = []
    try:
        things = source.shared_things(material)
    except UserError as error:
        notes.append(f"People: {error}")
    else:
        number = things.gold.sum(axis=1)
        by_metric = (things.hits.any(axis=1).astype(float), things.confidence)
        for metric, values in zip(METRICS, by_metric, strict=True):
            curve = {int(n): 100 * float(values[number == n].mean()) for n in np.unique(number)}
            ours[metric]["people (CoDa), ours"] = curve
    runs = entries_of(material, "viphy-color")
    for entry in runs:
        for metric in METRICS:
            ours[metric][entry.label] = {int(n): value for n, value in sliced(entry, metric, "labels").items()}
    if not runs and notes:
        raise UserError(" ".join(["There is no run of viphy-color among the folders.", *notes]))
    charts = []
    rows: Cells = []
    for column, (metric, name) in enumerate(METRICS.items()):
        curves = {model: dict(enumerate(values[column], start=1)) for model, values in CARDINALITY.items()}
        curves["average"] = dict(enumerate(_average(column), start=1))
        if "people (CoDa), ours" in ours[metric]:
            del curves["people (CoDa)"]  # the same points
        printed = {f"{model} (published)": points for model, points in curves.items()}
        series = [
            Series(model, list(points), list(points.values())) for model, points in (ours[metric] | printed).items()
        ]
        x_label, y_label = "typical colours of the object", f"{name}, percent"
        charts.append(lines(series, title=name.capitalize(), x_label=x_label, y_label=y_label))
        rows += [[model, name, *(_two(points.get(n)) for n in range(1, 8))] for model, points in ours[metric].items()]
    text = (
        "The published curves are linear probes. For seven colours, which five objects have, they are as plotted: of "
        "FLAVA's relaxed accuracy the authors' own count gives 80.0, where 91.3 is drawn."
    )
    if not runs:
        text += " There is no run of viphy-color among the folders: people alone are ours."
    table = DataTable(["ours, in percent", "metric", *map(str, range(1, 8))], rows, "Ours")
    status = Status.SHOWN if runs and not notes else Status.IN_PART
    return Rendered(status, "\n\n".join([text, *notes]), [table], charts)


def published_rows(values: Mapping[str, Sequence[float]], header: Sequence[str], title: str = "") -> DataTable:
    """Figures 6, 8, 9 and 13 as numbers."""
    return DataTable(header, [[name, *map(_two, row)] for name, row in values.items()], title)


def by_tag(
    task: str, tag: str, printed: Mapping[str, Sequence[float]], models: Sequence[str]
) -> Callable[[Material], Rendered]:
    """Figures 6 and 13: relaxed accuracy by the value of a tag."""

    def render(material: Material) -> Rendered:
        runs = entries_of(material, task)
        ours = {entry.label: sliced(entry, "relaxed_accuracy", tag) for entry in runs}
        if not any(ours.values()):
            raise UserError(f"There is no run of {task} with the tag '{tag}' among the folders.")
        parts = list(dict.fromkeys([*printed, *(part for values in ours.values() for part in values)]))
        drawn = [
            Bar(part, values[part], series=model) for part in parts for model, values in ours.items() if part in values
        ]
        for column, model in enumerate(models):
            drawn += [Bar(part, values[column], series=f"{model} (published)") for part, values in printed.items()]
        drawn.sort(key=lambda bar: parts.index(bar.name))
        chart = bars(drawn, title=f"Relaxed accuracy by {tag}, percent", x_label="relaxed accuracy, percent")
        rows = [[part, *(_two(values.get(part)) for values in ours.values())] for part in parts]
        text = (
            "The published figures are linear probes. Small parts have wide intervals: the run's own report has them."
        )
        return Rendered(Status.SHOWN, text, [DataTable([tag, *ours], rows, "Ours, in percent")], [chart])

    return render


def learning_curves(material: Material) -> list[Band]:
    """The curves that `seesay probe --how learning-curve` wrote to the folders, the headline of each task first."""
    curves = []
    for folder in material.folders("curves"):
        path = folder / CURVES
        try:
            curves += [Band(**row) for row in read_json(path)["curves"]]
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path} is damaged ({error!r}): make it again.") from error
    return curves


def few_shot(task: str) -> Callable[[Material], Rendered]:
    """Figures 8 and 9: what is learnt from a part of the training questions."""

    def render(material: Material) -> Rendered:
        curves = [band for band in learning_curves(material) if band.task == task]
        headline = curves[0].metric if curves else ""
        curves = [band for band in curves if band.metric == headline]
        if not curves:
            raise UserError(f"There is no learning curve of {task} among the folders.")
        series = curve_series(curves, 100)
        for model, values in FEW_SHOT[task].items():
            series.append(Series(f"{model} (published)", list(FEW_SHOT_FRACTIONS), list(values)))
        x_label, y_label = "fraction of the training questions", f"{metric_name(headline)}, percent"
        chart = lines(series, title=f"{task}: learning curve", x_label=x_label, y_label=y_label, log_x=True)
        text = (
            "The published curves train the whole probe for one epoch, ours until the best of 50 on the validation "
            "questions: that is why the published ones end below Tables 4 and 6, most of them at the share of the "
            "commonest label."
        )
        rows: Cells = [[b.model, b.fraction, b.questions, 100 * b.mean, 100 * b.low, 100 * b.high] for b in curves]
        header = ["model", "fraction", "questions", "mean, percent", "lowest", "highest"]
        return Rendered(Status.SHOWN, text, charts=[chart], numbers=DataTable(header, rows))

    return render


def cardinality(material: Material) -> Rendered:
    """Figures 10 and 11: how many objects have one typical colour, two, or more, and which, in ViPhy and in CoDa."""
    facts = source.rows(material, ColorFact)
    shares = np.array([fact.shares for fact in facts]) * [[color in fact.typical for color in COLORS] for fact in facts]
    tables = {"ViPhy": shares / shares.sum(axis=1, keepdims=True)}
    notes = []
    try:
        tables["CoDa"] = source.shared_things(material).typical
    except UserError as error:
        notes.append(f"CoDa: {error}")
    counted, divided = [], []
    rows: Cells = []
    for n in range(1, max(int((table > 0).sum(axis=1).max()) for table in tables.values()) + 1):
        for name, table in tables.items():
            members = table[(table > 0).sum(axis=1) == n]
            counted.append(Bar(str(n), 100 * len(members) / len(table), series=f"{name} ({len(table):,} objects)"))
            if len(members):
                mean = members.mean(axis=0)
                divided.append((f"{n}, {name} ({len(members):,})", mean.tolist()))
                rows.append([str(n), name, len(members), *(round(100 * float(share), 1) for share in mean)])
    charts = [
        bars(counted, title="Objects by number of typical colours, percent", x_label="percent of the objects"),
        stacked_bars(divided, COLORS, title="Colours by number of typical colours"),
    ]
    text = (
        "CoDa's objects are those that it shares with ViPhy; its typical colours are found by the same rule. The "
        "shares of colours are means over objects, every object weighted equally."
    )
    numbers = DataTable(["typical colours", "data", "objects", *COLORS], rows)
    status = Status.IN_PART if notes else Status.SHOWN
    return Rendered(status, "\n\n".join([text, *notes]), charts=charts, numbers=numbers)


def kitchen(material: Material) -> Rendered:
    """Figure 14: pairs of objects in the kitchen."""
    analysis = scene_pairs(source.rows(material, PlaceFact))
    drawn = [analysis.rows[index] for index in even_steps(len(analysis.rows), PAIRS)]
    text = (
        f"{analysis.text} The paper draws thirty pairs at random; these stand at even steps of the order, in percent."
    )
    return Rendered(Status.SHOWN, text, charts=analysis.charts, numbers=_in_percent(replace(analysis, rows=drawn)))


def _in_percent(analysis: Analysis) -> DataTable | None:
    rows = [row for row in analysis.rows if isinstance(row, LabelShares)]
    return as_table(
        [replace(row, shares={name: round(100 * share, 1) for name, share in row.shares.items()}) for row in rows]
    )


def category_colors(material: Material) -> Rendered:
    """Figure 15: the colours of each category, in percent."""
    analysis = by_category(material.task("viphy-color"))
    text = f"{analysis.text} In percent, of the test questions."
    return Rendered(Status.SHOWN, text, charts=analysis.charts, numbers=_in_percent(analysis))


def ninety_objects(material: Material) -> Rendered:
    """Figure 16: the paper's ninety objects, from one colour to many."""
    table = {fact.object: dict(zip(COLORS, fact.shares, strict=True)) for fact in source.rows(material, ColorFact)}
    distributions = {name: table.get(name) or dict(NOT_RELEASED[name]) for name in OBJECTS}
    ordered = sorted(distributions, key=lambda name: (entropy(distributions[name].values()), name))
    marks = {name: " *" if name in NOT_RELEASED else "" for name in OBJECTS}
    drawn = [(name + marks[name], [distributions[name].get(color, 0.0) for color in COLORS]) for name in ordered]
    chart = stacked_bars(drawn, COLORS, title="The paper's 90 objects, by entropy of their typical colours")
    rows: Cells = [
        [name, round(entropy(shares.values()), 3), *(f"{100 * shares.get(color, 0.0):.1f}" for color in COLORS)]
        for name, shares in ((name, distributions[name]) for name in ordered)
    ]
    text = (
        f"All ninety, in percent of their typical colours. {len(NOT_RELEASED)} (*) are not in the released table and "
        "stand with the shares of the authors' earlier file."
    )
    numbers = DataTable(["object", "entropy, bits", *COLORS], rows)
    return Rendered(Status.SHOWN, text, charts=[chart], numbers=numbers)
