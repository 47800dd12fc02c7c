"""Short digests of what a run depends on, so that it is never resumed with other files or other
models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from seesay.digests import json_digest
from seesay.mining.readers import find_reader

CAPTIONS = "captions:"
"""What an annotation begins with that is corpora of captions, without pictures."""


def annotation(spec: str, output: Path) -> dict[str, str]:
    """Where an annotation is, and a digest of its files' paths, sizes and times; files in `output`
    are our own."""
    kind, _, place = spec.partition(":")
    pattern = "**/*" if spec.startswith(CAPTIONS) else find_reader(spec).files
    paths = [Path(part).resolve() for part in place.split(",")]
    own = output.resolve()
    files: list[Path] = []
    for path in paths:
        inside = sorted(path.glob(pattern)) if path.is_dir() else [path]
        files += [file for file in inside if own not in file.parents]
    return {
        "annotations": f"{kind}:{','.join(map(str, paths))}",
        "files": json_digest(_stamps(files)),
    }


def model(name: str) -> str:
    """A digest of the files in a model's folder; "" for a model that is not a folder."""
    folder = Path(name)
    if name and folder.is_dir():
        return json_digest(_stamps(sorted(folder.rglob("*"))))
    return ""


def _stamps(paths: Iterable[Path]) -> list[tuple[str, int, int]]:
    files = [(path, path.stat()) for path in paths if path.is_file()]
    return [(str(path.resolve()), stat.st_size, stat.st_mtime_ns) for path, stat in files]
