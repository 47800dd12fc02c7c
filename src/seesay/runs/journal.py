"""Answers as they come, appended and flushed: a prompt that was answered is never asked again."""

from __future__ import annotations

import base64
import json
import math
import os
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from seesay.digests import text_digest
from seesay.questions import Scores

_KINDS = {"logp": "<f8", "tokens": "<i4", "chars": "<i4", "rank": "<i4", "picks": "<f8"}
_FIELDS = {"key", *_KINDS, "hidden", "replies", "checksum"}
_CHECKSUM = ', "checksum": '


class Journal:
    """One line of JSON per prompt, under the prompt's key, with a checksum of what stands before
    it.

    A line torn by a crash is dropped when the file is read; `damaged` counts the other lines that
    could not be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged = 0

    def read(self) -> dict[str, Scores]:
        """All complete entries; a torn end is cut off, so that appending is safe."""
        answered: dict[str, Scores] = {}
        if not self.path.exists():
            return answered
        whole = self.damaged = 0
        lengths: dict[bytes, array[int]] = {}
        # line by line: a long run's journal does not fit into memory as text
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                try:
                    key, scores = _parse(line)
                    answered[key] = packed(scores, lengths)
                except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                    self.damaged += 1  # a damaged line is a prompt not yet answered
        if whole < self.path.stat().st_size:
            os.truncate(self.path, whole)
        return answered

    def append(self, answered: Mapping[str, Scores]) -> None:
        """Add a batch; when this returns, it is on the disk."""
        lines = "".join(_line(key, scores) for key, scores in answered.items())
        with self.path.open("a", encoding="utf-8") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())


def flaw(scores: Scores) -> str:
    """What is wrong with the numbers of a model or a file; "" if nothing is.

    A log-probability of -inf is a probability of 0; for every option it is `NO_ANSWER`.
    """
    logp = np.asarray(scores.logp, np.float64)
    lengths = [
        len(column) for column in (scores.tokens, scores.chars, scores.rank) if column is not None
    ]
    if any(length != len(logp) for length in lengths):
        return "the scores differ in length"
    finite = np.isfinite(logp)
    if not finite.all() and not np.isneginf(logp[~finite]).all():
        return "a score is not a number"
    if any(
        np.min(c, initial=0) < 0
        for c in (scores.tokens, scores.chars, scores.rank)
        if c is not None
    ):
        return "a length or rank is negative"
    others = [*(scores.picks or ()), *(() if scores.hidden is None else (scores.hidden,))]
    if all(map(math.isfinite, others)):
        return ""
    return "a share is not a number"


def _line(key: str, scores: Scores) -> str:
    body = json.dumps({"key": key, **_entry(scores)})[:-1]
    return f'{body}{_CHECKSUM}"{text_digest(body)}"}}\n'


def _parse(line: bytes) -> tuple[str, Scores]:
    """A line's key and scores."""
    entry = json.loads(line)
    if entry["checksum"] != text_digest(line.rpartition(_CHECKSUM.encode())[0]):
        raise ValueError("the checksum does not fit")
    if not isinstance(entry["key"], str) or entry.keys() != _FIELDS:
        raise ValueError("not a line of a journal")
    scores = _scores(entry)
    if problem := flaw(scores):
        raise ValueError(problem)
    return entry["key"], scores


def _entry(scores: Scores) -> dict[str, Any]:
    columns = {name: getattr(scores, name) for name in _KINDS}
    arrays = {name: None if c is None else _encode(c, _KINDS[name]) for name, c in columns.items()}
    return {**arrays, "hidden": scores.hidden, "replies": scores.replies}


def _encode(column: Sequence[float], kind: str) -> str:
    return base64.b64encode(np.asarray(column, kind).tobytes()).decode()


def _scores(entry: Mapping[str, Any]) -> Scores:
    """The scores of a line."""
    columns = {name: _decode(entry[name], kind) for name, kind in _KINDS.items()}
    if columns["picks"] is not None:
        columns["picks"] = tuple(columns["picks"].tolist())
    hidden = entry["hidden"]
    replies = entry["replies"]
    if hidden is not None and type(hidden) not in (int, float):
        raise TypeError("not a number")
    if replies is not None:
        replies = tuple((str(text), str(outcome), bool(named)) for text, outcome, named in replies)
    return Scores(**columns, hidden=hidden, replies=replies)


def _decode(column: str | None, kind: str) -> Any:
    """A column of numbers; of those that may be missing, None."""
    if column is None:
        return None
    return np.frombuffer(base64.b64decode(column, validate=True), kind)


def packed(scores: Scores, lengths: dict[bytes, array[int]]) -> Scores:
    """The scores as arrays of 8 and 4 bytes per option, a sixth of what tuples take.

    Lengths that are the same for many prompts are kept once, in `lengths`.
    """
    tokens, chars = (
        array("i", np.asarray(column, "i4").tobytes()) for column in (scores.tokens, scores.chars)
    )
    return replace(
        scores,
        logp=array("d", np.asarray(scores.logp, "f8").tobytes()),
        tokens=lengths.setdefault(tokens.tobytes(), tokens),
        chars=lengths.setdefault(chars.tobytes(), chars),
        rank=None if scores.rank is None else array("i", np.asarray(scores.rank, "i4").tobytes()),
    )
