"""Knowledge mined from pictures: four tables in a folder of Parquet files.

`seesay mine` writes them, the ViPhy tasks read them, and ViPhy's published tables have the same
columns. Every fact keeps its counts and a few example pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from seesay.data.rows import WHOLE_PARQUET
from seesay.errors import UserError
from seesay.files import atomic_write, damage_as_user_error, refuse_newer
from seesay.questions import BadRow

COLORS = (
    "red",
    "orange",
    "yellow",
    "brown",
    "green",
    "blue",
    "purple",
    "pink",
    "white",
    "gray",
    "black",
)
"""The basic color terms (see `data.colors`) in ViPhy's order."""
SIZES = (">", "<")
PLACES = (">", "=", "<")
"""The labels in ViPhy's order; sizes: larger, smaller; places: above, at a similar level, below."""


@dataclass(frozen=True, slots=True)
class ColorFact:
    """The shares of the eleven colours of an object, and its typical colours.

    `seen` is the number of answers that they rest on.
    """

    object: str
    shares: tuple[float, ...]
    typical: tuple[str, ...]
    seen: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SizeFact:
    """In how many pictures `a` is larger or smaller than `b`."""

    a: str
    b: str
    larger: int
    smaller: int
    typical: tuple[str, ...]
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlaceFact:
    """In how many pictures of a scene `a` is above `b`, at a similar level, or below it."""

    scene: str
    a: str
    b: str
    above: int
    level: int
    below: int
    typical: tuple[str, ...]
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SubtypeFact:
    """A subtype of an object and how often its name is used; an object is its own subtype."""

    object: str
    subtype: str
    count: int


Fact = TypeVar("Fact", ColorFact, SizeFact, PlaceFact, SubtypeFact)

FILES: dict[type, str] = {
    ColorFact: "colors.parquet",
    SizeFact: "sizes.parquet",
    PlaceFact: "places.parquet",
    SubtypeFact: "subtypes.parquet",
}
ROW_GROUP = 1 << 14
"""Rows of a table in memory while it is written."""
FORMAT = 1
_FORMAT_KEY = b"seesay-format"
_ARROW = {
    str: pa.string(),
    int: pa.int64(),
    tuple[str, ...]: pa.list_(pa.string()),
    tuple[float, ...]: pa.list_(pa.float64()),
}


def schema(fact_type: type[Fact]) -> pa.Schema:
    """Return the columns of a table: one per field of its facts."""
    hints = get_type_hints(fact_type)
    columns = [(field.name, _ARROW[hints[field.name]]) for field in fields(fact_type)]
    return pa.schema(columns, metadata={_FORMAT_KEY: str(FORMAT)})


def write(
    folder: Path,
    facts: Sequence[Fact],
    fact_type: type[Fact],
) -> Path:
    """Write one table of a knowledge folder atomically."""
    table = pa.Table.from_pylist([asdict(fact) for fact in facts], schema=schema(fact_type))
    write_tables(folder, [table], fact_type)
    return folder / FILES[fact_type]


def write_tables(
    folder: Path,
    tables: Iterable[pa.Table],
    fact_type: type[Fact],
) -> int:
    """Write one table of a knowledge folder atomically, as its rows come.

    Returns the number of rows.
    """
    pending = schema(fact_type).empty_table()
    row_count = 0
    with (
        atomic_write(folder / FILES[fact_type]) as unfinished,
        pq.ParquetWriter(unfinished, pending.schema) as writer,
    ):
        for table in tables:
            pending = pa.concat_tables([pending, table])
            # Row groups of one size whatever the tables': equal facts give an equal file.
            while pending.num_rows > ROW_GROUP:
                writer.write_table(pending.slice(0, ROW_GROUP))
                pending = pending.slice(ROW_GROUP).combine_chunks()
            row_count += table.num_rows
        # Also when nothing is pending: a table without rows still has its columns.
        writer.write_table(pending)
    return row_count


def from_table(table: pa.Table, fact_type: type[Fact]) -> list[Fact]:
    """Return the rows of a table as facts."""
    rows = table.select(schema(fact_type).names).to_pylist()
    return [_fact(row, fact_type) for row in rows]


def _fact(row: Mapping[str, Any], fact_type: type[Fact]) -> Fact:
    """Return a row of a table as a fact."""
    # Arrow gives lists, and facts are hashable.
    values: Any = {
        name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
    }
    return fact_type(**values)


def read(folder: Path, fact_type: type[Fact]) -> list[Fact]:
    """Read the facts of one table of a knowledge folder."""
    facts, _ = read_checked(folder, fact_type)
    return list(facts.values())


def read_checked(folder: Path, fact_type: type[Fact]) -> tuple[dict[int, Fact], list[BadRow]]:
    """Read one table of a knowledge folder.

    Returns its facts by row number (from 1), and its incomplete rows.
    """
    good: dict[int, Fact] = {}
    bad: list[BadRow] = []
    for number, row in enumerate(_read_rows(folder, fact_type), start=1):
        gap = next((name for name, value in row.items() if _is_incomplete(value)), None)
        if gap is None:
            good[number] = _fact(row, fact_type)
        else:
            bad.append(BadRow(number, f"'{gap}' is missing"))
    return good, bad


def _is_incomplete(value: Any) -> bool:
    """Return whether a value, or an entry of a list, is missing."""
    return value is None or (isinstance(value, list) and None in value)


def _read_rows(folder: Path, fact_type: type[Fact]) -> list[dict[str, Any]]:
    """Read the rows of a table, after a check that it has the columns of these facts."""
    path = folder / FILES[fact_type]
    if not path.is_file():
        raise UserError(f"'{folder}' holds no {FILES[fact_type]}: `seesay mine` writes it.")
    with damage_as_user_error(path, WHOLE_PARQUET):
        table = pq.read_table(path)
        names = set(table.column_names)
    version = (table.schema.metadata or {}).get(_FORMAT_KEY, b"")
    # A table of someone else's making has no version, and is taken if its columns fit.
    if version.isdigit():
        refuse_newer({"format": int(version)}, FORMAT, path)
    columns = schema(fact_type)
    missing = set(columns.names) - names
    if missing:
        raise UserError(
            f"{path} lacks the column {sorted(missing)[0]!r}: it is not a table that `seesay mine` "
            "wrote."
        )
    try:
        rows: list[dict[str, Any]] = table.select(columns.names).cast(columns).to_pylist()
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise UserError(
            f"{path} has a column of another type than `seesay mine` writes ({error})."
        ) from error
    return rows
