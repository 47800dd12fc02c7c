"""What a begun run rests on, in a few letters: so that it is never gone on with from other files or other models."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_INSIDE = {"visual-genome": "*.json", "ade20k": "**/*.json", "plain": "*.parquet"}
"""What a format reads where its place is a folder."""


def digest(value: Any) -> str:
    """A short name for any JSON value; mappings that are equal have the same."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def annotation(spec: str, output: Path) -> dict[str, str]:
    """Where an annotation is and which files it has, by path, size and time; what lies in `output` is our own."""
    kind, _, place = spec.partition(":")
    paths = [Path(part).resolve() for part in place.split(",")]
    own = output.resolve()
    found: list[Path] = []
    for path in paths:
        inside = sorted(path.glob(_INSIDE.get(kind, "*.json"))) if path.is_dir() else [path]
        found += [file for file in inside if own not in file.parents]
    return {"annotations": f"{kind}:{','.join(map(str, paths))}", "files": digest(_stamps(found))}


def model(name: str) -> str:
    """Which files a model's folder has; "" for a model that goes by its name alone."""
    folder = Path(name)
    return digest(_stamps(sorted(folder.rglob("*")))) if name and folder.is_dir() else ""


def _stamps(paths: Iterable[Path]) -> list[tuple[str, int, int]]:
    files = [(path, path.stat()) for path in paths if path.is_file()]
    return [(str(path.resolve()), stat.st_size, stat.st_mtime_ns) for path, stat in files]
