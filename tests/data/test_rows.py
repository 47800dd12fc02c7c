"""Reading rows of untrusted files: a bad row costs only itself, and its number and reason are
kept."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seesay.data.cells import Cells, text_field, whole_number
from seesay.data.lines import GZIP
from seesay.data.rows import (
    Row,
    column_names,
    every_row,
    load_json,
    parse_json_lines,
    parse_table,
    read_parquet,
    read_rows,
    read_table,
)
from seesay.data.task_files.schema_rows import Reading
from seesay.data.task_files.tables import read_file
from seesay.errors import UserError
from seesay.questions import BadRow


def parse(record: Cells) -> tuple[str, int]:
    return text_field(record, "name"), whole_number(record, "n", 0, 5)


GOOD = '{"name": "sky", "n": 3}'


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[" * 5_000, "not JSON"),
        ('{"name": "sky", "n": NaN}', "not JSON"),
        ('["sky", 3]', "not a JSON object"),
        ('{"name": "sky", "n": 3, "name": "sea"}', "a key occurs twice"),
        ('{"n": 3}', "'name' is missing"),
        ('{"name": 7, "n": 3}', "'name' is not a text"),
        ('{"name": "  ", "n": 3}', "'name' is empty"),
        ('{"name": "a\\u001b[31m", "n": 3}', "'name' holds control characters"),
        ('{"name": "\\ud800", "n": 3}', "holds half of a surrogate pair"),
        ('{"name": "a [MASK]", "n": 3}', "'name' holds [MASK] or [SEP]"),
        ('{"name": "' + "a" * 101 + '", "n": 3}', "'name' is longer than 100 characters"),
        ('{"name": "' + "a" * (1 << 20) + '", "n": 3}', "longer than 1,048,576 bytes"),
        ('{"name": "sky"}', "'n' is missing"),
        ('{"name": "sky", "n": true}', "'n' is not a whole number from 0 to 5"),
        ('{"name": "sky", "n": 3.5}', "'n' is not a whole number from 0 to 5"),
        ('{"name": "sky", "n": 6}', "'n' is not a whole number from 0 to 5"),
        ('{"name": "sky", "n": ' + "9" * 5_000 + "}", "not JSON"),
    ],
)
def test_a_bad_line_is_skipped_and_reported(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{GOOD}\n{line}\n\n{GOOD}\n")
    good, bad = parse_json_lines(path, parse)
    assert good == {1: ("sky", 3), 4: ("sky", 3)}
    assert bad == [BadRow(2, reason)]


def test_bytes_that_are_not_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode() + b"\r\n\xff\xfe\n" + GOOD.encode())
    good, bad = parse_json_lines(path, parse)
    assert list(good) == [1, 3]
    assert bad == [BadRow(2, "not UTF-8 text")]


@pytest.mark.parametrize(
    ("content", "message"), [("", "it is empty"), ("nothing\n", r"row 1: not JSON")]
)
def test_a_file_without_a_good_line_is_an_error(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(content)
    with pytest.raises(UserError, match=message):
        parse_json_lines(path, parse)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no file"):
        parse_json_lines(tmp_path / "none.jsonl", parse)
    with pytest.raises(UserError, match="Cannot read"):
        parse_json_lines(tmp_path, parse)


@given(st.binary(max_size=300))
def test_any_bytes_give_rows_or_a_user_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_bytes(content + b"\n" + GOOD.encode())
    if content.startswith(GZIP):
        with pytest.raises(UserError, match="damaged"):
            parse_json_lines(path, parse)
        return
    good, _ = parse_json_lines(path, parse)
    assert ("sky", 3) in good.values()


ROWS = [{"thing": "sky", "color": "blue"}, {"thing": 'a "red" plum', "color": "red, mostly"}]


def written(folder: Path) -> dict[str, Path]:
    """The same rows in every format."""
    paths = {
        suffix: folder / f"rows.{suffix}" for suffix in ("csv", "tsv", "jsonl", "json", "parquet")
    }
    paths["csv"].write_text('thing,color\nsky,blue\n"a ""red"" plum","red, mostly"\n')
    paths["tsv"].write_text('thing\tcolor\nsky\tblue\na "red" plum\tred, mostly\n')
    paths["jsonl"].write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    paths["json"].write_text(json.dumps(ROWS))
    pq.write_table(pa.Table.from_pylist(ROWS), paths["parquet"])
    return paths


def test_every_format_gives_the_same_rows(tmp_path: Path) -> None:
    for suffix, path in written(tmp_path).items():
        rows = list(every_row(path, read_rows(path)))
        assert [row.cells for row in rows] == ROWS, suffix
        assert [row.number for row in rows] == ([2, 3] if suffix in ("csv", "tsv") else [1, 2])
        if suffix != "parquet":
            zipped = path.with_name(f"{path.name}.gz")
            zipped.write_bytes(gzip.compress(path.read_bytes()))
            assert list(read_rows(zipped)) == rows
    with pytest.raises(UserError, match="does not say its format"):
        read_rows(tmp_path / "rows.xml")


def test_quotes_within_cells_damage_no_other_row(tmp_path: Path) -> None:
    """A quote that does not begin a cell is a character: the rows up to the next one are not
    lost."""
    path = tmp_path / "sizes.csv"
    path.write_text(
        'thing,size\npipe,5" wide\nnail,small\npole,6" wide\n"never closed,7\nlast,"two\n\nlines"\n'
    )
    assert list(read_table(path)) == [
        Row(2, {"thing": "pipe", "size": '5" wide'}),
        Row(3, {"thing": "nail", "size": "small"}),
        Row(4, {"thing": "pole", "size": '6" wide'}),
        BadRow(5, "not CSV (',' expected after '\"')"),
        Row(6, {"thing": "last", "size": "two\n\nlines"}),
    ]


def test_unclosed_quote_damages_its_line_only(tmp_path: Path) -> None:
    path = tmp_path / "things.csv"
    path.write_text('thing,color\n"open,red\n' + "sky,blue\n" * 200)
    first, *others = read_table(path)
    assert isinstance(first, BadRow)
    assert first.row == 2
    assert [row.number for row in every_row(path, others)] == list(range(3, 203))


def test_spaces_around_quoted_cells_and_cells_that_keep_theirs(tmp_path: Path) -> None:
    path = tmp_path / "captions.csv"
    path.write_text('image| comment\na.jpg| "A dog | running"\nb.jpg| A cat\n')
    assert [row.cells["comment"] for row in every_row(path, read_table(path, "|"))] == [
        "A dog | running",
        "A cat",
    ]
    path.write_text("a, b\n")
    assert list(read_table(path, columns=("x", "y"), strip=False)) == [
        Row(1, {"x": "a", "y": " b"})
    ]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("thing;color", "separated by semicolons, not by commas"),
        ("thing,thing", "two columns named 'thing'"),
        ('"thing"s,color', "needs a first line that names its columns"),
        ("thing,size", "names the columns thing, color: look at color"),
        ("", "names the columns thing, color: look at thing, color"),
    ],
)
def test_headers_that_cannot_be_used(tmp_path: Path, header: str, message: str) -> None:
    path = tmp_path / "things.csv"
    path.write_text(f"{header}\nsky,blue\n" if header else "")
    with pytest.raises(UserError, match=message):
        parse_table(path, ("thing", "color"), dict)


def test_the_index_that_pandas_writes_has_a_name(tmp_path: Path) -> None:
    path = tmp_path / "things.csv"
    path.write_text(",thing\n0,sky\n")
    assert column_names(path) == ["column-1", "thing"]
    assert parse_table(path, ("thing",), dict) == ({2: {"thing": "sky"}}, [])


def test_of_rows_with_the_same_key_the_first_counts(tmp_path: Path) -> None:
    path = tmp_path / "things.csv"
    path.write_text("thing\nsky\nSky\nsea\n")
    good, bad = parse_table(path, ("thing",), lambda cells: cells["thing"], key=str.lower)
    assert (good, bad) == ({2: "sky", 4: "sea"}, [BadRow(3, "repeats row 2")])


def test_a_file_that_must_be_whole_names_its_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "things.csv"
    path.write_text("thing,color\nsky\n")
    with pytest.raises(
        UserError, match=r"things\.csv, row 2: has 1 cell where there are 2 columns\."
    ):
        list(every_row(path, read_table(path)))


def test_documents_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[1, 2, 3]")
    assert load_json(path) == [1, 2, 3]
    with pytest.raises(UserError, match="is larger than 0 MB"):
        load_json(path, largest=4)
    path.write_text("[" * 100_000)
    with pytest.raises(UserError, match="is not JSON"):
        load_json(path)


def test_parquet_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path)["parquet"]
    assert [row.cells for row in read_parquet(path, ["color"])] == [
        {"color": row["color"]} for row in ROWS
    ]
    monkeypatch.setattr("seesay.data.rows.MOST_ROWS", 1)
    with pytest.raises(UserError, match="has 2 rows; a task has at most 1"):
        list(read_rows(path))
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(UserError, match="not a Parquet file, or not a whole one"):
        list(read_parquet(path))
    with pytest.raises(UserError, match=r"none\.parquet"):
        list(read_parquet(tmp_path / "none.parquet"))


@pytest.mark.parametrize(("name", "header"), [("a.csv", "x,y\n"), ("a.jsonl", "")])
def test_as_many_rows_as_a_task_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, header: str
) -> None:
    """The header, blank lines and the further lines of a quoted cell are no rows."""
    monkeypatch.setattr("seesay.data.rows.MOST_ROWS", 3)
    row = '{"x": 1}\n' if name == "a.jsonl" else '"a\nb",1\n\n'
    (tmp_path / name).write_text(header + row * 3)
    assert len(list(read_rows(tmp_path / name))) == 3
    (tmp_path / name).write_text(header + row * 4)
    with pytest.raises(UserError, match=r"has more than 3 rows; a task has at most so many\."):
        list(read_rows(tmp_path / name))


def test_a_table_of_too_many_columns_is_refused_at_once(tmp_path: Path) -> None:
    """Looking for two of one name took a time that grew with the square of their number."""
    path = tmp_path / "wide.csv"
    path.write_text(",".join(map(str, range(150_000))) + "\n")
    started = time.process_time()
    with pytest.raises(UserError, match=r"has 150,000 columns; a table has at most 10,000\."):
        list(read_rows(path))
    assert time.process_time() - started < 2


@pytest.mark.seconds
def test_a_megabyte_of_gzip_does_not_take_long(tmp_path: Path) -> None:
    """It took 40 seconds: the rows that came out of it were 256 MB."""
    path = tmp_path / "bomb.csv.gz"
    row = b"," * 999 + b"\n"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b",".join(b"%d" % number for number in range(1000)) + b"\n")
        for _ in range(150):
            file.write(row * 1000)
    assert path.stat().st_size < 1 << 20
    started = time.process_time()
    with pytest.raises(UserError, match=r"holds more than [0-9,]+ bytes, which is no text"):
        for _ in read_rows(path):
            pass
    assert time.process_time() - started < 10


@pytest.mark.parametrize("deep", ["[" * 900 + "]" * 900, '{"a":' * 900 + "1" + "}" * 900])
def test_json_nested_deep_is_a_bad_row(tmp_path: Path, deep: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"x": {deep}}}\n{{"x": [[1]]}}\n')
    table = read_file(path, Reading())
    assert (len(table.rows), table.bad) == (1, [BadRow(1, "not JSON")])
    path = tmp_path / "rows.json"
    path.write_text(f'[{{"x": {deep}}}]')
    with pytest.raises(UserError, match=r"is not JSON \(nested more than 100 deep\)\."):
        read_file(path, Reading())
