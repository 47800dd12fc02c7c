"""A task from a task file: its rows become questions, and everything that is wrong is said at
once."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from seesay.data import store
from seesay.data.splits import split_by_object
from seesay.data.task_files.reader import SUFFIXES, Declaration, locate, read_declaration
from seesay.data.task_files.references import unknown_references
from seesay.data.task_files.schema import TaskFile
from seesay.data.task_files.tables import Table
from seesay.data.task_files.texts import capital, column_of, references
from seesay.data.task_files.yaml_text import Problem, TaskFileError
from seesay.errors import UserError
from seesay.questions import BadRow, Question, Splits, Task
from seesay.tasks.from_file.questions import QuestionBuilder
from seesay.tasks.from_file.sources import RowSources
from seesay.tasks.wording import figures, templates

log = logging.getLogger(__name__)

FEW = 50
SPLIT_NAMES = {
    "dev": "validation",
    "val": "validation",
    "valid": "validation",
    "eval": "validation",
}


@dataclass
class Examination:
    """What came out of a task file: the task, unless something is wrong, and the problems."""

    declaration: Declaration
    task: Task | None = None
    problems: list[Problem] = field(default_factory=list)
    bad_rows: list[BadRow] = field(default_factory=list)
    missing_pictures: list[str] = field(default_factory=list)
    data_error: UserError | None = None
    """What is wrong with the rows that were given in place of the task file's own."""

    @property
    def errors(self) -> list[Problem]:
        """The problems that keep the task from being built."""
        return [problem for problem in self.problems if not problem.hint]


def load(path: Path, data: Path | None = None) -> Task:
    """The task of a task file, of a folder with one, or of a bare table whose columns are obvious.

    `data` is a file or folder of rows to read in place of the task file's own.
    """
    examination = examine(path, data)
    if examination.data_error is not None:
        raise examination.data_error
    if examination.task is None:
        raise TaskFileError(examination.declaration.path, examination.errors)
    return examination.task


def examine(path: Path, data: Path | None = None, *, every_split: bool = False) -> Examination:
    """Build the task and collect everything that is wrong on the way; the other splits are read if
    asked for."""
    path = locate(path)
    if path.suffix.lower() not in SUFFIXES:
        from seesay.tasks.from_file.draft import guess

        declaration = guess(path)
    else:
        declaration = read_declaration(path)
    examination = Examination(declaration, problems=declaration.problems)
    if declaration.file is None:
        return examination
    _refuse_taken_name(declaration)
    builder = _Builder(declaration, declaration.file, data)
    try:
        task = builder.task()
    except UserError as error:
        declaration.add(str(error).rstrip("."), "rows")
        examination.data_error = error if data is not None else None
        return examination
    examination.bad_rows = builder.bad(every_split=every_split)
    examination.missing_pictures = builder.missing_pictures
    if task is not None and not examination.errors:
        examination.task = task
    return examination


def _refuse_taken_name(declaration: Declaration) -> None:
    from seesay.tasks import TASK_FILES, TASKS

    if declaration.name in TASKS.names() and declaration.path.parent != TASK_FILES:
        declaration.add(
            f"'{declaration.name}' is a built-in task's name: results could be mistaken for its",
            "name",
        )


class _Builder:
    """Turns one declaration into a task."""

    def __init__(self, declaration: Declaration, file: TaskFile, data: Path | None) -> None:
        self.declaration = declaration
        self.file = file
        self.sources = RowSources(declaration, file, data)
        self.questions: QuestionBuilder | None = None
        self.bad_rows: list[BadRow] = []

    @property
    def missing_pictures(self) -> list[str]:
        """The pictures that are not where they should be."""
        return self.questions.missing_pictures if self.questions else []

    def bad(self, *, every_split: bool) -> list[BadRow]:
        """The rows that cannot be used, those of the other splits included if asked for."""
        bad_rows = list(self.bad_rows)
        if not every_split or self.questions is None:
            return bad_rows
        for name in self.sources.other_splits():
            if (table := self.sources.table(name)) is not None:
                source = self.file.sources[name]
                file = source if isinstance(source, str) else name
                bad_rows += [
                    replace(row, file=row.file or file)
                    for row in self.questions.questions(table)[1]
                ]
        return bad_rows

    def task(self) -> Task | None:
        """The task, or None where a problem keeps it from being built."""
        test = self.sources.table("test")
        if test is None or not self._columns_exist(test) or not self._splits_fit():
            return None
        file = self.file
        builder = self.questions = QuestionBuilder(
            file, list(test.columns), self.sources.picture_folder
        )
        for name in self.sources.other_splits() if builder.needs_all_rows else ():
            other = self.sources.table(name)
            if other is None:
                return None
            builder.see(other)
        builder.see(test)
        parts, bad = self._divided(builder, test)
        self.bad_rows = bad
        questions = parts.get("test", ())
        if not questions:
            self.sources.refuse_unusable(bad)
            first = f" ({bad[0]})" if bad else ""
            self.declaration.add(f"no row can be used{first}", "rows")
            return None
        self._check_labels(questions)
        self._check_metrics(builder)
        if file.nested_by and file.nested_by not in file.tag_sources:
            self.declaration.add(f"there is no tag '{file.nested_by}'", "nested_by")
        if missing := builder.missing_pictures:
            self.sources.notes.append(
                f"{len(missing):,} pictures are not there, such as {missing[0]}"
            )
        if builder.without_picture:
            self.sources.notes.append(f"{builder.without_picture:,} questions have no picture")
        data, as_published = self.sources.provenance()
        dataset = store.get_dataset(file.dataset) if file.dataset else None
        is_about_other_rows = self.sources.data is not None and not as_published
        published = [] if is_about_other_rows else file.published
        return Task(
            name=self.declaration.name,
            version=file.version,
            title=file.title,
            templates=templates(file.templates, file.words),
            questions=questions,
            metrics=file.metrics or (builder.default_metric(),),
            neutral=_neutral(file),
            published=figures(published, "cloze"),
            citation=file.citation or (dataset.citation if dataset else ""),
            licence=file.licence or (dataset.licence if dataset else ""),
            bad_rows=tuple(bad),
            data=data,
            data_notes=(*self.sources.notes, *test.notes),
            as_published=as_published,
            nested_by=file.nested_by,
            choice_templates=templates(file.choice_templates, file.words),
            linear_text=file.linear_text,
            linear_published=figures(published, "linear"),
            load_splits=self._splits(builder, parts),
        )

    def _columns_exist(self, table: Table) -> bool:
        """Whether everything that the file refers to is there."""
        unknown = list(unknown_references(self.file, table.columns))
        return not self.sources.report_unknown(unknown)

    def _splits_fit(self) -> bool:
        if self.file.split is not None and len(self.file.sources) > 1:
            self.declaration.add(
                "'split' divides one source of rows, and 'rows' has one per split", "split"
            )
            return False
        return True

    def _divided(
        self, builder: QuestionBuilder, test: Table
    ) -> tuple[dict[str, tuple[Question, ...]], list[BadRow]]:
        """The questions by split, of one source of rows."""
        questions, bad = builder.questions(test)
        split = self.file.split
        if split is None or not split.column:
            return {"test": tuple(question for _, question in questions)}, bad
        parts: dict[str, list[Question]] = {"train": [], "validation": [], "test": []}
        for row, question in questions:
            value = row.cells.get(split.column)
            name = SPLIT_NAMES.get(str(value).lower(), str(value).lower())
            if name in parts:
                parts[name].append(question)
            else:
                bad.append(row.bad(f"'{split.column}' is {value!r}, not train, validation or test"))
        return {name: tuple(part) for name, part in parts.items()}, bad

    def _splits(self, builder: QuestionBuilder, parts: Mapping[str, tuple[Question, ...]]) -> Any:
        """A function that gives the questions by split, where the task has them."""
        split = self.file.split
        if split is not None and split.seed is not None:
            return lambda: split_by_object(parts["test"], split.seed or 0)
        if split is not None:
            return lambda: parts
        others = self.sources.other_splits()
        if others:
            return lambda: self._load_splits(builder, others, parts["test"])
        return None

    def _load_splits(
        self, builder: QuestionBuilder, names: list[str], test: tuple[Question, ...]
    ) -> Splits:
        loaded: dict[str, tuple[Question, ...]] = {"train": (), "validation": (), "test": test}
        for name in names:
            table = self.sources.table(name)
            if table is None:
                raise TaskFileError(self.declaration.path, self.declaration.problems)
            questions, bad = builder.questions(table, prefix=f"{name}/")
            loaded[name] = tuple(question for _, question in questions)
            if bad:
                log.warning(
                    "%s: %d bad rows of %s left out, such as %s",
                    self.declaration.name,
                    len(bad),
                    name,
                    bad[0],
                )
        # every tenth of the questions for training, or all where they are but a few
        if not loaded["validation"]:
            few = len(loaded["train"]) < FEW
            loaded["validation"] = loaded["train"] if few else loaded["train"][::10]
            loaded["train"] = tuple(
                q for number, q in enumerate(loaded["train"]) if few or number % 10
            )
        return loaded

    def _check_labels(self, questions: tuple[Question, ...]) -> None:
        labels = {label for question in questions for label in question.options}
        for place in ("templates", "choice_templates"):
            for name, template in getattr(self.file, place).items():
                for label in template.words:
                    if label not in labels:
                        self.declaration.add(
                            f"no question has the option '{label}'", place, name, "words", label
                        )
        for label in self.file.words:
            if label not in labels:
                self.declaration.add(f"no question has the option '{label}'", "words", label)

    def _check_metrics(self, builder: QuestionBuilder) -> None:
        if "accuracy" in self.file.metrics and builder.several_gold:
            self.declaration.add(
                "accuracy needs one gold label per question: use relaxed_accuracy (any of them "
                "counts) or "
                "majority_accuracy (the heaviest counts)",
                "metrics",
            )


def _neutral(file: TaskFile) -> dict[str, str]:
    """The neutral filling of every form of a column that a template uses."""
    texts = [entry.text for entry in (*file.templates.values(), *file.choice_templates.values())]
    filling = dict(file.neutral)
    for name in (name for text in texts for name in references(text)) if filling else ():
        column = column_of(name, file.neutral)
        if column is not None and name not in filling:
            value = file.neutral[column]
            filling[name] = capital(value) if name[:1].isupper() else value
    return filling
