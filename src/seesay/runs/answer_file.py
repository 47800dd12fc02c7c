"""The answers of a run as Parquet, one row per question and template."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from seesay.files import atomic_write
from seesay.metrics.base import BoolArray, IntArray
from seesay.questions import Task
from seesay.runs.answer_table import NO_SCORES, AnswerTable, RaggedColumn, ScoreColumns
from seesay.runs.chosen import ExplainedAnswer, explain_answers

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
_NAMES = ["question", "template", "options"]
_READ = [*_NAMES, "scores", "neutral", "scores_row", "neutral_row"]
_ROWS = 2_000
_SHARED_BYTES = 1 << 20
"""What is read of a part is held for the next run only up to this size."""


class _Names(NamedTuple):
    """The questions, templates and options of some rows."""

    questions: list[str]
    templates: list[str]
    options: list[tuple[str, ...]]


_LATEST: deque[tuple[pa.Table, _Names]] = deque(maxlen=16)
"""The latest parts that were read: other models were asked the same, and their parts are equal."""


def write_answers(
    path: Path,
    answers: AnswerTable,
    task: Task | None = None,
    length: str = "sum",
) -> None:
    """Write the answers as Parquet, one row per question and template.

    The file is readable without the other files of the run.

    `prompt`, `gold` (labels and weights), `chosen` and `right` (`runs.chosen`) are for readers: we
    read the rest. Without the task they are empty. Scores that several rows share are written in
    the first of them; in the others `scores_row` or `neutral_row` is that row's number.
    """
    explanations: Iterator[ExplainedAnswer | None] = repeat(None)
    if task is not None:
        explanations = explain_answers(task, answers, length)
    places_by_name = {"scores": answers.places, "neutral": answers.neutral_places}
    first_rows = {name: _first_rows(places) for name, places in places_by_name.items()}
    with (
        atomic_write(path) as unfinished,
        unfinished.open("wb") as file,
        pq.ParquetWriter(file, _ANSWER, compression="zstd") as writer,
    ):
        # in parts: rows of 614 options fill the memory quickly
        for start in range(0, len(answers), _ROWS):
            stop = min(start + _ROWS, len(answers))
            rows = slice(start, stop)
            columns = _readable_columns(list(islice(explanations, stop - start)))
            columns["question"] = answers.questions[rows]
            columns["template"] = answers.templates[rows]
            columns["options"] = answers.options[rows]
            for name, places in places_by_name.items():
                part_places = places[rows]
                first = first_rows[name][rows]
                is_first = first == np.arange(start, stop)
                is_missing = part_places == NO_SCORES
                is_written = is_first & ~is_missing
                columns[name] = _score_array(
                    answers.columns,
                    part_places,
                    is_written,
                )
                columns[f"{name}_row"] = pa.array(
                    first,
                    pa.int32(),
                    mask=is_first | is_missing,
                )
            writer.write_table(pa.table(columns, schema=_ANSWER))


def _first_rows(places: IntArray) -> npt.NDArray[np.int32]:
    """Return for each row the first one that has the same scores."""
    _, first, inverse = np.unique(
        places,
        return_index=True,
        return_inverse=True,
    )
    return first.astype(np.int32)[inverse]


def _readable_columns(explanations: Sequence[ExplainedAnswer | None]) -> dict[str, Any]:
    """Return the columns that are for readers of the file; we do not read them."""
    return {
        "prompt": [row and row.prompt.text for row in explanations],
        "gold": [row and list(row.gold.items()) for row in explanations],
        "chosen": [row and row.chosen for row in explanations],
        "right": [row and row.right for row in explanations],
    }


def _score_array(columns: ScoreColumns, places: IntArray, is_present: BoolArray) -> pa.StructArray:
    """Return the scores at these places; null where they are not `is_present`."""
    present = places[is_present]
    tokens = np.asarray(columns.tokens)[present]
    chars = np.asarray(columns.chars)[present]
    lists = [
        _list_array(columns.logp, present, is_present, pa.float64()),
        _list_array(columns.lengths, tokens, is_present, pa.int32()),
        _list_array(columns.lengths, chars, is_present, pa.int32()),
        # an empty list stands for no ranks
        _list_array(columns.rank, present, is_present, pa.int32(), empty_is_null=True),
    ]
    return pa.StructArray.from_arrays(
        lists,
        fields=list(_SCORES),
        mask=pa.array(~is_present),
    )


def _list_array(
    column: RaggedColumn,
    places: IntArray,
    is_present: BoolArray,
    kind: pa.DataType,
    *,
    empty_is_null: bool = False,
) -> pa.ListArray:
    """Return the lists at these places, one for each row that is present."""
    sizes = np.zeros(len(is_present), np.int32)
    sizes[is_present] = column.sizes(places)
    is_null = ~is_present
    if empty_is_null:
        is_null |= sizes == 0
    offsets = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    values = pa.array(column.gather(places), kind)
    return pa.ListArray.from_arrays(
        pa.array(offsets),
        values,
        mask=pa.array(is_null),
    )


def read_answers(path: Path) -> AnswerTable:
    """Read the answers, part by part; rows with the same scores share them."""
    columns = ScoreColumns()
    questions: list[str] = []
    templates: list[str] = []
    options: list[tuple[str, ...]] = []
    places: dict[str, array[int]] = {"scores": array("i"), "neutral": array("i")}
    with path.open("rb") as file, pq.ParquetFile(file) as parquet:
        for part in range(parquet.num_row_groups):
            table = parquet.read_row_group(part, columns=_READ)
            names = _read_names(table.select(_NAMES))
            questions += names.questions
            templates += names.templates
            options += names.options
            for name, column_places in places.items():
                _read_places(
                    table[name],
                    table[f"{name}_row"],
                    columns,
                    column_places,
                )
    answers = AnswerTable(
        questions,
        templates,
        options,
        columns,
        np.asarray(places["scores"]),
        np.asarray(places["neutral"]),
    )
    _validate_sizes(answers)
    return answers


def _read_names(table: pa.Table) -> _Names:
    """Return what a part says of its rows; equal parts share it."""
    for earlier, names in _LATEST:
        if table.equals(earlier):
            return names
    # a name stands in many rows: it is held once
    texts: dict[str, str] = {}
    option_lists: dict[tuple[str, ...], tuple[str, ...]] = {}
    names = _Names(
        [texts.setdefault(text, text) for text in table["question"].to_pylist()],
        [texts.setdefault(text, text) for text in table["template"].to_pylist()],
        list(_read_options(table["options"], option_lists)),
    )
    if table.nbytes <= _SHARED_BYTES:
        _LATEST.append((table, names))
    return names


def _validate_sizes(answers: AnswerTable) -> None:
    """Refuse answers that have no scores, or not one per option."""
    if (answers.places == NO_SCORES).any():
        raise ValueError("an answer has no scores")
    logp = answers.columns.logp
    option_counts = np.fromiter(
        map(len, answers.options),
        np.int64,
        len(answers),
    )
    has_neutral = answers.neutral_places != NO_SCORES
    neutral_sizes = logp.sizes(answers.neutral_places[has_neutral])
    if (logp.sizes(answers.places) != option_counts).any():
        raise ValueError("an answer has not one score per option")
    if (neutral_sizes != option_counts[has_neutral]).any():
        raise ValueError("a neutral prompt has not one score per option")


def _read_places(
    scores: pa.ChunkedArray,
    shared_rows: pa.ChunkedArray,
    columns: ScoreColumns,
    places: array[int],
) -> None:
    """Add the scores of a part to the columns, and the place of each row's scores to `places`."""
    start = len(places)
    for chunk in scores.cast(_SCORES).chunks:
        is_present = _booleans(chunk.is_valid())
        chunk_places = np.full(len(chunk), NO_SCORES, np.int32)
        chunk_places[is_present] = len(columns) + np.arange(is_present.sum())
        _read_scores(chunk.filter(chunk.is_valid()), columns)
        places.frombytes(chunk_places.tobytes())
    if shared_rows.null_count == len(shared_rows):
        return
    # in order, so that a row may share the scores of one that shares them itself
    for row, shared in enumerate(shared_rows.to_pylist(), start):
        if shared is None:
            continue
        if not 0 <= shared < row:
            raise ValueError("an answer shares the scores of a row that does not come before it")
        places[row] = places[shared]


def _read_scores(scores: pa.StructArray, columns: ScoreColumns) -> None:
    """Add scores, none of which is missing, to the columns."""
    logp, tokens, chars, rank = (scores.field(field.name) for field in _SCORES)
    if logp.null_count or tokens.null_count or chars.null_count:
        raise ValueError("a score is missing")
    logp_values = _numbers(logp.flatten(), np.float64)
    # -inf is a probability of 0
    if not (np.isfinite(logp_values) | np.isneginf(logp_values)).all():
        raise ValueError("a score is not a number")
    sizes = _sizes(logp)
    rank_sizes = np.where(_booleans(rank.is_valid()), sizes, 0)
    token_counts = _read_counts(tokens, sizes)
    char_counts = _read_counts(chars, sizes)
    ranks = _read_counts(rank, rank_sizes)
    columns.logp.extend(logp_values, sizes)
    columns.rank.extend(ranks, rank_sizes)
    for column, counts in ((columns.tokens, token_counts), (columns.chars, char_counts)):
        lists, numbers = _distinct_lists(counts, sizes)
        list_places = np.array([columns.place_lengths(lengths) for lengths in lists], np.int32)
        column.frombytes(list_places[numbers].tobytes())


def _read_counts(lists: pa.ListArray, sizes: IntArray) -> npt.NDArray[np.int32]:
    """Return lengths or ranks, end to end; refuse lists of other sizes, and numbers below 0."""
    if (_sizes(lists) != sizes).any():
        raise ValueError("the scores differ in length")
    counts = _numbers(lists.flatten(), np.int32)
    if (counts < 0).any():
        raise ValueError("a length or rank is negative")
    return counts


def _distinct_lists(
    values: npt.NDArray[np.int32], sizes: IntArray
) -> tuple[list[npt.NDArray[np.int32]], IntArray]:
    """Return the distinct ones of lists that stand end to end, and for each list which it is."""
    if values.nbytes <= _SHARED_BYTES:
        return _distinct_of_bytes(values.tobytes(), sizes.astype(np.int64).tobytes())
    return _tell_apart(values, sizes)


@lru_cache(maxsize=64)
def _distinct_of_bytes(values: bytes, sizes: bytes) -> tuple[list[npt.NDArray[np.int32]], IntArray]:
    """Return the same of bytes: options, and how long they are, repeat from run to run."""
    return _tell_apart(np.frombuffer(values, np.int32), np.frombuffer(sizes, np.int64))


def _tell_apart(
    values: npt.NDArray[np.int32], sizes: IntArray
) -> tuple[list[npt.NDArray[np.int32]], IntArray]:
    """Compare lists that stand end to end."""
    if len(sizes) and sizes[0] > 0 and (sizes == sizes[0]).all():
        # NumPy tells lists of one length apart as so many bytes each
        rows = np.ascontiguousarray(values).reshape(len(sizes), -1)
        contents = rows.view(np.dtype((np.void, rows[0].nbytes))).reshape(-1)
        _, first, numbers = np.unique(contents, return_index=True, return_inverse=True)
        return list(rows[first]), numbers
    by_content: dict[bytes, int] = {}
    lists: list[npt.NDArray[np.int32]] = []
    places = np.empty(len(sizes), np.intp)
    stops = np.cumsum(sizes)
    for place, (start, stop) in enumerate(zip(stops - sizes, stops, strict=True)):
        row = values[start:stop]
        places[place] = by_content.setdefault(row.tobytes(), len(lists))
        if places[place] == len(lists):
            lists.append(row)
    return lists, places


def _sizes(lists: pa.ListArray) -> IntArray:
    """Return how many numbers each list has; 0 where it is null."""
    # Arrow's own `fill_null` would import pandas
    lengths = np.diff(_numbers(lists.offsets, np.int32))
    return np.where(_booleans(lists.is_valid()), lengths, 0)


def _numbers(values: pa.Array, kind: type[np.generic]) -> npt.NDArray[Any]:
    """Return the numbers of an Arrow array; its own `to_numpy` would import pandas."""
    if values.null_count:
        raise ValueError("a number is missing")
    if not len(values):
        return np.zeros(0, kind)
    # a slice of an array shares the buffer of the whole
    _, buffer = values.buffers()
    stop = values.offset + len(values)
    return np.frombuffer(buffer, kind)[values.offset : stop]


def _booleans(values: pa.BooleanArray) -> BoolArray:
    """Return the truth values of an Arrow array, which packs eight into a byte."""
    return _numbers(values.cast(pa.uint8()), np.uint8).astype(np.bool_)


def _read_options(
    column: pa.ChunkedArray,
    option_lists: dict[tuple[str, ...], tuple[str, ...]],
) -> Iterator[tuple[str, ...]]:
    """Yield the options of each row, each list of them once in memory."""
    for chunk in column.chunks:
        if chunk.null_count:
            raise ValueError("an answer has no options")
        words = chunk.flatten().dictionary_encode()
        names = words.dictionary.to_pylist()
        indices = _numbers(words.indices, np.int32)
        lists, numbers = _distinct_lists(indices, _sizes(chunk))
        # each list of texts is made once, and is the same object in all chunks
        texts = [tuple(names[place] for place in row) for row in lists]
        shared = [option_lists.setdefault(options, options) for options in texts]
        yield from (shared[number] for number in numbers.tolist())
