"""The two tasks, the models, and Memory Colors: runs beside the published means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean, stdev

from seesay.data.rows import every_row, read_table
from seesay.errors import UserError
from seesay.grouping import group_by
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status, noting
from seesay.papers.published import PublishedTable, published_tables, read_yaml
from seesay.reports.charts import Bar, bars
from seesay.reports.formatting import NONE, figure_cells, number
from seesay.reports.gold_analyses import even_steps
from seesay.reports.groups import LabelledRun, TaskRuns
from seesay.reports.pages.sections import DataTable
from seesay.runs.run import Run
from seesay.tasks.from_file.builtin import read_builtin
from seesay.tasks.template_files import read_template_file

EXAMPLES = 3
"""Questions that Figure 1 has of each task."""
COLORS = "memory-colors"
NORMS = "property-norms"
MODELS = {
    name: cells[0] for name, cells in published_tables("memory_colors")["Results file"].rows.items()
}
"""The models of the published `results.csv`, by their names in the paper."""
MULTIMODAL = ("CLIP-BERT-explicit", "CLIP-BERT-implicit", "LXMERT", "VisualBERT")
"""The paper's vision-and-language models; its other four are unimodal."""
KINDS = ("unimodal", "multimodal")
"""The series of a chart: the first color is a cool one, the second warm, as in print."""
SEEING_FAMILIES = ("vision", "dual-encoder")
SEEING_SCOPE = re.compile("slot-(implicit|explicit)")
"""What CLIP-BERT is asked by."""
ADAPTED = re.compile("VisualBERT|LXMERT|ViLT|FLAVA")
"""Masked models that see: a run notes how they were read without a picture."""
FIELD = "[DESCRIPTOR] [ITEM]"
"""The thing in the templates of `results.csv`."""
SPREAD = (
    "Whiskers and sd are over templates, as the caption says; the interval is over things. "
    "Multimodal models are in a warmer colour than unimodal ones, as in print; runs stand below "
    "the eight models of the authors' file."
)


def overview(material: Material) -> Rendered:
    """Figure 1: what the two tasks ask."""
    body = []
    is_whole = True
    for name in (COLORS, NORMS):
        try:
            task = material.task(name)
        except UserError as error:
            body.append([name, str(error), ""])
            is_whole = False
            continue
        # one template shows what is asked: the others differ in the words around it
        template = task.templates[0]
        for question in even_steps(task.questions, EXAMPLES):
            body.append([name, template.ask(question).text, ", ".join(question.gold)])
    text = (
        f"{EXAMPLES} questions of each task, at even steps, in its first template and with their "
        "answers. The drawing in print is the authors'."
    )
    table = DataTable(["task", "question", "answers"], body, "Ours")
    return Rendered(text, [table], status=Status.of(is_whole))


def task_numbers(material: Material) -> Rendered:
    """Section 2: how large the two tasks are, counted in the files at hand."""
    colors = material.task(COLORS)
    rows = {
        "Memory Colors: things": len({question.object for question in colors.questions}),
        "Memory Colors: templates": len(colors.templates),
        "Memory Colors: colours": len(colors.questions[0].options),
    }
    missing: list[str] = []
    with noting(missing, " "):
        questions = material.task(NORMS).questions
        segments = group_by(questions, lambda question: question.tags["segment"])
        # segments are nested: the widest has every question of the others
        widest = segments["pf>=2"]
        rows |= {
            "Property Norms: concepts": len({question.object for question in widest}),
            "Property Norms: visual features": sum(len(question.gold) for question in widest),
            "Property Norms: relations": len({question.tags["relation"] for question in widest}),
            "Property Norms: segments": len(segments),
            "Property Norms: answer alternatives": len(questions[0].options),
        }
    rows["Property Norms: templates"] = len(read_template_file(NORMS)["templates"])
    text = (
        "Section 2.2 counts 8 templates of Property Norms; Figure 4 and the authors' code have 9, "
        "and so has the task here. Participants are in none of the files." + "".join(missing)
    )
    table = DataTable(["what", "number"], list(rows.items()), "Ours, counted in the files at hand")
    return Rendered(text, [table], status=Status.of(not missing))


def models(material: Material) -> Rendered:
    """Table 2: how each model is asked here, and which were."""
    names = read_yaml("memory_colors", "models.yaml")
    tables = [DataTable(["model", "its name for seesay probe"], [*names.items()], "Here")]
    asked = {
        (run.label, run.manifest.task, run.manifest.family)
        for run in material.runs
        if run.manifest.task in (COLORS, NORMS)
    }
    if asked:
        tables.append(DataTable(["model", "task", "family"], sorted(asked), "Asked in these runs"))
    text = (
        "Which cell stands in which row follows from section 3 (which models start from BERT) and "
        "from the order of the columns: the text of the table at hand has its cells in another "
        "order. VisualBERT's 1.7 M samples are 1.27 M texts in Table 3; both are as printed."
    )
    return Rendered(text, tables)


def datasets(material: Material) -> Rendered:
    """Table 3: facts about other people's data, of which there is nothing to compute."""
    text = (
        "CC is Conceptual Captions, VG Visual Genome. The corpora themselves are not read here: "
        "`seesay pretrain` trains on captions of your own, in the published forms of each."
    )
    return Rendered(text)


def published_colors() -> PublishedTable:
    """Return mean and sd over the 13 templates, which the authors' file gives and print draws."""
    rows = {}
    for row in read_builtin(COLORS).published:
        rows[row.model] = [number(row.value), number(row.spread)]
    header = ["model", "mean accuracy", "sd over templates"]
    return PublishedTable(header, rows, source="results.csv")


def runs_of(material: Material, task: str) -> list[TaskRuns]:
    """Return the groups of runs of a task."""
    groups = material.groups_of(task)
    if not groups:
        raise UserError(f"There is no run of {task} among the folders given.")
    return groups


def text_runs(group: TaskRuns) -> list[LabelledRun]:
    """Return the runs that were asked with text alone, as the paper asks its models."""
    return [entry for entry in group.entries if entry.run.manifest.condition.picture is None]


def kind_of(run: Run) -> str:
    """Return whether a run's model sees: multimodal, or else unimodal, as baselines are."""
    manifest = run.manifest
    # a note begins with the model's name, which may be any
    notes = [note.removeprefix(f"'{manifest.model}': ") for note in manifest.notes]
    sees = (
        manifest.family in SEEING_FAMILIES
        or SEEING_SCOPE.fullmatch(manifest.condition.scope or "")
        or any(ADAPTED.search(note) for note in notes)
    )
    return KINDS[bool(sees)]


def memory_colors(material: Material) -> Rendered:
    """Figure 2a: accuracy by model, mean and sd over templates."""
    charts = []
    tables = []
    # unimodal models come first, and so does their color
    published = sorted(read_builtin(COLORS).published, key=lambda row: row.model in MULTIMODAL)
    for group in runs_of(material, COLORS):
        chart_bars = []
        for row in published:
            kind = KINDS[row.model in MULTIMODAL]
            chart_bars.append(bar_with_sd(row.model, row.value, row.spread, kind))
        body = []
        for entry in text_runs(group):
            figure = entry.figure("accuracy")
            if figure is None:
                continue
            chart_bars.append(
                bar_with_sd(entry.label, figure.value, figure.spread, kind_of(entry.run))
            )
            value, ends, spread, chance = figure_cells(figure)
            body.append([entry.label, value, spread, ends, chance])
        x_label = "accuracy, mean and sd over templates"
        charts.append(bars(chart_bars, title="(a) Memory Colors", x_label=x_label))
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
            columns.append((f"{model}, results.csv", accuracies))
    published = len(columns)
    for group in material.groups_of(COLORS):
        for entry in text_runs(group):
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
    about = (
        "What Figure 2a draws, template by template. Every accuracy in the authors' file is a "
        "number of 109 things; the sd has n − 1 below the line."
    )
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
