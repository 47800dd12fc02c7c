"""Answers that exist already, in files of anyone's making.

These are JSON lines or Parquet, lm-eval's logged samples, or a run's own table.

A row names its question (`question` or `id`), where there are several its template, and holds
log-probabilities (`logp`: a mapping from options, or a list in their order) or a text (`answer`, or
a list of samples). A logged sample of lm-eval is known by the text that it put to the model.
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
    """One stored answer: scores, or texts.

    It answers the question of this id, or the one that was put like `context`.
    """

    question: str | None
    template: str | None
    context: str | None
    logp: Mapping[str, float] | Sequence[float] | None = None
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
        for row in table.rows:
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
    question = _first(cells, IDS)
    if question is None:
        raise BadValueError(f"no question is named (`{IDS[0]}`)")
    row = StoredRow(
        question=str(question),
        template=_as_text(cells.get("template")),
        context=None,
    )
    # A run's own table nests its log-probabilities; a file made by hand has them at the top.
    scores = cells.get("scores")
    if isinstance(scores, Mapping):
        logp = scores.get("logp")
    else:
        logp = _first(cells, LOGPS)
    if logp is not None:
        options: Any = cells.get("options")
        if not _is_list(options):
            options = ()
        return replace(row, logp=_parse_logp(logp), options=tuple(map(str, options)))
    texts = _first(cells, TEXTS)
    if texts is None:
        raise BadValueError(f"neither log-probabilities (`{LOGPS[0]}`) nor a text (`{TEXTS[0]}`)")
    return replace(row, texts=_parse_texts(texts))


def _parse_logged_sample(cells: Cells) -> StoredRow:
    """Parse a line of lm-eval's `--log_samples`.

    It has one [log-probability, is greedy] per choice, or the text written.
    """
    document = cells.get("doc")
    question = None
    if isinstance(document, Mapping):
        question = _first(document, IDS)
    row = StoredRow(
        question=_as_text(question),
        template=None,
        context=_as_text(_logged_context(cells.get("arguments"))),
    )
    responses = cells["filtered_resps"]
    if not _is_list(responses) or not responses:
        raise BadValueError("no response was logged")
    if all(_is_list(response) and len(response) == 2 for response in responses):
        return replace(row, logp=_parse_logp([response[0] for response in responses]))
    return replace(row, texts=_parse_texts(responses))


def _logged_context(arguments: Any) -> Any:
    """Return the text that lm-eval put to the model: every choice's request has the same one."""
    if not isinstance(arguments, Mapping) or not arguments:
        return None
    request = next(iter(arguments.values()))
    if isinstance(request, Mapping):
        return request.get("arg_0")
    return None


def _first(cells: Cells, names: Sequence[str]) -> Any:
    """Return the value under the first of these names that has one."""
    values = (cells.get(name) for name in names)
    return next((value for value in values if value is not None), None)


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
        return {str(option): _parse_number(logp) for option, logp in value.items()}
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
