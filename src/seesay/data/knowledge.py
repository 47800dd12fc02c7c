"""Knowledge: what pictures teach, as four small tables in a folder of Parquet files.

`seesay mine` writes them, the ViPhy tasks read them, and ViPhy's published tables have the same shape. Every fact keeps
the counts it rests on and a few pictures that say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from seesay.errors import UserError
from seesay.questions import BadRow

COLORS = ("red", "orange", "yellow", "brown", "green", "blue", "purple", "pink", "white", "gray", "black")
SIZES = (">", "<")
PLACES = (">", "=", "<")
"""The labels, in the published order: larger, smaller; above, at a similar level, below."""


@dataclass(frozen=True, slots=True)
class ColorFact:
    """How often a thing has each of the eleven colours. `typical` names the ones people would think of."""

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
    """In how many pictures of a kind of scene `a` is above `b`, at its level, or below it."""

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
    """A kind of a thing that has a name of its own, and how often that name is used; a thing is its own subtype."""

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
_ARROW = {
    str: pa.string(),
    int: pa.int64(),
    tuple[str, ...]: pa.list_(pa.string()),
    tuple[float, ...]: pa.list_(pa.float64()),
}


def schema(kind: type[Fact]) -> pa.Schema:
    """The columns of a kind of fact's table, one a field."""
    hints = get_type_hints(kind)
    return pa.schema([(field.name, _ARROW[hints[field.name]]) for field in fields(kind)])


def write(folder: Path, facts: Sequence[Fact], kind: type[Fact]) -> Path:
    """Write one table of a knowledge folder, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILES[kind]
    part = path.with_suffix(".part")
    pq.write_table(pa.Table.from_pylist([asdict(fact) for fact in facts], schema=schema(kind)), part)
    part.replace(path)
    return path


def read(folder: Path, kind: type[Fact]) -> list[Fact]:
    """The facts of one table of a knowledge folder."""
    return list(read_checked(folder, kind)[0].values())


def read_checked(folder: Path, kind: type[Fact]) -> tuple[dict[int, Fact], list[BadRow]]:
    """One table of a knowledge folder: its facts by row number (from 1), and the rows in which something is missing."""
    path = folder / FILES[kind]
    if not path.is_file():
        raise UserError(f"'{folder}' holds no {FILES[kind]}: `seesay mine` writes it.")
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{path} is no Parquet file, or a damaged one ({error}).") from error
    missing = set(schema(kind).names) - set(table.column_names)
    if missing:
        raise UserError(f"{path} lacks the column {sorted(missing)[0]!r}: it is not a table that `seesay mine` wrote.")
    try:
        rows: list[dict[str, Any]] = table.select(schema(kind).names).cast(schema(kind)).to_pylist()
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise UserError(f"{path} has a column of another type than `seesay mine` writes ({error}).") from error
    good: dict[int, Fact] = {}
    bad: list[BadRow] = []
    for number, row in enumerate(rows, start=1):
        empty = [name for name, value in row.items() if value is None or (isinstance(value, list) and None in value)]
        if empty:
            bad.append(BadRow(number, f"'{empty[0]}' is missing"))
        else:
            good[number] = _fact(kind, row)
    return good, bad


def _fact(kind: type[Fact], row: dict[str, Any]) -> Fact:
    made: Any = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    return kind(**made)
