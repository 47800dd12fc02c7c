"""ViPhy's tables: the counts of its data, zero-shot answers, linear probes, categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from seesay.condition import How
from seesay.data import viphy
from seesay.data.knowledge import ColorFact, PlaceFact, SizeFact, SubtypeFact
from seesay.errors import UserError
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status
from seesay.papers.published import published_tables
from seesay.papers.viphy import source
from seesay.questions import Answer, Scores, Slice
from seesay.reports.gold_analyses import category_agreement, even_steps
from seesay.reports.groups import LabelledRun, TaskRuns
from seesay.reports.pages.sections import DataTable
from seesay.runs.answer_table import AnswerTable
from seesay.runs.figures import figures
from seesay.runs.records import Figure
from seesay.runs.run import Run
from seesay.tasks.categories import ENCODER, assign
from seesay.tasks.viphy.human import figures_of

NOT_LEVEL = Slice.of({"level": "no"})
SAMPLE = 3_000
"""Names whose category is found for the page; `seesay tasks viphy-color --page FILE --categories
minilm` takes all."""

PRINTED_NAMES = {"size": "size", "space": "spatial"}
JUDGED = "judge"
"""How people were asked."""


def percent(value: float | None) -> str | None:
    """Return a share as the paper prints it.

    >>> percent(0.70452), percent(None)
    ('70.45', None)
    """
    return None if value is None else f"{100 * value:.2f}"


def cell(figure: Figure | None) -> str | None:
    """Return a figure in percent with its interval."""
    if figure is None:
        return None
    return f"{percent(figure.value)} ({100 * figure.low:.1f}–{100 * figure.high:.1f})"


def dataset(material: Material) -> Rendered:
    """Table 1: counts, label cardinality and the share of names that ConceptNet knows.

    All are counted in the published files.
    """
    # how many subtypes each name has, itself not counted; names without any have none
    subtypes: Counter[str] = Counter()
    for fact in source.rows(material, SubtypeFact):
        subtypes[fact.object] += fact.subtype != fact.object
    colors = source.rows(material, ColorFact)
    sizes = source.rows(material, SizeFact)
    places = source.rows(material, PlaceFact)
    conceptnet = source.conceptnet_names(material)
    lines = [
        _line(
            "names of objects, subtypes included",
            len(subtypes),
            [count for count in subtypes.values() if count],
            subtypes,
            conceptnet,
        ),
        _line(
            "colour: objects",
            len(colors),
            [len(fact.typical) for fact in colors],
            [fact.object for fact in colors],
            conceptnet,
        ),
        _line(
            "size: pairs",
            len(sizes),
            [len(fact.typical) for fact in sizes],
            [name for fact in sizes for name in (fact.a, fact.b)],
            conceptnet,
        ),
        _line(
            "space: pairs in scenes",
            len(places),
            [len(fact.typical) for fact in places],
            [name for fact in places for name in (fact.a, fact.b)],
            conceptnet,
        ),
    ]
    header = [
        "ours, from the published files",
        "count",
        "labels: mean (sd)",
        "names",
        "of them in ConceptNet",
    ]
    parents = sum(count > 0 for count in subtypes.values())
    text = (
        f"Subtypes are counted for the {parents:,} names that have any, without the name itself; "
        "over all names the "
        f"mean would be {sum(subtypes.values()) / len(subtypes):.2f}. Standard deviations are "
        "those of the population "
        "(divided by n). Every published size has one "
        "label, its pair's "
        "complement is a row of its own, and the pairs are of parents only.\n\n"
        "14,046 names have ten answers about colour or more (results/col_meta.csv); the table of "
        "colours leaves out "
        '796 of them, most of which name a colour or a material themselves ("steel tap", "wood '
        'tabletop", "bluejean").'
    )
    # the list of ConceptNet's names is a file of another repository, which few will have
    if conceptnet is None:
        text += f"\n\nThe ConceptNet column needs {source.CONCEPTNET} of the published files."
    return Rendered(
        text,
        [DataTable(header, lines, "Ours")],
        status=Status.of(bool(conceptnet)),
    )


def _line(
    name: str, count: int, labels: Sequence[int], names: Iterable[str], conceptnet: set[str] | None
) -> list[str | float | None]:
    """Return a row of Table 1: a count, labels per item, and names with those in ConceptNet."""
    unique = set(names)
    overlap = None
    if conceptnet is not None:
        shared = len(unique & conceptnet)
        overlap = f"{shared:,} ({shared / len(unique):.1%})"
    return [
        name,
        f"{count:,}",
        f"{np.mean(labels):.2f} ({np.std(labels):.2f})",
        f"{len(unique):,}",
        overlap,
    ]


def zero_shot(material: Material) -> Rendered:
    """Table 3: models asked without training, by the published rule and among the options alone."""
    lines: list[list[str | None]] = []
    tasks = set()
    for group in material.groups_of("viphy-color", "viphy-size", "viphy-space"):
        # Table 3 is of models that were not trained: probes belong to Tables 4 to 6
        if is_linear(group):
            continue
        for entry in group.entries:
            for rule, figure in _zero_shot_rules(group, entry):
                tasks.add(group.task.name)
                name = group.task.name.removeprefix("viphy-")
                lines.append(
                    [
                        entry.label,
                        name,
                        rule,
                        cell(figure),
                        f"{figure.n:,}",
                    ]
                )
    if not lines:
        raise UserError(
            "There is no run of viphy-color, viphy-size or viphy-space among the folders."
        )
    header = ["ours, in percent", "task", "rule", "relaxed accuracy", "questions"]
    text = (
        'The published rule takes the top word of the whole vocabulary (for sizes "bigger" or '
        '"larger"), asks places for above or below, and leaves out pairs that may be at a similar '
        "level. Beside it stand the most probable of the options alone, for places with the "
        "paper's two labels and with our three. The size prompt is the paper's "
        '("A is [MASK] than B in size") and that of its published code ("the A is …").'
    )
    status = Status.of(len(tasks) == 3)
    return Rendered(text, [DataTable(header, lines, "Ours")], status=status)


def is_linear(group: TaskRuns) -> bool:
    """Return whether the group's runs are linear probes."""
    return group.how.trains


def is_judged(run: Run) -> bool:
    """Return whether people answered, in a study of `seesay judge`."""
    return run.manifest.family == "people"


def _zero_shot_rules(group: TaskRuns, entry: LabelledRun) -> list[tuple[str, Figure]]:
    """Return the figures of a run by rule; those that it does not have are left out."""
    by_choice = entry.run.manifest.condition.how is How.CHOICE
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
    # The paper's prompt and that of its code differ by an article. Both are shown, as either may be
    # behind the printed figures.
    elif group.task.name == "viphy-size" and not by_choice:
        rules = {}
        for template, prompt in (("bigger", "the paper's prompt"), ("code", "the code's prompt")):
            rules[f"top word, {prompt}"] = entry.figure(top, template)
            rules[f"options alone, {prompt}"] = entry.figure(headline, template)
    suffix = ", by choice" if by_choice else ""
    return [(rule + suffix, figure) for rule, figure in rules.items() if figure is not None]


def two_labels(run: Run) -> Figure | None:
    """Return relaxed accuracy on places when a model may only say above or below.

    Only pairs that have no similar level are counted.
    """
    labels = (">", "<")
    questions = {
        question.id: replace(question, options=labels)
        for question in run.task.questions
        if question.tags.get("level") == "no" and set(labels) <= set(question.options)
    }
    if not questions:
        return None
    answers = []
    for answer in run.answers:
        if answer.question in questions:
            places = [answer.options.index(label) for label in labels]
            scores = answer.scores
            scores_of_labels = Scores(
                tuple(scores.logp[place] for place in places),
                tuple(scores.tokens[place] for place in places),
                tuple(scores.chars[place] for place in places),
            )
            answers.append(Answer(answer.question, answer.template, labels, scores_of_labels))
    task = replace(
        run.task,
        questions=tuple(questions.values()),
        metrics=("relaxed_accuracy",),
        # neutral prompts were scored for three options: there is no calibrated figure of two
        neutral={},
    )
    all_figures = figures(run.manifest, task, AnswerTable.of(answers))
    return next(figure for figure in all_figures if not figure.template and not figure.slice)


def probes(
    columns: Sequence[tuple[str, str, str]],
    people: Callable[[Material], list[list[str | None]]],
    note: str,
) -> Callable[[Material], Rendered]:
    """Tables 4 to 6: linear probes and people's rows that can be computed.

    A column is a task, its metric (or nothing: the task's headline) and a head; `note` is a further
    paragraph, whether anything can be shown or not.
    """
    heads = [head for _, _, head in columns]

    def render(material: Material) -> Rendered:
        rows = _rows_of(material, columns)
        probe_lines: list[list[str | None]] = []
        people_lines: list[list[str | None]] = []
        is_complete = False
        for model, how, cells in rows:
            line = [
                model,
                how,
                *map(cells.get, heads),
            ]
            if how == JUDGED:
                people_lines.append(line)
            else:
                probe_lines.append(line)
                is_complete = is_complete or len(cells) == len(heads)
        missing = f"There is no linear probe of {columns[0][0]} among the folders"
        notes = []
        try:
            people_lines = [*people(material), *people_lines]
        except UserError as error:
            notes.append(f"People: {error}")
        if not probe_lines and not people_lines:
            raise UserError(" ".join([f"{missing}.", *notes, note]))
        about = PROBE if probe_lines else f"{missing}: people's rows alone are ours."
        header = ["ours, in percent", "asked", *heads]
        table = DataTable(header, [*probe_lines, *people_lines], "Ours")
        # the table has both kinds of rows in print
        status = Status.of(bool(people_lines) and is_complete)
        return Rendered("\n\n".join([about, *notes, note]), [table], status=status)

    return render


def _rows_of(
    material: Material, columns: Sequence[tuple[str, str, str]]
) -> list[tuple[str, str, dict[str, str | None]]]:
    """Return the model, how it was asked and the cells of linear probes and people.

    Runs of several tasks share a row, two runs of one task do not.
    """
    rows: list[tuple[str, str, dict[str, str | None]]] = []
    tasks = [task for task, _, _ in columns]
    for group in material.groups_of(*tasks):
        metrics = {}
        for task, metric, head in columns:
            if task == group.task.name:
                metrics[head] = metric or group.headline
        for entry in group.entries:
            if is_judged(entry.run):
                how = JUDGED
            elif is_linear(group):
                how = str(entry.run.manifest.condition.how)
            else:
                continue
            values = {head: cell(entry.figure(metric)) for head, metric in metrics.items()}
            for model, how_of_row, cells in rows:
                # a row that has these columns already is of another run of the same task
                if (model, how_of_row) == (entry.label, how) and not cells.keys() & values.keys():
                    cells.update(values)
                    break
            else:
                rows.append((entry.label, how, values))
    return rows


def coda_rows(material: Material) -> list[list[str | None]]:
    """Return CoDa's annotators as the paper reads them, and by the rule for models."""
    scores = figures_of(source.shared_things(material))
    accuracies = {
        "people (CoDa), any typical colour in common": scores.any_overlap,
        "people (CoDa), their most frequent colour": scores.most_frequent,
    }
    # how the accuracy is read changes neither confidence nor F1
    others = [percent(scores.confidence), percent(scores.macro_f1)]
    return [[name, None, percent(accuracy), *others] for name, accuracy in accuracies.items()]


def example_rows(kind: type[source.Pair]) -> Callable[[Material], list[list[str | None]]]:
    """Return what computes people's row on the published annotated examples."""

    def people(material: Material) -> list[list[str | None]]:
        right, total = source.on_examples(material, kind)
        name = f"people on the annotated examples: {right} of {total}"
        return [
            [
                name,
                None,
                percent(right / total),
                None,
                None,
            ]
        ]

    return people


PROBE = (
    "A probe is one linear layer on frozen vectors of the text in the table's column; "
    "`linear-question` is the question with its lettered options, as UnifiedQA is asked."
)
TRANSITIVE = (
    "In the published transitive set the first object is always the smaller one: a model that "
    "always says so scores 100. 1,714 of its 20,000 rows repeat an earlier one and are asked once "
    "here."
)
CODA_NOTE = (
    "CoDa's annotators are measured on the 432 things that they share with ViPhy: as the paper "
    "reads it (any typical colour in common), and by the rule for models (the most frequent "
    "colour). Macro F1 is printed as 68.82; over labels it is 63.99, pooled 68.09, weighted 68.17, "
    "over things 71.91. People who may name several colours are asked with `seesay judge serve "
    "viphy-color --answer several`; the run of `judge export` then stands in the table."
)


def agreement_note(dimension: str) -> str:
    """Return how far the people behind a human row agree, and what the annotated examples are."""
    authors = "The annotated examples are the authors' (github.com/luka-group/ViPhy)"
    if dimension == "size":
        examples = (
            f"{authors}: 100 rows, of which three pairs are not in the table of sizes and one is "
            'labelled "-".'
        )
    else:
        examples = f"{authors}; a shared label counts."
    (kappa,) = published_tables("viphy")["Human agreement"].rows[PRINTED_NAMES[dimension]]
    agreement = (
        f"Fleiss' kappa of the people behind the human row: {kappa}, as printed; their answers are "
        f"not published. `seesay judge serve viphy-{dimension}` collects such answers, and `judge "
        "export` gives kappa."
    )
    return f"{examples}\n\n{agreement}"


def categories(material: Material) -> Rendered:
    """Table 8: the texts of the categories, and how far our encoder agrees with the published
    ones."""
    from seesay.models.encoders import load_encoder
    from seesay.probes.vector_cache import VectorCache

    published, _ = viphy.categories(source.require(material, viphy.CATEGORIES))
    # at even steps, the sample is the same every time and spread over the whole file
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
