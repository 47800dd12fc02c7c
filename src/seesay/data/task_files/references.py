"""What a task file refers to: every column that it names, and where."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from seesay.data.task_files.schema import TaskFile
from seesay.data.task_files.schema_base import Part, as_names
from seesay.data.task_files.texts import no_column, unknown_columns, unknown_in_text
from seesay.data.task_files.yaml_text import Steps


def unknown_references(file: TaskFile, columns: Collection[str]) -> Iterator[tuple[Steps, str]]:
    """Every reference to a column that does not exist: its place, and a message."""
    for path, text in _texts(file):
        for message in unknown_in_text(text, [*columns, *file.fields]):
            yield path, message
    for path, source in _text_sources(file):
        for message in unknown_columns(source, columns):
            yield path, message
    for place, column in _columns(file):
        if column not in columns:
            yield place, no_column(column, columns)


def _texts(file: TaskFile) -> list[tuple[Steps, str]]:
    """The texts that are put to models, which see the declared fields as well as the columns."""
    templates: list[tuple[Steps, str]] = []
    for place in ("templates", "choice_templates"):
        templates += [
            ((place, name, "text"), entry.text) for name, entry in getattr(file, place).items()
        ]
    templates += [(("neutral", name), f"{{{name}}}") for name in file.neutral]
    return [*templates, (("linear_text",), file.linear_text)]


def _text_sources(file: TaskFile) -> list[tuple[Steps, str]]:
    sources: list[tuple[Steps, str]] = [
        (("fields", name), source) for name, source in file.fields.items()
    ]
    sources += [(("tags", name), source) for name, source in file.tag_sources.items()]
    for place in ("id", "object", "picture"):
        sources += [((place,), source) for source in as_names(getattr(file, place))]
    return sources


def _columns(file: TaskFile) -> Iterator[tuple[Steps, str]]:
    """Every column that the file names outside of texts, with its place."""
    gold = file.gold_rule if file.pairs is None else None
    parts = {"gold": gold, "options": file.option_rule, "pairs": file.pairs, "split": file.split}
    for place, part in parts.items():
        if isinstance(part, Part):
            yield from (((place, field), column) for field, column in part.columns_read())
