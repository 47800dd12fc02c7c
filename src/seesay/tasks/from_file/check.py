"""Hints about a task file that can be read, such as a careful colleague would give."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

from seesay.braces import references
from seesay.data.task_files.reader import Declaration
from seesay.data.task_files.texts import article, column_of
from seesay.data.task_files.yaml_text import Problem, Steps
from seesay.grouping import alike
from seesay.quantities import listed
from seesay.questions import Task
from seesay.tasks.from_file.load import Examination, examine
from seesay.tasks.repetitions import (
    describe_objects_alike,
    describe_repetition,
    repeated_questions,
)

Hint = tuple[Steps, str]
"""The place of a field, and what is worth a look there."""
UNEVEN = 3
"""How many times the tokens of another make an option uneven.

It is at a disadvantage under the sum of log-probabilities.
"""
_SHOWN_REPETITIONS = 5
_SHOWN_OBJECTS = 5
_ARTICLE = re.compile(r"(?<![\w{])(an?) \{([^}]+)\}", re.IGNORECASE)
_WORD = re.compile(r"\w+|[^\w\s]")


def check(path: Path, data: Path | None = None) -> Examination:
    """Return everything that is wrong with a task file and its rows, and what is worth a look.

    Rows of every split are read, and what is only worth a look comes as a hint, which keeps no task
    from being asked.
    """
    examination = examine(path, data, every_split=True)
    _add_rows_and_hints(examination)
    # From top to bottom, as one corrects a file; what is wrong with rows has no line in it.
    examination.problems.sort(key=lambda problem: (problem.line == 0, problem.line, problem.column))
    return examination


def _add_rows_and_hints(examination: Examination) -> None:
    """Add the rows that cannot be used, in their order, and what is worth a look."""
    declaration = examination.declaration
    for row in sorted(examination.bad_rows, key=lambda row: (row.file, row.row)):
        named_row = replace(row, file=row.file or _rows_name(declaration))
        examination.problems.append(Problem(str(named_row)))
    if examination.task is None or declaration.file is None:
        return
    missing = examination.missing_pictures
    if missing:
        declaration.add(
            f"{len(missing):,} pictures are not there, such as '{missing[0]}'", "picture"
        )
    for place, message in _hints(declaration, examination.task):
        declaration.add(message, *place, hint=True)


def _rows_name(declaration: Declaration) -> str:
    """Return the name of the rows for messages: their file, else the task file."""
    if declaration.file is not None:
        source = declaration.file.sources["test"]
        if isinstance(source, str):
            return source
    return declaration.path.name


def _hints(declaration: Declaration, task: Task) -> Iterator[Hint]:
    """Yield what is worth a look, with its place."""
    yield from _unused_options(task)
    yield from _options_alike(task)
    yield from _wrong_articles(declaration, task)
    yield from _told_answers(task)
    yield from _uneven_options(task)
    yield from _repeated_questions(task)
    yield from _objects_alike(task)


def _repeated_questions(task: Task) -> Iterator[Hint]:
    """Yield hints about rows that ask the same, in their order: they count twice, and may
    contradict each other, which is what is shown of many."""
    repeated = repeated_questions(task)
    places = {question.id: place for place, question in enumerate(task.questions)}
    shown = repeated[:_SHOWN_REPETITIONS]
    for group in sorted(shown, key=lambda group: places[group[0].id]):
        yield ("rows",), describe_repetition(group)
    more = len(repeated) - _SHOWN_REPETITIONS
    if more > 0:
        yield ("rows",), f"{more:,} more questions are asked by several rows"


def _objects_alike(task: Task) -> Iterator[Hint]:
    """Yield hints about objects that seem to be one, and count as several in intervals."""
    descriptions = describe_objects_alike(task)
    for description in descriptions[:_SHOWN_OBJECTS]:
        yield ("object",), description
    more = len(descriptions) - _SHOWN_OBJECTS
    if more > 0:
        yield ("object",), f"{more:,} more objects are written in several ways"


def _unused_options(task: Task) -> Iterator[Hint]:
    """Yield a hint about options that no row has as its answer.

    It may be a typing error in the options, or a class that the rows happen not to have.
    """
    gold = {label for question in task.questions for label in question.gold}
    # Of options that one question has for itself, most are wrong answers and never gold.
    times = Counter(question.options for question in task.questions)
    shared_sets = [options for options in times if times[options] > 1]
    shared = dict.fromkeys(label for options in shared_sets for label in options)
    unused = [label for label in shared if label not in gold]
    if unused:
        names = ", ".join(f"'{label}'" for label in unused[:5])
        more = ", …" if len(unused) > 5 else ""
        yield ("options",), f"no row has the answer {names}{more}"


def _options_alike(task: Task) -> Iterator[Hint]:
    """Yield a hint about options that are one word, written in several ways.

    They may be meant so where a row or the file lists them; then chance counts each of them.
    """
    for options in dict.fromkeys(question.options for question in task.questions):
        for labels in alike(options):
            names = listed([f"'{label}'" for label in labels])
            yield ("options",), f"the options {names} differ only in capitals or blanks"
            return


def _wrong_articles(declaration: Declaration, task: Task) -> Iterator[Hint]:
    """Yield hints about an article in a template that does not fit a word.

    `a {thing}` becomes "a apple"; `{a thing}` finds the article for each word.
    """
    places = {"templates": task.templates, "choice_templates": task.choice_templates}
    for place, templates in places.items():
        for template in templates:
            for written, name in _ARTICLE.findall(template.text):
                values = dict.fromkeys(question.fields[name] for question in task.questions)
                wrong = [value for value in values if article(value) != written.lower()]
                is_column = column_of(name, task.questions[0].fields) == name
                if not wrong or not is_column:
                    continue
                more = f" and {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
                yield (
                    (place, template.name, "text"),
                    f"'{written} {{{name}}}' does not fit '{wrong[0]}'{more}: write "
                    f"{{{written[0]} {name}}}",
                )


def _told_answers(task: Task) -> Iterator[Hint]:
    """Yield hints about templates that name the right answer itself."""
    places = {"templates": task.templates, "choice_templates": task.choice_templates}
    for place, templates in places.items():
        for template in templates:
            for name in references(template.text):
                column = column_of(name, task.questions[0].fields)
                if column is None:
                    continue
                if all(question.fields[column] in question.gold for question in task.questions):
                    yield (
                        (place, template.name, "text"),
                        f"'{{{name}}}' is the right answer of every row: the question tells it",
                    )


def _uneven_options(task: Task) -> Iterator[Hint]:
    """Yield a hint if the options of a question differ much in length.

    Without a model its tokens are not known, and are estimated.
    """
    option_sets = {question.options for question in task.questions}
    templates = {template.name: template for template in task.templates}
    # In sorted order the hint is the same at every check; the first thousand are enough for one.
    for name, options in sorted(product(templates, option_sets))[:1000]:
        words = {label: templates[name].words.get(label, label) for label in options}
        lengths = {label: estimated_tokens(word) for label, word in words.items()}
        longest = max(lengths, key=lengths.__getitem__)
        shortest = min(lengths, key=lengths.__getitem__)
        if lengths[longest] >= UNEVEN * lengths[shortest]:
            yield (
                ("options",),
                f"options differ much in length ('{words[longest]}' has about {lengths[longest]} "
                f"tokens, '{words[shortest]}' about {lengths[shortest]}): look at --length mean "
                "too",
            )
            return


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text has.

    Words and marks count one each, and every further seven letters of a long word one more.

    >>> [estimated_tokens(text) for text in ("red", "a very dark shade of blue")]
    [1, 6]
    >>> estimated_tokens("incomprehensibility")
    3
    """
    return sum(1 + (len(word) - 1) // 7 for word in _WORD.findall(text))


def slices(task: Task) -> dict[str, dict[str, int]]:
    """Return the number of questions per tag and value."""
    counts: dict[str, Counter[str]] = {}
    for question in task.questions:
        for name, value in question.tags.items():
            counts.setdefault(name, Counter())[value] += 1
    return {name: dict(values) for name, values in counts.items()}
