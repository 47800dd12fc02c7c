"""Memory Colors and Visual Property Norms: runs beside the published means, panel by panel."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean, stdev

from markupsafe import Markup

from seesay.errors import UserError
from seesay.questions import Slice, Task
from seesay.reports.charts import Bar, Series, bars, lines
from seesay.reports.formatting import NONE, interval, number
from seesay.reports.groups import LabelledRun, TaskRuns
from seesay.reports.pages.sections import DataTable
from seesay.reports.papers.material import Material
from seesay.reports.papers.paper import Rendered, Status
from seesay.runs.records import Figure
from seesay.tasks.memory_colors import PUBLISHED, TEMPLATES

COLORS, NORMS = "memory-colors", "property-norms"
ENTRIES = {2: 6541, 5: 3641, 10: 2001, 20: 613, 30: 27}
"""Entries by the least production frequency of a segment, as printed in Table 4."""
MODELS = {
    "clip-bert-explicit": "CLIP-BERT-explicit", "bert-base-trained-lxmert": "BERT-LXMERT-train",
    "clip-bert-implicit": "CLIP-BERT-implicit", "bert-base-trained": "BERT-CLIP-BERT-train",
    "bert-base-trained-lxmert-scratch": "BERT-LXMERT-train-scratch", "lxmert-base-uncased": "LXMERT",
    "visualbert-vqa-coco": "VisualBERT", "bert-base-uncased": "BERT-base",
}  # fmt: skip
"""The models of the published `results.csv`, by their names in the paper."""
TRAINING = (
    ("BERT-base", "random weights", "English Wikipedia, BooksCorpus", "masked words, next sentence"),
    ("CLIP-BERT-implicit, -explicit", "BERT-base", "Conceptual Captions, SBU, COCO captions, Visual Genome QA, each "
     "text with its picture's CLIP ViT-B/32 feature", "masked words"),
    ("BERT-CLIP-BERT-train", "BERT-base", "the texts of CLIP-BERT's data", "masked words"),
    ("LXMERT", "random weights", "COCO captions, Visual Genome, VQA v2, GQA, Visual Genome QA, pictures as detected "
     "regions", "masked words, masked regions, does the text fit the picture, question answering"),
    ("BERT-LXMERT-train", "BERT-base", "the texts of LXMERT's data", "masked words"),
    ("BERT-LXMERT-train-scratch", "random weights", "the texts of LXMERT's data", "masked words"),
    ("VisualBERT", "BERT-base", "COCO captions, pictures as detected regions",
     "masked words, does the second caption fit the picture"),
)  # fmt: skip
"""The paper's models: what each starts from, its data and its objectives."""
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
    return Rendered(Status.IN_PART, text, [DataTable(["task", "question", "answers"], body)])


def models(material: Material) -> Rendered:
    """Tables 2 and 3: the models asked here; how the published ones were trained is in print."""
    runs = [run for run in material.runs if run.manifest.task in (COLORS, NORMS)]
    if not runs:
        raise UserError("There is no run of memory-colors or property-norms among the folders given.")
    rows = {
        (run.manifest.model, run.manifest.family, run.manifest.scope, run.manifest.model_fingerprint) for run in runs
    }
    text = (
        "What the paper's models were trained on is after the authors' repository and each model's own paper, not "
        "after the tables in print. Below it stand the models asked here."
    )
    table = DataTable(
        ["model", "family", "what is scored", "fingerprint"], [list(row) for row in sorted(rows)], "Asked here"
    )
    return Rendered(Status.IN_PART, text, [table])


def published_models() -> DataTable:
    """The paper's models."""
    return DataTable(["model", "starts from", "data", "objectives"], TRAINING, "The paper's models")


def published_colors() -> DataTable:
    """Mean and sd over the 13 templates, as published."""
    body = [[row.model, number(row.value), number(row.spread)] for row in PUBLISHED]
    return DataTable(["model", "mean accuracy", "sd over templates"], body, "As published")


def runs_of(material: Material, task: str) -> list[TaskRuns]:
    """The groups of runs of a task."""
    groups = material.groups_of(task)
    if not groups:
        raise UserError(f"There is no run of {task} among the folders given.")
    return groups


def memory_colors(material: Material) -> Rendered:
    """Accuracy by model: mean and sd over templates."""
    charts, tables = [], []
    for group in runs_of(material, COLORS):
        drawn = [_with_sd(row.model, row.value, row.spread, "published") for row in PUBLISHED]
        body = []
        for entry in group.entries:
            if (figure := entry.figure("accuracy")) is not None:
                drawn.append(_with_sd(entry.label, figure.value, figure.spread, "ours"))
                ends = interval(figure.low, figure.high)
                body.append([entry.label, number(figure.value), number(figure.spread), ends, number(figure.chance)])
        charts.append(bars(drawn, title=group.title, x_label="accuracy, mean and sd over templates"))
        header = ["model", "mean accuracy", "sd over templates", "95 % interval", "chance"]
        tables.append(DataTable(header, body, f"Ours: {group.title}"))
    return Rendered(Status.SHOWN, SPREAD + _few(material, COLORS), tables, charts)


def colors_by_template(material: Material) -> Rendered:
    """Accuracy in each of the 13 templates: the published file, and ours."""
    texts = [template.text.replace("{thing}", "[DESCRIPTOR] [ITEM]") for template in TEMPLATES]
    columns: list[tuple[str, dict[str, float]]] = []
    folder = material.data_of(COLORS)
    if folder is not None and (folder / "results.csv").is_file():
        columns += [(f"{name}, published", rows) for name, rows in read_results(folder / "results.csv").items()]
    for group in material.groups_of(COLORS):
        for entry in group.entries:
            figures = [entry.figure("accuracy", template.name) for template in TEMPLATES]
            columns.append((entry.label, {text: f.value for text, f in zip(texts, figures, strict=True) if f}))
    if not columns:
        raise UserError("There is neither a run of memory-colors nor the authors' results.csv beside the data.")
    body = [
        [text.replace("[DESCRIPTOR] [ITEM]", "…"), *(number(rows.get(text)) for _, rows in columns)] for text in texts
    ]
    means = [[*rows.values()] for _, rows in columns]
    body.append(["mean", *(number(fmean(values)) for values in means)])
    body.append(["sd", *(number(stdev(values)) if len(values) > 1 else NONE for values in means)])
    ours = any(not name.endswith(", published") for name, _ in columns)
    text = "Every published accuracy is a number of 109 things; the sd has n − 1 below the line."
    table = DataTable(["template", *(name for name, _ in columns)], body)
    return Rendered(Status.SHOWN if ours else Status.NOT_HERE, text, [table])


def read_results(path: Path) -> dict[str, dict[str, float]]:
    """The authors' accuracies by model and template."""
    models: dict[str, dict[str, float]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                name = MODELS.get(row["model"], row["model"])
                models.setdefault(name, {})[row["question_template"]] = float(row["accuracy"])
    except (KeyError, ValueError, TypeError, csv.Error) as error:
        raise UserError(f"{path} is not the authors' table of accuracies by template ({error}).") from error
    return models


def entries_table(material: Material) -> Rendered:
    """Table 4: entries in each segment, by relation."""
    counts = segment_entries(material.task(NORMS))
    relations = sorted({relation for _, relation in counts})
    body, missed = [], []
    for segment, printed in ENTRIES.items():
        each = [counts[f"pf>={segment}", relation] for relation in relations]
        body.append([f"PF ≥ {segment}", *(f"{count:,}" for count in each), f"{sum(each):,}", f"{printed:,}"])
        if sum(each) != printed:
            missed.append(f"PF ≥ {segment} by {sum(each) - printed:+,}".replace("-", "−"))
    text = "Entries are pairs of a concept and a feature; segments are nested."
    text += f" They differ from print: {', '.join(missed)}." if missed else " All five are as printed."
    return Rendered(Status.SHOWN, text, [DataTable(["segment", *relations, "all", "published"], body)])


def segment_entries(task: Task) -> Counter[tuple[str, str]]:
    """The number of entries by segment and relation: every gold answer of a question is one."""
    counts: Counter[tuple[str, str]] = Counter()
    for question in task.questions:
        counts[question.tags["segment"], question.tags["relation"]] += len(question.gold)
    return counts


Panel = Callable[[Figure], str | None]
"""The panel that a figure of a run belongs to, by its slice and template; None for none."""


def panel(tags: Sequence[str], name: Callable[[Figure], str | None]) -> Panel:
    """The figures sliced by these tags, each in the panel of this name."""
    return lambda figure: name(figure) if _tags(figure) == tuple(tags) else None


SEGMENTS = panel(["segment"], lambda f: "all relations and templates" if f.template is None else None)
IN_TEMPLATES = panel(["segment"], lambda figure: figure.template)
RELATIONS = panel(["relation", "segment"], lambda f: f.slice["relation"] if f.slice and f.template is None else None)
COLORS_ONLY = panel(
    ["answers", "segment"],
    lambda f: "answers that are colours" if f.slice and f.template is None and f.slice["answers"] == "colour" else None,
)


def norms_panels(panel_of: Panel) -> Callable[[Material], Rendered]:
    """Renders mean average precision by segment, one chart for each panel and a line for each model."""

    def render(material: Material) -> Rendered:
        charts: list[Markup] = []
        body: list[list[str]] = []
        for group in runs_of(material, NORMS):
            rows = [(name, entry, figure) for entry in group.entries for name, figure in _panels(entry, panel_of)]
            for name in dict.fromkeys(name for name, _, _ in rows):
                charts.append(_curves(name, [(entry.label, figure) for other, entry, figure in rows if other == name]))
            for name, entry, figure in sorted(rows, key=lambda row: (row[0], row[1].series)):
                numbers = [number(figure.value), number(figure.spread), interval(figure.low, figure.high)]
                body.append([name, entry.label, _segment(figure.slice), *numbers, f"{figure.n:,}"])
        if not body:
            raise UserError(
                "The runs of property-norms have no such slice: run the same probe again with this version."
            )
        header = ["panel", "model", "segment", "mean AP", "sd over templates", "95 % interval", "questions"]
        text = (
            "Mean average precision over the 614 answer words, by the least production frequency of the answers; "
            "bands are 95 % intervals over concepts. In print these are bars with the sd over templates, and a random "
            "baseline; no published numbers of them are at hand."
        )
        return Rendered(Status.SHOWN, text + _few(material, NORMS), charts=charts, numbers=DataTable(header, body))

    return render


def _panels(entry: LabelledRun, panel_of: Panel) -> Iterator[tuple[str, Figure]]:
    for figure in entry.run.figures:
        if figure.metric == "average_precision" and (name := panel_of(figure)) is not None:
            yield name, figure


def _curves(name: str, rows: Sequence[tuple[str, Figure]]) -> Markup:
    series = []
    for label in dict.fromkeys(label for label, _ in rows):
        own = sorted((int(_segment(f.slice).removeprefix("pf>=")), f) for other, f in rows if other == label)
        x, figures = [segment for segment, _ in own], [figure for _, figure in own]
        ends = [f.low for f in figures], [f.high for f in figures]
        series.append(Series(label, x, [f.value for f in figures], *ends))
    return lines(series, title=name, x_label="production frequency, at least", y_label="mean AP")


def _tags(figure: Figure) -> tuple[str, ...]:
    return figure.slice.tags if figure.slice else ()


def _segment(part: Slice | None) -> str:
    return part["segment"] if part else ""


def _with_sd(name: str, value: float, sd: float | None, series: str) -> Bar:
    return Bar(name, value, None if sd is None else value - sd, None if sd is None else value + sd, series)


def _few(material: Material, task: str) -> str:
    """A remark where runs asked only some of the questions."""
    limited = [group for group in material.groups_of(task) if any(e.run.manifest.limit for e in group.entries)]
    return "\n\nSome runs asked a sample of the questions (`--limit`)." if limited else ""
