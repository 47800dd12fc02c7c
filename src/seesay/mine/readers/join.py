"""Bringing together what several files, or distant parts of one, say of a picture, without holding them in memory.

A temporary SQLite file on disk does the sorting; its page cache bounds the memory whatever the files' size.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any


class Shelf:
    """Entries by picture: `picture` and `put` while reading, then `pictures` in the order they were first seen."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="seesay-")
        self._base = sqlite3.connect(Path(self._folder.name) / "shelf.db", isolation_level=None)
        self._base.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-16000;"
            "CREATE TABLE pictures (number INTEGER PRIMARY KEY, id TEXT UNIQUE, body TEXT);"
            "CREATE TABLE entries (id TEXT, kind TEXT, body TEXT); BEGIN;"
        )

    def __enter__(self) -> Shelf:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._base.close()
        self._folder.cleanup()

    def picture(self, id_: str, body: Any) -> bool:
        """Keep a picture; False if its id is taken already."""
        rows = self._base.execute("INSERT OR IGNORE INTO pictures (id, body) VALUES (?, ?)", (id_, json.dumps(body)))
        return rows.rowcount == 1

    def put(self, id_: str, kind: str, body: Any) -> None:
        """Keep something that belongs to a picture, known already or not."""
        self._base.execute("INSERT INTO entries VALUES (?, ?, ?)", (id_, kind, json.dumps(body)))

    def pictures(self) -> Iterator[tuple[str, Any, dict[str, list[Any]]]]:
        """Every picture: its id, what was kept of it, and what was put for it, by kind."""
        self._base.execute("CREATE INDEX by_picture ON entries (id)")
        inner = self._base.cursor()
        for id_, body in self._base.execute("SELECT id, body FROM pictures ORDER BY number"):
            found: defaultdict[str, list[Any]] = defaultdict(list)
            for kind, entry in inner.execute("SELECT kind, body FROM entries WHERE id = ? ORDER BY rowid", (id_,)):
                found[kind].append(json.loads(entry))
            yield id_, json.loads(body), found

    def strays(self) -> Iterator[tuple[str, int]]:
        """Ids of pictures that nobody described, and how many entries they have."""
        yield from self._base.execute(
            "SELECT id, count(*) FROM entries WHERE id NOT IN (SELECT id FROM pictures) GROUP BY id ORDER BY id"
        )


def key(value: Any) -> str | None:
    """A picture's id as a text: files write numbers or texts. None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        text = str(value)
        text.encode()
    except ValueError:  # thousands of digits, half a character
        return None
    return text if text and len(text) <= 1000 else None
