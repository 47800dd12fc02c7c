"""What the parts of the grammar have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Tag, WithJsonSchema

from seesay.documents import Document

# Editors read `1` and `yes` as a number and a word; here both are texts.
Text = Annotated[str, WithJsonSchema({"type": ["string", "number", "boolean"]})]


def _as_list(value: Any) -> Any:
    """Return one text as a list of it."""
    if isinstance(value, str):
        return [value]
    return value


Names = tuple[Text, ...]
OneOrMore = Annotated[Names, BeforeValidator(_as_list, json_schema_input_type=Text | Names)]

READS = "reads"
"""Marks a field that names columns of the rows, which must be there."""
Column = Annotated[Text, READS]
Columns = Annotated[OneOrMore, READS]

TextBranch = Annotated[Text, Tag("<text>")]
ListBranch = Annotated[Names, Tag("<list>")]


def _describe_on_one_line(schema: dict[str, Any]) -> None:
    """Unwrap the fields' docstrings: editors show a line break as one."""
    for field in schema["properties"].values():
        field["description"] = " ".join(field["description"].split())


class Part(Document):
    """A part of a task file: unknown fields are refused."""

    model_config = ConfigDict(json_schema_extra=_describe_on_one_line)

    def columns_read(self) -> Iterator[tuple[str, str]]:
        """Yield the columns that must be there, each with the field that names it."""
        for name, field in type(self).model_fields.items():
            if READS not in field.metadata:
                continue
            for column in as_names(getattr(self, name)):
                if column:
                    yield name, column


def as_names(value: Any) -> list[str]:
    """Return the names that a field holds: one, several, those of a mapping's values, or none."""
    if isinstance(value, dict):
        return list(value.values())
    return list(_as_list(value) or ())


def kind_of(value: Any) -> str:
    """Return which branch of a union a value belongs to: text, list or mapping."""
    if isinstance(value, str):
        return "<text>"
    if isinstance(value, list | tuple):
        return "<list>"
    return "<mapping>"


def exactly_one(part: Part, *names: str) -> None:
    """Refuse a part that gives none, or more than one, of these fields."""
    present = [name for name in names if name in part.model_fields_set]
    if len(present) == 1:
        return
    state = f"has {' and '.join(present)}" if present else "has none of them"
    raise ValueError(f"give one of {', '.join(names)}; this {state}")
