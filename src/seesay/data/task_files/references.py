"""What a task file refers to: every column that it names, and where."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from seesay.data.task_files.schema import TaskFile
from seesay.data.task_files.texts import unknown_columns, unknown_in_text
from seesay.data.task_files.yaml_text import Steps
from seesay.registry import did_you_mean


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
            yield place, f"there is no column '{column}'{did_you_mean(column, columns)}"


def _texts(file: TaskFile) -> list[tuple[Steps, str]]:
    """The texts that are put to models, which see the declared fields as well as the columns."""
    templates: list[tuple[Steps, str]] = []
    for place in ("templates", "choice_templates"):
        templates += [((place, name, "text"), entry.text) for name, entry in getattr(file, place).items()]
    templates += [(("neutral", name), f"{{{name}}}") for name in file.neutral]
    return [*templates, (("linear_text",), file.linear_text)]


def _text_sources(file: TaskFile) -> list[tuple[Steps, str]]:
    sources: list[tuple[Steps, str]] = [(("fields", name), source) for name, source in file.fields.items()]
    sources += [(("tags", name), source) for name, source in file.tag_sources.items()]
    for place in ("id", "object"):
        value = getattr(file, place)
        sources += [((place,), source) for source in ([value] if isinstance(value, str) else value or ())]
    return sources + ([] if file.picture is None else [(("picture",), file.picture)])


def _columns(file: TaskFile) -> list[tuple[tuple[str, ...], str]]:
    """Every column that the file names outside of texts, with its place."""
    gold, options = file.gold_rule, file.option_rule
    columns = [(("gold", place), getattr(gold, place)) for place in ("column", "share") if file.pairs is None]
    for place in ("weights", "votes"):
        by_label = getattr(gold, place)
        names = [by_label] if isinstance(by_label, str) else by_label or ()
        columns += [(("gold", place), name) for name in (names.values() if isinstance(names, dict) else names)]
    if not isinstance(options, tuple):
        columns += [(("options", place), getattr(options, place)) for place in ("column", "answers", "within", "by")]
        columns += [(("options", "columns"), column) for column in options.columns]
    if file.pairs is not None:
        columns += [(("pairs", place), getattr(file.pairs, place)) for place in ("good", "bad")]
    if file.split is not None:
        columns.append((("split", "column"), file.split.column))
    return [(path, column) for path, column in columns if column]
