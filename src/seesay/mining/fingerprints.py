"""Short digests of what a run depends on, so that it is not resumed with other files or models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seesay import storage
from seesay.digests import json_digest
from seesay.mining.readers import find_reader
from seesay.storage import is_address

CAPTIONS = "captions:"
"""What an annotation begins with that is corpora of captions, without pictures."""


def annotation(spec: str, output: Path) -> dict[str, str]:
    """Return where an annotation is, and a digest of its files' paths, sizes and times."""
    kind, _, place = spec.partition(":")
    if spec.startswith(CAPTIONS):
        pattern = "**/*"
    else:
        pattern = find_reader(spec).files
    # An output folder inside the annotation's holds our own files, which change all the time.
    written_here = output.resolve()
    places = []
    stamps: list[Any] = []
    for part in place.split(","):
        places.append(folder(part))
        if is_address(part):
            stamps.append(storage.fingerprint(part))
            continue
        path = Path(part).resolve()
        files = sorted(path.glob(pattern)) if path.is_dir() else [path]
        stamps += _stamps(file for file in files if written_here not in file.parents)
    return {"annotations": f"{kind}:{','.join(places)}", "files": json_digest(stamps)}


def folder(place: str) -> str:
    """Return where a place is, whatever the current folder."""
    return place if is_address(place) else str(Path(place).resolve())


def local_place(spec: str) -> str:
    """Return an annotation or a folder with copies in place of what is in object stores."""
    return ",".join(map(_local_part, spec.split(",")))


def _local_part(part: str) -> str:
    """Return a place with a copy in its stead, after the format that it may begin with."""
    before, mark, place = part.rpartition("://")
    if not mark:
        return part
    kind, colon, scheme = before.rpartition(":")
    return f"{kind}{colon}{storage.local_copy(f'{scheme}{mark}{place}')}"


def model(name: str) -> str:
    """Return a digest of the files in a model's folder; "" for a model that is not a folder."""
    folder = Path(name)
    if name and folder.is_dir():
        return json_digest(_stamps(sorted(folder.rglob("*"))))
    return ""


def _stamps(paths: Iterable[Path]) -> list[tuple[str, int, int]]:
    """Return path, size and time of every file.

    Reading gigabytes of pictures, to compare their contents, would take too long.
    """
    files = ((path, path.stat()) for path in paths if path.is_file())
    return [(str(path.resolve()), stat.st_size, stat.st_mtime_ns) for path, stat in files]
