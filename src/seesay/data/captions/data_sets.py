"""Data sets of Hugging Face's `datasets`, without that library: what `save_to_disk` writes, and
Parquet files.

Arrow files are memory-mapped and only the columns with text are decoded: pictures in a data set
cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from seesay.data.captions.forms import Rows, UnknownFormError
from seesay.data.captions.records import captions_of, find_fields
from seesay.data.lines import read_errors
from seesay.data.rows import ROWS_IN_MEMORY, parquet_columns, read_parquet
from seesay.files import damage_as_user_error, read_json


def is_data_set(path: Path) -> bool:
    """Whether a path is a folder, or one file of a data set."""
    return path.is_dir() or path.suffix in (".parquet", ".arrow")


def read(path: Path) -> tuple[str, Rows]:
    """The form of a data set and its captions, of all splits."""
    files = _files(path)
    names = [name for file in files for name in _columns(file)]
    fields = find_fields(dict.fromkeys(names))
    if fields is None:
        columns = ", ".join(map(repr, dict.fromkeys(names)))
        raise UnknownFormError(
            f"its columns are {columns}; rename the one with captions to 'caption'"
        )

    def rows() -> Rows:
        records = (record for file in files for record in _records(file, fields.names))
        for number, record in enumerate(records, start=1):
            yield from captions_of(fields, record, number, path.name)

    return ("Hugging Face data set" if path.is_dir() else f"{path.suffix[1:].title()} file"), rows()


def _files(path: Path) -> list[Path]:
    """The files of a data set: as its own lists name them (`save_to_disk`), or all Parquet files of
    a folder."""
    if path.is_file():
        return [path]
    if (path / "dataset_dict.json").is_file():
        with damage_as_user_error(path / "dataset_dict.json", "fetch it again"):
            splits = [
                path / _own(split) for split in read_json(path / "dataset_dict.json")["splits"]
            ]
        return [file for split in splits for file in _files(split)]
    if (path / "state.json").is_file():
        with damage_as_user_error(path / "state.json", "fetch it again"):
            state = read_json(path / "state.json")
            return [path / _own(entry["filename"]) for entry in state["_data_files"]]
    if files := sorted(path.rglob("*.parquet")):
        return files
    raise UnknownFormError("it is a folder without a data set")


def _own(name: object) -> str:
    """The name of a file or folder directly in the data set's: a list may name no other of the
    machine."""
    if not isinstance(name, str) or Path(name).name != name or name == "..":
        raise ValueError(f"it names {str(name)[:80]!r}, which is not one of its own files")
    return name


def _columns(file: Path) -> list[str]:
    if file.suffix == ".parquet":
        return parquet_columns(file)
    with _arrow_stream(file) as stream:
        return list(stream.schema.names)


def _records(file: Path, names: list[str]) -> Iterator[Mapping[str, Any]]:
    """The columns of a file, row by row; a column that this file lacks is left out."""
    present = [name for name in names if name in _columns(file)]
    if file.suffix == ".parquet":
        for row in read_parquet(file, present):
            yield row.cells
        return
    with _arrow_stream(file) as stream:
        for batch in stream:
            # else a wrong offset is a bus error, or reads whatever is in memory
            batch.validate(full=True)
            for start in range(0, batch.num_rows, ROWS_IN_MEMORY):
                yield from batch.select(present).slice(start, ROWS_IN_MEMORY).to_pylist()


@contextmanager
def _arrow_stream(file: Path) -> Iterator[Any]:
    """An open Arrow file, memory-mapped: else the sizes that it states would be allocated."""
    import pyarrow as pa

    with (
        read_errors(file),
        damage_as_user_error(file, "fetch or save it again"),
        pa.memory_map(str(file)) as source,
        pa.ipc.open_stream(source) as stream,
    ):
        yield stream
