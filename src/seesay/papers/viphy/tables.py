"""ViPhy's tables: the counts of its data, zero-shot answers, linear probes, categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from seesay.data import viphy
from seesay.data.knowledge import ColorFact, PlaceFact, SizeFact, SubtypeFact
from seesay.errors import UserError
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status
from seesay.papers.published import published_tables
from seesay.papers.viphy import source
from seesay.questions import Answer, Published, Scores, Slice
from seesay.reports.gold_analyses import category_agreement, even_steps
from seesay.reports.groups import LabelledRun, TaskRuns, asked_as
from seesay.reports.pages.sections import DataTable
from seesay.runs.figures import figures
from seesay.runs.records import Figure
from seesay.runs.run import Run
from seesay.tasks.categories import CATEGORIES, ENCODER, assign
from seesay.tasks.page_analyses import SIZE_SETS
from seesay.tasks.viphy.human import figures_of
from seesay.tasks.wording import wording

NOT_LEVEL = Slice.of({"level": "no"})
SAMPLE = 3_000
"""Names whose category is found for the page; `seesay tasks viphy-color --page FILE --categories
minilm` takes all."""

JUDGED = "judge"
"""How people were asked."""
LANGUAGE = ("BERT-base", "RoBERTa-large", "UnifiedQA-large", "DeBERTa-xxl")
VISION = ("VisualBERT", "ViLT", "FLAVA", "CLIP")


def percent(value: float | None) -> str | None:
    """A share as the paper prints it.

    >>> percent(0.70452), percent(None)
    ('70.45', None)
    """
    return None if value is None else f"{100 * value:.2f}"


def with_averages(rows: Sequence[Published], metrics: Mapping[str, str], title: str) -> DataTable:
    """Published rows as the paper prints them, one line per model, and the means of `LANGUAGE` and
    `VISION` models.

    `metrics` maps the metrics to their column heads.
    """
    by_model: dict[str, dict[str, float]] = {}
    for row in rows:
        by_model.setdefault(row.model, {}).setdefault(row.metric, row.value)
    lines = [
        [model, *(percent(values.get(metric)) for metric in metrics)]
        for model, values in by_model.items()
    ]
    for name, members in (
        ("mean of language models", LANGUAGE),
        ("mean of vision-language models", VISION),
    ):
        present = [by_model[model] for model in members if model in by_model]
        if len(present) == len(members):
            means = []
            for metric in metrics:
                values = [row[metric] for row in present if metric in row]
                means.append(percent(fmean(values)) if values else None)
            lines.append([name, *means])
    return DataTable(["published, in percent", *metrics.values()], lines, title)


def cell(figure: Figure | None) -> str | None:
    """A figure in percent with its interval."""
    if figure is None:
        return None
    return f"{percent(figure.value)} ({100 * figure.low:.1f}–{100 * figure.high:.1f})"


def dataset(material: Material) -> Rendered:
    """Table 1: counts, label cardinality and the share of names that ConceptNet knows, from the
    published files."""
    subtypes: Counter[str] = Counter()
    for fact in source.rows(material, SubtypeFact):
        subtypes[fact.object] += fact.subtype != fact.object
    colors = source.rows(material, ColorFact)
    sizes = source.rows(material, SizeFact)
    places = source.rows(material, PlaceFact)
    conceptnet = source.conceptnet_names(material)
    counted: list[tuple[str, int, list[int], Iterable[str]]] = [
        (
            "names of objects, subtypes included",
            len(subtypes),
            [n for n in subtypes.values() if n],
            subtypes,
        ),
        (
            "colour: objects",
            len(colors),
            [len(f.typical) for f in colors],
            [f.object for f in colors],
        ),
        (
            "size: pairs",
            len(sizes),
            [len(f.typical) for f in sizes],
            [name for f in sizes for name in (f.a, f.b)],
        ),
        (
            "space: pairs in scenes",
            len(places),
            [len(f.typical) for f in places],
            [name for f in places for name in (f.a, f.b)],
        ),
    ]
    lines = [_line(*row, conceptnet) for row in counted]
    header = [
        "ours, from the published files",
        "count",
        "labels: mean (sd)",
        "names",
        "of them in ConceptNet",
    ]
    parents = sum(n > 0 for n in subtypes.values())
    text = (
        f"Subtypes are counted for the {parents:,} names that have any, without the name itself; "
        "over all names the "
        f"mean would be {sum(subtypes.values()) / len(subtypes):.2f}. Standard deviations are "
        "those of the population "
        "(divided by n). All three cardinalities come out as printed. Every published size has one "
        "label, its pair's "
        "complement is a row of its own, and the pairs are of parents only.\n\n"
        "14,046 names have ten answers about colour or more (results/col_meta.csv); the table of "
        "colours leaves out "
        '796 of them, most of which name a colour or a material themselves ("steel tap", "wood '
        'tabletop", "bluejean").'
    )
    if conceptnet is None:
        text += f"\n\nThe ConceptNet column needs {source.CONCEPTNET} of the published files."
    return Rendered(
        text,
        [DataTable(header, lines, "Ours")],
        status=Status.SHOWN if conceptnet else Status.IN_PART,
    )


def _line(
    name: str, count: int, labels: Sequence[int], names: Iterable[str], conceptnet: set[str] | None
) -> list[str | float | None]:
    unique = set(names)
    shared = None if conceptnet is None else len(unique & conceptnet)
    overlap = None if shared is None else f"{shared:,} ({shared / len(unique):.1%})"
    return [
        name,
        f"{count:,}",
        f"{np.mean(labels):.2f} ({np.std(labels):.2f})",
        f"{len(unique):,}",
        overlap,
    ]


def zero_shot_published() -> DataTable:
    """Table 3 as printed; UnifiedQA chooses among the options."""
    rows = []
    tasks = {"colour": "viphy-color", "size": "viphy-size", "space": "viphy-space"}
    for name, task in tasks.items():
        for row in wording(task)["published"]:
            model = "people" if row.model.startswith("people") else row.model
            rows.append(replace(row, model=model, metric=name))
    return with_averages(rows, {row.metric: row.metric for row in rows}, "Relaxed accuracy")


def zero_shot(material: Material) -> Rendered:
    """Table 3: models asked without training, by the published rule and among the options alone."""
    lines: list[list[str | None]] = []
    done = set()
    for group in material.groups_of("viphy-color", "viphy-size", "viphy-space"):
        if is_linear(group):
            continue
        for entry in group.entries:
            for rule, figure in _zero_shot_rules(group, entry):
                done.add(group.task.name)
                name = group.task.name.removeprefix("viphy-")
                lines.append([entry.label, name, rule, cell(figure), f"{figure.n:,}"])
    if not lines:
        raise UserError(
            "There is no run of viphy-color, viphy-size or viphy-space among the folders."
        )
    header = ["ours, in percent", "task", "rule", "relaxed accuracy", "questions"]
    text = (
        'The published rule takes the top word of the whole vocabulary (for sizes "bigger" or '
        '"larger"), asks '
        "places for above or below, and leaves out pairs that may be at a similar level. Beside it "
        "stand the most "
        "probable of the options alone, for places with the paper's two labels and with our three. "
        "The size prompt is "
        'the paper\'s ("A is [MASK] than B in size") and that of its published code ("the A is …").'
    )
    status = Status.SHOWN if len(done) == 3 else Status.IN_PART
    return Rendered(text, [DataTable(header, lines, "Ours")], status=status)


def is_linear(group: TaskRuns) -> bool:
    """Whether the group's runs are linear probes."""
    return asked_as(group.task).startswith("linear")


def is_judged(run: Run) -> bool:
    """Whether people answered, in a study of `seesay judge`."""
    return run.manifest.family == "people"


def _zero_shot_rules(group: TaskRuns, entry: LabelledRun) -> list[tuple[str, Figure]]:
    """The figures of a run by rule; those that it does not have are left out."""
    by_choice = asked_as(group.task) == "question"
    top = "vocabulary_accuracy"
    headline = group.headline
    rules: dict[str, Figure | None] = {
        "top word": entry.figure(top),
        "options alone": entry.figure(headline),
    }
    if group.task.name == "viphy-space":
        rules = {
            "top word, pairs without a similar level": entry.figure(top, part=NOT_LEVEL),
            "two labels (the paper's), the same pairs": two_labels(entry.run),
            "three labels (ours), all pairs": entry.figure(headline),
        }
    elif group.task.name == "viphy-size" and not by_choice:
        rules = {}
        for template, prompt in (("bigger", "the paper's prompt"), ("code", "the code's prompt")):
            rules[f"top word, {prompt}"] = entry.figure(top, template)
            rules[f"options alone, {prompt}"] = entry.figure(headline, template)
    suffix = ", by choice" if by_choice else ""
    return [(rule + suffix, figure) for rule, figure in rules.items() if figure is not None]


def two_labels(run: Run) -> Figure | None:
    """Relaxed accuracy on places when a model may only say above or below, on the pairs that have
    no similar level."""
    labels = (">", "<")
    questions = [
        replace(question, options=labels)
        for question in run.task.questions
        if question.tags.get("level") == "no" and set(labels) <= set(question.options)
    ]
    kept = {question.id for question in questions}
    if not kept:
        return None
    answers = []
    for answer in run.answers:
        if answer.question in kept:
            at = [answer.options.index(label) for label in labels]
            logp = tuple(answer.scores.logp[i] for i in at)
            tokens, chars = (
                tuple(part[i] for i in at) for part in (answer.scores.tokens, answer.scores.chars)
            )
            answers.append(
                Answer(answer.question, answer.template, labels, Scores(logp, tokens, chars))
            )
    task = replace(run.task, questions=tuple(questions), metrics=("relaxed_accuracy",), neutral={})
    return next(
        f for f in figures(run.manifest, task, answers) if f.template is None and f.slice is None
    )


def probes(
    columns: Sequence[tuple[str, str, str]],
    people: Callable[[Material], list[list[str | None]]],
    note: str,
) -> Callable[[Material], Rendered]:
    """Tables 4 to 6: linear probes and people's rows that can be computed. A column is a task, its
    metric (or nothing: the task's headline) and a head; `note` is a further paragraph, whether
    anything can be shown or not."""
    heads = [head for _, _, head in columns]

    def render(material: Material) -> Rendered:
        rows = _rows_of(material, columns)
        lines, judged_lines = (
            [
                [model, way, *map(cells.get, heads)]
                for model, way, cells in rows
                if (way == JUDGED) is judged
            ]
            for judged in (False, True)
        )
        missing = f"There is no linear probe of {columns[0][0]} among the folders"
        human = []
        notes = []
        try:
            human = people(material)
        except UserError as error:
            notes.append(f"People: {error}")
        human += judged_lines
        if not lines and not human:
            raise UserError(" ".join([f"{missing}.", *notes, note]))
        whole = human and any(len(cells) == len(heads) for _, way, cells in rows if way != JUDGED)
        text = "\n\n".join(
            [PROBE if lines else f"{missing}: people's rows alone are ours.", *notes, note]
        )
        table = DataTable(["ours, in percent", "asked", *heads], [*lines, *human], "Ours")
        return Rendered(text, [table], status=Status.SHOWN if whole else Status.IN_PART)

    return render


def _rows_of(
    material: Material, columns: Sequence[tuple[str, str, str]]
) -> list[tuple[str, str, dict[str, str | None]]]:
    """Model, way of asking and cells of linear probes and people; runs of several tasks share a
    row, two runs of one task do not."""
    rows: list[tuple[str, str, dict[str, str | None]]] = []
    for group in material.groups_of(*(task for task, _, _ in columns)):
        metrics = [
            (metric or group.headline, head)
            for task, metric, head in columns
            if task == group.task.name
        ]
        for entry in (entry for entry in group.entries if is_linear(group) or is_judged(entry.run)):
            way = JUDGED if is_judged(entry.run) else asked_as(group.task)
            values = {head: cell(entry.figure(metric)) for metric, head in metrics}
            same = (
                row
                for row in rows
                if row[:2] == (entry.label, way) and not row[2].keys() & values.keys()
            )
            if (row := next(same, None)) is None:
                rows.append((entry.label, way, values))
            else:
                row[2].update(values)
    return rows


def coda_rows(material: Material) -> list[list[str | None]]:
    """CoDa's annotators as the paper reads them, and by the rule for models."""
    scores = figures_of(source.shared_things(material))
    rest = percent(scores.confidence), percent(scores.macro_f1)
    return [
        ["people (CoDa), any typical colour in common", None, percent(scores.any_overlap), *rest],
        ["people (CoDa), their most frequent colour", None, percent(scores.most_frequent), *rest],
    ]


def example_rows(kind: type[source.Pair]) -> Callable[[Material], list[list[str | None]]]:
    """People on the published annotated examples."""

    def people(material: Material) -> list[list[str | None]]:
        right, of = source.on_examples(material, kind)
        return [
            [
                f"people on the annotated examples: {right} of {of}",
                None,
                percent(right / of),
                None,
                None,
            ]
        ]

    return people


PROBE = (
    "A probe is one linear layer on frozen vectors of the text in the table's column; "
    "`linear-question` is the "
    "question with its lettered options, as UnifiedQA is asked."
)
TRANSITIVE = (
    "In the published transitive set the first object is always the smaller one: a model that "
    "always says so "
    "scores 100. 1,714 of its 20,000 rows repeat an earlier one and are asked once here."
)
CODA_NOTE = (
    "CoDa's annotators are measured on the 432 things that they share with ViPhy: as the paper "
    "reads it (any typical "
    "colour in common), and by the rule for models (the most frequent colour). Macro F1 is printed "
    "as 68.82; over "
    "labels it is 63.99, pooled 68.09, weighted 68.17, over things 71.91. People who may name "
    "several colours are "
    "asked with `seesay judge serve viphy-color --answer several`; the run of `judge export` then "
    "stands in the table."
)


def agreement_note(dimension: str) -> str:
    """The agreement of the people behind a human row, and what the annotated examples are."""
    if dimension == "size":
        examples = (
            "The annotated examples are the authors' (github.com/luka-group/ViPhy): 100 rows, of "
            "which three pairs are not "
            'in the table of sizes and one is labelled "-".'
        )
    else:
        examples = "The annotated examples are the authors' (github.com/luka-group/ViPhy); a shared label counts."
    (kappa,) = published_tables("viphy")["Human agreement"].rows[dimension]
    return f"{examples}\n\n" + (
        f"Fleiss' kappa of the people behind the human row: {kappa}, as printed; their answers are "
        "not "
        "published. `seesay judge serve viphy-"
        + dimension
        + "` collects such answers, and `judge export` gives kappa."
    )


def sizes_published() -> DataTable:
    """Table 6 as printed."""
    parts = SIZE_SETS.parts
    rows = [
        replace(row, metric=part)
        for task, part in parts.items()
        for row in wording(task)["linear_published"]
    ]
    return with_averages(rows, {part: part for part in parts.values()}, "Linear probes")


CATEGORY_TEXTS = DataTable(
    ["category", "objects"],
    [[name, ", ".join(objects)] for name, objects in CATEGORIES.items()],
    "Category: objects",
)


def categories(material: Material) -> Rendered:
    """Table 8: the texts of the categories, and how far our encoder agrees with the published
    assignment."""
    from seesay.models.encoders import load_encoder
    from seesay.probes.vector_cache import VectorCache

    published, _ = viphy.categories(source.require(material, viphy.CATEGORIES))
    names = even_steps(list(published), SAMPLE)
    vectors = VectorCache(load_encoder(ENCODER))
    with material.progress(f"{ENCODER}: names of things", "texts") as advance:
        vectors.rows(names, advance)
    analysis = category_agreement("viphy-color", assign(names, vectors.rows), published, ENCODER)
    text = (
        f'{analysis.text} A category is encoded as the text "category: objects", as in the paper, '
        "whose encoder is "
        f"another. These are {len(names):,} of the {len(published):,} names, at even steps."
    )
    return Rendered(text, charts=analysis.charts)
