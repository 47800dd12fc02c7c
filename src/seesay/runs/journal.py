"""Answers as they come, appended and flushed: what was answered once is never asked again."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from seesay.questions import Scores


class Journal:
    """One line of JSON a prompt, under the prompt's key. A line torn by a crash is dropped when the file is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Scores]:
        """Everything whole that stands in the journal; the torn end is cut off so that appending stays sound."""
        if not self.path.exists():
            return {}
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(self.path, whole)
        said: dict[str, Scores] = {}
        for line in content[:whole].splitlines():
            try:
                entry = json.loads(line)
                said[entry["key"]] = scores_from(entry)
            except (ValueError, KeyError, TypeError, RecursionError):
                continue  # a damaged line is a prompt not yet answered
        return said

    def append(self, said: Mapping[str, Scores]) -> None:
        """Add a batch; when this returns, it is on the disk."""
        lines = "".join(json.dumps({"key": key, **asdict(scores)}) + "\n" for key, scores in said.items())
        with self.path.open("a", encoding="utf-8") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())


def scores_from(row: Mapping[str, Any]) -> Scores:
    """The scores in a row of the journal or of the answers table."""
    logp, tokens, chars, rank = (row[name] for name in ("logp", "tokens", "chars", "rank"))
    if {len(logp), len(tokens), len(chars), len(logp if rank is None else rank)} != {len(logp)}:
        raise ValueError("the scores are not all of one length")
    return Scores(tuple(logp), tuple(tokens), tuple(chars), None if rank is None else tuple(rank))
