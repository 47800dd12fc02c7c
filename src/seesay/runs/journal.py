"""Answers as they come, appended and flushed: a prompt that was answered is never asked again."""

from __future__ import annotations

import base64
import json
import os
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from seesay.questions import Scores

_KINDS = {"logp": "<f8", "tokens": "<i4", "chars": "<i4", "rank": "<i4"}


class Journal:
    """One line of JSON per prompt, under the prompt's key. A line torn by a crash is dropped when the file is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Scores]:
        """All complete entries; a torn end is cut off, so that appending is safe."""
        answered: dict[str, Scores] = {}
        if not self.path.exists():
            return answered
        whole = 0
        lengths: dict[bytes, array[int]] = {}
        with self.path.open("rb") as file:  # line by line: a long run's journal does not fit into memory as text
            for line in file:
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                try:
                    entry = json.loads(line)
                    answered[entry["key"]] = packed(_scores(entry), lengths)
                except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                    continue  # a damaged line is a prompt not yet answered
        if whole < self.path.stat().st_size:
            os.truncate(self.path, whole)
        return answered

    def append(self, answered: Mapping[str, Scores]) -> None:
        """Add a batch; when this returns, it is on the disk."""
        lines = "".join(json.dumps({"key": key, **_entry(scores)}) + "\n" for key, scores in answered.items())
        with self.path.open("a", encoding="utf-8") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())


def _entry(scores: Scores) -> dict[str, Any]:
    columns = {name: getattr(scores, name) for name in _KINDS}
    arrays = {name: None if c is None else _encode(c, _KINDS[name]) for name, c in columns.items()}
    picks = None if scores.picks is None else list(scores.picks)
    return {**arrays, "picks": picks, "hidden": scores.hidden, "replies": scores.replies}


def _encode(column: Sequence[float], kind: str) -> str:
    return base64.b64encode(np.asarray(column, kind).tobytes()).decode()


def _scores(entry: Mapping[str, Any]) -> Scores:
    """The scores of a line: arrays as Base64, or lists of numbers in journals of older versions."""
    columns: list[Any] = [
        np.frombuffer(base64.b64decode(entry[name]), kind) if isinstance(entry[name], str) else entry[name]
        for name, kind in _KINDS.items()
    ]
    picks, replies = entry.get("picks"), entry.get("replies")  # older journals have neither
    if replies is not None:
        replies = tuple((str(text), str(outcome), bool(named)) for text, outcome, named in replies)
    return replace(Scores(*columns), picks=picks and tuple(picks), hidden=entry.get("hidden"), replies=replies)


def packed(scores: Scores, lengths: dict[bytes, array[int]]) -> Scores:
    """The scores as arrays of 8 and 4 bytes per option, a sixth of what tuples take.

    Lengths that are the same for many prompts are kept once, in `lengths`.
    """
    rank = scores.logp if scores.rank is None else scores.rank
    if not len(scores.logp) == len(scores.tokens) == len(scores.chars) == len(rank):
        raise ValueError("the scores differ in length")
    tokens, chars = (array("i", np.asarray(column, "i4").tobytes()) for column in (scores.tokens, scores.chars))
    return replace(
        scores,
        logp=array("d", np.asarray(scores.logp, "f8").tobytes()),
        tokens=lengths.setdefault(tokens.tobytes(), tokens),
        chars=lengths.setdefault(chars.tobytes(), chars),
        rank=None if scores.rank is None else array("i", np.asarray(scores.rank, "i4").tobytes()),
    )
