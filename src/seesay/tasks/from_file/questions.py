"""Rows to questions, as a task file declares it."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from seesay.data.cells import BadValueError
from seesay.data.json_stream import parse_json
from seesay.data.rows import Row
from seesay.data.task_files.pairs import PLACES, Pairs, in_order
from seesay.data.task_files.row_rules import Cut, as_number
from seesay.data.task_files.rules import entries
from seesay.data.task_files.schema import MOST_OPTIONS, Gold, Options, TaskFile
from seesay.data.task_files.tables import Table
from seesay.data.task_files.texts import (
    Getter,
    column_of,
    reference_getter,
    references,
    source_getter,
    usable,
)
from seesay.files import path_below
from seesay.questions import BadRow, Question
from seesay.registry import did_you_mean

Cells = dict[str, Any]
SHOWN = 6


class QuestionBuilder:
    """Turns rows into questions. Options that are all answers of a column are collected from the
    tables it has seen."""

    def __init__(self, file: TaskFile, columns: Sequence[str], folder: Path) -> None:
        self.file = file
        self.folder = folder
        self.gold = file.gold_rule
        self.options = file.option_rule
        self.several_gold = False
        self.without_picture = 0
        self._is_plain_label = (
            self.gold.says == "label" and not self.gold.separator and not self.gold.share
        )
        self._answers: dict[str, dict[str, None]] = {}
        self._fixed: dict[str, tuple[str, ...]] = {}
        self._may_be_empty = {
            column for rule in file.rules if isinstance(rule, Cut) for column in rule.into
        }
        self._fields = self._field_getters(columns)
        self._tags = [source_getter(source, columns) for source in file.tag_sources.values()]
        self._shared_tags: dict[tuple[str | None, ...], dict[str, str]] = {}
        self._shared_gold: dict[str, dict[str, float]] = {}
        self._id = _joined(file.id, columns, sort=False)
        self._object = _joined(file.object, columns, sort=True)
        self._picture = None if file.picture is None else source_getter(file.picture, columns)
        self._missing_pictures: dict[str, None] = {}
        self._hints: dict[tuple[str, tuple[str, ...]], str] = {}

    @property
    def needs_all_rows(self) -> bool:
        """Whether the options are known only once the rows of every split are."""
        return isinstance(self.options, Options) and bool(self.options.answers)

    @property
    def missing_pictures(self) -> list[str]:
        """The pictures that are not where they should be."""
        return list(self._missing_pictures)

    def default_metric(self) -> str:
        """The metric that fits the gold answers."""
        if self.gold.column:
            if self.several_gold:
                return "relaxed_accuracy"
            return "accuracy"
        return "majority_accuracy"

    def see(self, table: Table) -> None:
        """Collect the answers of a table, where these are the options."""
        if not isinstance(self.options, Options) or not self.options.answers:
            return
        column = self.options.answers
        within = self.options.within
        separated = bool(self.gold.separator)
        for row in table.rows:
            value = row.cells.get(column)
            answers = self._answers.setdefault(str(row.cells.get(within)) if within else "", {})
            if type(value) is str and not separated:  # nearly every row of nearly every file
                answers[value] = None
            else:
                with suppress(BadValueError):  # such a row is reported when its question is built
                    answers.update(dict.fromkeys(self._labels(value, column)))
        for answers in self._answers.values():
            answers.pop("", None)

    def questions(
        self, table: Table, prefix: str = ""
    ) -> tuple[list[tuple[Row, Question]], list[BadRow]]:
        """The questions with their rows, and the rows that are none."""
        built: list[tuple[Row, Question]] = []
        bad = list(table.bad)
        first: dict[str, Row] = {}
        for row in table.rows:
            try:
                question = self._question(row, prefix)
                if question.id in first:
                    raise BadValueError(
                        f"id '{question.id}' is already that of row {first[question.id].number}"
                    )
            except BadValueError as error:
                bad.append(row.bad(str(error)))
                continue
            first[question.id] = row
            built.append((row, question))
        return built, sorted(bad, key=lambda row: (row.file, row.row))

    def _question(self, row: Row, prefix: str) -> Question:
        cells = row.cells
        fields: dict[str, str] = {}
        for name, getter, empty in self._fields:
            value = getter(cells)
            if value is not None:
                fields[name] = usable(value, name, empty=empty)
            elif name in self._needed:
                raise BadValueError(f"'{name}' is missing")
        if self._id is not None:
            key = self._id(cells)
        else:
            key = f"{prefix}{row.file}{'/' if row.file else ''}{row.number}"
        if self.file.pairs is not None:
            options: tuple[str, ...] = PLACES
            sentences, gold = in_order(key or "", *self._pair(cells, self.file.pairs))
            fields |= sentences
        else:
            options, columns = self._row_options(cells)
            gold = self._row_gold(cells, options, columns)
        if len(gold) > 1:
            self.several_gold = True
        about = self._object(cells) if self._object is not None else key
        if not key or not about:
            raise BadValueError(f"'{'object' if key else 'id'}' is empty")
        picture = self._picture_path(cells) if self._picture is not None else None
        return Question(key, fields, options, gold, about, self._row_tags(cells), picture)

    def _row_tags(self, cells: Cells) -> dict[str, str]:
        """The row's tags; rows with the same ones share them, since there may be a million."""
        values = tuple([getter(cells) for getter in self._tags])
        tags = self._shared_tags.get(values)
        if tags is None:
            pairs = zip(self.file.tag_sources, values, strict=True)
            tags = {name: value for name, value in pairs if value is not None}
            if self.file.nested_by in self.file.tag_sources and self.file.nested_by not in tags:
                raise BadValueError(
                    f"'{self.file.nested_by}' is missing: the question is in none of the nested "
                    "sets"
                )
            self._shared_tags[values] = tags
        return tags

    def _pair(self, cells: Cells, pairs: Pairs) -> tuple[str, str]:
        """The good and the bad sentence of a row."""
        good, bad = (
            usable(str(cells.get(column) or ""), column) for column in (pairs.good, pairs.bad)
        )
        if good == bad:
            raise BadValueError(f"'{pairs.good}' and '{pairs.bad}' are the same")
        return good, bad

    def _field_getters(self, columns: Sequence[str]) -> list[tuple[str, Getter, bool]]:
        """The fields that templates need, and those that the file declares, each with whether it
        may be empty."""
        declared = {
            name: source_getter(source, columns) for name, source in self.file.fields.items()
        }
        texts = [
            entry.text
            for entry in (*self.file.templates.values(), *self.file.choice_templates.values())
        ]
        self._needed = dict.fromkeys(
            [name for text in (*texts, self.file.linear_text) for name in references(text)]
        )
        getters: dict[str, Getter] = dict(declared)
        for name in self._needed:
            if name not in getters:
                getters[name] = _form(name, declared) or reference_getter(name, columns)
        lenient = not self.file.read.strip
        return [
            (name, getter, lenient or self.file.fields.get(name, name) in self._may_be_empty)
            for name, getter in getters.items()
        ]

    def _row_options(self, cells: Cells) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The options of a row, and the columns they come from where each has its own."""
        rule = self.options
        if isinstance(rule, tuple):
            return rule, ()
        if rule.columns:
            pairs = [(cells.get(column), column) for column in rule.columns]
            filled = [
                (value, column) for value, column in pairs if isinstance(value, str) and value
            ]
            return self._distinct(tuple(value for value, _ in filled)), tuple(
                column for _, column in filled
            )
        if rule.column:
            return self._distinct(
                tuple(entries(cells.get(rule.column), rule.separator, rule.column))
            ), ()
        if rule.sets:
            name = str(cells.get(rule.by))
            if name not in rule.sets:
                raise BadValueError(f"'{rule.by}' is '{name}', not one of {', '.join(rule.sets)}")
            return rule.sets[name], ()
        group = str(cells.get(rule.within)) if rule.within else ""
        if group not in self._fixed:
            answers = self._answers.get(group, {})
            self._fixed[group] = self._distinct(
                tuple(answers if rule.order == "rows" else sorted(answers))
            )
        return self._fixed[group], ()

    def _distinct(self, options: tuple[str, ...]) -> tuple[str, ...]:
        if len(options) < 2:
            raise BadValueError(
                f"there is only one option, '{options[0]}'" if options else "there are no options"
            )
        if len(options) > MOST_OPTIONS:
            raise BadValueError(f"there are more than {MOST_OPTIONS:,} options")
        if len(set(options)) < len(options):
            twice = next(option for option in options if options.count(option) > 1)
            raise BadValueError(f"the option '{twice}' is there twice")
        for option in options:
            usable(option, "option")
        return options

    def _row_gold(
        self, cells: Cells, options: tuple[str, ...], columns: tuple[str, ...]
    ) -> dict[str, float]:
        rule = self.gold
        if not rule.column:
            return self._weights(cells, options)
        value = cells.get(rule.column)
        # nearly every row of nearly every file
        if self._is_plain_label and type(value) is str and value in options:
            return self._shared_gold.get(value) or self._shared_gold.setdefault(value, {value: 1.0})
        labels = self._labels(value, rule.column)
        if not labels:
            raise BadValueError(f"'{rule.column}' is empty: there is no gold answer")
        if rule.says != "label":
            labels = [_pointed_at(rule, label, options, columns) for label in labels]
        for label in labels:
            if label not in options:
                raise BadValueError(
                    f"gold '{label}' is not among the options{self._hint(label, options)}"
                )
        if rule.share:
            return {labels[0]: _share(cells, rule)}
        return dict.fromkeys(labels, 1 / len(set(labels)))

    def _labels(self, value: Any, column: str) -> list[str]:
        """The labels in a cell: a label, a list of them, or a text with separators."""
        if value is None or value == "":
            return []
        if isinstance(value, dict):
            raise BadValueError(f"'{column}' is neither a label nor a list of labels")
        if isinstance(value, str) and not self.gold.separator:
            return [value]
        return entries(value, self.gold.separator, column)

    def _hint(self, label: str, options: tuple[str, ...]) -> str:
        key = (label, options)
        if key not in self._hints:
            shown = ", ".join(options[:SHOWN]) + (", …" if len(options) > SHOWN else "")
            self._hints[key] = did_you_mean(label, options) or f" ({shown})"
        return self._hints[key]

    def _weights(self, cells: Cells, options: tuple[str, ...]) -> dict[str, float]:
        """Weights as they are, or each label's share of the votes."""
        what = "votes" if self.gold.weights is None else "weights"
        if self.gold.weights is None:
            by_label = self.gold.votes
        else:
            by_label = self.gold.weights
        counts: dict[str, Any]
        if isinstance(by_label, dict):
            counts = {label: cells.get(column) for label, column in by_label.items()}
        elif isinstance(by_label, str):
            counts = self._in_one_column(cells.get(by_label), by_label)
        else:
            counts = {column: cells.get(column) for column in by_label or ()}
        weights = {
            label: as_number("0" if value in (None, "") else value)
            for label, value in counts.items()
        }
        for label, weight in weights.items():
            if not weight >= 0:
                raise BadValueError(
                    f"the {what} of '{label}' are {counts[label]!r}, not a number of at least 0"
                )
            if weight and label not in options:
                raise BadValueError(
                    f"gold '{label}' is not among the options{self._hint(label, options)}"
                )
        total = sum(weights.values())
        if not total:
            raise BadValueError(f"all {what} are 0: there is no gold answer")
        scale = total if what == "votes" else 1.0
        return {label: weight / scale for label, weight in weights.items() if weight}

    def _in_one_column(self, value: Any, column: str) -> dict[str, Any]:
        if isinstance(value, str) and value.startswith("{"):
            try:
                value = parse_json(value)
            except ValueError:
                raise BadValueError(f"'{column}' is not JSON") from None
        if isinstance(value, dict):
            return value
        if self.gold.votes is None:
            raise BadValueError(f"'{column}' is not a mapping from labels to weights")
        cast = entries(value, self.gold.separator or ";", column)
        return {label: cast.count(label) for label in dict.fromkeys(cast)}

    def _picture_path(self, cells: Cells) -> str | None:
        name = self._picture(cells) if self._picture is not None else None
        if name is None:
            self.without_picture += 1
            return None
        if not name:
            raise BadValueError("'picture' is empty")
        path = path_below(self.folder, name)
        if path is None or Path(name).is_absolute():
            raise BadValueError(
                f"the picture '{name[:80]}' leaves the folder of the rows, or is no name of a file"
            )
        if not path.is_file():
            self._missing_pictures[name] = None
        return str(path)


def _form(name: str, declared: dict[str, Getter]) -> Getter | None:
    """A declared field in another form: with a capital, with its article."""
    field = column_of(name, declared)
    if field is None:
        return None
    form = reference_getter(name, [field])
    getter = declared[field]
    return lambda cells: form({field: getter(cells)})


def _joined(
    source: str | tuple[str, ...] | None, columns: Sequence[str], *, sort: bool
) -> Getter | None:
    if source is None or isinstance(source, str):
        if source is None:
            return None
        return source_getter(source, columns)
    getters: list[Callable[[Cells], str | None]] = [source_getter(part, columns) for part in source]

    def joined(cells: Any) -> str | None:
        values = [getter(cells) or "" for getter in getters]
        return "|".join(sorted(values) if sort else values)

    return joined


def _pointed_at(rule: Gold, value: str, options: tuple[str, ...], columns: tuple[str, ...]) -> str:
    """The option that an index, a number, a letter or the name of a column points at."""
    places: dict[str, str]
    if rule.says == "column":
        places = dict(zip(columns, options, strict=True)) if columns else {}
    elif rule.says == "letter":
        places = dict(zip(string.ascii_uppercase, options, strict=False))
        value = value.strip("(). ").upper()
    else:
        places = {
            str(place): option
            for place, option in enumerate(options, start=0 if rule.says == "index" else 1)
        }
        value = value.removesuffix(".0")
    if value not in places:
        raise BadValueError(f"'{rule.column}' is '{value}': no option has that {rule.says}")
    return places[value]


def _share(cells: Cells, rule: Gold) -> float:
    number = as_number(cells.get(rule.share))
    if not 0 < number <= (rule.of or 0):
        raise BadValueError(
            f"'{rule.share}' is {cells.get(rule.share)!r}, not a number from 1 to {rule.of:g}"
        )
    return number / (rule.of or 1)
