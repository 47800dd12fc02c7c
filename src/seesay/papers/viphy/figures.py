"""ViPhy's figures of scores: by number of labels, category and scene, and few-shot curves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.files import read_json
from seesay.papers.material import CURVES, Material
from seesay.papers.paper import Rendered, Status, noting
from seesay.papers.published import published_tables
from seesay.papers.viphy import source, tables
from seesay.papers.viphy.tables import is_trained, two_decimals
from seesay.probes.linear_layer import ProbeConfig
from seesay.questions import Task
from seesay.reports.charts import Bar, Series, bars, lines
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
SHARES = {
    "Figure 6": {part: cells[0] for part, cells in PUBLISHED["Figure 15"].rows.items()},
    "Figure 13": dict(
        zip(
            PUBLISHED["Figure 13"].rows,
            (share.removesuffix("%") for share in PUBLISHED["Figure 13, samples"].rows["samples"]),
            strict=True,
        )
    ),
}
"""The percentage of samples in each part."""
FULL_TRAINING = {"Figure 8": ("Table 4", "R-Acc"), "Figure 9": ("Table 6", "Standard")}
"""Where the models of a few-shot figure are printed after the whole training."""
SMALL_FRACTION = 0.1
VISION = ("ViLT", "FLAVA", "CLIP")
THEIRS = "authors' files"
THEIR_TRAINING = str(ProbeConfig(epochs=1, validation=False))
OUR_TRAINING = str(ProbeConfig())


def entries_of(material: Material, task: str) -> list[LabelledRun]:
    """Return the trained models of a task, or, where there are none, its other runs."""
    entries = [entry for group in material.groups_of(task) for entry in group.entries]
    return [entry for entry in entries if is_trained(entry)] or entries


def _has_whole_run(entries: Sequence[LabelledRun]) -> bool:
    """Return whether a run was asked all questions: a sample shows a figure in part."""
    return any(entry.run.manifest.limit is None for entry in entries)


def sliced(entry: LabelledRun, metric: str, tag: str) -> dict[str, float]:
    """Return a run's figures by the values of a tag, in percent."""
    return {part: 100 * figure.value for part, figure in entry.figures_by(tag, metric)}


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
    notes: list[str] = []
    with noting(notes, "People: "):
        things = source.shared_things(material)
        has_hit = np.asarray(things.hits.any(axis=1), float)
        curves["relaxed_accuracy"][people] = _people_curve(things, has_hit)
        curves["true_confidence"][people] = _people_curve(things, things.confidence)
    # people need CoDa and models a run: either can be shown without the other
    runs = entries_of(material, "viphy-color")
    for entry in runs:
        for metric in METRICS:
            curves[metric][tables.name_of(entry)] = sliced(entry, metric, "labels")
    if not runs and notes:
        raise UserError(" ".join(["There is no run of viphy-color among the folders.", *notes]))
    charts = []
    rows: Cells = []
    for metric, name in METRICS.items():
        # theirs above ours, however wide the page
        charts.append(Markup("").join(_cardinality_charts(name, curves[metric])))
        for model, points in curves[metric].items():
            rows.append([model, name, *map(two_decimals, map(points.get, LABELS))])
    text = (
        "The authors' curves are linear probes; their average is in the colour of the text. For "
        "seven colours, which five objects have, they are as plotted: of FLAVA's relaxed accuracy "
        "the authors' own count gives 80.0, where 91.3 is drawn."
    )
    if not runs:
        text += " There is no run of viphy-color among the folders: people alone are ours."
    table = DataTable(["ours, in percent", "metric", *LABELS], rows, "Ours")
    status = Status.of(_has_whole_run(runs) and not notes)
    return Rendered("\n\n".join([text, *notes]), [_human_gap(), table], charts, status=status)


def _human_gap() -> DataTable:
    """Return by how much people's confidence exceeds the models' average: as the text has it, and
    from the authors' points."""
    curves = PUBLISHED["Figure 5, confidence"].numbers
    averages = _average("confidence")
    # over all objects the models are those that the figure draws, by their rows in Table 4
    table_4 = PUBLISHED["Table 4"].numbers
    models = [table_4[row]["Conf"] for row in ("BERT base", "FLAVA", "CLIP")]
    computed = {
        "overall": table_4["Human CoDa"]["Conf"] - fmean(models),
        "x = 6": curves[PEOPLE]["6"] - averages["6"],
        "x = 1": curves[PEOPLE]["1"] - averages["1"],
    }
    body = []
    for name, (printed,) in PUBLISHED["Text on Figure 5"].rows.items():
        body.append([name, printed, f"{computed[name]:.1f} %"])
    header = ["people above the models' average", "published", "from the printed and drawn values"]
    return DataTable(header, body, "Confidence")


def _people_curve(things: SharedThings, values: NDArray[Any]) -> dict[str, float]:
    """Return people's mean in percent for each number of typical colours."""
    counts = things.gold.sum(axis=1)
    curve = {}
    for count in np.unique(counts):
        curve[str(count)] = 100 * float(values[counts == count].mean())
    return curve


def _cardinality_charts(name: str, curves: Mapping[str, dict[str, float]]) -> list[Markup]:
    """Draw the curves of a metric: the authors' with their average, and ours beside the same
    average."""
    average = Series("their average", *_points(_average(name)), is_reference=True)
    drawings = {
        f"{name.capitalize()} ({THEIRS})": PUBLISHED[f"Figure 5, {name}"].numbers,
        f"{name.capitalize()} (ours)": curves,
    }
    # one range of heights, so that the charts can be compared
    heights = list(average.y)
    for all_points in drawings.values():
        for points in all_points.values():
            heights += points.values()
    charts = []
    for title, all_points in drawings.items():
        series = [Series(model, *_points(points)) for model, points in all_points.items()]
        charts.append(
            lines(
                [*series, average],
                title=title,
                x_label="typical colours of the object",
                y_label=f"{name}, percent",
                y_ends=(min(heights), max(heights)),
            )
        )
    return charts


def _points(values: Mapping[str, float]) -> tuple[list[int], list[float]]:
    """Return numbers of colours and the values there."""
    return [int(number) for number in values], list(values.values())


def by_tag(task: str, tag: str, figure: str) -> Callable[[Material], Rendered]:
    """Figures 6 and 13: relaxed accuracy by the value of a tag, dashed lines at the averages."""
    published = PUBLISHED[figure].numbers
    # the averages are those of the whole test, which a table prints
    averages = {}
    for model, (place, row) in tables.ROWS["averages"][figure].items():
        averages[f"{model} ({THEIRS})"] = PUBLISHED[place].numbers[row]["R-Acc"]

    def render(material: Material) -> Rendered:
        by_model = {}
        our_averages = {}
        guesses: list[str] = []
        drawn: list[LabelledRun] = []
        for entry in entries_of(material, task):
            values = sliced(entry, "relaxed_accuracy", tag)
            overall = entry.figure("relaxed_accuracy")
            if not values or overall is None:
                continue
            name = tables.name_of(entry)
            by_model[name] = values
            drawn.append(entry)
            our_averages[name] = 100 * overall.value
            guesses += tables.guess(entry, overall, "overall")
        our_parts = [part for values in by_model.values() for part in values]
        # the paper's parts first, in its order
        parts = list(dict.fromkeys([*published, *our_parts]))
        shares = SHARES[figure]
        chart_bars = []
        rows: Cells = []
        for part in parts:
            label = f"{part} ({shares[part]} %)" if part in shares else part
            ours = [values.get(part) for values in by_model.values()]
            printed = published.get(part, {})
            rows.append([label, *map(two_decimals, printed.values()), *map(two_decimals, ours)])
            for model, value in printed.items():
                chart_bars.append(Bar(label, value, series=f"{model} ({THEIRS})"))
            for model, our_value in zip(by_model, ours, strict=True):
                if our_value is not None:
                    chart_bars.append(Bar(label, our_value, series=model))
        all_averages = {**averages, **our_averages}
        rows.append(["average", *map(two_decimals, all_averages.values())])
        chart = bars(
            chart_bars,
            title=f"Relaxed accuracy by {tag}, percent",
            x_label="relaxed accuracy, percent; dashed: on average",
            averages=all_averages,
        )
        text = (
            "The authors' figures are linear probes: by part after their "
            f"{PUBLISHED[figure].source}, on average (dashed) as {place} prints them. In brackets "
            "stands the percentage of samples. Small parts have wide intervals: the run's own "
            "report has them."
        )
        with suppress(UserError):
            text += f" {_weighted_means(material.task(task), tag, figure)}"
        status = Status.of(_has_whole_run(drawn))
        if not by_model:
            status = Status.NEEDS_RUN
            text += f"\n\nThere is no run of {task} with the tag '{tag}' among the folders."
        header = [tag, *all_averages]
        table = DataTable(header, rows, "The authors' files and ours, in percent")
        return Rendered(
            tables.with_caution(text, guesses),
            [table],
            [chart],
            status=status,
            has_published=True,
        )

    return render


def _weighted_means(task: Task, tag: str, figure: str) -> str:
    """Return the mean of each of the authors' models over the parts, by their test questions,
    beside the printed average."""
    counts = Counter(question.tags.get(tag) for question in task.questions)
    parts = PUBLISHED[figure].numbers
    weights = [counts[part] for part in parts]
    if not any(weights):
        raise UserError(f"No question has a {tag} of {figure}.")
    means = []
    for model, (place, row) in tables.ROWS["averages"][figure].items():
        values = [by_model[model] for by_model in parts.values()]
        mean = np.average(values, weights=weights)
        means.append(f"{model} {mean:.2f} ({PUBLISHED[place].numbers[row]['R-Acc']:.2f})")
    return (
        "Weighted by the test questions of each part, the authors' bars have these means, with the "
        f"printed average in brackets: {', '.join(means)}."
    )


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
    # sizes have one label each
    y_label = "accuracy, percent" if task == "viphy-size" else "relaxed accuracy, percent"
    by_family: dict[str, list[Series]] = {"language models": [], "vision-language models": []}
    for model, values in PUBLISHED[figure].numbers.items():
        percentages = [int(column.removesuffix("%")) for column in values]
        family = "vision-language models" if model in VISION else "language models"
        by_family[family].append(Series(model, percentages, list(values.values())))

    def render(material: Material) -> Rendered:
        curves = [band for band in learning_curves(material) if band.task == task]
        # a learning curve has every metric of its task, the headline first
        headline = curves[0].metric if curves else ""
        curves = [band for band in curves if band.metric == headline]
        # bands belong to the heights as well
        heights = [100 * end for band in curves for end in (band.low, band.high)]
        for family_series in by_family.values():
            heights += [height for series in family_series for height in series.y]
        # one range of heights, so that the charts can be compared
        ends = (min(heights), max(heights))
        draw = partial(lines, x_label="percent of the training questions", y_ends=ends)
        charts = []
        for family, family_series in by_family.items():
            title = f"{family.capitalize()} ({THEIRS}), one epoch"
            charts.append(draw(family_series, title=title, y_label=y_label))
        text = (
            "The authors' curves are of a probe trained for one epoch and without validation"
            f"{_our_training(curves)}. {_ends_beside_table(figure)} All charts have the same "
            "heights."
        )
        if not curves:
            text += f"\n\nThere is no learning curve of {task} among the folders."
            return Rendered(text, charts=charts, status=Status.NEEDS_RUN)
        # the authors' axis is in percent, too
        our_series = []
        for series in curve_series(curves, 100):
            our_series.append(replace(series, x=[100 * fraction for fraction in series.x]))
        drawn = draw(
            our_series,
            title=f"Ours: {task}",
            y_label=y_label,
            # ours may begin at one question in a hundred
            log_x=min(band.fraction for band in curves) < SMALL_FRACTION,
        )
        charts.append(drawn)
        rows: Cells = []
        for band in curves:
            percentages = map(tables.percent, (band.mean, band.low, band.high))
            rows.append([band.label, band.fraction, band.questions, *percentages])
        header = ["model", "fraction", "questions", "mean, percent", "lowest", "highest"]
        return Rendered(text, charts=charts, numbers=DataTable(header, rows))

    return render


def _our_training(curves: Sequence[Band]) -> str:
    """Return the end of the sentence on how the authors' curves were trained: how ours were, if
    there are any."""
    trainings = {band.training for band in curves}
    if not trainings:
        return ""
    if trainings == {THEIR_TRAINING}:
        return ", and so are ours"
    if trainings <= {OUR_TRAINING}:
        return ", ours until the best of 50 on the validation questions"
    return ", ours as their names say, or else until the best of 50 on the validation questions"


def _ends_beside_table(figure: str) -> str:
    """Return which of the authors' curves end below the same model's printed row of 50 epochs."""
    place, column = FULL_TRAINING[figure]
    printed = PUBLISHED[place].numbers
    below = 0
    equal = []
    curves = PUBLISHED[figure].numbers
    for model, values in curves.items():
        # the figure leaves out the size of a model, as in "BERT base"
        row = next(name for name in printed if name.startswith(model))
        end = values["100%"]
        below += end < printed[row][column]
        if end == printed[row][column]:
            equal.append(f"{model} at {end:.2f}, as there")
    ends = "; ".join([f"{below} of their {len(curves)} curves end below {place}", *equal])
    return f"{ends}."
