"""Knowledge tables come back as they were written, and a foreign file is refused by name."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seesay.data import knowledge
from seesay.data.knowledge import ColorFact, PlaceFact, SizeFact, SubtypeFact
from seesay.errors import NewerVersionError, UserError


def test_every_table_comes_back(tmp_path: Path) -> None:
    colors = [ColorFact("crow", (0.0,) * 10 + (1.0,), ("black",), 12, ("7.jpg",))]
    sizes = [SizeFact("bus", "cup", 90, 10, (">",)), SizeFact("cup", "bus", 10, 90, ("<",))]
    places = [PlaceFact("kitchen", "lamp", "floor", 8, 2, 0, (">", "="), ("1.jpg", "2.jpg"))]
    subtypes = [SubtypeFact("clock", "clock", 20), SubtypeFact("clock", "street clock", 5)]
    knowledge.write(tmp_path, colors, ColorFact)
    knowledge.write(tmp_path, sizes, SizeFact)
    knowledge.write(tmp_path, places, PlaceFact)
    knowledge.write(tmp_path, subtypes, SubtypeFact)
    assert knowledge.read_checked(tmp_path, ColorFact) == (dict(enumerate(colors, 1)), [])
    assert knowledge.read_checked(tmp_path, SizeFact) == (dict(enumerate(sizes, 1)), [])
    assert knowledge.read_checked(tmp_path, PlaceFact) == (dict(enumerate(places, 1)), [])
    assert knowledge.read_checked(tmp_path, SubtypeFact) == (dict(enumerate(subtypes, 1)), [])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(knowledge.FILES.values())


def test_a_table_of_a_newer_version_says_so(tmp_path: Path) -> None:
    path = knowledge.write(tmp_path, [SizeFact("bus", "cup", 90, 10, (">",))], SizeFact)
    table = pq.read_table(path)
    assert table.schema.metadata == {b"seesay-format": b"1"}
    pq.write_table(table.select(["a"]).replace_schema_metadata({"seesay-format": "2"}), path)
    with pytest.raises(
        NewerVersionError, match=r"sizes\.parquet was written by a newer version of seesay"
    ):
        knowledge.read(tmp_path, SizeFact)


def test_foreign_files_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no sizes\.parquet"):
        knowledge.read_checked(tmp_path, SizeFact)
    (tmp_path / "sizes.parquet").write_text("no table")
    with pytest.raises(UserError, match="not a Parquet file"):
        knowledge.read_checked(tmp_path, SizeFact)
    pq.write_table(pa.table({"a": ["cup"]}), tmp_path / "sizes.parquet")
    with pytest.raises(UserError, match="lacks the column 'b'"):
        knowledge.read_checked(tmp_path, SizeFact)


def test_a_row_with_something_missing_is_reported(tmp_path: Path) -> None:
    columns = {
        "a": ["cup", None, "cup", "bus"],
        "b": ["bus"] * 3 + ["cup"],
        "larger": [1, 1, None, 9],
    }
    typical = [["<"], ["<"], ["<"], [None]]
    table = pa.table({**columns, "smaller": [9, 9, 9, 1], "typical": typical, "examples": [[]] * 4})
    pq.write_table(table, tmp_path / "sizes.parquet")
    facts, bad = knowledge.read_checked(tmp_path, SizeFact)
    assert facts == {1: SizeFact("cup", "bus", 1, 9, ("<",))}
    reasons = [(2, "'a' is missing"), (3, "'larger' is missing"), (4, "'typical' is missing")]
    assert [(row.row, row.reason) for row in bad] == reasons


def test_columns_of_another_type_are_refused(tmp_path: Path) -> None:
    table = pa.table({"object": ["clock"], "subtype": ["street clock"], "count": ["many"]})
    pq.write_table(table, tmp_path / "subtypes.parquet")
    with pytest.raises(UserError, match=r"subtypes\.parquet has a column of another type"):
        knowledge.read_checked(tmp_path, SubtypeFact)
