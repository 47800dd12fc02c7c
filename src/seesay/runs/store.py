"""The run folder, `runs/<model>/<task>/<key>/`: manifest, questions, answers and figures, each written whole or not."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import filelock
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from seesay.errors import UserError
from seesay.questions import Answer, Task
from seesay.runs.journal import scores_from
from seesay.runs.records import Figure, Manifest
from seesay.runs.run import Run

MANIFEST, JOURNAL, QUESTIONS, ANSWERS, FIGURES = (
    "manifest.json",
    "journal.jsonl",
    "questions.json",
    "answers.parquet",
    "metrics.json",
)

_SCORES = pa.struct(
    [
        ("logp", pa.list_(pa.float64())),
        ("tokens", pa.list_(pa.int32())),
        ("chars", pa.list_(pa.int32())),
        ("rank", pa.list_(pa.int32())),
    ]
)
_ANSWER = pa.schema(
    [
        ("question", pa.string()),
        ("template", pa.string()),
        ("options", pa.list_(pa.string())),
        ("scores", _SCORES),
        ("neutral", _SCORES),
    ]
)
_ROWS = 2_000
_FIGURES = TypeAdapter(list[Figure])
_TASK = TypeAdapter(Task)
_UNFINISHED = ".unfinished"
_HASHED = re.compile(r"-[0-9a-f]{8}")


def folder_for(root: Path, manifest: Manifest) -> Path:
    """Where a run lives. All that shapes an answer or a figure is in the key: a change is another run, never a mix."""
    shaping = manifest.model_dump(
        exclude={"created", "command", "environment", "citation", "bad_rows", "notes", "data"}
    )
    key = hashlib.blake2b(json.dumps(shaping, sort_keys=True).encode(), digest_size=5).hexdigest()
    return root / _slug(manifest.model) / _slug(manifest.task) / key


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the folder for this process; the system lets go of it even when the process is killed."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise UserError(
            f"Another process is at work in {folder}: wait for it, or give this one its own --output."
        ) from None
    try:
        for left_by_a_crash in folder.glob(f".*{_UNFINISHED}"):
            left_by_a_crash.unlink()
        yield
    finally:
        lock.release()


def write_text(path: Path, text: str) -> None:
    """Write a file whole: a reader, or a crash, sees the old one or the new one."""
    with _whole(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def write_answers(path: Path, answers: Sequence[Answer]) -> None:
    """The answers as Parquet, one row a question and template."""
    with (
        _whole(path) as unfinished,
        unfinished.open("wb") as file,
        pq.ParquetWriter(file, _ANSWER, compression="zstd") as writer,
    ):
        for start in range(0, len(answers), _ROWS):  # some at a time: 614 options a row fill the memory quickly
            writer.write_table(pa.Table.from_pylist([_row(a) for a in answers[start : start + _ROWS]], schema=_ANSWER))


def _row(answer: Answer) -> dict[str, Any]:
    columns = dict(zip(_ANSWER.names, (answer.question, answer.template, answer.options), strict=False))
    for name, scores in (("scores", answer.scores), ("neutral", answer.neutral)):
        columns[name] = scores and {field: getattr(scores, field) for field in ("logp", "tokens", "chars", "rank")}
    return columns


def read_answers(path: Path) -> tuple[Answer, ...]:
    """The answers as they were written."""
    return tuple(
        Answer(
            row["question"],
            row["template"],
            tuple(row["options"]),
            scores_from(row["scores"]),
            scores_from(row["neutral"]) if row["neutral"] is not None else None,
        )
        for row in pq.read_table(pa.BufferReader(path.read_bytes())).to_pylist()
    )


def write_task(path: Path, task: Task) -> None:
    """The task beside its answers, so that a report needs nothing else."""
    write_text(path, _TASK.dump_json(task).decode())


def read_task(path: Path) -> Task:
    """The task as it was asked."""
    return _TASK.validate_json(path.read_bytes())


def write_figures(path: Path, figures: Sequence[Figure]) -> None:
    """The figures as JSON."""
    write_text(path, _FIGURES.dump_json(list(figures), indent=2).decode())


def read_run(folder: Path) -> Run:
    """A finished run."""
    with readable(folder):
        run = Run(
            folder=folder,
            manifest=Manifest.model_validate_json((folder / MANIFEST).read_bytes()),
            task=read_task(folder / QUESTIONS),
            answers=read_answers(folder / ANSWERS),
            figures=tuple(_FIGURES.validate_json((folder / FIGURES).read_bytes())),
        )
        asked = [(q.id, t.name, q.options) for q in run.task.questions for t in run.task.templates]
        if asked != [(a.question, a.template, a.options) for a in run.answers]:
            raise ValueError("its answers are not those to its questions")
        return run


@contextmanager
def readable(folder: Path) -> Iterator[None]:
    """One sentence for whatever keeps a run's files from being read."""
    try:
        yield
    except FileNotFoundError as error:
        missing = Path(error.filename or "a file").name
        raise UserError(
            f"{folder} is not a finished run ({missing} is missing): run the same command again."
        ) from error
    except (UserError, ValueError, TypeError, KeyError, pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk's doing, not the file's
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"The run in {folder} is damaged ({said}): delete the folder and run again.") from error


def find_runs(paths: Sequence[Path]) -> list[Run]:
    """Finished runs at or below the given folders, each once, in order; unfinished ones below are left out."""
    folders: dict[Path, Path] = {}
    for path in paths:
        below = sorted(p.parent for p in path.rglob(MANIFEST))
        found = [path] if path in below else [folder for folder in below if (folder / FIGURES).is_file()]
        if len(found) < len(below) and path not in below:
            warnings.warn(f"Left out of '{path}': {len(below) - len(found)} runs that are not finished.", stacklevel=2)
        if not found:
            raise UserError(f"There is no finished run in '{path}': give a folder that `seesay probe` wrote.")
        for folder in found:
            folders.setdefault(folder.resolve(), folder)
    return [read_run(folder) for folder in folders.values()]


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A name to write under; what was written there takes the file's place when it is all on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}{_UNFINISHED}")
    try:
        yield unfinished
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _slug(name: str) -> str:
    """A name as a folder name: readable, safe, and never the same for two names."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "model"
    if safe == name and len(safe) <= 80 and not _HASHED.fullmatch(safe[-9:]):
        return safe
    return f"{safe[:80]}-{hashlib.blake2b(name.encode(), digest_size=4).hexdigest()}"
