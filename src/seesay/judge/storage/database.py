"""The interface of both databases, and the tables they share. `?` marks a parameter in the SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

from seesay.errors import UserError
from seesay.judge.numbers import parse_whole

T = TypeVar("T")
SqlRow = tuple[Any, ...]

FORMAT = 1
"""Of the tables and of the study's definition."""

# The definition of the study, its format, its state and its secrets.
_STUDY_TABLE = "CREATE TABLE IF NOT EXISTS study (key TEXT PRIMARY KEY, value TEXT NOT NULL)"
_TABLES = (
    # `taken` counts judgements given and leases held; it never exceeds the number that the design
    # asks for.
    """CREATE TABLE IF NOT EXISTS item (
        id TEXT PRIMARY KEY, base TEXT NOT NULL, place BIGINT NOT NULL, control TEXT NOT NULL,
        taken BIGINT NOT NULL DEFAULT 0)""",
    "CREATE INDEX IF NOT EXISTS item_by_need ON item (control, taken, place)",
    # `token` and `worker` are digests: neither the links nor the worker ids of crowdsourcing sites
    # are stored.
    """CREATE TABLE IF NOT EXISTS person (
        id BIGINT PRIMARY KEY, token TEXT NOT NULL UNIQUE, worker TEXT UNIQUE, source TEXT NOT NULL,
        created DOUBLE PRECISION NOT NULL, consented DOUBLE PRECISION, finished DOUBLE PRECISION,
        pages_sent BIGINT NOT NULL DEFAULT 0, last_active DOUBLE PRECISION NOT NULL, code TEXT)""",
    # `base` is that of the item, so that nobody is asked about the same thing twice.
    """CREATE TABLE IF NOT EXISTS assignment (
        person BIGINT NOT NULL REFERENCES person (id), item TEXT NOT NULL REFERENCES item (id),
        base TEXT NOT NULL, page BIGINT NOT NULL, place BIGINT NOT NULL, state TEXT NOT NULL,
        lease DOUBLE PRECISION NOT NULL, PRIMARY KEY (person, item))""",
    "CREATE INDEX IF NOT EXISTS assignment_by_lease ON assignment (lease) WHERE state = 'open'",
    """CREATE TABLE IF NOT EXISTS answer (
        person BIGINT NOT NULL REFERENCES person (id), item TEXT NOT NULL REFERENCES item (id),
        value BIGINT NOT NULL, start BIGINT, how TEXT NOT NULL, seconds DOUBLE PRECISION NOT NULL,
        changes BIGINT NOT NULL DEFAULT 0, answered_at DOUBLE PRECISION NOT NULL,
        PRIMARY KEY (person, item))""",
    # Of adaptive studies: the judgements that an item needs, and how wide its interval is.
    """CREATE TABLE IF NOT EXISTS need (
        item TEXT PRIMARY KEY, judgements BIGINT NOT NULL, width DOUBLE PRECISION NOT NULL)""",
    # What was typed, for the items whose answers are.
    """CREATE TABLE IF NOT EXISTS typed (
        person BIGINT NOT NULL, item TEXT NOT NULL, text TEXT NOT NULL,
        PRIMARY KEY (person, item))""",
    # What a researcher ruled on disputed items.
    """CREATE TABLE IF NOT EXISTS ruling (
        item TEXT PRIMARY KEY, labels TEXT NOT NULL, ruled_at DOUBLE PRECISION NOT NULL)""",
    # What else is known of a participant: language, comprehension check, practice.
    """CREATE TABLE IF NOT EXISTS detail (
        person BIGINT NOT NULL REFERENCES person (id), key TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (person, key))""",
    # One row per idempotency key: a request that is sent twice counts once.
    """CREATE TABLE IF NOT EXISTS receipt (
        person BIGINT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL,
        PRIMARY KEY (person, key))""",
    # The researcher's; `token` is a digest.
    """CREATE TABLE IF NOT EXISTS session (
        token TEXT PRIMARY KEY, expires DOUBLE PRECISION NOT NULL)""",
)


class UnavailableError(Exception):
    """The database cannot store anything at the moment (full disk, lost server).

    The transaction was rolled back.
    """


class Transaction:
    """Statements that are committed together or not at all.

    Without other writers there is nothing to lock.
    """

    def execute(self, sql: str, *values: object) -> list[SqlRow]:
        """Run a statement and return its rows."""
        raise NotImplementedError

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Insert rows into a table."""
        raise NotImplementedError

    def lock_study(self, if_rows: str = "", *values: object) -> None:
        """Block other assignments until the end; with a query, only if it has rows.

        Taken before `lock_person` where both are needed, or two requests could wait for each other.
        """

    def lock_person(self, person: int) -> None:
        """Block other requests of the same participant until the end."""

    def defer_sync(self) -> None:
        """Do not wait for the disk.

        This transaction reaches it with, or before, any later one that does wait.
        """


class Database(Protocol):
    """Runs functions in transactions.

    Once a future has its result, it is on disk, unless it deferred that.
    """

    def submit(self, work: Callable[[Transaction], T], *, locks_study: bool = False) -> Future[T]:
        """Queue a function; an exception in it rolls back and is raised by the future.

        Functions that lock the study wait for each other, and in a queue of their own they keep
        nobody else waiting.
        """

    def close(self) -> None:
        """Finish the queue and close the connections."""


def create_tables(execute: Callable[[str], Any]) -> None:
    """Create the tables that are not there yet.

    `execute`: runs a statement and returns a cursor. A database that a newer version of seesay has
    written is refused before anything else is read or changed.
    """
    execute(_STUDY_TABLE)
    row = execute("SELECT value FROM study WHERE key = 'format'").fetchone()
    if row is not None:
        _check_format(str(row[0]))
    for table in _TABLES:
        execute(table)


def _check_format(stored: str) -> None:
    """Refuse a study of a newer version, or whose format is no number."""
    number = parse_whole(stored) or 0
    if number > FORMAT:
        raise UserError(
            f"The study was written by a newer version of seesay (in format {number}, and this "
            f"version reads format {FORMAT}): update seesay to open it."
        )
    if number != FORMAT:
        raise UserError(
            f"The study is damaged (its format is {stored[:20]!r}): restore it from a copy."
        )


def first_row(tx: Transaction, sql: str, *values: object) -> SqlRow | None:
    """Return the first row, if there is one."""
    rows = tx.execute(sql, *values)
    return rows[0] if rows else None


def get_setting(tx: Transaction, key: str) -> str | None:
    """Return a value of the study's key-value table."""
    row = first_row(tx, "SELECT value FROM study WHERE key = ?", key)
    return None if row is None else str(row[0])


def set_setting(tx: Transaction, key: str, value: str) -> None:
    """Set a value of the study's key-value table."""
    tx.execute(
        """INSERT INTO study (key, value) VALUES (?, ?)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value""",
        key,
        value,
    )
