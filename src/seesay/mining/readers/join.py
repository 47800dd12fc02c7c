"""Joins what several files, or distant parts of one, say about a picture.

They are not held in memory. A temporary SQLite file does the sorting; its page cache bounds the
memory whatever the files' size.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DUPLICATE = "the id is there twice: the first is kept"


class DiskJoin:
    """Entries by picture.

    `add_picture` and `add_entry` are called while reading, then `pictures`, which has the order of
    the files.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="seesay-")
        self._database = sqlite3.connect(Path(self._folder.name) / "join.db", isolation_level=None)

    def __enter__(self) -> DiskJoin:
        try:
            self._create_tables()
        except sqlite3.Error as error:
            self.__exit__(type(error), error)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, *_: object
    ) -> None:
        self._database.close()
        self._folder.cleanup()
        # What is joined lies on the disk: an error of the database is one of the disk.
        if isinstance(error, sqlite3.Error):
            is_full = error.sqlite_errorcode == sqlite3.SQLITE_FULL
            number = errno.ENOSPC if is_full else errno.EIO
            raise OSError(number, os.strerror(number), self._folder.name) from error

    def _create_tables(self) -> None:
        # The file is deleted at the end: nothing would be gained if it survived a crash. One
        # transaction, the `BEGIN`, spares a commit per entry.
        self._database.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-16000;"
            "CREATE TABLE pictures (number INTEGER PRIMARY KEY, id TEXT UNIQUE, body TEXT);"
            "CREATE TABLE entries (id TEXT, kind TEXT, body TEXT); BEGIN;"
        )

    def add_picture(self, picture_id: str, body: Any = None) -> bool:
        """Add a picture; False if its id is already taken."""
        cursor = self._database.execute(
            "INSERT OR IGNORE INTO pictures (id, body) VALUES (?, ?)",
            (picture_id, json.dumps(body)),
        )
        return cursor.rowcount == 1

    def picture(self, picture_id: str) -> Any:
        """Return the body of a picture that was added."""
        query = "SELECT body FROM pictures WHERE id = ?"
        (body,) = self._database.execute(query, (picture_id,)).fetchone()
        return json.loads(body)

    def add_entry(self, picture_id: str, kind: str, body: Any) -> None:
        """Add something that belongs to a picture, whether the picture is already there or not."""
        self._database.execute(
            "INSERT INTO entries VALUES (?, ?, ?)",
            (picture_id, kind, json.dumps(body)),
        )

    def pictures(self) -> Iterator[tuple[str, Any, dict[str, list[Any]]]]:
        """Yield every picture: its id, its body, and its entries by kind."""
        # After all entries are in: an index that grows with them costs more.
        self._database.execute("CREATE INDEX by_picture ON entries (id)")
        pictures = self._database.execute("SELECT id, body FROM pictures ORDER BY number")
        inner = self._database.cursor()
        for picture_id, body in pictures:
            entries: defaultdict[str, list[Any]] = defaultdict(list)
            rows = inner.execute(
                "SELECT kind, body FROM entries WHERE id = ? ORDER BY rowid",
                (picture_id,),
            )
            for kind, entry in rows:
                entries[kind].append(json.loads(entry))
            yield picture_id, json.loads(body), entries

    def unlisted(self) -> Iterator[tuple[str, int]]:
        """Yield ids that have entries but no picture, and how many entries they have."""
        yield from self._database.execute(
            "SELECT id, count(*) FROM entries WHERE id NOT IN (SELECT id FROM pictures) GROUP BY "
            "id ORDER BY id"
        )


def clean_id(value: Any) -> str | None:
    """Return an id as a text: files write numbers or texts. None for anything else.

    >>> clean_id(7), clean_id("7"), clean_id(True)
    ('7', '7', None)
    """
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        text = str(value)
        text.encode()
    # Thousands of digits, or a lone surrogate.
    except ValueError:
        return None
    if not text or len(text) > 1000:
        return None
    return text


def field_id(entry: Any, *fields: str) -> str | None:
    """Return the id in the first of these fields that an entry has; None if it is no object."""
    if not isinstance(entry, dict):
        return None
    for field in fields:
        if field in entry:
            return clean_id(entry[field])
    return None
