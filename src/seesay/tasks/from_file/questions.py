"""Rows to questions, as a task file declares it."""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from seesay.braces import references
from seesay.data.cells import BadValueError
from seesay.data.json_stream import parse_json
from seesay.data.rows import Row
from seesay.data.task_files.pairs import PLACES, Pairs, order_sentences
from seesay.data.task_files.row_rules import Cut, as_number
from seesay.data.task_files.rules import entries
from seesay.data.task_files.schema import (
    MOST_OPTIONS,
    TEMPLATE_FIELDS,
    Gold,
    Options,
    TaskFile,
)
from seesay.data.task_files.tables import Table
from seesay.data.task_files.texts import (
    Getter,
    check_text,
    column_of,
    reference_getter,
    source_getter,
)
from seesay.files import path_below
from seesay.grouping import alike
from seesay.quantities import listed
from seesay.questions import BadRow, Question
from seesay.registry import did_you_mean

Cells = dict[str, Any]
Labels = tuple[str, ...]
Weights = dict[str, float]

SHOWN = 6


class QuestionBuilder:
    """Turns rows into questions.

    Options that are all answers of a column are collected from the tables it has seen.
    """

    def __init__(
        self,
        file: TaskFile,
        columns: Sequence[str],
        folder: Path,
    ) -> None:
        self.file = file
        self.folder = folder
        self.gold = file.gold_rule
        self.options = file.option_rule
        self.several_gold = False
        self.without_picture = 0
        gold = self.gold
        self._is_plain_label = gold.says == "label" and not gold.separator and not gold.share
        self._answers: dict[str, dict[str, str]] = {}
        self._options_by_group: dict[str, Labels] = {}
        # A sentence may begin or end with its blank: what `cut` leaves there is empty.
        cuts = [rule for rule in file.rules if isinstance(rule, Cut)]
        self._may_be_empty = {column for rule in cuts for column in rule.into}
        self._fields = self._field_getters(columns)
        self._tags = [source_getter(source, columns) for source in file.tag_sources.values()]
        self._shared_tags: dict[tuple[str | None, ...], dict[str, str]] = {}
        self._shared_gold: dict[str, dict[str, float]] = {}
        self._id = _name_getter(file.id, columns, sort=False)
        # "cat|dog" and "dog|cat" are one object: intervals cluster by the pair.
        self._object = _name_getter(file.object, columns, sort=True)
        self._twin = _name_getter(file.twin, columns, sort=False)
        self._picture: Getter | None = None
        if file.picture is not None:
            self._picture = source_getter(file.picture, columns)
        self._missing_pictures: dict[str, None] = {}
        self._hints: dict[tuple[str, Labels], str] = {}

    @property
    def needs_all_rows(self) -> bool:
        """Whether the options are known only once the rows of every split are."""
        return isinstance(self.options, Options) and bool(self.options.answers)

    @property
    def missing_pictures(self) -> list[str]:
        """The pictures that are not where they should be.

        Each is listed once, in the order of the rows.
        """
        return list(self._missing_pictures)

    def default_metric(self) -> str:
        """Return the metric that fits the gold answers."""
        if not self.gold.column:
            return "majority_accuracy"
        if self.several_gold:
            return "relaxed_accuracy"
        return "accuracy"

    def see(self, table: Table, prefix: str = "") -> None:
        """Collect the answers of a table with the row that has each first, where these are the
        options.

        It is called with the table of every split before the first question is built, so that all
        questions offer the same options.
        """
        if not isinstance(self.options, Options) or not self.options.answers:
            return
        column = self.options.answers
        within = self.options.within
        has_separator = bool(self.gold.separator)
        for row in table.rows:
            value = row.cells.get(column)
            group = str(row.cells.get(within)) if within else ""
            answers = self._answers.setdefault(group, {})
            # Nearly every row of nearly every file: a million of them should not take long.
            if type(value) is str and not has_separator:
                if value not in answers:
                    answers[value] = f"{prefix}{row.place}"
            else:
                # A row that has no labels is reported when its question is built.
                with suppress(BadValueError):
                    for label in self._labels(value, column):
                        answers.setdefault(label, f"{prefix}{row.place}")
        for answers in self._answers.values():
            answers.pop("", None)

    def twice_written(self) -> Iterator[str]:
        """Yield what is wrong with answers that seem to be one word written in several ways.

        Each would be an option of every question, and chance less than it is.
        """
        for answers in self._answers.values():
            for labels in alike(answers):
                places = [f"'{label}' (row {answers[label]})" for label in labels]
                yield (
                    f"the answers {listed(places)} differ only in capitals or blanks, and each "
                    "would be an option: write them alike, or list the options in the task file, "
                    "if they are not the same"
                )

    def questions(
        self,
        table: Table,
        prefix: str = "",
    ) -> tuple[list[tuple[Row, Question]], list[BadRow]]:
        """Return the questions with their rows, and the rows that are none.

        A row that is bad costs only itself. Of two rows with one id the first counts; `prefix`
        keeps the ids of splits apart.
        """
        rows_and_questions: list[tuple[Row, Question]] = []
        bad = list(table.bad)
        rows_by_id: dict[str, Row] = {}
        for row in table.rows:
            try:
                question = self._question(row, prefix)
                if question.id in rows_by_id:
                    number = rows_by_id[question.id].number
                    raise BadValueError(f"id '{question.id}' is already that of row {number}")
            except BadValueError as error:
                bad.append(row.bad(str(error)))
                continue
            # Only now: a bad row must not take an id from a good one.
            rows_by_id[question.id] = row
            rows_and_questions.append((row, question))
        return rows_and_questions, sorted(bad, key=lambda row: (row.file, row.row))

    def _question(self, row: Row, prefix: str) -> Question:
        """Build the question of a row, or raise BadValueError with the reason against it.

        Fields, options and gold come first: what is wrong with them says more than a name that is
        empty.
        """
        cells = row.cells
        fields = self._row_fields(cells)
        key: str | None
        if self._id is not None:
            key = self._id(cells)
        else:
            key = f"{prefix}{row.place}"
        options: Labels
        if self.file.pairs is not None:
            options = PLACES
            good, bad = self._pair(cells, self.file.pairs)
            sentences, gold = order_sentences(key or "", good, bad)
            fields |= sentences
        else:
            options, columns = self._row_options(cells)
            gold = self._row_gold(cells, options, columns)
        if len(gold) > 1:
            self.several_gold = True
        about = key if self._object is None else self._object(cells)
        twin = None if self._twin is None else self._twin(cells)
        if not key:
            raise BadValueError("'id' is empty")
        if not about:
            raise BadValueError("'object' is empty")
        return Question(
            id=key,
            fields=fields,
            options=options,
            gold=gold,
            object=about,
            picture=self._picture_path(cells),
            tags=self._row_tags(cells),
            twin=twin or "",
        )

    def _row_fields(self, cells: Cells) -> dict[str, str]:
        """Return the texts that templates take from the row.

        A field that a template names must be there; one that is only declared may be missing in
        some rows.
        """
        fields: dict[str, str] = {}
        for name, getter, empty in self._fields:
            value = getter(cells)
            if value is not None:
                fields[name] = check_text(value, name, empty=empty)
            elif name in self._references:
                raise BadValueError(f"'{name}' is missing")
        return fields

    def _row_tags(self, cells: Cells) -> dict[str, str]:
        """Return the row's tags; rows with the same ones share them, since there may be a
        million."""
        values = tuple([getter(cells) for getter in self._tags])
        if values in self._shared_tags:
            return self._shared_tags[values]
        names_and_values = zip(self.file.tag_sources, values, strict=True)
        tags = {name: value for name, value in names_and_values if value is not None}
        nested_by = self.file.nested_by
        if nested_by in self.file.tag_sources and nested_by not in tags:
            raise BadValueError(
                f"'{nested_by}' is missing: the question is in none of the nested sets"
            )
        self._shared_tags[values] = tags
        return tags

    def _pair(self, cells: Cells, pairs: Pairs) -> tuple[str, str]:
        """Return the good and the bad sentence of a row."""
        good = check_text(str(cells.get(pairs.good) or ""), pairs.good)
        bad = check_text(str(cells.get(pairs.bad) or ""), pairs.bad)
        if good == bad:
            raise BadValueError(f"'{pairs.good}' and '{pairs.bad}' are the same")
        return good, bad

    def _field_getters(self, columns: Sequence[str]) -> list[tuple[str, Getter, bool]]:
        """Return the fields that the file declares and those that templates refer to.

        Each comes with whether it may be empty.
        """
        file = self.file
        declared = {name: source_getter(source, columns) for name, source in file.fields.items()}
        templates = [getattr(file, place) for place in TEMPLATE_FIELDS]
        texts = [entry.plain_text for entries in templates for entry in entries.values()]
        texts.append(file.linear_text)
        texts += [word for _, word in file.word_texts]
        self._references = dict.fromkeys([name for text in texts for name in references(text)])
        getters: dict[str, Getter] = dict(declared)
        for name in self._references:
            if name not in getters:
                getters[name] = _form(name, declared) or reference_getter(name, columns)
        # Without stripping, texts are exactly as they were written: an empty one is, too.
        lenient = not file.read.strip
        return [
            (name, getter, lenient or file.fields.get(name, name) in self._may_be_empty)
            for name, getter in getters.items()
        ]

    def _row_options(self, cells: Cells) -> tuple[Labels, Labels]:
        """Return the options of a row, and the columns they come from where each has its own.

        A rule may name them once, list them in one column or in several, choose a set by a column,
        or take every answer of a column.
        """
        rule = self.options
        if isinstance(rule, tuple):
            return rule, ()
        if rule.columns:
            # Rows of one table may have fewer options than others: their cells are empty.
            columns = [column for column in rule.columns if _is_filled(cells.get(column))]
            options = self._check_options([cells[column] for column in columns])
            return options, tuple(columns)
        if rule.column:
            values = entries(cells.get(rule.column), rule.separator, rule.column)
            return self._check_options(values), ()
        if rule.sets:
            name = str(cells.get(rule.by))
            if name not in rule.sets:
                raise BadValueError(f"'{rule.by}' is '{name}', not one of {', '.join(rule.sets)}")
            return rule.sets[name], ()
        group = str(cells.get(rule.within)) if rule.within else ""
        if group not in self._options_by_group:
            answers = list(self._answers.get(group, {}))
            if rule.order != "rows":
                answers.sort()
            self._options_by_group[group] = self._check_options(answers)
        return self._options_by_group[group], ()

    def check_declared_options(self) -> None:
        """Refuse options that the file lists itself and that cannot be asked about."""
        if isinstance(self.options, Options):
            lists = list(self.options.sets.values())
        elif self.file.pairs is None:
            lists = [self.options]
        else:
            lists = []
        for options in lists:
            self._check_options(options)

    def _check_options(self, options: Sequence[str]) -> Labels:
        """Return options that can be asked about: two at least, all different, all usable.

        Two that are equal could not both be wrong or right.
        """
        if not options:
            raise BadValueError("there are no options")
        if len(options) == 1:
            raise BadValueError(f"there is only one option, '{options[0]}'")
        if len(options) > MOST_OPTIONS:
            raise BadValueError(f"there are more than {MOST_OPTIONS:,} options")
        if len(set(options)) < len(options):
            ((repeated, _),) = Counter(options).most_common(1)
            raise BadValueError(f"the option '{repeated}' is there twice")
        for option in options:
            check_text(option, "option")
        return tuple(options)

    def _row_gold(
        self,
        cells: Cells,
        options: Labels,
        columns: Labels,
    ) -> Weights:
        """Return the right labels of a row with their weights.

        A label that people gave in a share weighs that share; several right labels weigh the same.
        """
        rule = self.gold
        if not rule.column:
            return self._weights(cells, options)
        value = cells.get(rule.column)
        # Nearly every row of nearly every file: a million questions share a few golds.
        if self._is_plain_label and type(value) is str and value in options:
            return self._shared_gold.get(value) or self._shared_gold.setdefault(value, {value: 1.0})
        labels = self._labels(value, rule.column)
        if not labels:
            raise BadValueError(f"'{rule.column}' is empty: there is no gold answer")
        if rule.says != "label":
            labels = [_option_at(rule, label, options, columns) for label in labels]
        for label in labels:
            self._check_gold(label, options)
        if rule.share:
            return {labels[0]: _share(cells, rule)}
        return dict.fromkeys(labels, 1 / len(set(labels)))

    def _labels(self, value: Any, column: str) -> list[str]:
        """Return the labels in a cell: a label, a list of them, or a text with separators."""
        if value is None or value == "":
            return []
        if isinstance(value, dict):
            raise BadValueError(f"'{column}' is neither a label nor a list of labels")
        if isinstance(value, str) and not self.gold.separator:
            return [value]
        return entries(value, self.gold.separator, column)

    def _check_gold(self, label: str, options: Labels) -> None:
        """Refuse a gold label that is not among the options, and name the nearest one."""
        if label in options:
            return
        # The nearest of thousands of options takes a while to find, and the same label may be
        # wrong in every row.
        key = (label, options)
        if key not in self._hints:
            shown = ", ".join(options[:SHOWN])
            more = ", …" if len(options) > SHOWN else ""
            self._hints[key] = did_you_mean(label, options) or f" ({shown}{more})"
        raise BadValueError(f"gold '{label}' is not among the options{self._hints[key]}")

    def _weights(self, cells: Cells, options: Labels) -> Weights:
        """Return weights as they are, or each label's share of the votes.

        Labels without weight are left out: they are not gold.
        """
        what = "weights"
        source = self.gold.weights
        if source is None:
            what = "votes"
            source = self.gold.votes
        cells_by_label = self._cells_by_label(cells, source or (), options)
        weights: dict[str, float] = {}
        for label, value in cells_by_label.items():
            # An empty cell is how a table says that nobody gave this label.
            weights[label] = as_number("0" if value in (None, "") else value)
        for label, weight in weights.items():
            # Written so that NaN, a cell that is no number, is refused as well.
            if not weight >= 0:
                value = cells_by_label[label]
                raise BadValueError(
                    f"the {what} of '{label}' are {value!r}, not a number of at least 0"
                )
            if weight:
                self._check_gold(label, options)
        total = sum(weights.values())
        if not total:
            raise BadValueError(f"all {what} are 0: there is no gold answer")
        # Each is finite, and the share of each would be 0.
        if math.isinf(total):
            raise BadValueError(f"the {what} add up to more than a number can hold")
        # Weights stay as the file has them; metrics see to their sum.
        scale = total if what == "votes" else 1.0
        return {label: weight / scale for label, weight in weights.items() if weight}

    def _cells_by_label(
        self,
        cells: Cells,
        source: str | Labels | dict[str, str],
        options: Labels,
    ) -> dict[str, Any]:
        """Return the weights or votes of the labels as the row has them.

        A column per label, columns that are named as the labels, or one column that holds them all.
        """
        if isinstance(source, str) and self.gold.says == "order":
            return self._in_option_order(cells.get(source), source, options)
        if isinstance(source, str):
            return self._in_one_column(cells.get(source), source)
        if isinstance(source, dict):
            return {label: cells.get(column) for label, column in source.items()}
        return {column: cells.get(column) for column in source}

    def _in_option_order(
        self,
        value: Any,
        column: str,
        options: Labels,
    ) -> dict[str, Any]:
        """Return weights by label of a list that has one for each option, in their order."""
        numbers = entries(value, self.gold.separator or ";", column)
        if len(numbers) != len(options):
            raise BadValueError(
                f"'{column}' has {len(numbers)} numbers, and there are {len(options)} options"
            )
        return dict(zip(options, numbers, strict=True))

    def _in_one_column(self, value: Any, column: str) -> dict[str, Any]:
        """Return weights by label of one cell: a mapping, JSON of one, or a list of votes."""
        if isinstance(value, str) and value.startswith("{"):
            try:
                value = parse_json(value)
            except ValueError:
                raise BadValueError(f"'{column}' is not JSON") from None
        if isinstance(value, dict):
            return value
        if self.gold.votes is None:
            raise BadValueError(f"'{column}' is not a mapping from labels to weights")
        votes = entries(value, self.gold.separator or ";", column)
        return {label: votes.count(label) for label in dict.fromkeys(votes)}

    def _picture_path(self, cells: Cells) -> str | None:
        """Return the path of the row's picture, None where it has none.

        A path that leaves the folder of the rows is refused: a task file is somebody else's, and
        may not show a user's own files to a model.
        """
        if self._picture is None:
            return None
        name = self._picture(cells)
        if name is None:
            self.without_picture += 1
            return None
        if not name:
            raise BadValueError("'picture' is empty")
        path = path_below(self.folder, name)
        if path is None or Path(name).is_absolute():
            raise BadValueError(
                f"the picture '{name[:80]}' leaves the folder of the rows, or is not a file name"
            )
        # Not an error: a task can be listed and checked before its pictures are fetched.
        if not path.is_file():
            self._missing_pictures[name] = None
        return str(path)


def _is_filled(value: Any) -> bool:
    """Return whether a cell holds an option."""
    return isinstance(value, str) and bool(value)


def _form(name: str, declared: dict[str, Getter]) -> Getter | None:
    """Return a getter of a declared field in another form: with a capital, with its article.

    A template may use `{A thing}` where the file declares a field `thing`.
    """
    field = column_of(name, declared)
    if field is None:
        return None
    form = reference_getter(name, [field])
    getter = declared[field]
    return lambda cells: form({field: getter(cells)})


def _name_getter(
    source: str | Labels | None,
    columns: Sequence[str],
    *,
    sort: bool,
) -> Getter | None:
    """Return a getter of a name: of one text source, or of several whose values are joined.

    With `sort` the values are in one order whatever the columns', as for a pair that is one object
    either way round.
    """
    if source is None:
        return None
    if isinstance(source, str):
        return source_getter(source, columns)
    getters = [source_getter(part, columns) for part in source]

    def join_values(cells: Any) -> str | None:
        values = [getter(cells) or "" for getter in getters]
        if sort:
            values.sort()
        return "|".join(values)

    return join_values


def _option_at(
    rule: Gold,
    value: str,
    options: Labels,
    columns: Labels,
) -> str:
    """Return the option that an index, a number, a letter or the name of a column points at.

    Data sets of exams say "B", "2" or "choice_2" and not the answer itself.
    """
    names: Iterable[str]
    if rule.says == "column":
        names = columns
    elif rule.says == "letter":
        names = string.ascii_uppercase
        value = value.strip("(). ").upper()
    else:
        start = 0 if rule.says == "index" else 1
        names = map(str, range(start, start + len(options)))
        # A column of whole numbers with gaps is written with decimals by pandas.
        value = value.removesuffix(".0")
    options_by_name = dict(zip(names, options, strict=False))
    if value not in options_by_name:
        raise BadValueError(f"'{rule.column}' is '{value}': no option has that {rule.says}")
    return options_by_name[value]


def _share(cells: Cells, rule: Gold) -> float:
    """Return the share of people who gave the label."""
    number = as_number(cells.get(rule.share))
    if not 0 < number <= (rule.of or 0):
        raise BadValueError(
            f"'{rule.share}' is {cells.get(rule.share)!r}, not a number from 1 to {rule.of:g}"
        )
    return number / (rule.of or 1)
