"""The run folder, `runs/<model>/<task>/<key>/`: manifest, questions, answers and figures, each written atomically."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from seesay.errors import NewerVersionError, UserError
from seesay.files import atomic_write, checksum, damage_as_user_error, write_text
from seesay.questions import Answer, Scores, Task
from seesay.runs.figures import figures
from seesay.runs.journal import flaw, packed
from seesay.runs.records import Figure, Manifest
from seesay.runs.run import Run
from seesay.runs.upgrades import FORMAT, upgrade_manifest, upgrade_task

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
        ("scores_row", pa.int32()),
        ("neutral_row", pa.int32()),
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


def stored_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """The manifest of a run that was started before, else this one, which is written.

    A damaged one is written again: the folder's name is a digest of all that it says about the answers.
    """
    if (folder / MANIFEST).is_file():
        try:
            with damaged_run(folder):
                return read_manifest(folder / MANIFEST)
        except NewerVersionError:
            raise
        except UserError as error:
            log.warning("%s is written again: %s", folder / MANIFEST, error)
    return write_manifest(folder, manifest)


def read_manifest(path: Path) -> Manifest:
    """Read a manifest of any format up to today's."""
    document = upgrade_manifest(json.loads(path.read_bytes()))
    newer = document.get("format") if isinstance(document, dict) else None
    if isinstance(newer, int) and newer > FORMAT:
        raise NewerVersionError(
            f"The run in {path.parent} was written by a newer seesay (format {newer}, this one reads {FORMAT}): "
            "update seesay to read it."
        )
    return Manifest.model_validate(document)


def is_intact(folder: Path, name: str, manifest: Manifest) -> bool:
    """Whether a file is there, and as the run left it. Runs of earlier versions do not say how that was."""
    digest = manifest.digests.get(name)
    return (folder / name).is_file() and (digest is None or checksum(folder / name) == digest)


def write_answers(path: Path, answers: Sequence[Answer]) -> None:
    """Write the answers as Parquet, one row per question and template.

    Scores that several rows share are written in the first of them; in the others `scores_row` or `neutral_row` is that
    row's number.
    """
    rows: dict[int, int] = {}
    with (
        atomic_write(path) as unfinished,
        unfinished.open("wb") as file,
        pq.ParquetWriter(file, _ANSWER, compression="zstd") as writer,
    ):
        for start in range(0, len(answers), _ROWS):  # in parts: rows of 614 options fill the memory quickly
            writer.write_table(_table(answers[start : start + _ROWS], start, rows))


def write_replies(path: Path, answers: Sequence[Answer]) -> None:
    """Write the free answers, if there are any, with the option that each names or the reason why it names none."""
    rows = [
        {"question": a.question, "template": a.template, "reply": text, "outcome": outcome, "named": named}
        for a in answers
        for text, outcome, named in a.scores.replies or ()
    ]
    if rows:
        write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def _table(answers: Sequence[Answer], start: int, rows: dict[int, int]) -> pa.Table:
    """A part of the answers; `rows` says in which row of its column a `Scores` object was written."""
    columns: dict[str, Any] = {
        "question": pa.array([answer.question for answer in answers], pa.string()),
        "template": pa.array([answer.template for answer in answers], pa.string()),
        "options": pa.array([answer.options for answer in answers], pa.list_(pa.string())),
    }
    for name, number in (("scores", 0), ("neutral", 1)):
        own: list[Scores | None] = []
        elsewhere: list[int | None] = []
        for row, scores in enumerate(((a.scores, a.neutral)[number] for a in answers), start):
            first = None if scores is None else rows.setdefault(2 * id(scores) + number, row)
            own.append(scores if first == row else None)
            elsewhere.append(None if first == row else first)
        columns[name] = _score_array(own)
        columns[f"{name}_row"] = pa.array(elsewhere, pa.int32())
    return pa.table(columns, schema=_ANSWER)


def _score_array(scores: Sequence[Scores | None]) -> pa.StructArray:
    lists = []
    for field in _SCORES:
        values = [None if each is None else getattr(each, field.name) for each in scores]
        arrays = [
            None if value is None else np.asarray(value, field.type.value_type.to_pandas_dtype()) for value in values
        ]
        lists.append(pa.array(arrays, field.type))
    return pa.StructArray.from_arrays(lists, fields=list(_SCORES), mask=pa.array([each is None for each in scores]))


def read_answers(path: Path) -> tuple[Answer, ...]:
    """Read the answers, part by part; rows with the same scores share them."""
    answers: list[Answer] = []
    lengths: dict[bytes, array[int]] = {}
    options: dict[tuple[str, ...], tuple[str, ...]] = {}
    held: dict[str, list[Scores | None]] = {"scores": [], "neutral": []}
    with path.open("rb") as file, pq.ParquetFile(file) as parquet:
        for part in range(parquet.num_row_groups):
            table = parquet.read_row_group(part)
            for name, column in held.items():
                own = _read_scores(table[name].cast(_SCORES), lengths)
                rows = table[f"{name}_row"].to_pylist() if f"{name}_row" in table.column_names else [None] * len(own)
                for scores, row in zip(own, rows, strict=True):
                    if row is not None and not 0 <= row < len(column):
                        raise ValueError("an answer shares the scores of a row that does not come before it")
                    column.append(scores if row is None else column[row])
            texts = zip(table["question"].to_pylist(), table["template"].to_pylist(), strict=True)
            lists = _read_options(table["options"], options)
            for (question, template), labels in zip(texts, lists, strict=True):
                scores, neutral = (column[len(answers)] for column in held.values())
                if scores is None or len(scores.logp) != len(labels):
                    raise ValueError("an answer has not one score per option")
                answers.append(Answer(question, template, labels, scores, neutral))
    return tuple(answers)


def _read_scores(column: pa.ChunkedArray, lengths: dict[bytes, array[int]]) -> list[Scores | None]:
    scores: list[Scores | None] = []
    for chunk in column.chunks:
        fields = [
            (lists.values.to_numpy(zero_copy_only=False), lists.offsets.to_pylist(), lists.is_valid().to_pylist())
            for lists in (chunk.field(field.name) for field in _SCORES)
        ]
        finite = bool(np.isfinite(fields[0][0]).all())  # else row by row
        if any(np.min(flat, initial=0) < 0 for flat, _, _ in fields[1:]):
            raise ValueError("a length or rank is negative")
        for row, present in enumerate(chunk.is_valid().to_pylist()):
            columns: list[Any] = [
                flat[bounds[row] : bounds[row + 1]] if valid[row] else None for flat, bounds, valid in fields
            ]
            if present and any(column is None for column in columns[:3]):
                raise ValueError("a score is missing")
            read = Scores(*columns) if present else None
            if read and not finite and (problem := flaw(read)):
                raise ValueError(problem)
            scores.append(packed(read, lengths) if read else None)
    return scores


def _read_options(column: pa.ChunkedArray, known: dict[tuple[str, ...], tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """The options of each row, each list of them once in memory."""
    previous: pa.Array | None = None
    options: tuple[str, ...] = ()
    for row in column:
        if previous is None or not row.values.equals(previous):
            options = tuple(row.values.to_pylist())
            options = known.setdefault(options, options)
            previous = row.values
        yield options


def write_task(path: Path, task: Task) -> None:
    """Write the task beside its answers, so that a report needs nothing else; each list of options stands once."""
    document = _TASK.dump_python(task, mode="json", exclude={"load_splits"})
    numbers: dict[tuple[str, ...], int] = {}
    for question, stored in zip(task.questions, document["questions"], strict=True):
        stored["options"] = numbers.setdefault(question.options, len(numbers))
    write_text(path, json.dumps({**document, "option_lists": list(numbers)}))


def read_task(path: Path) -> Task:
    """Read the task as it was asked."""
    task = _TASK.validate_python(upgrade_task(json.loads(path.read_bytes())), strict=False)
    shared: dict[tuple[str, ...], tuple[str, ...]] = {}
    questions = (replace(q, options=shared.setdefault(q.options, q.options)) for q in task.questions)
    return replace(task, questions=tuple(questions))


def finish(folder: Path, run_figures: Sequence[Figure]) -> None:
    """Write the figures, and before them digests of the finished files into the manifest: an edit is noticed."""
    content = _FIGURES.dump_json(list(run_figures), indent=2)
    digests = {name: checksum(folder / name) for name in (QUESTIONS, ANSWERS)} | {FIGURES: checksum(content)}
    write_manifest(folder, read_manifest(folder / MANIFEST).model_copy(update={"digests": digests}))
    write_text(folder / FIGURES, content.decode())


def read_run(folder: Path, answers: tuple[Answer, ...] | None = None) -> Run:
    """Read a finished run; `answers` are its answers where they have been read already.

    Figures that were edited or damaged since are computed again from the answers.
    """
    with damaged_run(folder):
        manifest = read_manifest(folder / MANIFEST)
        for name in (QUESTIONS, ANSWERS):
            if (folder / name).is_file() and not is_intact(folder, name, manifest):
                raise ValueError(f"{name} was changed after the run")
        task = read_task(folder / QUESTIONS)
        answers = read_answers(folder / ANSWERS) if answers is None else answers
        expected = [(q.id, t.name, q.options) for q in task.questions for t in task.templates]
        if expected != [(a.question, a.template, a.options) for a in answers]:
            raise ValueError("its answers do not match its questions")
        return Run(folder, manifest, task, answers, _read_figures(folder, manifest, task, answers))


def _read_figures(folder: Path, manifest: Manifest, task: Task, answers: Sequence[Answer]) -> tuple[Figure, ...]:
    content = (folder / FIGURES).read_bytes()
    if not is_intact(folder, FIGURES, manifest):
        log.warning("%s was changed after the run: its figures are computed again.", folder / FIGURES)
        neutral = task.neutral if any(answer.neutral for answer in answers) else {}
        return tuple(figures(manifest, replace(task, neutral=neutral), answers))
    return tuple(_FIGURES.validate_json(content))


@contextmanager
def damaged_run(folder: Path) -> Iterator[None]:
    """One sentence for whatever keeps a run's files from being read."""
    try:
        with damage_as_user_error(f"The run in {folder}", "delete the folder and run again"):
            yield
    except UserError as error:
        if isinstance(missing := error.__cause__, FileNotFoundError):
            name = Path(missing.filename or "a file").name
            raise UserError(
                f"{folder} is not a finished run ({name} is missing): run the same command again."
            ) from error
        raise


def find_runs(paths: Sequence[Path]) -> list[Run]:
    """Finished runs at or below the given folders, each once, in order; others are left out with a sentence."""
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
    runs: list[Run] = []
    errors: list[UserError] = []
    for folder in folders.values():
        try:
            runs.append(read_run(folder))
        except UserError as error:  # one damaged run does not stop a report of a hundred
            errors.append(error)
    if not runs:
        raise errors[0]
    for left_out in errors:
        log.warning("Left out: %s", left_out)
    return runs


def _slug(name: str) -> str:
    """A name as a folder name: readable, safe, and never the same for two names."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "model"
    if safe == name and len(safe) <= 80 and not _HASHED.fullmatch(safe[-9:]):
        return safe
    return f"{safe[:80]}-{hashlib.blake2b(name.encode(), digest_size=4).hexdigest()}"
