"""What is worth saying about a task file that can be read: hints that a careful colleague would
give."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from seesay.data.task_files.reader import Declaration
from seesay.data.task_files.texts import article, column_of
from seesay.data.task_files.yaml_text import Problem
from seesay.questions import Task
from seesay.tasks.from_file.load import Examination, examine

UNEVEN = 3
"""An option with this many times the tokens of another is at a disadvantage under the sum of
log-probabilities."""
_ARTICLE = re.compile(r"(?<![\w{])(an?) \{([^}]+)\}", re.IGNORECASE)
_WORD = re.compile(r"\w+|[^\w\s]")


def check(path: Path, data: Path | None = None) -> Examination:
    """Everything that is wrong with a task file and its rows, and what is worth a look."""
    examination = examine(path, data, every_split=True)
    declaration = examination.declaration
    rows = [replace(row, file=row.file or _rows_name(declaration)) for row in examination.bad_rows]
    examination.problems.extend(Problem(str(row)) for row in rows)
    if examination.task is not None and declaration.file is not None:
        if missing := examination.missing_pictures:
            declaration.add(
                f"{len(missing):,} pictures are not there, such as '{missing[0]}'", "picture"
            )
        for place, message in _hints(declaration, examination.task):
            declaration.add(message, *place, hint=True)
    return examination


def _rows_name(declaration: Declaration) -> str:
    source = declaration.file.sources["test"] if declaration.file else None
    return source if isinstance(source, str) else declaration.path.name


def _hints(declaration: Declaration, task: Task) -> Iterator[tuple[tuple[str | int, ...], str]]:
    yield from _unused_options(task)
    yield from _articles(declaration, task)
    yield from _uneven_options(task)


def _unused_options(task: Task) -> Iterator[tuple[tuple[str | int, ...], str]]:
    gold = Counter(label for question in task.questions for label in question.gold)
    offered = Counter(question.options for question in task.questions)
    shared = [label for options, times in offered.items() if times > 1 for label in options]
    unused = [label for label in dict.fromkeys(shared) if label not in gold]
    if unused:
        names = ", ".join(f"'{label}'" for label in unused[:5]) + (", …" if len(unused) > 5 else "")
        yield ("options",), f"no row has the answer {names}"


def _articles(declaration: Declaration, task: Task) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for place, templates in (
        ("templates", task.templates),
        ("choice_templates", task.choice_templates),
    ):
        for template in templates:
            for written, name in _ARTICLE.findall(template.text):
                values = dict.fromkeys(question.fields[name] for question in task.questions)
                wrong = [value for value in values if article(value) != written.lower()]
                if wrong and column_of(name, task.questions[0].fields) == name:
                    more = f" and {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
                    yield (
                        (place, template.name, "text"),
                        f"'{written} {{{name}}}' does not fit '{wrong[0]}'{more}: write "
                        f"{{{written[0]} {name}}}",
                    )


def _uneven_options(task: Task) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Without a model its tokens are not known: words, marks and every seven letters of a long word
    are counted."""
    sets = {
        (template.name, question.options)
        for question in task.questions
        for template in task.templates
    }
    by_name = {template.name: template for template in task.templates}
    for name, options in sorted(sets)[:1000]:
        words = {label: by_name[name].words.get(label, label) for label in options}
        lengths = {label: estimated_tokens(word) for label, word in words.items()}
        longest = max(lengths, key=lengths.__getitem__)
        shortest = min(lengths, key=lengths.__getitem__)
        if lengths[longest] >= UNEVEN * lengths[shortest]:
            yield (
                ("options",),
                f"options differ much in length ('{words[longest]}' has about {lengths[longest]} "
                "tokens, "
                f"'{words[shortest]}' about {lengths[shortest]}): look at --length mean too",
            )
            return


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has.

    >>> [estimated_tokens(text) for text in ("red", "a very dark shade of blue", "incomprehensibility")]
    [1, 6, 3]
    """
    return sum(1 + (len(word) - 1) // 7 for word in _WORD.findall(text))


def slices(task: Task) -> dict[str, dict[str, int]]:
    """The number of questions per tag and value."""
    counts: dict[str, Counter[str]] = {}
    for question in task.questions:
        for name, value in question.tags.items():
            counts.setdefault(name, Counter())[value] += 1
    return {name: dict(values) for name, values in counts.items()}
