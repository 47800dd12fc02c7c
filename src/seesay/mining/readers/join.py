"""Joins what several files, or distant parts of one, say about a picture, without holding them in
memory.

A temporary SQLite file does the sorting; its page cache bounds the memory whatever the files' size.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DUPLICATE = "the id is there twice: the first is kept"


class DiskJoin:
    """Entries by picture: `add_picture` and `add_entry` while reading, then `pictures` in the order
    of the files."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="seesay-")
        self._database = sqlite3.connect(Path(self._folder.name) / "join.db", isolation_level=None)
        self._database.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-16000;"
            "CREATE TABLE pictures (number INTEGER PRIMARY KEY, id TEXT UNIQUE, body TEXT);"
            "CREATE TABLE entries (id TEXT, kind TEXT, body TEXT); BEGIN;"
        )

    def __enter__(self) -> DiskJoin:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()
        self._folder.cleanup()

    def add_picture(self, picture_id: str, body: Any = None) -> bool:
        """Add a picture; False if its id is already taken."""
        insert = "INSERT OR IGNORE INTO pictures (id, body) VALUES (?, ?)"
        return self._database.execute(insert, (picture_id, json.dumps(body))).rowcount == 1

    def add_entry(self, picture_id: str, kind: str, body: Any) -> None:
        """Add something that belongs to a picture, whether the picture is already there or not."""
        self._database.execute(
            "INSERT INTO entries VALUES (?, ?, ?)", (picture_id, kind, json.dumps(body))
        )

    def pictures(self) -> Iterator[tuple[str, Any, dict[str, list[Any]]]]:
        """Every picture: its id, its body, and its entries by kind."""
        self._database.execute("CREATE INDEX by_picture ON entries (id)")
        inner = self._database.cursor()
        for picture_id, body in self._database.execute(
            "SELECT id, body FROM pictures ORDER BY number"
        ):
            entries: defaultdict[str, list[Any]] = defaultdict(list)
            rows = inner.execute(
                "SELECT kind, body FROM entries WHERE id = ? ORDER BY rowid", (picture_id,)
            )
            for kind, entry in rows:
                entries[kind].append(json.loads(entry))
            yield picture_id, json.loads(body), entries

    def unlisted(self) -> Iterator[tuple[str, int]]:
        """Ids that have entries but no picture, and how many entries they have."""
        yield from self._database.execute(
            "SELECT id, count(*) FROM entries WHERE id NOT IN (SELECT id FROM pictures) GROUP BY "
            "id ORDER BY id"
        )


def clean_id(value: Any) -> str | None:
    """An id as a text: files write numbers or texts. None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        text = str(value)
        text.encode()
    except ValueError:  # thousands of digits, or a lone surrogate
        return None
    return text if text and len(text) <= 1000 else None
