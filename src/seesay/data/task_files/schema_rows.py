"""The grammar of rows: where they are, how they are written, how they are divided."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator

from seesay.data.task_files.schema_base import (
    Column,
    Names,
    Part,
    Text,
    TextBranch,
    exactly_one,
    kind_of,
)
from seesay.defaults import LARGEST_SEED

MOST_INLINE = 10_000


def one_kind(rows: list[Any]) -> list[Any]:
    """Refuse a list of rows that is partly one of files."""
    if len({type(row) for row in rows}) > 1:
        raise ValueError("a list has either rows or files")
    return rows


Cell = Any
InlineRow = Annotated[dict[str, Cell], WithJsonSchema({"type": "object"})]
InlineRows = Annotated[
    list[
        Annotated[
            TextBranch | Annotated[InlineRow, Tag("<mapping>")],
            Discriminator(lambda value: "<text>" if isinstance(value, str) else "<mapping>"),
        ]
    ],
    Field(min_length=1, max_length=MOST_INLINE),
    AfterValidator(one_kind),
]
Source = Annotated[
    TextBranch | Annotated[InlineRows, Tag("<list>")],
    Discriminator(lambda value: "<list>" if isinstance(value, list) else "<text>"),
]


class SplitRows(Part):
    """One source of rows per split. The questions of `test` are asked; linear probes train on
    `train`."""

    test: Source
    """The rows that are asked."""
    train: Source | None = None
    """The rows that probes are trained on."""
    validation: Source | None = None
    """The rows that training is checked with."""


class Reading(Part):
    """How the files of rows are written, where their names do not say it."""

    format: Literal["csv", "tsv", "jsonl", "json", "parquet", "lines"] | None = None
    """The format of the files; `lines` are rows whose cells stand on lines of their own, one for
    each of `columns`. Default: what their names end in."""
    delimiter: Annotated[Text, Field(min_length=1, max_length=1)] = ","
    """What separates the cells of a CSV file, such as ';'."""
    columns: Names = ()
    """The columns' names, for lines, and for a CSV or TSV file without a first line that has
    them."""
    list: Text = ""
    """The key under which a JSON document has its rows."""
    key: Text = ""
    """A column for the keys, where a JSON document's rows are a mapping; rows that are single
    values are in the column `value`."""
    config: Text = ""
    """The configuration of a data set on the Hub."""
    strip: bool = True
    """Whether spaces at both ends of a value are removed."""

    @model_validator(mode="after")
    def _check_format(self) -> Self:
        """Refuse lines whose cells have no names, and keys of what is no mapping."""
        if self.format == "lines" and not self.columns:
            raise ValueError("`format: lines` needs 'columns': a name for each line of a row")
        if self.key and self.format not in (None, "json"):
            raise ValueError("'key' goes with a JSON document")
        return self


class Split(Part):
    """How one source of rows is divided: by a column, or by objects drawn with a seed."""

    column: Column = ""
    """The column that says train, validation (or dev) or test."""
    seed: int | None = Field(default=None, ge=0, le=LARGEST_SEED)
    """Draw 20 % of the objects for training and 10 % for validation with this seed."""

    @model_validator(mode="after")
    def _check_sources(self) -> Self:
        """Refuse a split by a column and by a seed at once, and one by neither."""
        exactly_one(self, "column", "seed")
        return self


RowSources = Annotated[
    TextBranch | Annotated[InlineRows, Tag("<list>")] | Annotated[SplitRows, Tag("<mapping>")],
    Discriminator(kind_of),
]
