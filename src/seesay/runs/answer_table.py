"""The answers of a run as Parquet, one row per question and template."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from seesay.files import atomic_write
from seesay.questions import Answer, Scores, Task
from seesay.runs.chosen import ReadableAnswer, readable
from seesay.runs.journal import flaw

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


def write_answers(
    path: Path, answers: Sequence[Answer], task: Task | None = None, length: str = "sum"
) -> None:
    """Write the answers as Parquet, one row per question and template, readable without the other
    files of the run.

    `prompt`, `gold` (labels and weights), `chosen` and `right` (`runs.chosen`) are for readers: we
    read the rest. Without the task they are empty. Scores that several rows share are written in
    the first of them; in the others `scores_row` or `neutral_row` is that row's number.
    """
    rows: dict[int, int] = {}
    explained = readable(task, answers, length) if task else repeat(None)
    with (
        atomic_write(path) as unfinished,
        unfinished.open("wb") as file,
        pq.ParquetWriter(file, _ANSWER, compression="zstd") as writer,
    ):
        # in parts: rows of 614 options fill the memory quickly
        for start in range(0, len(answers), _ROWS):
            part = answers[start : start + _ROWS]
            writer.write_table(_table(part, list(islice(explained, len(part))), start, rows))


def _table(
    answers: Sequence[Answer],
    explained: Sequence[ReadableAnswer | None],
    start: int,
    rows: dict[int, int],
) -> pa.Table:
    """A part of the answers; `rows` says in which row of its column a `Scores` object was
    written."""
    columns: dict[str, Any] = {
        "question": [answer.question for answer in answers],
        "template": [answer.template for answer in answers],
        "prompt": [row and row.prompt.text for row in explained],
        "options": [answer.options for answer in answers],
        "gold": [row and list(row.gold.items()) for row in explained],
        "chosen": [row and row.chosen for row in explained],
        "right": [row and row.right for row in explained],
    }
    for name, number in (("scores", 0), ("neutral", 1)):
        own: list[Scores | None] = []
        elsewhere: list[int | None] = []
        for row, scores in enumerate(((a.scores, a.neutral)[number] for a in answers), start):
            if scores is None:
                first = None
            else:
                first = rows.setdefault(2 * id(scores) + number, row)
            own.append(scores if first == row else None)
            elsewhere.append(None if first == row else first)
        columns[name] = _score_array(own)
        columns[f"{name}_row"] = elsewhere
    return pa.table(columns, schema=_ANSWER)


def _score_array(scores: Sequence[Scores | None]) -> pa.StructArray:
    lists = []
    for field in _SCORES:
        values = [None if each is None else getattr(each, field.name) for each in scores]
        arrays = [
            None if value is None else np.asarray(value, str(field.type.value_type))
            for value in values
        ]
        lists.append(pa.array(arrays, field.type))
    return pa.StructArray.from_arrays(
        lists, fields=list(_SCORES), mask=pa.array([each is None for each in scores])
    )


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
                shared = table[f"{name}_row"]
                if shared.null_count == len(own):
                    column += own
                    continue
                for scores, row in zip(own, shared.to_pylist(), strict=True):
                    if row is not None and not 0 <= row < len(column):
                        raise ValueError(
                            "an answer shares the scores of a row that does not come before it"
                        )
                    column.append(scores if row is None else column[row])
            texts = table["question"].to_pylist(), table["template"].to_pylist()
            start = len(answers)
            if any(scores is None for scores in held["scores"][start:]):
                raise ValueError("an answer has no scores")
            lists = _read_options(table["options"], options)
            rows = list(
                zip(*texts, lists, *(column[start:] for column in held.values()), strict=True)
            )
            if any(len(scores.logp) != len(labels) for _, _, labels, scores, _ in rows):
                raise ValueError("an answer has not one score per option")
            answers += [Answer(*row) for row in rows]
    return tuple(answers)


def _read_scores(column: pa.ChunkedArray, lengths: dict[bytes, array[int]]) -> list[Scores | None]:
    """The scores of each row as packed arrays (`journal.packed`), cut from the bytes of the whole
    column."""
    scores: list[Scores | None] = []
    for chunk in column.chunks:
        fields = [chunk.field(field.name) for field in _SCORES]
        logps = fields[0].values  # checked by Arrow, since `to_numpy` imports pandas
        # else row by row
        finite = not logps.null_count and pc.all(pc.is_finite(logps), min_count=0).as_py()
        if any((pc.min(field.values).as_py() or 0) < 0 for field in fields[1:]):
            raise ValueError("a length or rank is negative")
        for present, logp, tokens, chars, rank in zip(
            chunk.is_valid().to_pylist(), *map(_cut, fields), strict=True
        ):
            if not present:
                scores.append(None)
                continue
            if logp is None or tokens is None or chars is None:
                raise ValueError("a score is missing")
            sizes = {len(logp) // 2, len(tokens), len(chars), len(tokens if rank is None else rank)}
            if len(sizes) > 1:
                raise ValueError("the scores differ in length")
            for key in (tokens, chars):
                if key not in lengths:
                    lengths[key] = array("i", key)
            ranks = None if rank is None else array("i", rank)
            stored = Scores(array("d", logp), lengths[tokens], lengths[chars], ranks)
            if not finite and (problem := flaw(stored)):
                raise ValueError(problem)
            scores.append(stored)
    return scores


def _cut(lists: pa.ListArray) -> list[bytes | None]:
    """Each row of numbers as bytes."""
    values = lists.values
    width = values.type.bit_width // 8
    data = b"" if values.buffers()[1] is None else values.buffers()[1].to_pybytes()
    shift = values.offset
    bounds = [width * (shift + bound) for bound in lists.offsets.to_pylist()]
    valid = lists.is_valid().to_pylist()
    return [
        data[low:high] if here else None
        for low, high, here in zip(bounds, bounds[1:], valid, strict=False)
    ]


def _read_options(
    column: pa.ChunkedArray, known: dict[tuple[str, ...], tuple[str, ...]]
) -> Iterator[tuple[str, ...]]:
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
