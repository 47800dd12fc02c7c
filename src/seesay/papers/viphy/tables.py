"""ViPhy's tables of numbers: the counts of its data, zero-shot answers, linear probes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

import numpy as np

from seesay.answers import NO_ANSWER
from seesay.condition import How
from seesay.data.knowledge import SIZES, ColorFact, PlaceFact, SizeFact, SubtypeFact
from seesay.errors import UserError
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status, noting
from seesay.papers.published import published_tables, read_yaml
from seesay.papers.viphy import source
from seesay.questions import Answer, Scores, Slice
from seesay.reports.groups import LabelledRun, TaskRuns
from seesay.reports.pages.sections import DataTable
from seesay.runs.answer_table import AnswerTable
from seesay.runs.figures import figures
from seesay.runs.records import Figure
from seesay.runs.run import Run
from seesay.tasks.page_analyses import SIZE_SETS
from seesay.tasks.viphy.human import figures_of

PUBLISHED = published_tables("viphy")
NOT_LEVEL = Slice.of({"level": "no"})
ROWS = read_yaml("viphy", "rows.yaml")
"""Which rows of the paper's tables are meant, for runs, people, averages and dashed lines."""
HUMAN: Mapping[str, str] = ROWS["people"]
PRINTED_NAMES = {"size": "size", "space": "spatial"}
COLUMNS = {"color": "Color", "size": "Size", "space": "Spatial"}
WRITER = "UnifiedQA large"
"""The paper's model that writes its answer."""
LAST_DIGIT = 0.01
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
    """Table 1, and what the text says about the data: printed, and counted in the published
    files."""
    counted = _count_files(material)
    tables = []
    for place in ("Table 1", "Text on the data"):
        body = []
        for name, (printed,) in PUBLISHED[place].rows.items():
            body.append([name, printed, counted.get(name)])
        tables.append(DataTable(["what", "published", "the published files give"], body, place))
    # what follows was found by counting, and holds for the files as released
    text = (
        "The files are not those behind the printed table: they have fewer objects with subtypes "
        "than the 1.8k in print, and other cardinalities of colours and places. Subtypes are "
        "counted without the name itself, for the names that have any; standard deviations are "
        "those of the population (divided by n). Every size has one label, and its pair's "
        "complement is a row of its own: the printed 7.1k and 14.5k are before that. The file of "
        "transitive pairs has 20,000 rows, of which 18,286 are different.\n\n"
        "14,046 names have ten answers about colour or more (results/col_meta.csv); the table of "
        "colours leaves out 796 of them, most of which name a colour or a material themselves "
        '("steel tap", "wood tabletop", "bluejean").'
    )
    # the list of ConceptNet's names is a file of another repository, which few will have
    is_whole = all(counted.values())
    if not is_whole:
        text += (
            f"\n\nThe names in ConceptNet need {source.CONCEPTNET} of the published files, the "
            "shared objects CoDa."
        )
    return Rendered(text, tables, status=Status.of(is_whole), has_published=True)


def _count_files(material: Material) -> dict[str, str]:
    """Return what the published files give, by the names of the printed rows."""
    # how many subtypes each name has, itself not counted; names without any have none
    subtypes: Counter[str] = Counter()
    for fact in source.rows(material, SubtypeFact):
        subtypes[fact.object] += fact.subtype != fact.object
    with_subtypes = [count for count in subtypes.values() if count]
    colors = source.rows(material, ColorFact)
    sizes = source.rows(material, SizeFact)
    places = source.rows(material, PlaceFact)
    counted = {
        "Subtype: objects": f"{len(subtypes):,}",
        "Subtype: objects with subtype": f"{len(with_subtypes):,}",
        "Subtype: subtype cardinality": _mean_and_sd(with_subtypes),
        "Color: objects (instances)": f"{len(colors):,}",
        "Color: classes": _distinct(fact.typical for fact in colors),
        "Color: label cardinality": _mean_and_sd([len(fact.typical) for fact in colors]),
        "Size: objects": _distinct((fact.a, fact.b) for fact in sizes),
        "Size: instances": f"{len(sizes):,}",
        "Size: relations": _distinct(fact.typical for fact in sizes),
        "Spatial: objects": _distinct((fact.a, fact.b) for fact in places),
        "Spatial: instances": f"{len(places):,}",
        "Spatial: relations": _distinct(fact.typical for fact in places),
        "Spatial: label cardinality": _mean_and_sd([len(fact.typical) for fact in places]),
        "Spatial: scenes": _distinct((fact.scene,) for fact in places),
        "names in ConceptNet": "",
        "objects shared with CoDa": "",
    }
    # the text has the two labels of sizes by their words
    for label, name in zip(SIZES, ("larger", "smaller"), strict=True):
        counted[name] = f"{sum(fact.typical == (label,) for fact in sizes):,}"
    conceptnet = source.conceptnet_names(material)
    if conceptnet is not None:
        shared = len(subtypes.keys() & conceptnet)
        counted["names in ConceptNet"] = f"{shared:,} ({shared / len(subtypes):.1%})"
    for task, name in SIZE_SETS.parts.items():
        counted[name] = _unless_missing(partial(_count_questions, material, task))
    splits = {"train": "train", "dev": "validation", "test": "test"}
    parts = material.task("viphy-color").splits()
    for name, split in splits.items():
        share = len(parts[split].questions) / len(colors)
        counted[name] = f"{share:.1%}"
    counted["objects shared with CoDa"] = _unless_missing(
        lambda: f"{len(source.shared_things(material).names):,}"
    )
    return counted


def _count_questions(material: Material, task: str) -> str:
    """Return how many questions a file gives, and of how many rows if some are not asked."""
    loaded = material.task(task)
    questions = len(loaded.questions)
    left_out = len(loaded.provenance.bad_rows)
    if left_out:
        return f"{questions + left_out:,} rows, {questions:,} asked"
    return f"{questions:,}"


def _unless_missing(count: Callable[[], str]) -> str:
    """Return a count, or nothing where the file that it needs is not at hand."""
    try:
        return count()
    except UserError:
        return ""


def _mean_and_sd(values: Sequence[int]) -> str:
    """Return mean and standard deviation as the paper prints them.

    >>> _mean_and_sd([1, 3])
    '2.00 (1.00)'
    """
    return f"{np.mean(values):.2f} ({np.std(values):.2f})"


def _distinct(rows: Iterable[Sequence[str]]) -> str:
    """Return how many different names all rows have together."""
    return f"{len({name for row in rows for name in row}):,}"


def zero_shot(material: Material) -> Rendered:
    """Table 3: models asked without training, by the published rule and among the options alone."""
    lines: list[list[str | None]] = []
    guesses: list[str] = []
    tasks = set()
    for group in material.groups_of("viphy-color", "viphy-size", "viphy-space"):
        for entry in group.entries:
            # Table 3 is of models that were not trained: others belong to Tables 4 to 6
            if is_trained(entry):
                continue
            for rule, figure in _zero_shot_rules(group, entry):
                # a sample is a part of what the table shows
                if entry.run.manifest.limit is None:
                    tasks.add(group.task.name)
                name = group.task.name.removeprefix("viphy-")
                printed = None
                if _is_published_rule(entry.run, rule):
                    printed = printed_beside(entry, "Table 3", COLUMNS[name])
                lines.append(
                    [
                        name_of(entry),
                        name,
                        rule,
                        cell(figure),
                        printed,
                        f"{figure.n:,}",
                    ]
                )
                guesses += guess(entry, figure, rule)
    if not lines:
        raise UserError(
            "There is no run of viphy-color, viphy-size or viphy-space among the folders."
        )
    header = ["ours, in percent", "task", "rule", "relaxed accuracy", "published", "questions"]
    text = (
        'The published rule takes the top word of the whole vocabulary (for sizes "bigger" or '
        '"larger"), asks places for above or below, and leaves out pairs that may be at a similar '
        "level. Beside it stand the most probable of the options alone, for places with the "
        "paper's two labels and with our three. The size prompt is the paper's "
        '("A is [MASK] than B in size") and that of its published code ("the A is …"). With `--how '
        "qa`, as UnifiedQA was asked, a reply counts that is an option letter for letter. A "
        "printed figure stands beside the rule that it was made by."
    )
    status = Status.of(len(tasks) == 3)
    text = with_caution(text, guesses)
    return Rendered(text, [DataTable(header, lines, "Ours")], status=status)


def name_of(entry: LabelledRun) -> str:
    """Return the label of a run; one of a sample says so."""
    if entry.run.manifest.limit is None:
        return entry.label
    return f"{entry.label} (a sample of {entry.run.manifest.questions:,} questions)"


def printed_beside(entry: LabelledRun, place: str, column: str) -> str | None:
    """Return what the paper prints for the model of a run, if the paper has it."""
    row = HUMAN[place] if is_judged(entry.run) else printed_name(entry.run)
    return two_decimals(PUBLISHED[place].numbers.get(row or "", {}).get(column))


def printed_name(run: Run) -> str | None:
    """Return the row of the paper's tables that a run's model is, None for one it does not have."""
    model = run.manifest.model.casefold()
    return next((row for part, row in ROWS["models"].items() if part in model), None)


def two_decimals(value: float | None) -> str | None:
    """Return two decimals, as the paper prints percentages; None for a missing value."""
    return None if value is None else f"{value:.2f}"


def guess(entry: LabelledRun, figure: Figure, what: str) -> list[str]:
    """Return the name of a run in a list if the interval of its figure has what guessing gives."""
    if figure.chance is None or not figure.low <= figure.chance <= figure.high:
        return []
    return [f"{name_of(entry)}, {what} (guessing gives {percent(figure.chance)})"]


def with_caution(text: str, guesses: Sequence[str]) -> str:
    """Return a text with a caution about figures that do not differ from guessing."""
    if not guesses:
        return text
    names = "; ".join(dict.fromkeys(guesses))
    return f"{text}\n\nCaution: at chance, so that nothing about knowledge follows: {names}."


def is_trained(entry: LabelledRun) -> bool:
    """Return whether a probe was trained for a run, or the model's output head."""
    return entry.run.manifest.condition.how.trains


def is_judged(run: Run) -> bool:
    """Return whether people answered, in a study of `seesay judge`."""
    return run.manifest.family == "people"


def _zero_shot_rules(group: TaskRuns, entry: LabelledRun) -> list[tuple[str, Figure]]:
    """Return the figures of a run by rule; those that it does not have are left out."""
    how = entry.run.manifest.condition.how
    is_space = group.task.name == "viphy-space"
    top = "vocabulary_accuracy"
    headline = group.headline
    rules: dict[str, Figure | None] = {
        "top word": entry.figure(top),
        "options alone": entry.figure(headline),
    }
    if how is How.QA and is_space:
        # only the two labels of the paper are shown, so that a level pair has no right answer
        rules = {"the reply, pairs without a similar level": two_labels(entry.run)}
    elif how is How.QA:
        rules = {"the reply": entry.figure(headline)}
    elif is_space:
        rules = {
            "top word, pairs without a similar level": entry.figure(top, part=NOT_LEVEL),
            "two labels (the paper's), the same pairs": two_labels(entry.run),
            "three labels (ours), all pairs": entry.figure(headline),
        }
    # The paper's prompt and that of its code differ by an article. Both are shown, as either may be
    # behind the printed figures.
    elif group.task.name == "viphy-size" and how is not How.CHOICE:
        rules = {}
        for template, prompt in (("bigger", "the paper's prompt"), ("code", "the code's prompt")):
            rules[f"top word, {prompt}"] = entry.figure(top, template)
            rules[f"options alone, {prompt}"] = entry.figure(headline, template)
    suffix = f", by {how}" if how in (How.CHOICE, How.QA) else ""
    return [(rule + suffix, figure) for rule, figure in rules.items() if figure is not None]


def _is_published_rule(run: Run, rule: str) -> bool:
    """Return whether the paper's figure of a run's model was made by this rule."""
    if is_judged(run):
        return rule.startswith(("options alone", "three labels"))
    if printed_name(run) == WRITER:
        return rule.startswith("the reply")
    return rule.startswith("top word")


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
    is_written = run.manifest.condition.how is How.QA
    for answer in run.answers:
        if answer.question not in questions:
            continue
        scores = answer.scores
        places = [answer.options.index(label) for label in labels]
        logp = tuple(scores.logp[place] for place in places)
        # a reply has no second choice: one that is neither label is no answer
        if is_written and max(logp) < max(scores.logp):
            logp = (NO_ANSWER,) * len(labels)
        tokens = tuple(scores.tokens[place] for place in places)
        chars = tuple(scores.chars[place] for place in places)
        scores_of_labels = Scores(logp, tokens, chars)
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
    place: str,
    columns: Sequence[tuple[str, str, str]],
    people: Callable[[Material], list[list[str | None]]],
    note: str,
) -> Callable[[Material], Rendered]:
    """Tables 4 to 6: trained models and people's rows that can be computed.

    A column is a task, its metric (or nothing: the task's headline) and the head of the column in
    the printed table; `note` is a further paragraph, whether anything can be shown or not.
    """
    heads = [head for _, _, head in columns]
    header = ["ours, in percent", "asked"]
    # ours and print stand beside each other, column by column
    for head in heads:
        header += [head, "published"]

    def render(material: Material) -> Rendered:
        probe_lines: list[list[str | None]] = []
        people_lines: list[list[str | None]] = []
        guesses: list[str] = []
        is_complete = False
        for entry, how, by_head in _rows_of(material, columns):
            line: list[str | None] = [name_of(entry), how]
            for head in heads:
                figure = by_head.get(head)
                line += [cell(figure), printed_beside(entry, place, head)]
                if figure is not None:
                    guesses += guess(entry, figure, head)
            if how == JUDGED:
                people_lines.append(line)
            else:
                probe_lines.append(line)
                is_sample = entry.run.manifest.limit is not None
                has_all = len(by_head) == len(heads) and None not in by_head.values()
                is_complete = is_complete or (has_all and not is_sample)
        missing = f"There is no linear probe of {columns[0][0]} among the folders"
        notes: list[str] = []
        with noting(notes, "People: "):
            people_lines = [*_beside_human(place, heads, people(material)), *people_lines]
        if not probe_lines and not people_lines:
            raise UserError(" ".join([f"{missing}.", *notes, note]))
        about = PROBE if probe_lines else f"{missing}: people's rows alone are ours."
        table = DataTable(header, [*probe_lines, *people_lines], "Ours")
        # the table has both kinds of rows in print
        status = Status.of(bool(people_lines) and is_complete)
        text = with_caution("\n\n".join([about, *notes, note]), guesses)
        return Rendered(text, [table], status=status)

    return render


def _beside_human(
    place: str, heads: Sequence[str], rows: Iterable[Sequence[str | None]]
) -> Iterator[list[str | None]]:
    """Yield people's rows; beside the first, which is made as the paper's is, stands the printed
    one."""
    printed = PUBLISHED[place].numbers[HUMAN[place]]
    for number, (name, *values) in enumerate(rows):
        line: list[str | None] = [name, None]
        for head, value in zip(heads, values, strict=True):
            is_beside = value is not None and number == 0
            line += [value, two_decimals(printed.get(head)) if is_beside else None]
        yield line


Row = tuple[LabelledRun, str, dict[str, Figure | None]]
"""A run, how it was asked, and its figures by column."""


def _rows_of(material: Material, columns: Sequence[tuple[str, str, str]]) -> list[Row]:
    """Return trained models and people with their figures.

    Runs of several tasks share a row, two runs of one task do not.
    """
    rows: list[Row] = []
    tasks = [task for task, _, _ in columns]
    for group in material.groups_of(*tasks):
        metrics = {}
        for task, metric, head in columns:
            if task == group.task.name:
                metrics[head] = metric or group.headline
        for entry in group.entries:
            if is_judged(entry.run):
                how = JUDGED
            elif is_trained(entry):
                how = str(entry.run.manifest.condition.how)
            else:
                continue
            figures_of_run = {head: entry.figure(metric) for head, metric in metrics.items()}
            for other, how_of_row, by_head in rows:
                is_same = (name_of(other), how_of_row) == (name_of(entry), how)
                # a row that has these columns already is of another run of the same task
                if is_same and not by_head.keys() & figures_of_run.keys():
                    by_head.update(figures_of_run)
                    break
            else:
                rows.append((entry, how, figures_of_run))
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
    return [[name, percent(accuracy), *others] for name, accuracy in accuracies.items()]


def example_rows(kind: type[source.Pair]) -> Callable[[Material], list[list[str | None]]]:
    """Return what computes people's row on the published annotated examples."""

    def people(material: Material) -> list[list[str | None]]:
        right, total = source.on_examples(material, kind)
        name = f"people on the annotated examples: {right} of {total}"
        return [[name, percent(right / total), None, None]]

    return people


PROBE = (
    "Asked by `linear`, a model has one linear layer on its frozen vectors of Table 2's prompt "
    "(FT); by `linear-question`, on those of the question with its lettered options, as UnifiedQA "
    "is asked. `qa-trained`, as UnifiedQA itself, has no such layer: its output head was tuned, "
    "and it writes an option."
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


def averages_note() -> str:
    """Return how the printed averages of Table 6 differ from the means of its printed rows."""
    rows = PUBLISHED["Table 6"].numbers
    sentences = []
    total = 0
    others = 0
    for name, members in ROWS["families"].items():
        printed = " / ".join(f"{value:.2f}" for value in rows[name].values())
        # each of the family's printed rows has the same weight
        means = []
        for column, value in rows[name].items():
            mean = fmean(rows[member][column] for member in members)
            means.append(f"{mean:.2f}")
            total += 1
            # the last digit of a mean may be rounded or cut off
            others += abs(mean - value) >= LAST_DIGIT
        sentences.append(
            f"{name} is printed as {printed}; {', '.join(members)} have {' / '.join(means)}."
        )
    return (
        f"{others} of the {total} printed averages are not the means of the printed rows. "
        f"{' '.join(sentences)}"
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
    (kappa,) = PUBLISHED["Human agreement"].rows[PRINTED_NAMES[dimension]]
    agreement = (
        f"Fleiss' kappa of the people behind the human row: {kappa}, as printed; their answers are "
        f"not published. `seesay judge serve viphy-{dimension}` collects such answers, and `judge "
        "export` gives kappa."
    )
    return f"{examples}\n\n{agreement}"
