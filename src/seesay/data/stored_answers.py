"""Answers that exist already, in files of anyone's making.

These are JSON lines or Parquet, lm-eval's logged samples, or a run's own table.

A row names its question (`question` or `id`), where there are several its template, and holds
log-probabilities (`logp`: a mapping from options, or a list in their order) or a text (`answer`, or
a list of samples). A logged sample of lm-eval is known by the text that it put to the model, and
its log-probabilities are those of the choices that were put.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from seesay.data.cells import BadValueError, Cells
from seesay.data.task_files.schema_rows import Reading
from seesay.data.task_files.tables import name_rows, read_file
from seesay.errors import UserError
from seesay.questions import BadRow

IDS = ("question", "id", "question_id")
LOGPS = ("logp", "logprobs", "log_probabilities")
TEXTS = ("answer", "text", "reply", "response", "output", "prediction")
SUFFIXES = (".jsonl", ".ndjson", ".parquet", ".jsonl.gz")
SAMPLES = "samples_*.jsonl"
ROUNDING = 1e-6
"""How far above 0 the logarithm of a probability may come out."""


@dataclass(frozen=True, slots=True)
class StoredRow:
    """One stored answer: scores, or texts, or both.

    It answers the question of this id, or the one that was put like `context`. `options` name the
    scores, in their order; without any they are in the order of the question's options.
    """

    question: str | None
    template: str | None
    context: str | None
    logp: tuple[float, ...] | None = None
    texts: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def read_stored(path: Path) -> tuple[list[StoredRow], list[BadRow]]:
    """Read the answers in a file or in the files of a folder, and the rows to report.

    Of a folder with logged samples of lm-eval only these are read.
    """
    rows: list[StoredRow] = []
    bad: list[BadRow] = []
    for file in answer_files(path):
        table = name_rows(read_file(file, Reading()), file.name)
        bad += table.bad
        scores_by_row = {str(row.number - 1): row.cells.get("scores") for row in table.rows}
        for row in table.rows:
            # a run's own table has scores that several rows share in the first of them
            shared_from = row.cells.get("scores_row")
            if row.cells.get("scores") is None and shared_from is not None:
                row.cells["scores"] = scores_by_row.get(str(shared_from))
            try:
                rows.append(_parse_row(row.cells))
            except BadValueError as error:
                bad.append(row.bad(str(error)))
    if not rows:
        reason = f" ({bad[0]})" if bad else ""
        raise UserError(
            f"'{path}' holds no stored answer{reason}: docs/asking.md says what a row looks like."
        )
    return rows, bad


def answer_files(path: Path) -> list[Path]:
    """Return the files of stored answers that a path stands for, in order."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UserError(f"There is no file '{path}' of stored answers.")
    # lm-eval writes its results beside its samples, as JSON of another shape.
    files = sorted(path.rglob(SAMPLES))
    if not files:
        files = sorted(file for file in path.iterdir() if file.name.endswith(SUFFIXES))
    if not files:
        raise UserError(
            f"'{path}' has no file of stored answers: give a JSON lines or Parquet file."
        )
    return files


def _parse_row(cells: Cells) -> StoredRow:
    """Parse a row of anyone's making, a run's own table included."""
    # No other program writes this key.
    if "filtered_resps" in cells:
        return _parse_logged_sample(cells)
    question = _only_value(cells, IDS)
    if question is None:
        raise BadValueError(f"no question is named (`{IDS[0]}`)")
    # A run's own table nests its log-probabilities; a file made by hand has them at the top.
    scores = cells.get("scores")
    if isinstance(scores, Mapping):
        logp = scores.get("logp")
    else:
        logp = _only_value(cells, LOGPS)
    texts = _only_value(cells, TEXTS)
    if logp is None and texts is None:
        raise BadValueError(f"neither log-probabilities (`{LOGPS[0]}`) nor a text (`{TEXTS[0]}`)")
    row = StoredRow(
        question=str(question),
        template=_as_text(cells.get("template")),
        context=None,
        texts=() if texts is None else _parse_texts(texts),
    )
    if logp is None:
        return row
    return _with_scores(row, logp, cells.get("options"))


def _with_scores(
    row: StoredRow,
    logp: Any,
    options: Any,
) -> StoredRow:
    """Return the row with its log-probabilities, and with the options that name them."""
    names = tuple(map(str, options)) if _is_list(options) else ()
    numbers = _parse_logp(logp)
    if isinstance(numbers, Mapping):
        names = tuple(numbers)
        numbers = list(numbers.values())
    if names and len(names) != len(numbers):
        raise BadValueError(f"{len(numbers)} log-probabilities of {len(names)} options")
    if len(set(names)) < len(names):
        raise BadValueError("an option has two log-probabilities")
    return replace(row, logp=tuple(numbers), options=names)


def _parse_logged_sample(cells: Cells) -> StoredRow:
    """Parse a line of lm-eval's `--log_samples`.

    It has one [log-probability, is greedy] per choice, or the text written.
    """
    document = cells.get("doc")
    if not isinstance(document, Mapping):
        document = {}
    requests = logged_requests(cells.get("arguments"))
    contexts = {context for context, _ in requests}
    if len(contexts) > 1:
        raise BadValueError("its choices follow different texts")
    row = StoredRow(
        question=_as_text(first_value(document, IDS)),
        template=None,
        context=next(iter(contexts), None),
    )
    responses = cells["filtered_resps"]
    if not _is_list(responses) or not responses:
        raise BadValueError("no response was logged")
    if not all(_is_list(response) and len(response) == 2 for response in responses):
        return replace(row, texts=_parse_texts(responses))
    choices = [choice for _, choice in requests] or document.get("choices")
    return _with_scores(row, [response[0] for response in responses], choices)


def logged_requests(arguments: Any) -> list[tuple[str, str]]:
    """Return the text that lm-eval put to the model and what followed it, choice by choice."""
    if isinstance(arguments, Mapping):
        arguments = list(arguments.values())
    if not _is_list(arguments):
        return []
    requests = []
    for request in arguments:
        if isinstance(request, Mapping):
            request = [request.get("arg_0"), request.get("arg_1")]
        if not _is_list(request) or len(request) < 2 or request[0] is None:
            return []
        context, choice = request[:2]
        requests.append((as_spoken(str(context)), as_spoken(str(choice))))
    return requests


def as_spoken(text: str) -> str:
    """Return a text with one space for every run of them, and none at its ends.

    >>> as_spoken(" red. ")
    'red.'
    """
    return " ".join(text.split())


def first_value(cells: Cells, names: Sequence[str]) -> Any:
    """Return the value under the first of these names that has one."""
    values = (cells.get(name) for name in names)
    return next((value for value in values if value is not None), None)


def _only_value(cells: Cells, names: Sequence[str]) -> Any:
    """Return the value under any of these names; values that differ are refused, since one of them
    may be the gold answer, or the question's text."""
    values = {name: cells[name] for name in names if cells.get(name) is not None}
    value = next(iter(values.values()), None)
    for name, other in values.items():
        if other != value:
            raise BadValueError(f"`{next(iter(values))}` and `{name}` differ: keep one of them")
    return value


def _as_text(value: Any) -> str | None:
    """Return a value as a text, if there is one."""
    if value is None:
        return None
    return str(value)


def _is_list(value: Any) -> bool:
    """Return whether a value is a list: JSON has lists, and Arrow may give tuples."""
    return isinstance(value, list | tuple)


def _parse_texts(value: Any) -> tuple[str, ...]:
    """Return the texts that a model wrote; one that it left out is empty."""
    values = value if _is_list(value) else [value]
    if not values or any(isinstance(text, Mapping) or _is_list(text) for text in values):
        raise BadValueError("an answer is neither a text nor a list of texts")
    return tuple(_as_text(text) or "" for text in values)


def _parse_logp(value: Any) -> Mapping[str, float] | list[float]:
    """Return log-probabilities, by option or in the order of the options."""
    if isinstance(value, Mapping):
        # in a Parquet file every row has the options of all rows, those of others without a value
        numbers = {option: logp for option, logp in value.items() if logp is not None}
        return {str(option): _parse_number(logp) for option, logp in numbers.items()}
    if not _is_list(value):
        raise BadValueError("log-probabilities are neither a mapping from options nor a list")
    return [_parse_number(logp) for logp in value]


def _parse_number(value: Any) -> float:
    """Return a log-probability; a rounding error above 0 is 0."""
    try:
        logp = float(value)
    except (TypeError, ValueError, OverflowError):
        raise BadValueError(f"{str(value)[:40]!r} is not a log-probability") from None
    if math.isnan(logp) or logp > ROUNDING:
        raise BadValueError(f"{value} is not a log-probability: it is above 0 or not a number")
    # A probability of 1 may come out a little above it.
    return min(logp, 0.0)
