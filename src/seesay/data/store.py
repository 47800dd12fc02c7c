"""The data folder: published files are fetched or added, checked, and found there by tasks.

A file that the catalogue has no checksum for, or another one, has the checksum it came with beside
it (`norms.dat.sha256`).
"""

from __future__ import annotations

import hashlib
import io
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from seesay.data.catalogue import CATALOGUE, DataFile, DataSet
from seesay.data.lines import read_errors
from seesay.digests import file_sha256
from seesay.errors import UserError
from seesay.files import atomic_write
from seesay.folders import data_folder
from seesay.questions import DataSource
from seesay.registry import unknown

FileState = Literal["verified", "unverified", "damaged", "missing"]
DownloadProgress = Callable[[str, int, int], None]
"""Called with the file's name, the bytes so far and the bytes in all."""

_LARGEST_UNKNOWN = 256 << 20


@dataclass(frozen=True, slots=True)
class FileStatus:
    """The state of one file of a data set. "unverified": no published checksum vouches for it."""

    dataset: str
    file: str
    state: FileState
    path: Path


def get_dataset(name: str) -> DataSet:
    """A catalogue entry; `memory_colors` is taken for `memory-colors`."""
    entry = CATALOGUE.get(name.replace("_", "-"))
    if entry is None:
        raise unknown("data set", name, CATALOGUE, "seesay data")
    return entry


def stored_path(entry: DataSet, filename: str) -> Path:
    """The path of a data set's file in the data folder, whether or not it is there."""
    return data_folder() / entry.name / filename


def find_file(name: str, filename: str, near: Path | None = None) -> Path | None:
    """A data set's file if it exists: `near` (that file, beside it, in that folder), else in the
    data folder."""
    entry = get_dataset(name)
    if near is not None:
        if near.name == filename and near.is_file():
            return near
        beside = (near if near.is_dir() else near.parent) / filename
        if beside.is_file():
            return beside
    stored = stored_path(entry, filename)
    return stored if stored.is_file() else None


def require_file(name: str, filename: str, near: Path | None = None) -> Path:
    """As `find_file`, or an error that says how to get the file. If `near` is a file, it is taken
    as this one."""
    entry = get_dataset(name)
    if near is not None:
        if near.is_file():
            return near
        if near.is_dir() and (near / filename).is_file():
            return near / filename
        if near.is_dir():
            missing = f"{filename} in {near}"
        else:
            missing = f"file or folder {near}"
        raise UserError(f"There is no {missing}.")
    if path := find_file(name, filename):
        return path
    have = f"if you have the file: `seesay data add {entry.name} PATH`"
    if entry.fetchable:
        raise UserError(
            f"{filename} is not in the data folder. `seesay data fetch {entry.name}` fetches it; "
            f"{have}."
        )
    raise UserError(
        f"{filename} is not in the data folder and cannot be fetched: {entry.request}; {have}."
    )


def check_files(names: list[str] | None = None) -> list[FileStatus]:
    """Hash every file of the named data sets (by default of all) and report its state."""
    if names:
        entries = [get_dataset(name) for name in names]
    else:
        entries = list(CATALOGUE.values())
    return [
        FileStatus(entry.name, file.name, *_state(entry, file))
        for entry in entries
        for file in entry.files
    ]


def _state(entry: DataSet, file: DataFile) -> tuple[FileState, Path]:
    path = stored_path(entry, file.name)
    if not path.is_file():
        return "missing", path
    digest = checksum(path)
    if digest == file.sha256:
        return "verified", path
    recorded = _checksum_file(path)
    return (
        "unverified" if recorded.is_file() and recorded.read_text().strip() == digest else "damaged"
    ), path


def checksum(path: Path) -> str:
    """The SHA-256 of a file."""
    with read_errors(path):
        return file_sha256(path)


def data_source(path: Path, name: str, published: str | None) -> DataSource:
    """The record of a file that a task is built from; `published` is the SHA-256 of the file that
    it should be."""
    digest = checksum(path)
    return DataSource(name, digest[:16], digest == published)


def fetch(
    name: str,
    *,
    progress: DownloadProgress | None = None,
    address: Callable[[DataFile], str | None] | None = None,
) -> list[Path]:
    """Fetch and verify the files of a data set that are not there already; `address` may name
    another source."""
    entry = get_dataset(name)
    if not entry.fetchable:
        then = f"Then: `seesay data add {entry.name} PATH`."
        raise UserError(f"'{entry.name}' cannot be fetched: {entry.request}. {then}")
    for file in entry.files:
        if _state(entry, file)[0] != "verified":
            _fetch_file(
                entry, file, (address(file) if address else None) or file.address or "", progress
            )
    return [stored_path(entry, file.name) for file in entry.files]


def _fetch_file(
    entry: DataSet, file: DataFile, address: str, progress: DownloadProgress | None
) -> None:
    from seesay.data.downloads import UnreachableError, download

    target = stored_path(entry, file.name)
    size = file.size or 0
    digest = hashlib.sha256()
    with _write(target) as copy:
        try:
            for chunk in download(
                address, size, lambda done: progress(file.name, done, size) if progress else None
            ):
                digest.update(chunk)
                copy.write(chunk)
        except UnreachableError as error:
            have = f"If you have the file: `seesay data add {entry.name} PATH`."
            raise UserError(f"Could not reach {address} ({error}). {have}") from error
        if digest.hexdigest() != file.sha256:
            raise UserError(
                f"{address} does not hold the published {file.name}: its checksum is "
                f"{digest.hexdigest()}, "
                f"expected {file.sha256}. Nothing was kept."
            )
    _checksum_file(target).unlink(missing_ok=True)


def add(name: str, path: Path, *, force: bool = False) -> list[Path]:
    """Copy a data set's file, or those of its files that a folder contains, into the data folder.

    All are checked before the first is copied. `force` accepts a file with another checksum, as
    unverified.
    """
    entry = get_dataset(name)
    sources = _match_files(entry, path)
    digests = [checksum(source) for _, source in sources]
    for (file, source), digest in zip(sources, digests, strict=True):
        if file.sha256 and digest != file.sha256 and not force:
            raise UserError(
                f"{source} is not the published {file.name}: its checksum is {digest}, expected "
                f"{file.sha256}. "
                f"`seesay data add {entry.name} {path} --force` takes it all the same, marked as "
                "unverified."
            )
    targets = [stored_path(entry, file.name) for file, _ in sources]
    for (file, source), target, digest in zip(sources, targets, digests, strict=True):
        with read_errors(source), source.open("rb") as original, _write(target) as copy:
            shutil.copyfileobj(original, copy)
        if digest == file.sha256:
            _checksum_file(target).unlink(missing_ok=True)
        else:
            with _write(_checksum_file(target)) as record:
                record.write(f"{digest}\n".encode())
    return targets


def _match_files(entry: DataSet, path: Path) -> list[tuple[DataFile, Path]]:
    """Which file of the data set is which file on disk."""
    names = ", ".join(file.name for file in entry.files)
    if path.is_dir():
        sources = [(file, path / file.name) for file in entry.files if (path / file.name).is_file()]
        if not sources:
            raise UserError(f"{path} holds none of the files of '{entry.name}': {names}.")
        return sources
    if not path.is_file():
        raise UserError(f"There is no file or folder {path}.")
    if path.stat().st_size > max((file.size or _LARGEST_UNKNOWN) for file in entry.files) * 4:
        raise UserError(
            f"{path} is far larger than any file of '{entry.name}' ({names}). Is it the right file?"
        )
    by_name = [file for file in entry.files if file.name == path.name]
    by_content = [file for file in entry.files if file.sha256 == checksum(path)]
    candidates = by_content or by_name or (entry.files if len(entry.files) == 1 else ())
    if not candidates:
        raise UserError(f"'{entry.name}' has no file named {path.name}; its files are {names}.")
    return [(candidates[0], path)]


def _checksum_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


@contextmanager
def _write(target: Path) -> Iterator[io.BufferedWriter]:
    try:
        with atomic_write(target) as unfinished, unfinished.open("wb") as file:
            yield file
    except OSError as error:
        raise UserError(f"Cannot write {target}: {error.strerror or error}.") from error
