"""Answers as they come, appended and flushed: a prompt that was answered is never asked again."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from seesay.questions import Scores


class Journal:
    """One line of JSON per prompt, under the prompt's key. A line torn by a crash is dropped when the file is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Scores]:
        """All complete entries; a torn end is cut off, so that appending is safe."""
        if not self.path.exists():
            return {}
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(self.path, whole)
        answered: dict[str, Scores] = {}
        for line in content[:whole].splitlines():
            try:
                entry = json.loads(line)
                answered[entry["key"]] = scores_from(entry)
            except (ValueError, KeyError, TypeError, RecursionError):
                continue  # a damaged line is a prompt not yet answered
        return answered

    def append(self, answered: Mapping[str, Scores]) -> None:
        """Add a batch; when this returns, it is on the disk."""
        lines = "".join(json.dumps({"key": key, **asdict(scores)}) + "\n" for key, scores in answered.items())
        with self.path.open("a", encoding="utf-8") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())


def scores_from(row: Mapping[str, Any]) -> Scores:
    """The scores in a row of the journal or of the answers table."""
    logp, tokens, chars, rank = (row[name] for name in ("logp", "tokens", "chars", "rank"))
    if {len(logp), len(tokens), len(chars), len(logp if rank is None else rank)} != {len(logp)}:
        raise ValueError("the scores differ in length")
    picks = row.get("picks")  # neither older journals nor the answers table have them, nor what follows
    rank, picks = (None if values is None else tuple(values) for values in (rank, picks))
    replies = row.get("replies")
    if replies is not None:
        replies = tuple((str(text), str(outcome), bool(named)) for text, outcome, named in replies)
    return Scores(tuple(logp), tuple(tokens), tuple(chars), rank, picks, row.get("hidden"), replies)
