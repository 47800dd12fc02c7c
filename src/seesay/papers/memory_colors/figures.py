"""The two tasks, the models, and Memory Colors: runs beside the published means."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean, stdev

from seesay.data.rows import every_row, read_table
from seesay.errors import UserError
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status
from seesay.papers.published import PublishedTable, published_tables
from seesay.reports.charts import Bar, bars
from seesay.reports.formatting import NONE, figure_cells, number
from seesay.reports.groups import LabelledRun, TaskRuns
from seesay.reports.pages.sections import DataTable
from seesay.tasks.from_file.builtin import read_builtin

COLORS = "memory-colors"
NORMS = "property-norms"
MODELS = {
    name: cells[0] for name, cells in published_tables("memory_colors")["Results file"].rows.items()
}
"""The models of the published `results.csv`, by their names in the paper."""
FIELD = "[DESCRIPTOR] [ITEM]"
"""The thing in the templates of `results.csv`."""
SPREAD = "Whiskers and sd are over templates, as in print; the interval is over things."


def overview(material: Material) -> Rendered:
    """Figure 1: what the two tasks ask."""
    body = []
    for name in (COLORS, NORMS):
        try:
            task = material.task(name)
        except UserError as error:
            body.append([name, str(error), ""])
            continue
        question = task.questions[0]
        # one prompt shows what is asked: templates differ in the words around it
        prompt = task.templates[0].ask(question).text
        body.append([name, prompt, ", ".join(question.gold)])
    text = (
        "The first question of each task in its first template. The drawing in print is the "
        "authors'."
    )
    table = DataTable(["task", "question", "answers"], body)
    return Rendered(text, [table], status=Status.IN_PART)


def models(material: Material) -> Rendered:
    """Tables 2 and 3: the models asked here; how the published ones were trained is in print."""
    runs = [run for run in material.runs if run.manifest.task in (COLORS, NORMS)]
    if not runs:
        raise UserError(
            "There is no run of memory-colors or property-norms among the folders given."
        )
    rows = {
        (
            run.label,
            run.manifest.condition.how,
            run.manifest.family,
            run.manifest.condition.scope,
            run.manifest.model_fingerprint,
        )
        for run in runs
    }
    text = (
        "What the paper's models were trained on is after the source in the last column, not after "
        "the tables in print; what none of them says is left empty. Below it stand the models "
        "asked here."
    )
    header = ["model", "asked by", "family", "what is scored", "fingerprint"]
    return Rendered(text, [DataTable(header, sorted(rows), "Asked here")], status=Status.IN_PART)


def published_colors() -> PublishedTable:
    """Return mean and sd over the 13 templates, which the authors' file gives and print draws."""
    rows = {
        row.model: [number(row.value), number(row.spread)] for row in read_builtin(COLORS).published
    }
    header = ["model", "mean accuracy", "sd over templates"]
    return PublishedTable(header, rows, source="results.csv")


def runs_of(material: Material, task: str) -> list[TaskRuns]:
    """Return the groups of runs of a task."""
    groups = material.groups_of(task)
    if not groups:
        raise UserError(f"There is no run of {task} among the folders given.")
    return groups


def memory_colors(material: Material) -> Rendered:
    """Accuracy by model: mean and sd over templates."""
    charts = []
    tables = []
    published = read_builtin(COLORS).published
    for group in runs_of(material, COLORS):
        chart_bars = [
            bar_with_sd(row.model, row.value, row.spread, "published") for row in published
        ]
        body = []
        for entry in group.entries:
            figure = entry.figure("accuracy")
            if figure is None:
                continue
            chart_bars.append(bar_with_sd(entry.label, figure.value, figure.spread, "ours"))
            value, ends, spread, chance = figure_cells(figure)
            body.append([entry.label, value, spread, ends, chance])
        x_label = "accuracy, mean and sd over templates"
        charts.append(bars(chart_bars, title=group.title, x_label=x_label))
        header = ["model", "mean accuracy", "sd over templates", "95 % interval", "chance"]
        tables.append(DataTable(header, body, f"Ours: {group.title}"))
    return Rendered(SPREAD + few(material, COLORS), tables, charts)


def colors_by_template(material: Material) -> Rendered:
    """Accuracy in each of the 13 templates: the published file, and ours."""
    templates = read_builtin(COLORS).templates
    # the authors' file names its templates by their text, in its own notation
    texts = {}
    for name, template in templates.items():
        texts[name] = template.text.replace("{thing}", FIELD)
    columns: list[tuple[str, dict[str, float]]] = []
    folder = material.data_of(COLORS)
    if folder is not None and (folder / "results.csv").is_file():
        for model, accuracies in read_results(folder / "results.csv").items():
            columns.append((f"{model}, published", accuracies))
    published = len(columns)
    for group in material.groups_of(COLORS):
        for entry in group.entries:
            accuracies = _accuracies(entry, texts)
            # only a run that was asked in the 13 templates has any
            if accuracies:
                columns.append((entry.label, accuracies))
    if not columns:
        raise UserError(
            "There is neither a run of memory-colors in its templates nor the authors' results.csv "
            "beside the data."
        )
    body = []
    for text in texts.values():
        values = [accuracies.get(text) for _, accuracies in columns]
        body.append([text.replace(FIELD, "…"), *map(number, values)])
    means = ["mean"]
    deviations = ["sd"]
    for _, accuracies in columns:
        values_of_model = list(accuracies.values())
        means.append(number(fmean(values_of_model)))
        deviations.append(number(stdev(values_of_model)) if len(values_of_model) > 1 else NONE)
    body += [means, deviations]
    about = "Every published accuracy is a number of 109 things; the sd has n − 1 below the line."
    table = DataTable(["template", *(name for name, _ in columns)], body)
    status = Status.SHOWN if len(columns) > published else Status.NEEDS_RUN
    return Rendered(about, [table], status=status)


def _accuracies(entry: LabelledRun, texts: Mapping[str, str]) -> dict[str, float]:
    """Return a run's accuracy by the text of each template, whose names are given."""
    accuracies = {}
    for name, text in texts.items():
        figure = entry.figure("accuracy", name)
        if figure:
            accuracies[text] = figure.value
    return accuracies


def read_results(path: Path) -> dict[str, dict[str, float]]:
    """Return the authors' accuracies by model and template."""
    models: dict[str, dict[str, float]] = {}
    try:
        for row in every_row(path, read_table(path)):
            # the file has the names of checkpoints, print those of the paper
            model = row.cells["model"]
            accuracies = models.setdefault(MODELS.get(model, model), {})
            accuracies[row.cells["question_template"]] = float(row.cells["accuracy"])
    except (KeyError, ValueError) as error:
        raise UserError(
            f"{path} is not the authors' table of accuracies by template ({error})."
        ) from error
    return models


def bar_with_sd(name: str, value: float, sd: float | None, series: str) -> Bar:
    """Return a bar with the standard deviation as its whisker."""
    if sd is None:
        return Bar(name, value, series=series)
    # no accuracy is below 0, however wide the spread
    low = max(value - sd, 0.0)
    return Bar(name, value, low, value + sd, series)


def few(material: Material, task: str) -> str:
    """Return a remark where runs asked only some of the questions."""
    runs = [entry.run for group in material.groups_of(task) for entry in group.entries]
    if any(run.manifest.limit for run in runs):
        return "\n\nSome runs asked a sample of the questions (`--limit`)."
    return ""
