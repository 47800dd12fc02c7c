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

# For files whose published size is not known.
_LARGEST_UNKNOWN = 256 << 20


@dataclass(frozen=True, slots=True)
class FileStatus:
    """The state of one file of a data set. "unverified": no published checksum vouches for it."""

    dataset: str
    file: str
    state: FileState
    path: Path


def get_dataset(name: str) -> DataSet:
    """Return a catalogue entry; `memory_colors` is taken for `memory-colors`."""
    entry = CATALOGUE.get(name.replace("_", "-"))
    if entry is None:
        raise unknown("data set", name, CATALOGUE, "seesay data")
    return entry


def stored_path(entry: DataSet, filename: str) -> Path:
    """Return the path of a data set's file in the data folder, whether or not it is there."""
    return data_folder() / entry.name / filename


def find_file(
    name: str,
    filename: str,
    near: Path | None = None,
) -> Path | None:
    """Return the path of a data set's file, or None where there is no such file.

    `near` is that file, a file beside it, or its folder; the data folder is looked at next.
    """
    entry = get_dataset(name)
    if near is not None:
        if near.name == filename and near.is_file():
            return near
        beside = near.parent / filename
        if near.is_dir():
            beside = near / filename
        if beside.is_file():
            return beside
    path = stored_path(entry, filename)
    if path.is_file():
        return path
    return None


def require_file(
    name: str,
    filename: str,
    near: Path | None = None,
) -> Path:
    """Return the path of a data set's file, or raise an error that says how to get it.

    If `near` is a file, it is taken as this one, whatever its name.
    """
    entry = get_dataset(name)
    if near is not None:
        return _require_near(near, filename)
    if path := find_file(name, filename):
        return path
    add_hint = f"if you have the file: `seesay data add {entry.name} PATH`"
    if entry.fetchable:
        raise UserError(
            f"{filename} is not in the data folder. `seesay data fetch {entry.name}` fetches it; "
            f"{add_hint}."
        )
    raise UserError(
        f"{filename} is not in the data folder and cannot be fetched: {entry.request}; {add_hint}."
    )


def _require_near(near: Path, filename: str) -> Path:
    """Return the file that a user pointed at: that file, or the one of this name in a folder."""
    if near.is_file():
        return near
    if not near.is_dir():
        raise UserError(f"There is no file or folder {near}.")
    if not (near / filename).is_file():
        raise UserError(f"There is no {filename} in {near}.")
    return near / filename


def check_files(names: list[str] | None = None) -> list[FileStatus]:
    """Hash every file of the named data sets (by default of all) and report its state."""
    if names:
        entries = [get_dataset(name) for name in names]
    else:
        entries = list(CATALOGUE.values())
    return [
        FileStatus(
            dataset=entry.name,
            file=file.name,
            state=_state(entry, file),
            path=stored_path(entry, file.name),
        )
        for entry in entries
        for file in entry.files
    ]


def _state(entry: DataSet, file: DataFile) -> FileState:
    """Return the state of a data set's file in the data folder, by its checksum."""
    path = stored_path(entry, file.name)
    if not path.is_file():
        return "missing"
    digest = checksum(path)
    if digest == file.sha256:
        return "verified"
    # A file that was added without a published checksum is as it came, or it was changed since.
    recorded = _checksum_file(path)
    if recorded.is_file() and recorded.read_text().strip() == digest:
        return "unverified"
    return "damaged"


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with read_errors(path):
        return file_sha256(path)


def data_source(
    path: Path,
    name: str,
    published: str | None,
) -> DataSource:
    """Return the record of a file that a task is built from.

    `published` is the SHA-256 of the file that it should be.
    """
    digest = checksum(path)
    return DataSource(name, digest[:16], digest == published)


def fetch(
    name: str,
    *,
    progress: DownloadProgress | None = None,
    address: Callable[[DataFile], str | None] | None = None,
) -> list[Path]:
    """Fetch and verify the files of a data set that are not there already.

    `address` may name another source of a file.
    """
    entry = get_dataset(name)
    if not entry.fetchable:
        raise UserError(
            f"'{entry.name}' cannot be fetched: {entry.request}. "
            f"Then: `seesay data add {entry.name} PATH`."
        )
    for file in entry.files:
        if _state(entry, file) == "verified":
            continue
        other_address = address(file) if address else None
        _fetch_file(entry, file, other_address or file.address or "", progress)
    return [stored_path(entry, file.name) for file in entry.files]


def _fetch_file(
    entry: DataSet,
    file: DataFile,
    address: str,
    progress: DownloadProgress | None,
) -> None:
    """Fetch one file into the data folder, where it is kept only if it is the published one."""
    from seesay.data.downloads import UnreachableError, download

    target = stored_path(entry, file.name)
    size = file.size or 0
    digest = hashlib.sha256()

    def report(received: int) -> None:
        if progress:
            progress(file.name, received, size)

    # An error inside the block leaves no file behind: what failed its checksum is never kept.
    with _write(target) as copy:
        try:
            for chunk in download(address, size, report):
                digest.update(chunk)
                copy.write(chunk)
        except UnreachableError as error:
            raise UserError(
                f"Could not reach {address} ({error}). "
                f"If you have the file: `seesay data add {entry.name} PATH`."
            ) from error
        if digest.hexdigest() != file.sha256:
            raise UserError(
                f"{address} does not hold the published {file.name}: its checksum is "
                f"{digest.hexdigest()}, expected {file.sha256}. Nothing was kept."
            )
    _checksum_file(target).unlink(missing_ok=True)


def add(
    name: str,
    path: Path,
    *,
    force: bool = False,
) -> list[Path]:
    """Copy a data set's file, or those of its files that a folder contains, into the data folder.

    `force` accepts a file with another checksum, as unverified.
    """
    entry = get_dataset(name)
    sources = _match_files(entry, path)
    digests = [checksum(source) for _, source in sources]
    # All are checked before the first is copied: a wrong file must not leave a half-added set.
    for (file, source), digest in zip(sources, digests, strict=True):
        if file.sha256 and digest != file.sha256 and not force:
            raise UserError(
                f"{source} is not the published {file.name}: its checksum is {digest}, expected "
                f"{file.sha256}. `seesay data add {entry.name} {path} --force` adds it anyway, "
                "marked as unverified."
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
    """Return which file of the data set is which file on disk."""
    names = ", ".join(file.name for file in entry.files)
    if path.is_dir():
        sources = [(file, path / file.name) for file in entry.files]
        sources = [(file, source) for file, source in sources if source.is_file()]
        if not sources:
            raise UserError(f"{path} holds none of the files of '{entry.name}': {names}.")
        return sources
    if not path.is_file():
        raise UserError(f"There is no file or folder {path}.")
    # Hashing a wrong file of many gigabytes, such as an archive, would take minutes for nothing.
    largest = max(file.size or _LARGEST_UNKNOWN for file in entry.files)
    if path.stat().st_size > largest * 4:
        raise UserError(
            f"{path} is far larger than any file of '{entry.name}' ({names}). Is it the right file?"
        )
    return [(_match_file(entry, path), path)]


def _match_file(entry: DataSet, path: Path) -> DataFile:
    """Return the data set's file that a file on disk is: by its content, its name, or alone."""
    digest = checksum(path)
    for file in entry.files:
        if file.sha256 == digest:
            return file
    for file in entry.files:
        if file.name == path.name:
            return file
    if len(entry.files) == 1:
        return entry.files[0]
    names = ", ".join(file.name for file in entry.files)
    raise UserError(f"'{entry.name}' has no file named {path.name}; its files are {names}.")


def _checksum_file(path: Path) -> Path:
    """Return the path of the checksum that a file came with."""
    return path.with_name(f"{path.name}.sha256")


@contextmanager
def _write(target: Path) -> Iterator[io.BufferedWriter]:
    """Write a file atomically; what keeps it from being written is one sentence for the user."""
    try:
        with atomic_write(target) as unfinished, unfinished.open("wb") as file:
            yield file
    except OSError as error:
        raise UserError(f"Cannot write {target}: {error.strerror or error}.") from error
