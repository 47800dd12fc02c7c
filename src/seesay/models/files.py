"""A model's files: a digest of their content, and the type of model that they say they are."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterable
from pathlib import Path

from seesay import caches
from seesay.digests import json_digest
from seesay.errors import UserError, first_line
from seesay.files import read_json, write_text

LARGE = 1 << 25  # bytes
TRAINING_RESULT = Path("training", "result.json")
"""Where our own trainings say how they ended, in the folder of their model."""
DIET = "diet.json"
"""Where it is written down what a model was raised on."""
DIGEST = re.compile(r"[0-9a-f]{16}")


def file_digest(paths: Iterable[Path]) -> str:
    """A digest of the files' names and contents, in order of name. That of large files is
    remembered together with their state (place, size, times of change, inode): reading them takes
    longer than loading the model."""
    ordered = sorted(paths)
    size = 0
    changed = 0.0
    states = []
    for path in ordered:
        stat = path.stat()
        size += stat.st_size
        changed = max(changed, stat.st_ctime)
        # A file that replaces another may have its size and its time of modification, which
        # anybody can set; its inode and its time of change it cannot have.
        times = (stat.st_mtime_ns, stat.st_ctime_ns)
        states.append((str(path.resolve()), stat.st_ino, stat.st_size, *times))
    remembered = caches.FILE_DIGESTS.folder / json_digest(states)
    if size >= LARGE and remembered.is_file():
        text = remembered.read_text(errors="replace")
        if DIGEST.fullmatch(text):
            return text
    began = time.time()
    digest = hashlib.blake2b(digest_size=8)
    for path in ordered:
        digest.update(path.name.encode())
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    # Clocks of file systems tick coarsely: a file that has just changed may change again at what
    # they call the same time.
    if size >= LARGE and changed < began - 10:
        write_text(remembered, digest.hexdigest())
    return digest.hexdigest()


def model_type(folder: Path) -> str | None:
    """The model type that the folder's configuration names."""
    try:
        config = read_json(folder / "config.json")
    except (OSError, ValueError):
        return None
    kind = config.get("model_type") if isinstance(config, dict) else None
    if not isinstance(kind, str):
        return None
    return kind


def read_diet(folder: Path) -> dict[str, str]:
    """What the model in a folder was raised on, dial by dial; empty where nobody wrote it down."""
    try:
        diet = read_json(folder / DIET)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise UserError(f"{folder / DIET} cannot be read ({first_line(error)}).") from error
    if not is_diet(diet):
        raise UserError(f"{folder / DIET} is no list of dials and their values, both texts.")
    return dict(diet)


def is_diet(value: object) -> bool:
    """Return whether a value is a mapping of texts to texts."""
    if not isinstance(value, dict):
        return False
    return all(isinstance(text, str) for text in (*value.keys(), *value.values()))


def learnt_nothing(folder: Path) -> bool:
    """Whether the model in a folder was trained by us, and is as good as untrained."""
    try:
        result = read_json(folder / TRAINING_RESULT)
    # no training, or nothing that tells: what loads the model says what is wrong with it
    except (OSError, ValueError):
        return False
    return isinstance(result, dict) and result.get("learnt") is False
