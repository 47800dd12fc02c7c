"""Data sets of Hugging Face's `datasets`, read without that library.

They are what `save_to_disk` writes, and Parquet files.
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
    """Return whether a path is a folder, or one file of a data set."""
    return path.is_dir() or path.suffix in (".parquet", ".arrow")


def read(path: Path) -> tuple[str, Rows]:
    """Return the form of a data set and its captions, of all splits."""
    files = _files(path)
    columns = dict.fromkeys(name for file in files for name in _columns(file))
    fields = find_fields(columns)
    if fields is None:
        raise UnknownFormError(
            f"its columns are {', '.join(map(repr, columns))}; rename the one with captions to "
            "'caption'"
        )

    def rows() -> Rows:
        records = (record for file in files for record in _records(file, fields.names))
        for number, record in enumerate(records, start=1):
            yield from captions_of(fields, record, number, path.name)

    form = "Hugging Face data set"
    if path.is_file():
        form = f"{path.suffix[1:].title()} file"
    return form, rows()


def _files(path: Path) -> list[Path]:
    """Return the files of a data set.

    They are those that its own lists name (`save_to_disk`), or all Parquet files of a folder.
    """
    if path.is_file():
        return [path]
    splits = path / "dataset_dict.json"
    if splits.is_file():
        with damage_as_user_error(splits, "fetch it again"):
            folders = [path / _check_name(name) for name in read_json(splits)["splits"]]
        return [file for folder in folders for file in _files(folder)]
    state = path / "state.json"
    if state.is_file():
        with damage_as_user_error(state, "fetch it again"):
            entries = read_json(state)["_data_files"]
            return [path / _check_name(entry["filename"]) for entry in entries]
    files = sorted(path.rglob("*.parquet"))
    if not files:
        raise UnknownFormError("it is a folder without a data set")
    return files


def _check_name(name: object) -> str:
    """Return the name of a file or folder directly in the data set's.

    A list that came from elsewhere may name no other file of the machine.
    """
    if not isinstance(name, str) or Path(name).name != name or name == "..":
        raise ValueError(f"it names {str(name)[:80]!r}, which is not one of its own files")
    return name


def _columns(file: Path) -> list[str]:
    """Return the names of a file's columns, without reading its rows."""
    if file.suffix == ".parquet":
        return parquet_columns(file)
    with _arrow_stream(file) as stream:
        return list(stream.schema.names)


def _records(file: Path, names: list[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the columns of a file, row by row; a column that this file lacks is left out."""
    columns = _columns(file)
    present = [name for name in names if name in columns]
    if file.suffix == ".parquet":
        for row in read_parquet(file, present):
            yield row.cells
        return
    with _arrow_stream(file) as stream:
        for batch in stream:
            # Otherwise a wrong offset is a bus error, or reads whatever is in memory.
            batch.validate(full=True)
            for start in range(0, batch.num_rows, ROWS_IN_MEMORY):
                yield from batch.select(present).slice(start, ROWS_IN_MEMORY).to_pylist()


@contextmanager
def _arrow_stream(file: Path) -> Iterator[Any]:
    """Open an Arrow file, memory-mapped: otherwise the sizes that it states would be allocated."""
    import pyarrow as pa

    with (
        read_errors(file),
        damage_as_user_error(file, "fetch or save it again"),
        pa.memory_map(str(file)) as source,
        pa.ipc.open_stream(source) as stream,
    ):
        yield stream
