"""Writing to disk so that a reader, a crash or a second process never meets half a file."""

from __future__ import annotations

import json
import math
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from seesay.errors import UserError

_UNFINISHED = ".unfinished"


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A temporary path to write to; when the block ends, the file is on disk and takes `path`'s place.

    If the block raises, `path` is left as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = _unfinished(path)
    try:
        yield unfinished
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic_write(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def write_json(path: Path, value: object, *, indent: int | None = 2) -> None:
    """Write a JSON document atomically, ending in a newline."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False) + "\n")


def json_value(value: Any) -> Any:
    """The value with None for every number that JSON cannot hold: NaN and infinity."""
    if isinstance(value, Mapping):
        return {key: json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def atomic_folder(folder: Path, *, is_complete: Callable[[Path], bool] = Path.is_dir) -> Iterator[Path]:
    """A temporary folder to fill; when the block ends, it becomes `folder`.

    Where another process has finished the same folder in the meantime, that one stays and this one is dropped.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = _unfinished(folder)
    unfinished.mkdir()
    try:
        yield unfinished
        try:
            unfinished.replace(folder)
        except OSError:
            if not is_complete(folder):
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def lock_folder(folder: Path, *, hint: str = "", wait: bool = False) -> Iterator[None]:
    """Hold the folder for this process; the system releases it even when the process is killed.

    Unless told to `wait`, a folder that is in use is refused, with a `hint` at what to do. Within one process the lock
    can be taken again. Unfinished files that a crash left in the folder are removed.
    """
    import filelock

    folder.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(folder / ".lock", is_singleton=True)
    try:
        lock.acquire(timeout=-1 if wait else 0)
    except filelock.Timeout:
        raise UserError(f"Another process is using {folder}: wait for it{f', or {hint}' if hint else ''}.") from None
    try:
        if lock.lock_counter == 1:
            remove_unfinished(folder)
        yield
    finally:
        lock.release()


def remove_unfinished(folder: Path) -> None:
    """Remove what a crash left half-written directly in this folder."""
    for path in folder.glob(f".*{_UNFINISHED}"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def refuse_other_settings(path: Path, settings: Mapping[str, Any], *, what: str, hint: str) -> None:
    """Write the settings of resumable work beside it, or check that they are the ones it was started with.

    `what` names the work ("The training in FOLDER"), `hint` says what to do about a difference.
    """
    wanted = json.loads(json.dumps(settings))
    if not path.is_file():
        write_text(path, json.dumps(wanted, ensure_ascii=False, indent=2) + "\n")  # may hold infinity
        return
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(stored, dict):
            raise ValueError("not a JSON object")
    except ValueError as error:
        raise UserError(f"{path} is damaged ({error}): {hint}.") from error
    changed = [key for key in {**stored, **wanted} if wanted.get(key) != stored.get(key)]
    if changed:
        key = changed[0]
        more = f" (and {', '.join(changed[1:])})" if changed[1:] else ""
        raise UserError(f"{what} was started with {key} {stored.get(key)!r}, not {wanted.get(key)!r}{more}: {hint}.")


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}{_UNFINISHED}")
