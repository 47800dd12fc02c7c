"""Joins what several files, or distant parts of one, say about a picture.

They are not held in memory. An SQLite file does the sorting; its page cache bounds the memory
whatever the files' size. Workers then read the pictures of the file in ranges.
"""

from __future__ import annotations

import errno
import marshal
import os
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from seesay.data.json_stream import BROKEN, BrokenFileError, decode_piece, entries, pieces
from seesay.mining.records import BadAnnotation

JOIN = "join.db"
DUPLICATE = "the id is there twice: the first is kept"


class Entries(NamedTuple):
    """Some of what belongs to a picture, whether the file has listed this already or not."""

    picture_id: str
    kind: str
    items: list[Any]


class Packed(NamedTuple):
    """What entries of a file are for a join."""

    length: int
    """How many entries of the file these are."""
    rows: list[tuple[str, str, bytes]]
    """The `Entries`, in one row for all of a picture and kind."""
    others: list[tuple[int, Any]]
    """What else was prepared, and of which entry."""


Prepare = Callable[[str, Any], Any]
"""Makes `Entries` or something else of a key and an entry, None of what is of no use."""
Spread = Callable[[Prepare, Iterable[bytes]], Iterator[Packed | None]]
"""Lets workers pack the pieces of a file, and yields them in order."""


class JoinedFile(NamedTuple):
    """A file that says something about pictures."""

    path: Path
    prepare: Prepare
    add: Callable[[DiskJoin, int, Any], BadAnnotation | None]
    """Adds to a join what is prepared of an entry but `Entries`, or says what is wrong with it."""


def pack(prepared: Sequence[Any]) -> Packed:
    """Return what was prepared, as a join takes it."""
    items = defaultdict[tuple[str, str], list[Any]](list)
    others: list[tuple[int, Any]] = []
    for number, row in enumerate(prepared):
        if isinstance(row, Entries):
            items[row.picture_id, row.kind] += row.items
        elif row is not None:
            others.append((number, row))
    # Nobody else reads the file, nor later: marshal is several times as fast as JSON.
    rows = [(picture_id, kind, marshal.dumps(some)) for (picture_id, kind), some in items.items()]
    return Packed(len(prepared), rows, others)


def pack_piece(prepare: Prepare, text: bytes) -> Packed | None:
    """Return the entries of a piece of a file, as a join takes them; None if it is not JSON."""
    prepared = decode_piece(text, prepare)
    return None if prepared is None else pack(prepared)


def _packed(path: Path, prepare: Prepare, spread: Spread) -> Iterator[Packed]:
    """Yield what is prepared of the entries of a file; raises as `entries` does."""
    count = 0
    for packed in spread(prepare, pieces(path)):
        if packed is None:
            break
        yield packed
        count += packed.length
    else:
        return
    # From the first piece that is not JSON on, by entries.
    for key, entry in islice(entries(path), count, None):
        yield pack([prepare(key, entry)])


def split_joined(
    files: Iterable[JoinedFile], rows: int, folder: Path, spread: Spread, context: Any
) -> Iterator[JoinedPictures | BadAnnotation]:
    """Yield the pictures of files so many at a time, with what their reader needs to know beyond
    them, and what was left out."""
    with open_join(folder) as join:
        for file in files:
            try:
                for number, row in join.add_file(file, spread):
                    if bad := file.add(join, number, row):
                        yield bad
            except BrokenFileError as error:
                yield BadAnnotation(file.path.name, BROKEN, str(error))
        for picture_id, count in join.unlisted():
            yield BadAnnotation(picture_id, "the picture is not listed", f"{count} annotations")
        for numbers in join.ranges(rows):
            yield JoinedPictures(folder / JOIN, numbers, context)


@dataclass(frozen=True, slots=True)
class JoinedPictures:
    """Some of the pictures of a join, in the order of the files."""

    path: Path
    """The file of the join."""
    numbers: range
    context: Any
    """What their reader needs to know beyond them."""

    def __iter__(self) -> Iterator[tuple[str, Any, dict[str, list[Any]]]]:
        """Yield every picture: its id, its body, and its entries by kind."""
        # It changes no more: nobody has to lock it, which a network's file system may not do.
        address = f"{self.path.resolve().as_uri()}?immutable=1"
        with closing(sqlite3.connect(address, uri=True)) as database:
            pictures = database.execute(
                "SELECT id, body FROM pictures WHERE number >= ? AND number < ? ORDER BY number",
                (self.numbers.start, self.numbers.stop),
            )
            inner = database.cursor()
            for picture_id, body in pictures:
                entries: defaultdict[str, list[Any]] = defaultdict(list)
                rows = inner.execute(
                    "SELECT kind, body FROM entries WHERE id = ? ORDER BY rowid",
                    (picture_id,),
                )
                for kind, some_entries in rows:
                    entries[kind] += marshal.loads(some_entries)
                yield picture_id, marshal.loads(body), entries


@contextmanager
def open_join(folder: Path) -> Iterator[DiskJoin]:
    """Create a join in a file of a folder, which remains for those who read it."""
    path = folder / JOIN
    # What an interrupted run has left is not complete.
    path.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            # The file is deleted at the end: nothing would be gained if it survived a crash. One
            # transaction, the `BEGIN`, spares a commit per entry.
            database.executescript(
                "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-16000;"
                "CREATE TABLE pictures (number INTEGER PRIMARY KEY, id TEXT UNIQUE, body BLOB);"
                "CREATE TABLE entries (id TEXT, kind TEXT, body BLOB); BEGIN;"
            )
            yield DiskJoin(database)
    # What is joined lies on the disk: an error of the database is one of the disk.
    except sqlite3.Error as error:
        is_full = error.sqlite_errorcode == sqlite3.SQLITE_FULL
        number = errno.ENOSPC if is_full else errno.EIO
        raise OSError(number, os.strerror(number), str(path)) from error


class DiskJoin:
    """Entries by picture: they and pictures are added while reading, then come `ranges`."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def add_picture(self, picture_id: str, data: Any) -> bool:
        """Add a picture with what the file says of it; False if its id is already taken."""
        cursor = self._database.execute(
            "INSERT OR IGNORE INTO pictures (id, body) VALUES (?, ?)",
            (picture_id, marshal.dumps(data)),
        )
        return cursor.rowcount == 1

    def picture(self, picture_id: str) -> Any:
        """Return what was said of a picture that was added."""
        query = "SELECT body FROM pictures WHERE id = ?"
        ((body,),) = self._database.execute(query, (picture_id,))
        return marshal.loads(body)

    def add_file(self, file: JoinedFile, spread: Spread) -> Iterator[tuple[int, Any]]:
        """Add what belongs to pictures; yield what else is prepared of a file's entries, and of
        which. Raises as `entries` does."""
        start = 0
        for packed in _packed(file.path, file.prepare, spread):
            self._database.executemany("INSERT INTO entries VALUES (?, ?, ?)", packed.rows)
            for number, row in packed.others:
                yield start + number, row
            start += packed.length

    def ranges(self, size: int) -> Iterator[range]:
        """Yield the numbers of all pictures in ranges of this size, in the order of the files."""
        # After all entries are in: an index that grows with them costs more.
        self._database.execute("CREATE INDEX by_picture ON entries (id)")
        self._database.execute("COMMIT")
        ((count,),) = self._database.execute("SELECT count(*) FROM pictures")
        for first in range(1, count + 1, size):
            yield range(first, first + size)

    def unlisted(self) -> Iterator[tuple[str, int]]:
        """Yield ids that have entries but no picture, and how many entries they have."""
        rows = self._database.execute(
            "SELECT id, body FROM entries WHERE id NOT IN (SELECT id FROM pictures) ORDER BY id"
        )
        for picture_id, of_picture in groupby(rows, itemgetter(0)):
            yield picture_id, sum(len(marshal.loads(body)) for _, body in of_picture)


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
