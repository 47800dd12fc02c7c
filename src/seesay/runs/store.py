"""The run folder, `runs/<model>/<task>/<key>/`: manifest, questions, answers and figures, each written atomically."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from seesay.errors import UserError
from seesay.files import atomic_write, write_text
from seesay.questions import Answer, Task
from seesay.runs.journal import scores_from
from seesay.runs.records import Figure, Manifest
from seesay.runs.run import Run
from seesay.runs.upgrades import upgrade_manifest, upgrade_task

log = logging.getLogger(__name__)

MANIFEST, JOURNAL, QUESTIONS, REPLIES, ANSWERS, FIGURES = (
    "manifest.json",
    "journal.jsonl",
    "questions.json",
    "replies.jsonl",
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
_SHAPING = {
    *("seesay", "model", "family", "model_fingerprint", "task", "task_version", "task_fingerprint", "templates"),
    *("questions", "limit", "scope", "length", "seed", "resamples", "signature"),
}
_HASHED = re.compile(r"-[0-9a-f]{8}")


def folder_for(root: Path, manifest: Manifest) -> Path:
    """Where a run lives. Everything that shapes an answer or a figure is in the key: a change is another run."""
    shaping = manifest.model_dump(include=_SHAPING)
    key = hashlib.blake2b(json.dumps(shaping, sort_keys=True).encode(), digest_size=5).hexdigest()
    return root / _slug(manifest.model) / _slug(manifest.task) / key


def write_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """The manifest, written to the run's folder."""
    write_text(folder / MANIFEST, manifest.model_dump_json(indent=2))
    return manifest


def stored_manifest(folder: Path) -> Manifest | None:
    """The manifest of a run that was started before."""
    if not (folder / MANIFEST).is_file():
        return None
    with damage_as_user_error(folder):
        return read_manifest(folder / MANIFEST)


def read_manifest(path: Path) -> Manifest:
    """Read a manifest of any format."""
    return Manifest.model_validate(upgrade_manifest(json.loads(path.read_bytes())))


def write_answers(path: Path, answers: Sequence[Answer]) -> None:
    """Write the answers as Parquet, one row per question and template."""
    with (
        atomic_write(path) as unfinished,
        unfinished.open("wb") as file,
        pq.ParquetWriter(file, _ANSWER, compression="zstd") as writer,
    ):
        for start in range(0, len(answers), _ROWS):  # in parts: rows of 614 options fill the memory quickly
            writer.write_table(pa.Table.from_pylist([_row(a) for a in answers[start : start + _ROWS]], schema=_ANSWER))


def write_replies(path: Path, answers: Sequence[Answer]) -> None:
    """Write the free answers, if there are any, with the option that each names or the reason why it names none."""
    rows = [
        {"question": a.question, "template": a.template, "reply": text, "outcome": outcome, "named": named}
        for a in answers
        for text, outcome, named in a.scores.replies or ()
    ]
    if rows:
        write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def _row(answer: Answer) -> dict[str, Any]:
    columns = dict(zip(_ANSWER.names, (answer.question, answer.template, answer.options), strict=False))
    for name, scores in (("scores", answer.scores), ("neutral", answer.neutral)):
        columns[name] = scores and {field: getattr(scores, field) for field in ("logp", "tokens", "chars", "rank")}
    return columns


def read_answers(path: Path) -> tuple[Answer, ...]:
    """Read the answers."""
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
    """Write the task beside its answers, so that a report needs nothing else."""
    write_text(path, _TASK.dump_json(task, exclude={"load_splits"}).decode())


def read_task(path: Path) -> Task:
    """Read the task as it was asked."""
    return _TASK.validate_python(upgrade_task(json.loads(path.read_bytes())), strict=False)


def write_figures(path: Path, figures: Sequence[Figure]) -> None:
    """Write the figures as JSON."""
    write_text(path, _FIGURES.dump_json(list(figures), indent=2).decode())


def read_run(folder: Path) -> Run:
    """Read a finished run."""
    with damage_as_user_error(folder):
        run = Run(
            folder=folder,
            manifest=read_manifest(folder / MANIFEST),
            task=read_task(folder / QUESTIONS),
            answers=read_answers(folder / ANSWERS),
            figures=tuple(_FIGURES.validate_json((folder / FIGURES).read_bytes())),
        )
        expected = [(q.id, t.name, q.options) for q in run.task.questions for t in run.task.templates]
        if expected != [(a.question, a.template, a.options) for a in run.answers]:
            raise ValueError("its answers do not match its questions")
        return run


@contextmanager
def damage_as_user_error(folder: Path) -> Iterator[None]:
    """One sentence for whatever keeps a run's files from being read."""
    try:
        yield
    except FileNotFoundError as error:
        missing = Path(error.filename or "a file").name
        raise UserError(
            f"{folder} is not a finished run ({missing} is missing): run the same command again."
        ) from error
    except (UserError, ValueError, TypeError, KeyError, RecursionError, pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # a problem of the disk, not of the file
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"The run in {folder} is damaged ({reason}): delete the folder and run again.") from error


def find_runs(paths: Sequence[Path]) -> list[Run]:
    """Finished runs at or below the given folders, each once, in order; unfinished ones below are left out."""
    folders: dict[Path, Path] = {}
    for path in paths:
        below = sorted(p.parent for p in path.rglob(MANIFEST))
        finished = [path] if path in below else [folder for folder in below if (folder / FIGURES).is_file()]
        if len(finished) < len(below) and path not in below:
            log.warning("Left out of '%s': %d runs that are not finished.", path, len(below) - len(finished))
        if not finished:
            raise UserError(f"There is no finished run in '{path}': give a folder that `seesay probe` wrote.")
        for folder in finished:
            folders.setdefault(folder.resolve(), folder)
    return [read_run(folder) for folder in folders.values()]


def _slug(name: str) -> str:
    """A name as a folder name: readable, safe, and never the same for two names."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "model"
    if safe == name and len(safe) <= 80 and not _HASHED.fullmatch(safe[-9:]):
        return safe
    return f"{safe[:80]}-{hashlib.blake2b(name.encode(), digest_size=4).hexdigest()}"
