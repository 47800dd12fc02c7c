"""Files at addresses such as `s3://bucket/folder`, through fsspec: copied to this machine when they
are needed.

What reads them reads files; nothing else knows of object stores. A copy is kept in the cache as
long as the store says that the file is the same.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from seesay.caches import STORED_FILES
from seesay.digests import json_digest, text_digest
from seesay.errors import UserError, first_line, needs_extra
from seesay.files import atomic_write, read_json, write_json

ATTEMPTS = 4
"""How often a request is made before a store is given up."""
WAIT = 1.0
"""Seconds before the second attempt; twice as many before each further one."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_STAMPS = ("ETag", "etag", "md5Hash", "sha256", "LastModified", "last_modified", "mtime", "created")
"""What stores call that which changes with a file."""

T = TypeVar("T")


class RemoteFile(NamedTuple):
    """A file of a store."""

    name: str
    """Its path below the address; "" if the address is that of the file."""
    path: str
    """Its path as the store has it."""
    stamp: str
    """What changes when the file does."""


def is_address(place: str) -> bool:
    """Return whether a place is an address and not a path.

    >>> is_address("s3://bucket/a.parquet"), is_address("a.parquet"), is_address("C:/a.parquet")
    (True, False, False)
    """
    return _ADDRESS.match(place) is not None


def address_of(path: Path) -> str:
    """Return the address that a path was made of, which drops a slash; "" if it is a path.

    >>> [address_of(Path(path)) for path in ("s3://bucket/runs", "file:///data/runs", "runs")]
    ['s3://bucket/runs', 'file:///data/runs', '']
    """
    scheme, separator, place = path.as_posix().partition(":/")
    # a single letter is a drive
    if not separator or len(scheme) < 2 or not is_address(f"{scheme}://"):
        return ""
    host = "/" if scheme == "file" else ""
    return f"{scheme}://{host}{place}"


def local_path(path: Path) -> Path:
    """Return a path as it is, and in place of an address the copy of what is there."""
    address = address_of(path)
    return local_copy(address) if address else path


def local_copy(address: str) -> Path:
    """Return a copy of the file or folder at an address, as it is there now."""
    filesystem, files = _list_files(address)
    folder = STORED_FILES.folder / text_digest(address)
    target = folder / (PurePosixPath(urlsplit(address).path).name or "root")
    noted = folder / "stamps.json"
    stamps = read_json(noted) if noted.is_file() else {}
    for file in files:
        copy = target / file.name if file.name else target
        if stamps.get(file.name) != file.stamp or not copy.is_file():
            _download(filesystem, file.path, copy, address)
            stamps[file.name] = file.stamp
            write_json(noted, stamps)
    return target


def fingerprint(address: str) -> str:
    """Return what changes when a file at an address does, or one is added."""
    _, files = _list_files(address)
    return json_digest([(file.name, file.stamp) for file in files])


def _list_files(address: str) -> tuple[Any, list[RemoteFile]]:
    """Return the store, and the files at or below an address."""
    if "@" in urlsplit(address).netloc:
        raise UserError(
            "An address must not hold a password, since it is written into results: give "
            "credentials as the store's own tools take them, such as AWS_ACCESS_KEY_ID."
        )
    with needs_extra(f"Reading {address}", "storage"):
        import fsspec
    try:
        filesystem, root = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise UserError(f"{address} cannot be read: {first_line(error)}.") from error
    info_by_path = _persist(lambda: filesystem.find(root, detail=True), address)
    if not info_by_path:
        raise UserError(f"There is no file at {address}, nor any below it.")
    files = []
    for path, info in sorted(info_by_path.items()):
        name = path[len(root) :].strip("/")
        if ".." in Path(name).parts:
            raise UserError(f"{address} has a file whose name leads out of it: '{name}'.")
        stamp = [info.get("size"), *(str(info[key]) for key in _STAMPS if info.get(key))]
        files.append(RemoteFile(name, path, json_digest(stamp)))
    return filesystem, files


def _download(filesystem: Any, path: str, target: Path, address: str) -> None:
    def download() -> None:
        with atomic_write(target) as unfinished:
            filesystem.get_file(path, os.fspath(unfinished))

    _persist(download, address)


def _persist(request: Callable[[], T], address: str) -> T:
    """Return what a request gives; one that a store refuses or drops is made again."""
    for attempt in range(ATTEMPTS):
        try:
            return request()
        except FileNotFoundError:
            raise UserError(f"There is no file at {address}, nor any below it.") from None
        except PermissionError as error:
            raise UserError(f"{address} cannot be read: {first_line(error)}.") from error
        # Stores have errors of their own, most of which pass.
        except Exception as error:
            if attempt == ATTEMPTS - 1:
                raise UserError(
                    f"{address} could not be read in {ATTEMPTS} attempts ({first_line(error)}): "
                    "run the same command again to resume."
                ) from error
        time.sleep(WAIT * 2**attempt)
    raise AssertionError("unreachable")
