"""Data sets of Hugging Face's `datasets`, without that library: what `save_to_disk` writes, and Parquet files.

Arrow files are memory-mapped and only the columns with text are decoded: pictures in a data set cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seesay.data.captions.forms import Rows, UnknownFormError
from seesay.data.captions.records import captions_of, find_fields
from seesay.data.json_stream import parse_json
from seesay.errors import UserError
from seesay.files import damage_as_user_error

_BATCH = 1_000


def is_data_set(path: Path) -> bool:
    """Whether a path is a folder, or one file of a data set."""
    return path.is_dir() or path.suffix in (".parquet", ".arrow")


def read(path: Path) -> tuple[str, Rows]:
    """The form of a data set and its captions, of all splits."""
    import pyarrow as pa

    files = _files(path)
    try:
        names = [field.name for file in files for field in _schema(file)]
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"'{path}' holds a file that cannot be read ({error}): fetch or save it again.") from error
    fields = find_fields(dict.fromkeys(names))
    if fields is None:
        columns = ", ".join(map(repr, dict.fromkeys(names)))
        raise UnknownFormError(f"its columns are {columns}; rename the one with captions to 'caption'")

    def rows() -> Rows:
        number = 0
        for file in files:
            try:
                for batch in _batches(file, fields.names):
                    for record in batch.to_pylist():
                        number += 1
                        yield from captions_of(fields, record, number, path.name)
            except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
                raise UserError(f"{file} is damaged after row {number:,} ({error}): fetch it again.") from error

    return ("Hugging Face data set" if path.is_dir() else f"{path.suffix[1:].title()} file"), rows()


def _files(path: Path) -> list[Path]:
    """The files of a data set: as its own lists name them (`save_to_disk`), or all Parquet files of a folder."""
    if path.is_file():
        return [path]
    if (path / "dataset_dict.json").is_file():
        with damage_as_user_error(path / "dataset_dict.json", "fetch it again"):
            splits = [path / _own(split) for split in parse_json((path / "dataset_dict.json").read_bytes())["splits"]]
        return [file for split in splits for file in _files(split)]
    if (path / "state.json").is_file():
        with damage_as_user_error(path / "state.json", "fetch it again"):
            state = parse_json((path / "state.json").read_bytes())
            return [path / _own(entry["filename"]) for entry in state["_data_files"]]
    if files := sorted(path.rglob("*.parquet")):
        return files
    raise UnknownFormError("it is a folder without a data set")


def _own(name: object) -> str:
    """The name of a file or folder directly in the data set's: a list may name no other of the machine."""
    if not isinstance(name, str) or Path(name).name != name or name == "..":
        raise ValueError(f"it names {str(name)[:80]!r}, which is not one of its own files")
    return name


def _schema(file: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if file.suffix == ".parquet":
        return pq.read_schema(file)
    with pa.memory_map(str(file)) as source, pa.ipc.open_stream(source) as stream:
        return stream.schema


def _batches(file: Path, names: list[str]) -> Iterator[Any]:
    """The columns of a file, some rows at a time; a column that this file lacks is left out."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    present = [name for name in names if name in _schema(file).names]
    if file.suffix == ".parquet":
        with pq.ParquetFile(file) as parquet:
            yield from parquet.iter_batches(_BATCH, columns=present)
        return
    with pa.memory_map(str(file)) as source, pa.ipc.open_stream(source) as stream:  # whose sizes would be allocated
        for batch in stream:
            batch.validate(full=True)  # else a wrong offset is a bus error, or reads whatever is in memory
            for start in range(0, batch.num_rows, _BATCH):
                yield batch.select(present).slice(start, _BATCH)
