"""What a task file refers to: every column that it names, and where."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from seesay.data.task_files.schema import TEMPLATE_FIELDS, TaskFile
from seesay.data.task_files.schema_base import Part, as_names
from seesay.data.task_files.texts import no_column, unknown_columns, unknown_in_text
from seesay.data.task_files.yaml_text import Steps


def unknown_references(file: TaskFile, columns: Collection[str]) -> Iterator[tuple[Steps, str]]:
    """Yield every reference to a column that does not exist: its place, and a message."""
    fields_and_columns = [*columns, *file.fields]
    for place, text in _texts(file):
        for message in unknown_in_text(text, fields_and_columns):
            yield place, message
    for place, source in _text_sources(file):
        for message in unknown_columns(source, columns):
            yield place, message
    for place, column in _columns(file):
        if column not in columns:
            yield place, no_column(column, columns)


def _texts(file: TaskFile) -> Iterator[tuple[Steps, str]]:
    """Yield the texts that are put to models, which see the fields as well as the columns."""
    for place in TEMPLATE_FIELDS:
        for name, entry in getattr(file, place).items():
            yield (place, name, "text"), entry.plain_text
    yield from file.word_texts
    for name in file.neutral:
        yield ("neutral", name), f"{{{name}}}"
    yield ("linear_text",), file.linear_text


def _text_sources(file: TaskFile) -> Iterator[tuple[Steps, str]]:
    """Yield what the fields, tags and names of questions are made of, which is columns only."""
    for name, source in file.fields.items():
        yield ("fields", name), source
    for name, source in file.tag_sources.items():
        yield ("tags", name), source
    for place in ("id", "object", "twin", "picture"):
        for source in as_names(getattr(file, place)):
            yield (place,), source


def _columns(file: TaskFile) -> Iterator[tuple[Steps, str]]:
    """Yield every column that the file names outside of texts, with its place."""
    parts: dict[str, object] = {
        # The gold of a file with `pairs` is not written there: the message would name no line.
        "gold": file.gold_rule if file.pairs is None else None,
        "options": file.option_rule,
        "pairs": file.pairs,
        "split": file.split,
    }
    for place, part in parts.items():
        if isinstance(part, Part):
            for field, column in part.columns_read():
                yield (place, field), column
