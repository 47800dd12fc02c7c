"""The run folder, `runs/<model>/<task>/<key>/`: manifest, questions, answers and figures, each written atomically."""

from __future__ import annotations

import gc
import hashlib
import json
import logging
import re
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from seesay.errors import UserError
from seesay.files import atomic_write, write_text
from seesay.questions import Answer, Scores, Task
from seesay.runs.chosen import ReadableAnswer, readable
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
        ("prompt", pa.string()),
        ("options", pa.list_(pa.string())),
        ("gold", pa.map_(pa.string(), pa.float64())),
        ("chosen", pa.string()),
        ("right", pa.float64()),
        ("scores", _SCORES),
        ("neutral", _SCORES),
        ("scores_row", pa.int32()),
        ("neutral_row", pa.int32()),
    ]
)
_READ = ["question", "template", "options", "scores", "neutral", "scores_row", "neutral_row"]
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
    return root / slug(manifest.model) / slug(manifest.task) / key


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


def write_answers(path: Path, answers: Sequence[Answer], task: Task | None = None, length: str = "sum") -> None:
    """Write the answers as Parquet, one row per question and template, readable without the other files of the run.

    `prompt`, `gold` (labels and weights), `chosen` and `right` (`runs.chosen`) are for readers: we read the rest.
    Without the task they are empty.
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
            part = answers[start : start + _ROWS]
            explained = list(readable(task, part, length)) if task else [None] * len(part)
            writer.write_table(_table(part, explained, start, rows))


def write_replies(path: Path, answers: Sequence[Answer]) -> None:
    """Write the free answers, if there are any, with the option that each names or the reason why it names none."""
    rows = [
        {"question": a.question, "template": a.template, "reply": text, "outcome": outcome, "named": named}
        for a in answers
        for text, outcome, named in a.scores.replies or ()
    ]
    if rows:
        write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def _table(
    answers: Sequence[Answer], explained: Sequence[ReadableAnswer | None], start: int, rows: dict[int, int]
) -> pa.Table:
    """A part of the answers; `rows` says in which row of its column a `Scores` object was written."""
    columns: dict[str, Any] = {
        "question": pa.array([answer.question for answer in answers], pa.string()),
        "template": pa.array([answer.template for answer in answers], pa.string()),
        "prompt": pa.array([row and row.prompt.text for row in explained], pa.string()),
        "options": pa.array([answer.options for answer in answers], pa.list_(pa.string())),
        "gold": pa.array([row and list(row.gold.items()) for row in explained], _ANSWER.field("gold").type),
        "chosen": pa.array([row and row.chosen for row in explained], pa.string()),
        "right": pa.array([row and row.right for row in explained], pa.float64()),
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
            table = parquet.read_row_group(part, columns=_READ)
            for name, column in held.items():
                own = _read_scores(table[name].cast(_SCORES), lengths)
                shared = table[f"{name}_row"] if f"{name}_row" in table.column_names else None
                if shared is None or shared.null_count == len(own):
                    column += own
                    continue
                for scores, row in zip(own, shared.to_pylist(), strict=True):
                    if row is not None and not 0 <= row < len(column):
                        raise ValueError("an answer shares the scores of a row that does not come before it")
                    column.append(scores if row is None else column[row])
            texts = table["question"].to_pylist(), table["template"].to_pylist()
            start = len(answers)
            if any(scores is None for scores in held["scores"][start:]):
                raise ValueError("an answer has no scores")
            lists = _read_options(table["options"], options)
            answers += map(Answer, *texts, lists, *(column[start:] for column in held.values()))
    return tuple(answers)


def _read_scores(column: pa.ChunkedArray, lengths: dict[bytes, array[int]]) -> list[Scores | None]:
    """The scores of each row as packed arrays (`journal.packed`), cut from the bytes of the whole column."""
    scores: list[Scores | None] = []
    for chunk in column.chunks:
        columns = [_cut(chunk.field(field.name)) for field in _SCORES]
        for present, logp, tokens, chars, rank in zip(chunk.is_valid().to_pylist(), *columns, strict=True):
            if not present:
                scores.append(None)
                continue
            sizes = {len(logp) // 2, len(tokens), len(chars), len(tokens if rank is None else rank)}
            if len(sizes) > 1:
                raise ValueError("the scores differ in length")
            for key in (tokens, chars):
                if key not in lengths:
                    lengths[key] = array("i", key)
            ranks = None if rank is None else array("i", rank)
            scores.append(Scores(array("d", logp), lengths[tokens], lengths[chars], ranks))
    return scores


def _cut(lists: pa.ListArray) -> list[bytes | None]:
    """Each row of numbers as bytes."""
    values = lists.values
    width = values.type.bit_width // 8
    data = b"" if values.buffers()[1] is None else values.buffers()[1].to_pybytes()
    shift = values.offset
    bounds = [width * (shift + bound) for bound in lists.offsets.to_pylist()]
    valid = lists.is_valid().to_pylist()
    return [data[low:high] if here else None for low, high, here in zip(bounds, bounds[1:], valid, strict=False)]


def _read_options(column: pa.ChunkedArray, known: dict[tuple[str, ...], tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """The options of each row, each list of them once in memory."""
    for chunk in column.chunks:
        words = chunk.values.dictionary_encode()
        names = words.dictionary.to_pylist()
        lists: dict[bytes, tuple[str, ...]] = {}
        for row in _cut(pa.ListArray.from_arrays(chunk.offsets, words.indices)):
            assert row is not None
            if row not in lists:
                options = tuple(names[place] for place in array("i", row))
                lists[row] = known.setdefault(options, options)
            yield lists[row]


def write_task(path: Path, task: Task) -> None:
    """Write the task beside its answers, so that a report needs nothing else; each list of options stands once."""
    document = _TASK.dump_python(task, mode="json", exclude={"load_splits"})
    numbers: dict[tuple[str, ...], int] = {}
    for question, stored in zip(task.questions, document["questions"], strict=True):
        stored["options"] = numbers.setdefault(question.options, len(numbers))
    write_text(path, json.dumps({**document, "option_lists": list(numbers)}))


def read_task(path: Path) -> Task:
    """Read the task as it was asked; runs that were asked the same share it."""
    return _parse_task(path.read_bytes())


@lru_cache(maxsize=64)
def _parse_task(document: bytes) -> Task:
    task = _TASK.validate_python(upgrade_task(json.loads(document)), strict=False)
    shared: dict[tuple[str, ...], tuple[str, ...]] = {}
    questions = (replace(q, options=shared.setdefault(q.options, q.options)) for q in task.questions)
    return replace(task, questions=tuple(questions))


def write_figures(path: Path, figures: Sequence[Figure]) -> None:
    """Write the figures as JSON."""
    write_text(path, _FIGURES.dump_json(list(figures), indent=2).decode())


def read_run(folder: Path, answers: tuple[Answer, ...] | None = None) -> Run:
    """Read a finished run; `answers` are its answers where they have been read already."""
    with damage_as_user_error(folder):
        run = Run(
            folder=folder,
            manifest=read_manifest(folder / MANIFEST),
            task=read_task(folder / QUESTIONS),
            answers=read_answers(folder / ANSWERS) if answers is None else answers,
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
    except (UserError, ValueError, TypeError, LookupError, RecursionError, pa.ArrowException, OSError) as error:
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
    collects = gc.isenabled()
    gc.disable()  # what is read stays: looking through it for garbage again and again takes a third of the time
    try:
        return [read_run(folder) for folder in folders.values()]
    finally:
        if collects:
            gc.enable()


def slug(name: str) -> str:
    """A name as a folder name: readable, safe, and never the same for two names."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "model"
    if safe == name and len(safe) <= 80 and not _HASHED.fullmatch(safe[-9:]):
        return safe
    return f"{safe[:80]}-{hashlib.blake2b(name.encode(), digest_size=4).hexdigest()}"
