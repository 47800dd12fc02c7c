"""Writing to disk so that a reader, a crash or a second process never meets half a file."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import platform
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from seesay.digests import text_digest
from seesay.errors import NewerVersionError, UserError, first_line

T = TypeVar("T")

SETTINGS_FORMAT = 1
"""The format of resumable work: trainings, minings, rooms."""

_UNFINISHED = ".unfinished"
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_HOST = text_digest(platform.node(), 2)
_PROCESSES = Path("/proc")


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A temporary path to write to; when the block ends, the file is on disk and takes `path`'s
    place.

    If the block raises, `path` is left as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = _unfinished(path)
    try:
        yield unfinished
        # else a power cut may leave the new name on an empty file
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic_write(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def refuse_folder(path: Path, what: str) -> None:
    """Refuse a folder where a file is to be written."""
    if path.is_dir():
        raise UserError(f"'{path}' is a folder: name a file for the {what}.")


def write_json(path: Path, value: object, *, indent: int | None = 2) -> None:
    """Write a JSON document atomically, ending in a newline."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    write_text(path, f"{text}\n")


def write_json_lines(path: Path, rows: Iterable[object]) -> None:
    """Write a file of JSON lines atomically."""
    write_text(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Write a table as CSV atomically."""
    write_text(path, csv_text(columns, rows))


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """A table as CSV: a line with the names of the columns, then one for each row; its other keys
    are left out."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def escape_formulas(row: Mapping[str, object]) -> dict[str, object]:
    """Return a row for a spreadsheet: a text that it would compute is after an apostrophe.

    Names, labels and answers are other people's; numbers stay numbers.
    """
    cells = dict(row)
    for name, value in row.items():
        if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
            cells[name] = f"'{value}"
    return cells


def read_json(path: Path) -> Any:
    """A JSON document that seesay or a library wrote; ValueError for what is none, however deep it
    is nested."""
    try:
        return json.loads(path.read_bytes())
    except RecursionError:
        raise ValueError("nested too deep") from None


def json_value(value: Any) -> Any:
    """The value with None for every number that JSON cannot hold: NaN and infinity."""
    if isinstance(value, Mapping):
        return {key: json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def refuse_newer(document: object, newest: int, what: object) -> None:
    """Refuse a document whose `format` is newer than the newest that this version of seesay
    knows."""
    if not isinstance(document, Mapping):
        return
    number = document.get("format")
    if isinstance(number, int) and number > newest:
        raise NewerVersionError(
            f"{what} was written by a newer version of seesay (format {number}, this one reads "
            f"{newest}): "
            "update seesay."
        )


@contextmanager
def damage_as_user_error(what: object, hint: str) -> Iterator[None]:
    """One sentence for whatever keeps a file of ours from being read; `hint` says what to do about
    it."""
    try:
        yield
    except NewerVersionError:
        raise
    except FileNotFoundError as error:
        name = Path(error.filename or "a file").name
        raise UserError(f"{what} is not complete ({name} is missing): {hint}.") from error
    except Exception as error:  # pyarrow and safetensors have errors of their own
        if isinstance(error, OSError) and error.errno is not None:
            raise  # a problem of the disk, not of the file
        raise UserError(f"{what} is damaged ({first_line(error)}): {hint}.") from error


MOVE_AWAY = "move it away and run again"
"""The hint about a file that is written anew where there is none."""


def read_state(path: Path, kind: type[T], hint: str) -> T:
    """A JSON file in which resumable work keeps its state, checked against its type."""
    from pydantic import TypeAdapter

    with damage_as_user_error(path, hint):
        return TypeAdapter(kind).validate_json(path.read_bytes(), strict=True)


def read_settings(path: Path, *, what: str, hint: str) -> dict[str, Any]:
    """The settings of resumable work, as `refuse_other_settings` wrote them."""
    stored = read_state(path, dict[str, Any], hint)
    refuse_newer(stored, SETTINGS_FORMAT, what)
    return stored


def path_below(folder: Path, name: str) -> Path | None:
    """Where a file of others says that something is; None if that is not below the folder, or can
    be no path at all."""
    try:
        path = (folder / name).resolve()
        # `resolve` accepts names that no file can have; `stat` does not
        with suppress(FileNotFoundError, NotADirectoryError):
            path.stat()
        is_below = path.is_relative_to(folder.resolve())
    # a loop of links, a name that is too long, a null or half a character
    except (OSError, RuntimeError, ValueError):
        return None
    return path if is_below else None


@contextmanager
def atomic_folder(
    folder: Path, *, is_complete: Callable[[Path], bool] = Path.is_dir
) -> Iterator[Path]:
    """A temporary folder to fill; when the block ends, it becomes `folder`.

    Where another process has finished the same folder in the meantime, that one stays and this one
    is dropped.
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

    Unless told to `wait`, a folder that is in use is refused, with a `hint` at what to do. Within
    one process the lock can be taken again. Unfinished files that a crash left in the folder are
    removed.
    """
    import filelock

    folder.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(folder / ".lock", is_singleton=True)
    try:
        lock.acquire(timeout=-1 if wait else 0)
    except filelock.Timeout:
        alternative = f", or {hint}" if hint else ""
        raise UserError(f"Another process is using {folder}: wait for it{alternative}.") from None
    try:
        # whoever holds the lock inside of us may be writing at this moment
        if lock.lock_counter == 1:
            remove_unfinished(folder)
        yield
    finally:
        lock.release()


def is_used(folder: Path) -> bool:
    """Whether a folder holds anything but its lock and what a crash left half-written."""
    if not folder.is_dir():
        return False
    names = [path.name for path in folder.iterdir()]
    return any(name != ".lock" and not name.endswith(_UNFINISHED) for name in names)


def refuse_foreign_folder(folder: Path, manifest: str) -> None:
    """Refuse to write into a file, or into a folder of other files: one that is used, and has no
    `manifest` of ours."""
    if folder.is_file():
        raise UserError(f"'{folder}' is a file: choose a folder.")
    if is_used(folder) and not (folder / manifest).is_file():
        raise UserError(f"'{folder}' holds other files: choose an empty or a new folder.")


def remove_unfinished(folder: Path) -> None:
    """Remove what a crash left half-written directly in this folder."""
    for path in folder.glob(f".*{_UNFINISHED}"):
        _remove(path)


@cache
def _remove_left_behind(folder: Path) -> None:
    """Remove what processes of this machine left half-written in a folder when they were killed;
    looked for once."""
    # without a list of processes it cannot be known whether the writer is still at work
    if not _PROCESSES.is_dir():
        return
    for path in folder.glob(f".*.{_HOST}-*{_UNFINISHED}"):
        _, _, ending = path.name.rpartition(f".{_HOST}-")
        process_id, _, _ = ending.partition("-")
        if not (_PROCESSES / process_id).exists():
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def refuse_other_settings(path: Path, settings: Mapping[str, Any], *, what: str, hint: str) -> None:
    """Write the settings of resumable work beside it, or check that they are the ones it was
    started with.

    `what` names the work ("The training in FOLDER"), `hint` says what to do about a difference.
    """
    # as they come back from the file: tuples as lists, keys as texts
    current = json.loads(json.dumps({"format": SETTINGS_FORMAT, **settings}))
    if not path.is_file():
        # not `write_json`, since settings may hold infinity
        write_text(path, json.dumps(current, ensure_ascii=False, indent=2) + "\n")
        return
    stored = read_settings(path, what=what, hint=hint)
    keys = {**stored, **current}
    changed = [key for key in keys if current.get(key) != stored.get(key)]
    if not changed:
        return
    key, *other_keys = changed
    more = f" (and {', '.join(other_keys)})" if other_keys else ""
    raise UserError(
        f"{what} was started with {key} {stored.get(key)!r}, not {current.get(key)!r}{more}: "
        f"{hint}."
    )


def _unfinished(path: Path) -> Path:
    """Return a path beside this one to write to; it names the machine and the process, so that
    others know whether it is still written."""
    _remove_left_behind(path.parent.absolute())
    writer = f"{_HOST}-{os.getpid()}-{secrets.token_hex(4)}"
    return path.with_name(f".{path.name}.{writer}{_UNFINISHED}")
