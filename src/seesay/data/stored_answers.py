"""Answers that exist already: JSON lines or Parquet of anyone's making, lm-eval's logged samples, a
run's own table.

A row names its question (`question` or `id`), where there are several its template, and holds
log-probabilities (`logp`: a mapping from options, or a list in their order) or a text (`answer`, or
a list of samples). A logged sample of lm-eval is known by the text that it put to the model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seesay.data.cells import BadValueError
from seesay.data.rows import Row
from seesay.data.task_files.schema_rows import Reading
from seesay.data.task_files.tables import named, read_file
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
    """One stored answer: scores, or texts; to the question of this id, or to the one that was put
    like `context`."""

    question: str | None
    template: str | None
    context: str | None
    logp: Mapping[str, float] | Sequence[float] | None = None
    texts: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def read_stored(path: Path) -> tuple[list[StoredRow], list[BadRow]]:
    """The answers in a file, or in the files of a folder (those of lm-eval, if there are any), and
    rows to report."""
    rows: list[StoredRow] = []
    bad: list[BadRow] = []
    for file in answer_files(path):
        table = named(read_file(file, Reading()), file.name)
        bad += table.bad
        for row in table.rows:
            try:
                rows.append(
                    _logged_sample(row.cells) if "filtered_resps" in row.cells else _row(row)
                )
            except BadValueError as error:
                bad.append(row.bad(str(error)))
    if not rows:
        reason = f" ({bad[0]})" if bad else ""
        raise UserError(
            f"'{path}' holds no stored answer{reason}: docs/asking.md says what a row looks like."
        )
    return rows, bad


def answer_files(path: Path) -> list[Path]:
    """The files behind a name, in order."""
    if not path.is_dir():
        if not path.is_file():
            raise UserError(f"There is no file '{path}' of stored answers.")
        return [path]
    files = sorted(path.rglob(SAMPLES)) or sorted(
        p for p in path.iterdir() if p.name.endswith(SUFFIXES)
    )
    if not files:
        raise UserError(
            f"'{path}' has no file of stored answers: give a JSON lines or Parquet file."
        )
    return files


def _row(row: Row) -> StoredRow:
    cells = row.cells
    question = _first(cells, IDS)
    if question is None:
        raise BadValueError(f"no question is named (`{IDS[0]}`)")
    scores = cells.get("scores")
    if isinstance(scores, Mapping):
        logp = scores.get("logp")
    else:
        logp = _first(cells, LOGPS)
    texts = _first(cells, TEXTS)
    template = cells.get("template")
    common = (str(question), None if template is None else str(template), None)
    if logp is not None:
        options = cells.get("options")
        listed = options if isinstance(options, list | tuple) else ()
        return StoredRow(*common, logp=_logp(logp), options=tuple(map(str, listed)))
    if texts is None:
        raise BadValueError(f"neither log-probabilities (`{LOGPS[0]}`) nor a text (`{TEXTS[0]}`)")
    return StoredRow(*common, texts=_texts(texts))


def _logged_sample(cells: Mapping[str, Any]) -> StoredRow:
    """A line of lm-eval's `--log_samples`: one [log-probability, is greedy] per choice, or the text
    written."""
    doc = cells.get("doc")
    responses = cells["filtered_resps"]
    arguments = cells.get("arguments")
    question = _first(doc, IDS) if isinstance(doc, Mapping) else None
    if isinstance(arguments, Mapping) and arguments:
        first = next(iter(arguments.values()))
    else:
        first = None
    context = first.get("arg_0") if isinstance(first, Mapping) else None
    common = (
        None if question is None else str(question),
        None,
        None if context is None else str(context),
    )
    if not _is_list(responses) or not responses:
        raise BadValueError("no response was logged")
    if all(_is_list(response) and len(response) == 2 for response in responses):
        return StoredRow(*common, logp=_logp([response[0] for response in responses]))
    return StoredRow(*common, texts=_texts(responses))


def _first(cells: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((cells[name] for name in names if cells.get(name) is not None), None)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _texts(value: Any) -> tuple[str, ...]:
    values = value if _is_list(value) else [value]
    if not values or any(isinstance(text, Mapping) or _is_list(text) for text in values):
        raise BadValueError("an answer is neither a text nor a list of texts")
    return tuple("" if text is None else str(text) for text in values)


def _logp(value: Any) -> Mapping[str, float] | list[float]:
    if isinstance(value, Mapping):
        return {str(option): _number(logp) for option, logp in value.items()}
    if not _is_list(value):
        raise BadValueError("log-probabilities are neither a mapping from options nor a list")
    return [_number(logp) for logp in value]


def _number(value: Any) -> float:
    try:
        logp = float(value)
    except (TypeError, ValueError, OverflowError):
        raise BadValueError(f"{str(value)[:40]!r} is not a log-probability") from None
    if math.isnan(logp) or logp > ROUNDING:
        raise BadValueError(f"{value} is not a log-probability: it is above 0 or not a number")
    return min(logp, 0.0)
