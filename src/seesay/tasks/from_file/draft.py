"""A first task file from the columns of a table: what each seems to be, with comments to correct it
by."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from seesay.data.lines import read_head
from seesay.data.rows import format_of
from seesay.data.task_files.reader import TABLES, Declaration, read_declaration
from seesay.data.task_files.schema_rows import Reading
from seesay.data.task_files.tables import Table, column_values, read_file
from seesay.data.task_files.yaml_text import NULLS
from seesay.errors import UserError
from seesay.questions import SLOT

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
    """The lines of a task file, and what could not be told from the columns."""

    lines: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The file."""
        return "\n".join(self.lines) + "\n"

    def add(self, name: str, value: str, comment: str = "") -> None:
        """A field, with a comment above it."""
        self.lines += [*([f"# {comment}"] if comment else []), f"{name}: {value}"]


def guess(path: Path) -> Declaration:
    """The declaration of a bare table whose columns are obvious."""
    if not path.name.removesuffix(".gz").lower().endswith(TABLES):
        raise UserError(
            f"'{path}' is neither a task file (*.yaml) nor a table ({', '.join(TABLES)})."
        )
    draft = draft_file(path)
    if draft.doubts:
        first = (
            f"`seesay tasks new {path} -o {path.stem}.yaml` writes a first task file to complete"
        )
        raise UserError(f"{path} does not say what to ask ({draft.doubts[0]}): {first}.")
    return read_declaration(path, draft.text)


def draft_file(path: Path, folder: Path | None = None) -> Draft:
    """A first task file for a table; `folder` is where it will be."""
    reading = _reading(path)
    table = read_file(path, reading)
    if not table.rows:
        raise UserError(
            f"{path} has no row that can be read{f' ({table.bad[0]})' if table.bad else ''}."
        )
    return _draft(path, table, folder or path.parent, reading)


def _reading(path: Path) -> Reading:
    """A CSV file with semicolons is common enough to be recognised."""
    first_line = read_head(path, 10_000).partition(b"\n")[0]
    has_semicolons = format_of(path) == "csv" and first_line.count(b";") > first_line.count(b",")
    return Reading(delimiter=";") if has_semicolons else Reading()


def _draft(path: Path, table: Table, folder: Path, reading: Reading) -> Draft:
    columns = list(table.columns)
    draft = Draft()
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
    inside = rows.is_relative_to(folder.resolve())
    name = str(rows.relative_to(folder.resolve())) if inside else path.name
    draft.add(
        "rows",
        quoted(name),
        "" if inside else f"Copy {path} here: rows are read from beside this file.",
    )
    if reading.delimiter != ",":
        draft.add("read", f"{{delimiter: {quoted(reading.delimiter)}}}")
    draft.lines.append(f"# Columns: {', '.join(columns)}.")

    option_columns = _option_columns(columns, table)
    gold = _named(columns, GOLD)
    if gold is None:
        draft.doubts.append("no column is named answer, label or gold")
        gold = (
            _few_values(table, [column for column in columns if column not in option_columns])
            or columns[-1]
        )
    text = _named(columns, TEXT)
    thing = _named(columns, OBJECT, but=(gold,)) or (None if text else _short_names(table, gold))
    if (key := _named(columns, ID)) and len(set(column_values(table, key))) == len(table.rows):
        draft.add("id", quoted(key))
    if thing:
        draft.add(
            "object", quoted(thing), "What a question is about: intervals are clustered by it."
        )
    _options_and_gold(draft, table, option_columns, gold)
    if picture := _named(columns, PICTURE):
        draft.add("picture", quoted(picture), "A path below this folder.")
    if (split := _named(columns, SPLIT)) and set(column_values(table, split)) <= _SPLITS:
        draft.add("split", f"{{column: {quoted(split)}}}")
    used = {gold, thing, text, key, picture, split, *option_columns}
    tags = [column for column in columns if column not in used and _is_slice(table, column)]
    if tags:
        draft.add("tags", f"[{', '.join(map(quoted, tags))}]", "What results are sliced by.")
    _templates(draft, table, text, thing, gold)
    return draft


def _options_and_gold(draft: Draft, table: Table, columns: Sequence[str], gold: str) -> None:
    listed = _named(list(table.columns), OPTIONS)
    values = list(dict.fromkeys(column_values(table, gold)))
    several = sum(";" in value for value in values) > len(values) / 10
    if columns:
        draft.add(
            "options",
            f"{{columns: [{', '.join(map(quoted, columns))}]}}",
            "One option in each column.",
        )
        says = _says(table, columns, gold, values)
        draft.add(
            "gold", quoted(gold) if says == "label" else f"{{column: {quoted(gold)}, says: {says}}}"
        )
        return
    if listed:
        draft.add(
            "options",
            f"{{column: {quoted(listed)}}}",
            "A column that lists them, with ';' between.",
        )
    else:
        draft.add("options", f"{{answers: {quoted(gold)}}}", f"All answers of the column '{gold}'.")
    draft.add("gold", f"{{column: {quoted(gold)}, separator: ;}}" if several else quoted(gold))


def _says(table: Table, columns: Sequence[str], gold: str, values: Sequence[str]) -> str:
    """What the gold column holds, where every option has a column."""
    if all(value in columns for value in values):
        return "column"
    if all(
        value in {row.cells.get(c) for c in columns}
        for row in table.rows
        if (value := row.cells.get(gold))
    ):
        return "label"
    if all(len(value) == 1 and value.isalpha() for value in values):
        return "letter"
    if all(value.isdecimal() for value in values):
        return "index" if "0" in values else "number"
    return "label"


def _templates(draft: Draft, table: Table, text: str | None, thing: str | None, gold: str) -> None:
    mark = next((m for m in MARKS if text and _share_with(table, text, m) > 0.9), None)
    if text and mark:
        draft.lines += [
            "rules:",
            f"  - cut: {quoted(text)}",
            f"    at: {quoted(mark)}",
            "    into: [before, after]",
        ]
        draft.add("templates", _in_quotes(f"{{before}}{SLOT}{{after}}"))
    elif text:
        draft.lines += ["templates:", f"  question: {_in_quotes(f'Q: {{{text}}} A: {SLOT}.')}"]
        draft.add("choice_templates", _in_quotes(f"{{{text}}} {SLOT}"))
    elif thing:
        draft.lines += [
            f"# {{a {thing}}} puts the article; a second way to put it shows how far the wording "
            "matters.",
            "templates:",
            f"  is: {_in_quotes(f'The {gold} of {{a {thing}}} is {SLOT}.')}",
            f"  question: {_in_quotes(f'Q: What is the {gold} of {{a {thing}}}? A: {SLOT}.')}",
        ]
        draft.add("choice_templates", _in_quotes(f"What is the {gold} of {{a {thing}}}? {SLOT}"))
        draft.add(
            "neutral",
            f"{{{quoted(thing)}: something}}",
            "What the calibrated rule puts in its place.",
        )
    else:
        draft.doubts.append("no column looks like a question or a thing to ask about")
        draft.add(
            "templates",
            _in_quotes(f"Write a text with columns in braces, and {SLOT} for the answer."),
        )


def quoted(text: str) -> str:
    """A text as YAML has it: in quotes where it needs them."""
    is_plain = _PLAIN.fullmatch(text) and not text.endswith(" ") and text not in NULLS
    return text if is_plain else _in_quotes(text)


def _in_quotes(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _named(
    columns: Sequence[str], names: Iterable[str], but: Sequence[str | None] = ()
) -> str | None:
    lowered = {column.lower().replace(" ", "_"): column for column in columns if column not in but}
    return next((lowered[name] for name in names if name in lowered), None)


def _option_columns(columns: Sequence[str], table: Table) -> list[str]:
    numbered = [column for column in columns if _ONE_OPTION.fullmatch(column)]
    if len(numbered) >= 2 and all(any(column_values(table, column)) for column in numbered):
        return numbered
    return []


def _few_values(table: Table, columns: Sequence[str]) -> str | None:
    """The last column with few different values, which is where answers usually are."""
    return next((column for column in reversed(columns) if _is_slice(table, column)), None)


def _is_slice(table: Table, column: str) -> bool:
    values = list(column_values(table, column))
    return len(values) == len(table.rows) and 1 < len(set(values)) <= min(
        MOST_SLICES, max(2, len(values) // 2)
    )


def _short_names(table: Table, gold: str) -> str | None:
    """The only other column of short words that mostly differ, if there is one: the things that are
    asked about."""
    candidates = []
    for column in table.columns:
        values = list(column_values(table, column))
        words = [
            value
            for value in values
            if 0 < len(value) <= 40 and not value.replace(".", "").isdecimal()
        ]
        if column != gold and len(words) == len(table.rows) and len(set(words)) > 0.8 * len(words):
            candidates.append(column)
    return candidates[0] if len(candidates) == 1 else None


def _share_with(table: Table, column: str, mark: str) -> float:
    values = list(column_values(table, column))
    return sum(value.count(mark) == 1 for value in values) / max(1, len(values))
