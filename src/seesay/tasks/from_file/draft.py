"""A first task file from the columns of a table: what each seems to be, with comments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from seesay.data.lines import read_head
from seesay.data.rows import Row, format_of
from seesay.data.task_files.reader import TABLES, Declaration, read_declaration
from seesay.data.task_files.schema_rows import Reading
from seesay.data.task_files.tables import Table, column_values, read_file
from seesay.data.task_files.yaml_text import NULLS
from seesay.errors import UserError
from seesay.questions import SLOT, BadRow
from seesay.registry import did_you_mean

# Names of columns by what they hold, as published data sets call them, the likeliest first.
GOLD = (
    "gold",
    "answer",
    "label",
    "correct",
    "correct_answer",
    "answer_key",
    "answerkey",
    "target",
    "color",
    "colour",
)
OBJECT = (
    "object",
    "thing",
    "item",
    "word",
    "concept",
    "noun",
    "entity",
    "category",
    "subject",
    "name",
)
TEXT = ("question", "sentence", "text", "prompt", "statement", "caption", "context")
OPTIONS = ("options", "choices", "candidates")
PICTURE = ("picture", "image", "img", "photo", "file_name", "filename")
ID = ("id", "uid", "qid", "question_id", "key")
SPLIT = ("split", "part", "partition", "set")
MARKS = (SLOT, "<mask>", "[blank]", "<blank>", "_____", "____", "___")
MOST_SLICES = 20
_ONE_OPTION = re.compile(
    r"(?:option|choice|answer|ending|distractor)?[ _-]?(?:[1-9]|[a-h])", re.IGNORECASE
)
_PLAIN = re.compile(r"[A-Za-z][\w ./-]*")
_SPLITS = {"train", "validation", "valid", "val", "dev", "test"}


@dataclass
class Draft:
    """The lines of a task file, what could not be told from the columns, and rows left out."""

    lines: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    bad_rows: list[BadRow] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The file."""
        return "\n".join(self.lines) + "\n"

    def add(
        self,
        name: str,
        value: str,
        comment: str = "",
    ) -> None:
        """Add a field, with a comment above it."""
        if comment:
            self.lines.append(f"# {comment}")
        self.lines.append(f"{name}: {value}")


def guess(path: Path) -> Declaration:
    """Return the declaration of a bare table whose columns are obvious.

    A draft that is sure of every column is taken as it is; any doubt is the user's to settle, in a
    file that says what was guessed.
    """
    if not path.name.removesuffix(".gz").lower().endswith(TABLES):
        raise UserError(
            f"'{path}' is neither a task file (*.yaml) nor a table ({', '.join(TABLES)})."
        )
    draft = draft_file(path)
    if draft.doubts:
        raise UserError(
            f"{path} does not say what to ask ({draft.doubts[0]}): `seesay tasks new {path} "
            f"-o {path.stem}.yaml` writes a first task file to complete."
        )
    return read_declaration(path, draft.text)


def draft_file(
    path: Path, folder: Path | None = None, *, gold: str | None = None, thing: str | None = None
) -> Draft:
    """Return a first task file for a table.

    `folder`: where the file will be.
    `gold`: the column of the right answers, where the user names it; else it is guessed.
    `thing`: the column of what questions are about, likewise.
    """
    reading = _reading(path)
    table = read_file(path, reading)
    if not table.rows:
        reason = f" ({table.bad[0]})" if table.bad else ""
        raise UserError(f"{path} has no row that can be read{reason}.")
    for option, column in (("--gold", gold), ("--object", thing)):
        if column is not None and column not in table.columns:
            near = did_you_mean(column, table.columns)
            names = ", ".join(table.columns)
            raise UserError(f"{option} {column}{near}: the columns of {path} are {names}.")
    if gold is not None and gold == thing:
        raise UserError(
            f"--gold and --object are both {gold}: a question that names its answer asks nothing."
        )
    draft = Draft(bad_rows=table.bad)
    _add_source(draft, path, folder or path.parent, reading)
    _add_columns(draft, table, gold, thing)
    return draft


def _reading(path: Path) -> Reading:
    """Return how a table is written: CSV with semicolons is common enough to be recognised."""
    # The header decides: sentences below it may have any number of either mark.
    first_line = read_head(path, 10_000).partition(b"\n")[0]
    if format_of(path) == "csv" and first_line.count(b";") > first_line.count(b","):
        return Reading(delimiter=";")
    return Reading()


def _add_source(
    draft: Draft,
    path: Path,
    folder: Path,
    reading: Reading,
) -> None:
    """Add what a task file begins with: its version, whose the rows are, and where."""
    draft.lines.append(
        f"# A first task file for {path.name}: correct it, then `seesay tasks check` it."
    )
    draft.add("version", '"1"')
    draft.add(
        "title", '""', "What is asked, in a few words; whose rows these are, and what to cite."
    )
    draft.add("licence", '""')
    draft.add("citation", '""')
    rows = path.resolve()
    if rows.is_relative_to(folder.resolve()):
        draft.add("rows", quote(str(rows.relative_to(folder.resolve()))))
    else:
        comment = f"Copy {path} here: rows are read from beside this file."
        draft.add("rows", quote(path.name), comment)
    if reading.delimiter != ",":
        draft.add("read", f"{{delimiter: {quote(reading.delimiter)}}}")


def _add_columns(draft: Draft, table: Table, gold: str | None, thing: str | None) -> None:
    """Add what each column seems to be for, and the templates that ask about them.

    `gold` and `thing` are columns that the user named.

    The order is that of a task file written by hand: what a question is about, its options and
    gold, what it is sliced by, how it is put.
    """
    columns = list(table.columns)
    draft.lines.append(f"# Columns: {', '.join(columns)}.")
    option_columns = _option_columns(columns, table)
    gold = gold or _find_column(columns, GOLD)
    if gold is None:
        draft.doubts.append("no column is named answer, label or gold")
        others = [column for column in columns if column not in option_columns]
        # A doubt is noted, and a column named all the same: the draft should be complete to
        # correct.
        gold = _few_values(table, others) or columns[-1]
    text = _find_column(columns, TEXT)
    thing = thing or _find_column(columns, OBJECT, but=(gold,))
    # A table with a question needs no thing to ask about.
    if thing is None and text is None:
        thing = _short_names(table, gold)
    key = _find_column(columns, ID)
    if key and len(set(column_values(table, key))) == len(table.rows):
        draft.add("id", quote(key))
    if thing:
        draft.add(
            "object", quote(thing), "What a question is about: intervals are clustered by it."
        )
    _add_options_and_gold(draft, table, option_columns, gold)
    picture = _find_column(columns, PICTURE)
    if picture:
        draft.add("picture", quote(picture), "A path below this folder.")
    split = _find_column(columns, SPLIT)
    if split and set(column_values(table, split)) <= _SPLITS:
        draft.add("split", f"{{column: {quote(split)}}}")
    other_uses = {gold, thing, text, key, picture, split, *option_columns}
    tags = [column for column in columns if column not in other_uses and _is_slice(table, column)]
    if tags:
        draft.add("tags", f"[{', '.join(map(quote, tags))}]", "What results are sliced by.")
    _add_templates(draft, table, text, thing, gold)


def _add_options_and_gold(
    draft: Draft,
    table: Table,
    columns: Sequence[str],
    gold: str,
) -> None:
    """Add where the options and the right answers are."""
    values = list(dict.fromkeys(column_values(table, gold)))
    if columns:
        names = ", ".join(map(quote, columns))
        draft.add("options", f"{{columns: [{names}]}}", "One option in each column.")
        says = _says(table, columns, gold, values)
        if says == "label":
            draft.add("gold", quote(gold))
        else:
            draft.add("gold", f"{{column: {quote(gold)}, says: {says}}}")
        return
    options = _find_column(list(table.columns), OPTIONS)
    if options:
        comment = "A column that lists them, with ';' between."
        draft.add("options", f"{{column: {quote(options)}}}", comment)
    else:
        draft.add("options", f"{{answers: {quote(gold)}}}", f"All answers of the column '{gold}'.")
    # A semicolon in a tenth of the answers is a separator; in fewer, it may be part of a label.
    has_lists = sum(";" in value for value in values) > len(values) / 10
    if has_lists:
        draft.add("gold", f"{{column: {quote(gold)}, separator: ;}}")
    else:
        draft.add("gold", quote(gold))


def _says(
    table: Table,
    columns: Sequence[str],
    gold: str,
    values: Sequence[str],
) -> str:
    """Return what the gold column holds, where every option has a column.

    The surest reading comes first: a value that names a column is hardly anything else, and a
    single letter may be an option itself.
    """
    if all(value in columns for value in values):
        return "column"
    if all(_gold_is_an_option(row, columns, gold) for row in table.rows):
        return "label"
    if all(len(value) == 1 and value.isalpha() for value in values):
        return "letter"
    if all(value.isdecimal() for value in values):
        return "index" if "0" in values else "number"
    return "label"


def _gold_is_an_option(
    row: Row,
    columns: Sequence[str],
    gold: str,
) -> bool:
    """Return whether a row's gold, if it has any, is in one of the options' columns."""
    value = row.cells.get(gold)
    return not value or any(row.cells.get(column) == value for column in columns)


def _add_templates(
    draft: Draft,
    table: Table,
    text: str | None,
    thing: str | None,
    gold: str,
) -> None:
    """Add templates for a text with a blank, for a question, or for a thing to ask about.

    A text with a blank is asked as it stands; a thing is asked about in two templates, so that the
    spread over them can be seen.
    """
    mark = _find_mark(table, text) if text else None
    if text and mark:
        draft.lines += [
            "rules:",
            f"  - cut: {quote(text)}",
            f"    at: {quote(mark)}",
            "    into: [before, after]",
        ]
        draft.add("templates", _in_quotes(f"{{before}}{SLOT}{{after}}"))
    elif text:
        draft.lines += ["templates:", f"  question: {_in_quotes(f'Q: {{{text}}} A: {SLOT}.')}"]
        draft.add("choice_templates", _in_quotes(f"{{{text}}} {SLOT}"))
    elif thing:
        draft.lines += [
            f"# {{a {thing}}} puts the article; a second template shows how much the template "
            "matters.",
            "templates:",
            f"  is: {_in_quotes(f'The {gold} of {{a {thing}}} is {SLOT}.')}",
            f"  question: {_in_quotes(f'Q: What is the {gold} of {{a {thing}}}? A: {SLOT}.')}",
        ]
        draft.add("choice_templates", _in_quotes(f"What is the {gold} of {{a {thing}}}? {SLOT}"))
        draft.add(
            "neutral",
            f"{{{quote(thing)}: something}}",
            "What the calibrated rule puts in its place.",
        )
    else:
        draft.doubts.append("no column looks like a question or a thing to ask about")
        # No column is called so: the file is refused until its author has written a text.
        draft.add("templates", _in_quotes(f"{{a text with columns in braces}} {SLOT}."))


def quote(text: str) -> str:
    """Return a text as YAML has it: in quotes where it needs them."""
    is_plain = _PLAIN.fullmatch(text) and not text.endswith(" ") and text not in NULLS
    if is_plain:
        return text
    return _in_quotes(text)


def _in_quotes(text: str) -> str:
    """Return a text in the double quotes of YAML, which escapes as JSON does."""
    return json.dumps(text, ensure_ascii=False)


def _find_column(
    columns: Sequence[str],
    names: Iterable[str],
    but: Sequence[str | None] = (),
) -> str | None:
    """Return the column of the likeliest of these names, however it is written."""
    candidates = [column for column in columns if column not in but]
    by_name = {column.lower().replace(" ", "_"): column for column in candidates}
    return next((by_name[name] for name in names if name in by_name), None)


def _option_columns(columns: Sequence[str], table: Table) -> list[str]:
    """Return the columns that hold one option each, such as `choice_1` and `choice_2`."""
    numbered = [column for column in columns if _ONE_OPTION.fullmatch(column)]
    if len(numbered) >= 2 and all(any(column_values(table, column)) for column in numbered):
        return numbered
    return []


def _few_values(table: Table, columns: Sequence[str]) -> str | None:
    """Return the last column with few different values, which is where answers usually are."""
    return next((column for column in reversed(columns) if _is_slice(table, column)), None)


def _is_slice(table: Table, column: str) -> bool:
    """Return whether every row has one of a few values, by which results can be sliced."""
    values = list(column_values(table, column))
    if len(values) < len(table.rows):
        return False
    # More values than half of the rows would make slices of one question each.
    most = min(MOST_SLICES, max(2, len(values) // 2))
    return 1 < len(set(values)) <= most


def _short_names(table: Table, gold: str) -> str | None:
    """Return the only other column of short words that mostly differ, if there is one.

    Such words are the things that are asked about. Where no column is as clear, the only one in
    which half of them differ is taken; they may recur where there is nothing else to ask about.

    Two such columns would be a guess.
    """
    shares = {}
    for column in table.columns:
        names = [value for value in column_values(table, column) if _is_short_name(value)]
        if column != gold and len(names) == len(table.rows):
            shares[column] = len(set(names)) / len(names)
    if len(table.columns) == 2:
        return next(iter(shares), None)
    mostly_differ = [column for column in shares if shares[column] > 0.8]
    candidates = mostly_differ or [column for column in shares if shares[column] >= 0.5]
    if len(candidates) == 1:
        return candidates[0]
    return None


def _is_short_name(value: str) -> bool:
    """Return whether a text could be the name of a thing."""
    is_number = value.replace(".", "").isdecimal()
    return 0 < len(value) <= 40 and not is_number


def _find_mark(table: Table, column: str) -> str | None:
    """Return the mark that stands once in nearly every text of a column, as a blank does."""
    values = list(column_values(table, column))
    for mark in MARKS:
        count = sum(value.count(mark) == 1 for value in values)
        if count / max(1, len(values)) > 0.9:
            return mark
    return None
