"""A model's files: a digest of their content, and the type of model that they say they are."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterable
from pathlib import Path

from seesay import caches
from seesay.digests import json_digest
from seesay.files import read_json, write_text

LARGE = 1 << 25  # bytes
DIGEST = re.compile(r"[0-9a-f]{16}")


def file_digest(paths: Iterable[Path]) -> str:
    """A digest of the files' names and contents, in order of name. That of large files is
    remembered together with their state (place, size, times of change, inode): reading them takes
    longer than loading the model."""
    ordered = sorted(paths)
    states = {path: path.stat() for path in ordered}
    files = [
        (str(path.resolve()), s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns)
        for path, s in states.items()
    ]
    remembered = caches.FILE_DIGESTS.folder / json_digest(files)
    is_large = sum(state.st_size for state in states.values()) >= LARGE
    if (
        is_large
        and remembered.is_file()
        and DIGEST.fullmatch(text := remembered.read_text(errors="replace"))
    ):
        return text
    began = time.time()
    digest = hashlib.blake2b(digest_size=8)
    for path in ordered:
        digest.update(path.name.encode())
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    # a change would get another time
    if is_large and max(state.st_ctime for state in states.values()) < began - 10:
        write_text(remembered, digest.hexdigest())
    return digest.hexdigest()


def model_type(folder: Path) -> str | None:
    """The model type that the folder's configuration names."""
    try:
        config = read_json(folder / "config.json")
    except (OSError, ValueError):
        return None
    kind = config.get("model_type") if isinstance(config, dict) else None
    return kind if isinstance(kind, str) else None
