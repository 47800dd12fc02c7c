"""The two tasks, the models, and Memory Colors: runs beside the published means."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean, stdev

from seesay.data.rows import every_row, read_table
from seesay.errors import UserError
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status
from seesay.papers.published import published_tables
from seesay.reports.charts import Bar, bars
from seesay.reports.formatting import NONE, figure_cells, number
from seesay.reports.groups import TaskRuns
from seesay.reports.pages.sections import DataTable
from seesay.tasks.from_file.builtin import declared

COLORS, NORMS = "memory-colors", "property-norms"
MODELS = {
    name: cells[0] for name, cells in published_tables("memory_colors")["Results file"].rows.items()
}
"""The models of the published `results.csv`, by their names in the paper."""
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
        prompt = task.templates[0].ask(question).text
        body.append([name, prompt, ", ".join(question.gold)])
    text = "The first question of each task in its first template. The drawing in print is the authors'."
    return Rendered(text, [DataTable(["task", "question", "answers"], body)], status=Status.IN_PART)


def models(material: Material) -> Rendered:
    """Tables 2 and 3: the models asked here; how the published ones were trained is in print."""
    runs = [run for run in material.runs if run.manifest.task in (COLORS, NORMS)]
    if not runs:
        raise UserError(
            "There is no run of memory-colors or property-norms among the folders given."
        )
    rows = {
        (
            run.manifest.model,
            run.manifest.family,
            run.manifest.scope,
            run.manifest.model_fingerprint,
        )
        for run in runs
    }
    text = (
        "What the paper's models were trained on is after the source in the last column, not after "
        "the tables in "
        "print; what none of them says is left empty. Below it stand the models asked here."
    )
    header = ["model", "family", "what is scored", "fingerprint"]
    return Rendered(text, [DataTable(header, sorted(rows), "Asked here")], status=Status.IN_PART)


def published_colors() -> DataTable:
    """Mean and sd over the 13 templates, as published."""
    body = [
        [row.model, number(row.value), number(row.spread)] for row in declared(COLORS).published
    ]
    return DataTable(["model", "mean accuracy", "sd over templates"], body, "As published")


def runs_of(material: Material, task: str) -> list[TaskRuns]:
    """The groups of runs of a task."""
    groups = material.groups_of(task)
    if not groups:
        raise UserError(f"There is no run of {task} among the folders given.")
    return groups


def memory_colors(material: Material) -> Rendered:
    """Accuracy by model: mean and sd over templates."""
    charts = []
    tables = []
    for group in runs_of(material, COLORS):
        drawn = [
            bar_with_sd(row.model, row.value, row.spread, "published")
            for row in declared(COLORS).published
        ]
        body = []
        for entry in group.entries:
            if (figure := entry.figure("accuracy")) is not None:
                drawn.append(bar_with_sd(entry.label, figure.value, figure.spread, "ours"))
                value, ends, spread, chance = figure_cells(figure)
                body.append([entry.label, value, spread, ends, chance])
        charts.append(
            bars(drawn, title=group.title, x_label="accuracy, mean and sd over templates")
        )
        header = ["model", "mean accuracy", "sd over templates", "95 % interval", "chance"]
        tables.append(DataTable(header, body, f"Ours: {group.title}"))
    return Rendered(SPREAD + few(material, COLORS), tables, charts)


def colors_by_template(material: Material) -> Rendered:
    """Accuracy in each of the 13 templates: the published file, and ours."""
    templates = declared(COLORS).templates
    texts = [
        template.text.replace("{thing}", "[DESCRIPTOR] [ITEM]") for template in templates.values()
    ]
    columns: list[tuple[str, dict[str, float]]] = []
    folder = material.data_of(COLORS)
    if folder is not None and (folder / "results.csv").is_file():
        columns += [
            (f"{name}, published", rows)
            for name, rows in read_results(folder / "results.csv").items()
        ]
    published = len(columns)
    for group in material.groups_of(COLORS):
        for entry in group.entries:
            figures = [entry.figure("accuracy", name) for name in templates]
            if any(figures):  # asked in the 13 templates
                columns.append(
                    (
                        entry.label,
                        {text: f.value for text, f in zip(texts, figures, strict=True) if f},
                    )
                )
    if not columns:
        raise UserError(
            "There is neither a run of memory-colors in its templates nor the authors' results.csv "
            "beside the data."
        )
    body = [
        [text.replace("[DESCRIPTOR] [ITEM]", "…"), *(number(rows.get(text)) for _, rows in columns)]
        for text in texts
    ]
    means = [[*rows.values()] for _, rows in columns]
    body.append(["mean", *(number(fmean(values)) for values in means)])
    body.append(["sd", *(number(stdev(values)) if len(values) > 1 else NONE for values in means)])
    text = "Every published accuracy is a number of 109 things; the sd has n − 1 below the line."
    table = DataTable(["template", *(name for name, _ in columns)], body)
    return Rendered(
        text, [table], status=Status.SHOWN if len(columns) > published else Status.NOT_HERE
    )


def read_results(path: Path) -> dict[str, dict[str, float]]:
    """The authors' accuracies by model and template."""
    models: dict[str, dict[str, float]] = {}
    try:
        for row in every_row(path, read_table(path)):
            name = MODELS.get(row.cells["model"], row.cells["model"])
            models.setdefault(name, {})[row.cells["question_template"]] = float(
                row.cells["accuracy"]
            )
    except (KeyError, ValueError) as error:
        raise UserError(
            f"{path} is not the authors' table of accuracies by template ({error})."
        ) from error
    return models


def bar_with_sd(name: str, value: float, sd: float | None, series: str) -> Bar:
    """A bar with the standard deviation as its whisker."""
    low, high = (None, None) if sd is None else (max(value - sd, 0.0), value + sd)
    return Bar(name, value, low, high, series)


def few(material: Material, task: str) -> str:
    """A remark where runs asked only some of the questions."""
    limited = [
        group
        for group in material.groups_of(task)
        if any(e.run.manifest.limit for e in group.entries)
    ]
    if limited:
        return "\n\nSome runs asked a sample of the questions (`--limit`)."
    return ""
