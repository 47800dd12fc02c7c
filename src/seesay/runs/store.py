"""The run folder, `runs/<model>/<task>/<key>/`: manifest, questions, answers and figures, each written whole or not."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import filelock
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from seesay.questions import Answer, BadRow, Published, Question, Task, Template, UserError
from seesay.runs.journal import scores_from
from seesay.runs.run import Run
from seesay.runs.schema import Figure, Manifest

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
_FIGURES = TypeAdapter(list[Figure])


def folder_for(root: Path, manifest: Manifest) -> Path:
    """Where a run lives. All that shapes an answer or a figure is in the key: a change is another run, never a mix."""
    shaping = manifest.model_dump(exclude={"created", "command", "environment", "citation", "bad_rows"})
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
        yield
    finally:
        lock.release()


def write_text(path: Path, text: str) -> None:
    """Write a file whole: a reader, or a crash, sees the old one or the new one."""
    with _whole(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def write_answers(path: Path, answers: Sequence[Answer]) -> None:
    """The answers as Parquet, one row a question and template."""
    rows = [asdict(answer) for answer in answers]
    with _whole(path) as unfinished:
        pq.write_table(pa.Table.from_pylist(rows, schema=_ANSWER), unfinished, compression="zstd")


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
        for row in pq.read_table(path).to_pylist()
    )


def write_task(path: Path, task: Task) -> None:
    """The task beside its answers, so that a report needs nothing else."""
    write_text(path, json.dumps(asdict(task), ensure_ascii=False))


def read_task(path: Path) -> Task:
    """The task as it was asked."""
    row: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    row["templates"] = tuple(Template(**t) for t in row["templates"])
    row["questions"] = tuple(Question(**{**q, "options": tuple(q["options"])}) for q in row["questions"])
    row["published"] = tuple(Published(**p) for p in row["published"])
    row["bad_rows"] = tuple(BadRow(**b) for b in row["bad_rows"])
    row["metrics"] = tuple(row["metrics"])
    return Task(**row)


def write_figures(path: Path, figures: Sequence[Figure]) -> None:
    """The figures as JSON."""
    write_text(path, _FIGURES.dump_json(list(figures), indent=2).decode())


def read_run(folder: Path) -> Run:
    """A finished run."""
    try:
        return Run(
            folder=folder,
            manifest=Manifest.model_validate_json((folder / MANIFEST).read_text(encoding="utf-8")),
            task=read_task(folder / QUESTIONS),
            answers=read_answers(folder / ANSWERS),
            figures=tuple(_FIGURES.validate_json((folder / FIGURES).read_text(encoding="utf-8"))),
        )
    except FileNotFoundError as error:
        missing = Path(error.filename).name
        raise UserError(
            f"{folder} is not a finished run ({missing} is missing): run the same command again."
        ) from error
    except (ValidationError, ValueError, TypeError, KeyError, pa.ArrowException) as error:
        said = str(error).splitlines()[0]
        raise UserError(f"The run in {folder} is damaged ({said}): delete the folder and run again.") from error


def find_runs(paths: Sequence[Path]) -> list[Run]:
    """Finished runs at or below the given folders, each once, in order."""
    folders: dict[Path, None] = {}
    for path in paths:
        found = [path] if (path / MANIFEST).is_file() else sorted(p.parent for p in path.rglob(MANIFEST))
        if not found:
            raise UserError(f"There is no run in '{path}': give a folder that `seesay probe` wrote.")
        folders.update(dict.fromkeys(found))
    return [read_run(folder) for folder in folders]


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        unfinished.chmod(0o644)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _slug(name: str) -> str:
    """A name as a folder name: readable, safe, and never the same for two names that differ only in odd characters."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "model"
    if safe == name and len(safe) <= 80:
        return safe
    return f"{safe[:80]}-{hashlib.blake2b(name.encode(), digest_size=3).hexdigest()}"
