"""A task from a task file: its rows become questions, and everything that is wrong is said at
once."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from seesay.braces import references
from seesay.data import store
from seesay.data.cells import BadValueError
from seesay.data.splits import split_by_object
from seesay.data.task_files.reader import SUFFIXES, Declaration, locate, read_declaration
from seesay.data.task_files.references import unknown_references
from seesay.data.task_files.row_rules import DRAWING
from seesay.data.task_files.schema import TEMPLATE_FIELDS, TaskFile
from seesay.data.task_files.tables import Table
from seesay.data.task_files.texts import capital, check_text, column_of, with_article
from seesay.data.task_files.yaml_text import Problem, TaskFileError
from seesay.errors import UserError
from seesay.questions import (
    BadRow,
    Instructions,
    Provenance,
    Question,
    Splits,
    Task,
    Template,
    Training,
)
from seesay.tasks.from_file.questions import SHOWN, QuestionBuilder
from seesay.tasks.from_file.sources import RowSources
from seesay.tasks.template_files import build_templates, select_figures

log = logging.getLogger(__name__)

Questions = tuple[Question, ...]
Parts = dict[str, Questions]
"""The questions by split."""

TAKES_NO_ARTICLE = re.compile(
    r"(?:an?|the|this|that|these|those|some|any|every|each|one|another|other|it|they"
    r"|(?:some|any|every)(?:thing|one|body))\b",
    re.IGNORECASE,
)

FEW = 50
"""So few questions for training that a tenth of them would validate nothing."""
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


def load(path: Path, data: Path | None = None, *, seed: int | None = None) -> Task:
    """Load the task of a task file, of a folder with one, or of a table with obvious columns.

    `data` is a file or folder of rows to read in place of the task file's own; `seed` takes the
    place of the seeds of rules that draw.
    """
    examination = examine(path, data, seed=seed)
    if examination.data_error is not None:
        raise examination.data_error
    if examination.task is None:
        raise TaskFileError(examination.declaration.path, examination.errors)
    return examination.task


def examine(
    path: Path,
    data: Path | None = None,
    *,
    every_split: bool = False,
    seed: int | None = None,
) -> Examination:
    """Build the task and collect everything that is wrong on the way.

    With `every_split` the rows of the other splits are read and checked, too.
    """
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
    file = declaration.file
    if seed is not None:
        file = _draw_anew(file, seed)
    builder = _Builder(declaration, file, data)
    try:
        task = builder.task()
    except UserError as error:
        declaration.add(str(error).rstrip("."), "rows")
        # The task file is not at fault where the rows are a user's: then the error stands alone.
        if data is not None:
            examination.data_error = error
        return examination
    examination.bad_rows = builder.bad(every_split=every_split)
    examination.missing_pictures = builder.missing_pictures
    # Hints are problems, too, but keep no task from being built.
    if task is not None and not examination.errors:
        examination.task = task
    return examination


def _draw_anew(file: TaskFile, seed: int) -> TaskFile:
    """Return the task file with another seed in the rules that draw."""
    rules = [
        rule.model_copy(update={"seed": seed}) if isinstance(rule, DRAWING) else rule
        for rule in file.rules
    ]
    return file.model_copy(update={"rules": rules})


def read_anchors(path: Path) -> float:
    """Return the share of a task file's objects that stay in every edition; refuse a file that
    draws nothing, or does not say."""
    path = locate(path)
    file = None
    if path.suffix.lower() in SUFFIXES:
        file = read_declaration(path).file
    if file is None or not any(isinstance(rule, DRAWING) for rule in file.rules):
        raise UserError(
            f"'{path}' has no rule that draws (draw_pairs or rank_pairs): there is only one edition"
            " of it."
        )
    if not file.anchors:
        raise UserError(
            f"'{path}' has no anchors, by which editions are compared: add the share of its "
            "questions that stay in every edition, as in `anchors: 0.25`."
        )
    return file.anchors


def _refuse_taken_name(declaration: Declaration) -> None:
    """Report a name that a built-in task has: results could be mistaken for its.

    The built-in task files themselves are read the same way, and keep theirs.
    """
    from seesay.tasks import TASK_FILES, TASKS

    if declaration.name in TASKS.names() and declaration.path.parent != TASK_FILES:
        declaration.add(
            f"'{declaration.name}' is a built-in task's name: results could be mistaken for its",
            "name",
        )


class _Builder:
    """Turns one declaration into a task."""

    def __init__(
        self,
        declaration: Declaration,
        file: TaskFile,
        data: Path | None,
    ) -> None:
        self.declaration = declaration
        self.file = file
        self.sources = RowSources(declaration, file, data)
        self.questions: QuestionBuilder | None = None
        self.bad_rows: list[BadRow] = []

    @property
    def missing_pictures(self) -> list[str]:
        """The pictures that are not where they should be."""
        if self.questions is None:
            return []
        return self.questions.missing_pictures

    def bad(self, *, every_split: bool) -> list[BadRow]:
        """Return the rows that cannot be used, with `every_split` those of all splits.

        Rows of other splits are named by their file: their numbers begin anew.
        """
        bad_rows = list(self.bad_rows)
        if not every_split or self.questions is None:
            return bad_rows
        for name in self.sources.other_splits():
            table = self.sources.table(name)
            if table is None:
                continue
            source = self.file.sources[name]
            file = source if isinstance(source, str) else name
            _, bad = self.questions.questions(table)
            bad_rows += [replace(row, file=row.file or file) for row in bad]
        return bad_rows

    def task(self) -> Task | None:
        """Return the task, or None where a problem keeps it from being built.

        Everything that can be checked is checked before this returns None, so that one run of
        `seesay tasks check` shows it all.
        """
        test = self.sources.table("test")
        if test is None or not self._columns_exist(test) or not self._splits_fit():
            return None
        builder = QuestionBuilder(self.file, list(test.columns), self.sources.picture_folder)
        self.questions = builder
        # Options that are all answers include those of the other splits: else a probe would learn
        # labels that no question offers.
        if builder.needs_all_rows:
            for name in self.sources.other_splits():
                other = self.sources.table(name)
                if other is None:
                    return None
                builder.see(other, prefix=f"{name}/")
        builder.see(test)
        # Questions first, checks of the whole after: a label is unknown only if no row has it.
        parts, self.bad_rows = self._divide(builder, test)
        questions = parts.get("test", ())
        if not questions:
            self.sources.refuse_unusable(self.bad_rows)
            reason = f" ({self.bad_rows[0]})" if self.bad_rows else ""
            self.declaration.add(f"no row can be used{reason}", "rows")
            return None
        self._check_labels(questions)
        self._check_answers(builder)
        self._check_templates(questions, test.columns)
        self._check_texts(builder)
        self._check_metrics(builder)
        if self.file.nested_by and self.file.nested_by not in self.file.tag_sources:
            self.declaration.add(f"there is no tag '{self.file.nested_by}'", "nested_by")
        self._note_pictures(builder)
        self._note_twins(questions)
        return self._assemble(builder, parts, test.notes)

    def _note_twins(self, questions: Questions) -> None:
        """Note questions whose twin is not asked: metrics that compare the two leave them out."""
        ids = {question.id for question in questions}
        alone = [question.id for question in questions if question.twin not in ids]
        if self.file.twin is not None and alone:
            self.sources.notes.append(
                f"{len(alone):,} questions have no twin among the others, such as {alone[0]}"
            )

    def _note_pictures(self, builder: QuestionBuilder) -> None:
        """Note pictures that are missing, and questions that have none."""
        missing = builder.missing_pictures
        if missing:
            self.sources.notes.append(
                f"{len(missing):,} pictures are not there, such as {missing[0]}"
            )
        if builder.without_picture:
            self.sources.notes.append(f"{builder.without_picture:,} questions have no picture")

    def _assemble(
        self,
        builder: QuestionBuilder,
        parts: Splits,
        notes: Sequence[str],
    ) -> Task:
        """Return the task of the questions that were built."""
        file = self.file
        data, as_published = self.sources.provenance()
        citation = file.citation
        licence = file.licence
        if file.dataset:
            dataset = store.get_dataset(file.dataset)
            citation = citation or dataset.citation
            licence = licence or dataset.licence
        # Published figures are about the published rows, and not about a user's.
        published = file.published
        if self.sources.data is not None and not as_published:
            published = []
        return Task(
            name=self.declaration.name,
            version=file.version,
            title=file.title,
            templates=self._templates(builder, parts, "templates"),
            questions=parts["test"],
            metrics=file.metrics or (builder.default_metric(),),
            neutral=_neutral(file),
            published=select_figures(published, "cloze"),
            nested_by=file.nested_by,
            choice_templates=self._templates(builder, parts, "choice_templates"),
            qa_templates=self._templates(builder, parts, "qa_templates"),
            provenance=Provenance(
                data=data,
                notes=(*self.sources.notes, *notes),
                bad_rows=tuple(self.bad_rows),
                licence=licence,
                citation=citation,
                as_published=as_published,
            ),
            training=Training(
                linear_text=file.linear_text,
                linear_published=select_figures(published, "linear"),
                load_splits=self._splits(builder, parts),
            ),
        )

    def _templates(
        self,
        builder: QuestionBuilder,
        parts: Splits,
        place: str,
    ) -> tuple[Template, ...]:
        """Return the templates that a field of the file declares."""
        entries = getattr(self.file, place)
        labels: dict[str, None] = {}
        if any(entry.has_article for entry in entries.values()):
            tables = [self.sources.table(name) for name in self.sources.other_splits()]
            others = [builder.questions(table)[0] for table in tables if table is not None]
            questions = [question for part in parts.values() for question in part]
            questions += [question for rows in others for _, question in rows]
            labels = dict.fromkeys(label for question in questions for label in question.options)
        instructions = Instructions(**self.file.instructions.model_dump())
        return build_templates(entries, self.file.words, labels, instructions)

    def _columns_exist(self, table: Table) -> bool:
        """Return whether everything that the file refers to is there."""
        unknown = list(unknown_references(self.file, table.columns))
        return not self.sources.report_unknown(unknown)

    def _splits_fit(self) -> bool:
        """Report rows that are divided twice, and return whether there are none."""
        if self.file.split is not None and len(self.file.sources) > 1:
            self.declaration.add(
                "'split' divides one source of rows, and 'rows' has one per split", "split"
            )
            return False
        return True

    def _divide(
        self,
        builder: QuestionBuilder,
        test: Table,
    ) -> tuple[Parts, list[BadRow]]:
        """Return the questions of one source of rows by split, and the rows that are none.

        Without a column that says so every question is one of `test`.
        """
        rows_and_questions, bad = builder.questions(test)
        split = self.file.split
        if split is None or not split.column:
            return {"test": tuple(question for _, question in rows_and_questions)}, bad
        parts: dict[str, list[Question]] = {
            "train": [],
            "validation": [],
            "test": [],
        }
        for row, question in rows_and_questions:
            value = row.cells.get(split.column)
            name = str(value).lower()
            name = SPLIT_NAMES.get(name, name)
            if name in parts:
                parts[name].append(question)
            else:
                bad.append(row.bad(f"'{split.column}' is {value!r}, not train, validation or test"))
        return {name: tuple(part) for name, part in parts.items()}, bad

    def _splits(self, builder: QuestionBuilder, parts: Splits) -> Any:
        """Return a function that gives the questions by split, where the task has them.

        By a seed, by a column, or by files; None for a task that nothing can be trained on.
        """
        split = self.file.split
        if split is not None and split.seed is not None:
            return lambda: _with_validation(split_by_object(parts["test"], split.seed or 0))
        if split is not None:
            return lambda: _with_validation(parts)
        others = self.sources.other_splits()
        if others:
            return lambda: self._load_splits(builder, others, parts["test"])
        return None

    def _load_splits(
        self,
        builder: QuestionBuilder,
        names: list[str],
        test: Questions,
    ) -> Splits:
        """Build the questions of the other splits, which have rows of their own.

        They are built when a probe asks for them: a task is mostly only asked.
        """
        splits: Parts = {
            "train": (),
            "validation": (),
            "test": test,
        }
        for name in names:
            table = self.sources.table(name)
            if table is None:
                raise TaskFileError(self.declaration.path, self.declaration.problems)
            rows_and_questions, bad = builder.questions(table, prefix=f"{name}/")
            splits[name] = tuple(question for _, question in rows_and_questions)
            if bad:
                log.warning(
                    "%s: %d bad rows of %s left out, such as %s",
                    self.declaration.name,
                    len(bad),
                    name,
                    bad[0],
                )
        return _with_validation(splits)

    def _check_labels(self, questions: Questions) -> None:
        """Report words for options that no question has: they would never be said."""
        # a list that questions share is looked through once: it may be of thousands
        lists = {id(question.options): question.options for question in questions}
        labels = set(chain.from_iterable(lists.values()))
        for place in TEMPLATE_FIELDS:
            for name, template in getattr(self.file, place).items():
                for label in template.words:
                    self._check_label(label, labels, place, name, "words", label)
        for label in self.file.words:
            self._check_label(label, labels, "words", label)

    def _check_label(self, label: str, labels: Collection[str], *at: str) -> None:
        """Report a label that no question has as an option."""
        if label not in labels:
            self.declaration.add(f"no question has the option '{label}'", *at)

    def _check_answers(self, builder: QuestionBuilder) -> None:
        """Report answers that seem to be one option, written in several ways.

        Options that the file lists itself are its author's word.
        """
        place = "options" if "options" in self.file.model_fields_set else "gold"
        for message in builder.twice_written():
            # The task file is not at fault where the rows are a user's.
            if self.sources.data is not None:
                raise UserError(f"{self.sources.data}: {message}.")
            self.declaration.add(message, place)

    def _check_templates(self, questions: Questions, columns: Collection[str]) -> None:
        """Report a template in which every question reads the same.

        It names no column, in no word either, and neither options nor pictures tell them apart.
        """
        options = {question.options for question in questions}
        if self.file.picture is not None or len(questions) == 1 or len(options) > 1:
            return
        for place in TEMPLATE_FIELDS:
            for name, entry in getattr(self.file, place).items():
                texts = [entry.plain_text, *entry.words.values(), *self.file.words.values()]
                if any(references(text) for text in texts):
                    continue
                names = ", ".join(list(columns)[:SHOWN])
                self.declaration.add(
                    f"the template names no column, so that all {len(questions):,} questions read "
                    f"the same: write one in braces ({names})",
                    place,
                    name,
                    "text",
                )

    def _check_texts(self, builder: QuestionBuilder) -> None:
        """Report words, neutral texts and options that no prompt may hold.

        Those in rows are checked row by row; these are the file's, and stand in every prompt.
        """
        neutral = [(("neutral", name), text) for name, text in self.file.neutral.items()]
        for place, text in [*neutral, *self.file.word_texts]:
            try:
                check_text(text, place[-1])
            except BadValueError as error:
                self.declaration.add(str(error), *place)
        try:
            builder.check_declared_options()
        except BadValueError as error:
            self.declaration.add(str(error), "options")

    def _check_metrics(self, builder: QuestionBuilder) -> None:
        """Report a metric that cannot judge the gold answers.

        Accuracy counts one right answer per question; with several, which one counts is for the
        author of the task to say.
        """
        if "accuracy" in self.file.metrics and builder.several_gold:
            self.declaration.add(
                "accuracy needs one gold label per question: use relaxed_accuracy (any of them "
                "counts) or majority_accuracy (the heaviest counts)",
                "metrics",
            )


def _with_validation(parts: Splits) -> Splits:
    """Take every tenth of the questions for training, where none are for validation."""
    train = parts["train"]
    if parts["validation"]:
        return parts
    # A tenth of a few would decide nothing: they are trained on and checked with alike.
    if len(train) < FEW:
        return {**parts, "validation": train}
    others = tuple(question for number, question in enumerate(train) if number % 10)
    return {**parts, "train": others, "validation": train[::10]}


def _neutral(file: TaskFile) -> dict[str, str]:
    """Return the neutral filling of every form of a column that a template uses.

    A template may use a column as `{a thing}` or `{A thing}`, and its filling must have the same
    article and capital. Words that take no article ("something", "one thing") stay as they are.
    """
    filling = dict(file.neutral)
    for entry in (*file.templates.values(), *file.choice_templates.values()):
        for name in references(entry.plain_text):
            column = column_of(name, file.neutral)
            if column is None or name in filling:
                continue
            value = file.neutral[column]
            if name[:2] in ("a ", "A ") and not TAKES_NO_ARTICLE.match(value):
                value = with_article(value)
            filling[name] = capital(value) if name[:1].isupper() else value
    return filling
