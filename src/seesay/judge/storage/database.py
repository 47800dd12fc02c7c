"""What both databases offer, and the tables that both of them hold. The SQL is shared; `?` marks a parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Row = tuple[Any, ...]

TABLES = (
    # What the study is, and its secrets.
    "CREATE TABLE IF NOT EXISTS study (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    # `taken` counts judgements given and leases held: it never passes the number that is wanted.
    """CREATE TABLE IF NOT EXISTS item (
        id TEXT PRIMARY KEY, base TEXT NOT NULL, place BIGINT NOT NULL, control TEXT NOT NULL,
        taken BIGINT NOT NULL DEFAULT 0)""",
    "CREATE INDEX IF NOT EXISTS item_by_need ON item (control, taken, place)",
    # `token` and `outside` are digests: the links and the workers' ids are not kept.
    """CREATE TABLE IF NOT EXISTS person (
        id BIGINT PRIMARY KEY, token TEXT NOT NULL UNIQUE, outside TEXT UNIQUE, source TEXT NOT NULL,
        created DOUBLE PRECISION NOT NULL, consented DOUBLE PRECISION, finished DOUBLE PRECISION,
        sent BIGINT NOT NULL DEFAULT 0, acted DOUBLE PRECISION NOT NULL, code TEXT)""",
    """CREATE TABLE IF NOT EXISTS assignment (
        person BIGINT NOT NULL REFERENCES person (id), item TEXT NOT NULL REFERENCES item (id), base TEXT NOT NULL,
        page BIGINT NOT NULL, place BIGINT NOT NULL, state TEXT NOT NULL, lease DOUBLE PRECISION NOT NULL,
        PRIMARY KEY (person, item))""",
    "CREATE INDEX IF NOT EXISTS assignment_by_lease ON assignment (lease) WHERE state = 'open'",
    """CREATE TABLE IF NOT EXISTS answer (
        person BIGINT NOT NULL REFERENCES person (id), item TEXT NOT NULL REFERENCES item (id),
        value BIGINT NOT NULL, start BIGINT, how TEXT NOT NULL, seconds DOUBLE PRECISION NOT NULL,
        changes BIGINT NOT NULL DEFAULT 0, given DOUBLE PRECISION NOT NULL, PRIMARY KEY (person, item))""",
    # What was sent under which key: the same thing sent twice counts once.
    """CREATE TABLE IF NOT EXISTS receipt (
        person BIGINT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (person, key))""",
    "CREATE TABLE IF NOT EXISTS session (token TEXT PRIMARY KEY, expires DOUBLE PRECISION NOT NULL)",
)


class UnavailableError(Exception):
    """The database cannot keep anything now: a full disk, a lost server. Nothing of the work was kept."""


class Transaction(Protocol):
    """Statements that happen together or not at all."""

    def rows(self, sql: str, *values: object) -> list[Row]:
        """Run a statement and give its rows."""

    def many(self, sql: str, values: Sequence[Sequence[object]]) -> None:
        """Run a statement for each row of values."""

    def lock_study(self) -> None:
        """Keep others from handing out items until the end. Taken before `lock_person` where both are needed."""

    def lock_person(self, person: int) -> None:
        """Keep another request of the same person waiting until the end."""


class Database(Protocol):
    """Runs work in transactions. When a result is there, what it rests on is on the disk."""

    def submit(self, work: Callable[[Transaction], T]) -> Future[T]:
        """Queue work; an exception in it undoes it and comes out of the future."""

    def close(self) -> None:
        """Finish what is queued and let go."""


def one(tx: Transaction, sql: str, *values: object) -> Row | None:
    """The first row, if there is one."""
    rows = tx.rows(sql, *values)
    return rows[0] if rows else None


def setting(tx: Transaction, key: str) -> str | None:
    """A value that the study keeps."""
    row = one(tx, "SELECT value FROM study WHERE key = ?", key)
    return None if row is None else str(row[0])


def keep(tx: Transaction, key: str, value: str) -> None:
    """Set a value that the study keeps."""
    tx.rows(
        "INSERT INTO study (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        key,
        value,
    )
