"""The data folder: published files are fetched or added into it, checked, and found there by tasks.

A file reaches its place only whole and checked: it is written beside it first and renamed. A file without a published
checksum, or with another one, has a note beside it (`norms.dat.sha256`) of the checksum it came with.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from seesay.data.catalogue import CATALOGUE, DataFile, DataSet
from seesay.data.downloads import UnreachableError, download
from seesay.errors import UserError
from seesay.folders import data_folder
from seesay.registry import unknown

State = Literal["verified", "unverified", "damaged", "missing"]
Progress = Callable[[str, int, int], None]

_LARGEST_UNKNOWN = 256 << 20


@dataclass(frozen=True, slots=True)
class Status:
    """How one file of a data set stands. "unverified" is a file that no published checksum vouches for."""

    dataset: str
    file: str
    state: State
    path: Path


def dataset(name: str) -> DataSet:
    """A catalogue entry; `memory_colors` is taken for `memory-colors`."""
    entry = CATALOGUE.get(name.replace("_", "-"))
    if entry is None:
        raise unknown("data set", name, CATALOGUE, "seesay data")
    return entry


def place(entry: DataSet, filename: str) -> Path:
    """Where a file of a data set stands, or would stand."""
    return data_folder() / entry.name / filename


def lookup(name: str, filename: str, near: Path | None = None) -> Path | None:
    """A file of a data set if it is there: `near` (that file, beside it, in that folder), else in the data folder."""
    entry = dataset(name)
    if near is not None:
        if near.name == filename and near.is_file():
            return near
        beside = (near if near.is_dir() else near.parent) / filename
        if beside.is_file():
            return beside
    stored = place(entry, filename)
    return stored if stored.is_file() else None


def find(name: str, filename: str, near: Path | None = None) -> Path:
    """As `lookup`, with an error that says how to get the file. A `near` that names a file stands for this one."""
    entry = dataset(name)
    if near is not None:
        if near.is_file():
            return near
        if near.is_dir() and (near / filename).is_file():
            return near / filename
        missing = f"There is no {filename} in {near}." if near.is_dir() else f"There is no file or folder {near}."
        raise UserError(missing)
    if found := lookup(name, filename):
        return found
    have = f"if you have the file: `seesay data add {entry.name} PATH`"
    if entry.fetchable:
        raise UserError(f"{filename} is not in the data folder. `seesay data fetch {entry.name}` fetches it; {have}.")
    raise UserError(f"{filename} is not in the data folder and cannot be fetched: {entry.request}; {have}.")


def check(names: list[str] | None = None) -> list[Status]:
    """Re-hash every file of the named data sets (all of them without names) and say how each stands."""
    entries = [dataset(name) for name in names] if names else list(CATALOGUE.values())
    return [Status(entry.name, file.name, *_state(entry, file)) for entry in entries for file in entry.files]


def _state(entry: DataSet, file: DataFile) -> tuple[State, Path]:
    path = place(entry, file.name)
    if not path.is_file():
        return "missing", path
    digest = checksum(path)
    if digest == file.sha256:
        return "verified", path
    note = _note(path)
    return ("unverified" if note.is_file() and note.read_text().strip() == digest else "damaged"), path


def checksum(path: Path) -> str:
    """The SHA-256 of a file."""
    with _readable(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch(
    name: str, *, progress: Progress | None = None, address: Callable[[DataFile], str | None] | None = None
) -> list[Path]:
    """Fetch the files of a data set that are not there already, verified.

    `progress` hears file, bytes so far and bytes in all; `address` names another place to fetch a file from.
    """
    entry = dataset(name)
    if not entry.fetchable:
        raise UserError(
            f"'{entry.name}' cannot be fetched: {entry.request}. Then: `seesay data add {entry.name} PATH`."
        )
    for file in entry.files:
        if _state(entry, file)[0] != "verified":
            _fetch_file(entry, file, (address(file) if address else None) or file.address or "", progress)
    return [place(entry, file.name) for file in entry.files]


def _fetch_file(entry: DataSet, file: DataFile, address: str, progress: Progress | None) -> None:
    target, size, digest = place(entry, file.name), file.size or 0, hashlib.sha256()

    def heard(came: int) -> None:
        if progress:
            progress(file.name, came, size)

    with arriving(target) as arrival:
        try:
            for chunk in download(address, size, heard):
                digest.update(chunk)
                arrival.write(chunk)
        except UnreachableError as error:
            raise UserError(
                f"Could not reach {address} ({error}). If you have the file: `seesay data add {entry.name} PATH`."
            ) from error
        if digest.hexdigest() != file.sha256:
            raise UserError(
                f"{address} does not hold the published {file.name}: its checksum is {digest.hexdigest()}, "
                f"expected {file.sha256}. Nothing was kept."
            )
    _note(target).unlink(missing_ok=True)


def add(name: str, path: Path, *, force: bool = False) -> list[Path]:
    """Copy a data set's file, or those of its files that a folder holds, into the data folder.

    All are checked before the first is copied. `force` takes a file with another checksum, as unverified.
    """
    entry = dataset(name)
    chosen = _choose(entry, path)
    for file, source in chosen:
        digest = checksum(source)
        if file.sha256 and digest != file.sha256 and not force:
            raise UserError(
                f"{source} is not the published {file.name}: its checksum is {digest}, expected {file.sha256}. "
                f"`seesay data add {entry.name} {path} --force` takes it all the same, marked as unverified."
            )
    placed = []
    for file, source in chosen:
        target = place(entry, file.name)
        with _readable(source) as original, arriving(target) as copy:
            shutil.copyfileobj(original, copy)
        _settle(target, file)
        placed.append(target)
    return placed


def _choose(entry: DataSet, path: Path) -> list[tuple[DataFile, Path]]:
    """Which file of the data set is which file on disk."""
    known = ", ".join(file.name for file in entry.files)
    if path.is_dir():
        chosen = [(file, path / file.name) for file in entry.files if (path / file.name).is_file()]
        if not chosen:
            raise UserError(f"{path} holds none of the files of '{entry.name}': {known}.")
        return chosen
    if not path.is_file():
        raise UserError(f"There is no file or folder {path}.")
    if path.stat().st_size > max((file.size or _LARGEST_UNKNOWN) for file in entry.files) * 4:
        raise UserError(f"{path} is far larger than any file of '{entry.name}' ({known}). Is it the right file?")
    by_name = [file for file in entry.files if file.name == path.name]
    by_content = [file for file in entry.files if file.sha256 == checksum(path)]
    candidates = by_content or by_name or (entry.files if len(entry.files) == 1 else ())
    if not candidates:
        raise UserError(f"'{entry.name}' has no file named {path.name}; its files are {known}.")
    return [(candidates[0], path)]


def _settle(target: Path, file: DataFile) -> None:
    """Note the checksum of a file that the catalogue does not vouch for."""
    digest = checksum(target)
    if digest == file.sha256:
        _note(target).unlink(missing_ok=True)
    else:
        with arriving(_note(target)) as note:
            note.write(f"{digest}\n".encode())


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


@contextmanager
def _readable(path: Path) -> Iterator[io.BufferedReader]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror or error}.") from error


@contextmanager
def arriving(target: Path) -> Iterator[io.BufferedWriter]:
    """A file that takes its place when it is whole; when anything fails nothing is left and nothing is overwritten."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise UserError(f"Cannot write to {target.parent}: {error.strerror or error}.") from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        temporary.chmod(0o644)
        temporary.replace(target)
    except OSError as error:
        raise UserError(f"Cannot write {target}: {error.strerror or error}.") from error
    finally:
        temporary.unlink(missing_ok=True)
