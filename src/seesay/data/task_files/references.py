"""What a task file refers to: every column that it names, and where."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from seesay.data.task_files.schema import TaskFile
from seesay.data.task_files.texts import references, unknown_columns
from seesay.data.task_files.yaml_text import Steps


def unknown_references(file: TaskFile, columns: Collection[str]) -> Iterator[tuple[Steps, str]]:
    """Every reference to a column that does not exist: its place, and a message."""
    for path, source in _text_sources(file):
        known = [*columns, *file.fields] if _sees_fields(path) else columns
        for message in unknown_columns(source, known):
            yield path, message
    for place, column in _columns(file):
        if column not in columns:
            for message in unknown_columns(column, columns):
                yield place, message


def _text_sources(file: TaskFile) -> list[tuple[Steps, str]]:
    """Every text source of the file, with its place. A template's text is one, whether it has braces or not."""
    found: list[tuple[Steps, str]] = []
    for place in ("templates", "choice_templates"):
        for name, entry in getattr(file, place).items():
            found += [((place, name, "text"), f"{{{reference}}}") for reference in _names(entry.text)]
    found += [(("linear_text",), f"{{{reference}}}") for reference in _names(file.linear_text)]
    found += [(("neutral", name), f"{{{name}}}") for name in file.neutral]
    found += [(("fields", name), source) for name, source in file.fields.items()]
    found += [(("tags", name), source) for name, source in file.tag_sources.items()]
    for place in ("id", "object"):
        value = getattr(file, place)
        found += [((place,), source) for source in ([value] if isinstance(value, str) else value or ())]
    return found + ([] if file.picture is None else [(("picture",), file.picture)])


def _names(text: str) -> list[str]:
    try:
        return references(text)
    except ValueError:
        return [text]  # reported where it is looked up: its braces cannot be read


def _sees_fields(path: Steps) -> bool:
    return path[0] in ("templates", "choice_templates", "linear_text", "neutral")


def _columns(file: TaskFile) -> list[tuple[tuple[str, ...], str]]:
    """Every column that the file names outside of texts, with its place."""
    gold, options = file.gold_rule, file.option_rule
    found = [(("gold", place), getattr(gold, place)) for place in ("column", "share")]
    for place in ("weights", "votes"):
        by_label = getattr(gold, place)
        columns = [by_label] if isinstance(by_label, str) else by_label or ()
        found += [(("gold", place), name) for name in (columns.values() if isinstance(columns, dict) else columns)]
    if not isinstance(options, tuple):
        found += [(("options", place), getattr(options, place)) for place in ("column", "answers", "within", "by")]
        found += [(("options", "columns"), column) for column in options.columns]
    if file.split is not None:
        found.append((("split", "column"), file.split.column))
    return [(path, column) for path, column in found if column]
