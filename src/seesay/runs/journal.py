"""Answers as they come, appended and flushed: a prompt that was answered is never asked again."""

from __future__ import annotations

import base64
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seesay.digests import text_digest
from seesay.questions import Scores

_KINDS = {"logp": "<f8", "tokens": "<i4", "chars": "<i4", "rank": "<i4", "picks": "<f8"}
_FIELDS = {"key", *_KINDS, "hidden", "replies", "checksum"}
_CHECKSUM = ', "checksum": '


class Journal:
    """One line of JSON per prompt, under the prompt's key.

    A checksum at its end is of what stands before it.

    A line torn by a crash is dropped when the file is read; `damaged` counts the other lines that
    could not be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged = 0

    def read(self) -> dict[str, Scores]:
        """Return all complete entries; of two with one key, the later."""
        return dict(self.entries())

    def entries(self) -> Iterator[tuple[str, Scores]]:
        """Yield all complete entries.

        After the last one a torn end is cut off, so that appending is safe.
        """
        self.damaged = 0
        if not self.path.exists():
            return
        complete_bytes = 0
        # line by line: a long run's journal does not fit into memory as text
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                complete_bytes += len(line)
                try:
                    entry = _parse(line)
                except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                    self.damaged += 1  # a damaged line is a prompt not yet answered
                    continue
                yield entry
        if complete_bytes < self.path.stat().st_size:
            os.truncate(self.path, complete_bytes)

    def append(self, answered: Mapping[str, Scores]) -> None:
        """Add a batch; when this returns, it is on the disk."""
        lines = "".join(_line(key, scores) for key, scores in answered.items())
        with self.path.open("a", encoding="utf-8") as file:
            file.write(lines)
            file.flush()
            # else a power cut may lose answers that took hours
            os.fsync(file.fileno())


def describe_flaw(scores: Scores) -> str:
    """Say what is wrong with the numbers of a model or a file; "" if nothing is.

    A log-probability of -inf is a probability of 0; for every option it is `NO_ANSWER`.
    """
    logp = np.asarray(scores.logp, np.float64)
    counts = [column for column in (scores.tokens, scores.chars, scores.rank) if column is not None]
    if any(len(column) != len(logp) for column in counts):
        return "the scores differ in length"
    is_number = np.isfinite(logp) | np.isneginf(logp)
    if not is_number.all():
        return "a score is not a number"
    if any(np.min(column, initial=0) < 0 for column in counts):
        return "a length or rank is negative"
    # an empty sum is 0, a probability of 1
    if np.min(scores.tokens, initial=1) < 1:
        return "an option has no tokens"
    shares = list(scores.picks or ())
    if scores.hidden is not None:
        shares.append(scores.hidden)
    if not all(map(math.isfinite, shares)):
        return "a share is not a number"
    return ""


def _line(key: str, scores: Scores) -> str:
    """Return a line of the journal, with a checksum as the last key of its JSON."""
    document = json.dumps({"key": key, **_entry(scores)})
    body = document.removesuffix("}")
    checksum = text_digest(body)
    return f'{body}{_CHECKSUM}"{checksum}"}}\n'


def _parse(line: bytes) -> tuple[str, Scores]:
    """Return a line's key and scores."""
    entry = json.loads(line)
    # the checksum is of the bytes before it, so that no rewriting of the JSON passes for the line
    body, _, _ = line.rpartition(_CHECKSUM.encode())
    if entry["checksum"] != text_digest(body):
        raise ValueError("the checksum does not fit")
    if not isinstance(entry["key"], str) or entry.keys() != _FIELDS:
        raise ValueError("not a line of a journal")
    scores = _scores(entry)
    if problem := describe_flaw(scores):
        raise ValueError(problem)
    return entry["key"], scores


def _entry(scores: Scores) -> dict[str, Any]:
    """Return what a line holds of the scores: numbers in Base64, so that no digit is lost."""
    entry: dict[str, Any] = {}
    for name, kind in _KINDS.items():
        column = getattr(scores, name)
        entry[name] = None if column is None else _encode(column, kind)
    return {**entry, "hidden": scores.hidden, "replies": scores.replies}


def _encode(column: Sequence[float], kind: str) -> str:
    numbers = np.asarray(column, kind)
    return base64.b64encode(numbers.tobytes()).decode()


def _scores(entry: Mapping[str, Any]) -> Scores:
    """Return the scores of a line."""
    columns = {name: _decode(entry[name], kind) for name, kind in _KINDS.items()}
    if any(columns[name] is None for name in ("logp", "tokens", "chars")):
        raise ValueError("a score is missing")
    picks = columns.pop("picks")
    hidden = entry["hidden"]
    replies = entry["replies"]
    if hidden is not None and type(hidden) not in (int, float):
        raise TypeError("not a number")
    if replies is not None:
        replies = tuple((str(text), str(outcome), bool(named)) for text, outcome, named in replies)
    return Scores(
        **columns,
        picks=None if picks is None else tuple(picks.tolist()),
        hidden=hidden,
        replies=replies,
    )


def _decode(column: str | None, kind: str) -> Any:
    """Return a column of numbers, or None where a column that may be missing is."""
    if column is None:
        return None
    content = base64.b64decode(column, validate=True)
    return np.frombuffer(content, kind)
