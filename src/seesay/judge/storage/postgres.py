"""PostgreSQL: one schema per study, for many participants or several server processes."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import LiteralString, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier

from seesay.errors import UserError
from seesay.judge.storage.database import SqlRow, Transaction, UnavailableError, create_tables

T = TypeVar("T")
PREFIX = "seesay_"
_CONNECTIONS = 6
"""For answers. They compete with the two that assign pages: beside sixteen, the slowest percent of
200 people waited 1.3 to 4 times as long, for pages (docs/results/people.md)."""
_PAGE_CONNECTIONS = 2
"""For pages, which wait for the study's lock: one waits for it while the other commits."""
_ATTEMPTS = 5
"""How often a transaction is tried that ends in a deadlock."""


def _with_psycopg_parameters(sql: str) -> LiteralString:
    return sql.replace("?", "%s")


class PostgresTransaction(Transaction):
    """Statements on one of the connections.

    Those without rows are sent with the next that has some or with the commit. An answer takes a
    dozen statements; waiting for each of them was most of the time that it took.
    """

    def __init__(self, connection: psycopg.Connection[SqlRow], lock_key: int) -> None:
        self._cursor = psycopg.ClientCursor(connection)
        self._lock_key = lock_key
        self._unsent = ["BEGIN"]

    def execute(self, sql: str, *values: object) -> list[SqlRow]:
        self._add(_with_psycopg_parameters(sql), values)
        has_rows = sql.startswith("SELECT") or "RETURNING" in sql
        if not has_rows:
            return []
        return self._send()

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        if not rows:
            return
        marks = _with_psycopg_parameters(f"({', '.join('?' * len(columns))})")
        values = ", ".join(self._cursor.mogrify(marks, row) for row in rows)
        self._unsent.append(f"INSERT INTO {table} ({', '.join(columns)}) VALUES {values}")

    def lock_study(self, if_rows: str = "", *values: object) -> None:
        condition = f" WHERE EXISTS ({if_rows})" if if_rows else ""
        lock = _with_psycopg_parameters(f"SELECT pg_advisory_xact_lock(?){condition}")
        self._add(lock, (self._lock_key, *values))

    def lock_person(self, person: int) -> None:
        # Two keys of 32 bits do not collide with the study's single key of 64.
        self._add("SELECT pg_advisory_xact_lock(%s, %s)", (self._lock_key >> 32, person))

    def defer_sync(self) -> None:
        self._unsent.append("SET LOCAL synchronous_commit TO off")

    def commit(self) -> None:
        self._unsent.append("COMMIT")
        self._send()

    def _add(self, sql: LiteralString, values: Sequence[object]) -> None:
        self._unsent.append(self._cursor.mogrify(sql, values))

    def _send(self) -> list[SqlRow]:
        """Send what has gathered, and return the rows of the last statement."""
        encoding = self._cursor.connection.info.encoding
        self._cursor.execute("; ".join(self._unsent).encode(encoding))
        self._unsent.clear()
        # Each statement has a result; only the last one's rows were asked for.
        while self._cursor.nextset():
            pass
        if self._cursor.description:
            return self._cursor.fetchall()
        return []


class PostgresDatabase:
    """A pool of threads with one connection each.

    Lost connections are reopened; deadlocks are retried.
    """

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._schema = Identifier(schema_name(name))
        self._local = threading.local()
        self._connections: list[psycopg.Connection[SqlRow]] = []
        self._guard = threading.Lock()
        with closing(_connect(url)) as connection:
            row = connection.execute(
                "SELECT hashtextextended(%s, 0)", (schema_name(name),)
            ).fetchone()
            self._lock_key = int(row[0]) if row else 0
            try:
                with connection.transaction():
                    # Two servers that start at once would otherwise create the tables twice.
                    connection.execute("SELECT pg_advisory_xact_lock(%s)", (self._lock_key,))
                    connection.execute(SQL("CREATE SCHEMA IF NOT EXISTS {}").format(self._schema))
                    connection.execute(SQL("SET search_path TO {}").format(self._schema))
                    create_tables(connection.execute)
            except psycopg.Error as error:
                raise _unusable(error) from error
        self._threads = ThreadPoolExecutor(_CONNECTIONS, thread_name_prefix="seesay-judge-postgres")
        # Those that wait for the study's lock would otherwise hold every thread, and answers would
        # wait behind pages.
        self._locking_threads = ThreadPoolExecutor(
            _PAGE_CONNECTIONS, thread_name_prefix="seesay-judge-postgres-pages"
        )

    def submit(
        self,
        work: Callable[[PostgresTransaction], T],
        *,
        locks_study: bool = False,
    ) -> Future[T]:
        threads = self._locking_threads if locks_study else self._threads
        return threads.submit(self._run, work)

    def close(self) -> None:
        self._threads.shutdown(wait=True)
        self._locking_threads.shutdown(wait=True)
        for connection in self._connections:
            connection.close()

    def _run(self, work: Callable[[PostgresTransaction], T]) -> T:
        """Run a function in a transaction, again where it met a deadlock."""
        for _ in range(_ATTEMPTS):
            try:
                connection = self._connection()
                try:
                    transaction = PostgresTransaction(connection, self._lock_key)
                    result = work(transaction)
                    transaction.commit()
                    return result
                finally:
                    # Of what was not committed; after a commit it does nothing.
                    connection.rollback()
            except (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure):
                continue
            except psycopg.OperationalError as error:
                raise UnavailableError(str(error)) from error
        raise UnavailableError(f"{_ATTEMPTS} attempts ended in deadlocks")

    def _connection(self) -> psycopg.Connection[SqlRow]:
        """Return this thread's connection, a new one where it has none that works."""
        connection: psycopg.Connection[SqlRow] | None = getattr(self._local, "connection", None)
        if connection is None or connection.closed or connection.broken:
            connection = psycopg.connect(self._url, autocommit=True)
            connection.execute(SQL("SET search_path TO {}").format(self._schema))
            with self._guard:
                open_connections = [old for old in self._connections if not old.closed]
                self._connections = [*open_connections, connection]
            self._local.connection = connection
        return connection


def schema_name(name: str) -> str:
    """Return the schema of a study."""
    identifier = re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")
    # PostgreSQL cuts longer names off at 63 bytes.
    return PREFIX + identifier[:50]


def list_studies(url: str) -> list[str]:
    """Return the names of the studies in a database."""
    with closing(_connect(url)) as connection:
        rows = connection.execute(
            "SELECT table_schema FROM information_schema.tables WHERE table_name = 'assignment' "
            "AND table_schema LIKE %s ORDER BY 1",
            # An underscore stands for any character in LIKE.
            (PREFIX.replace("_", r"\_") + "%",),
        ).fetchall()
    return [str(row[0]).removeprefix(PREFIX) for row in rows]


def _connect(url: str) -> psycopg.Connection[SqlRow]:
    """Return a connection.

    libpq quotes what it cannot parse, perhaps the password: such addresses are rejected first.
    """
    try:
        parts = conninfo_to_dict(url)
        has_port = str(parts.get("port", "5432")).isdecimal()
        is_valid = has_port and "@" not in str(parts.get("dbname", ""))
    except psycopg.ProgrammingError:
        is_valid = False
    if not is_valid:
        raise UserError(
            "The PostgreSQL address cannot be parsed: percent-encode special characters of the "
            "password (%40 for @, %2F for /)."
        ) from None
    try:
        return psycopg.connect(url, autocommit=True)
    except psycopg.Error as error:
        raise _unusable(error) from error


def _unusable(error: psycopg.Error) -> UserError:
    # The lines after the first are hints for administrators.
    reason = str(error).strip().splitlines()[0]
    return UserError(
        f"The PostgreSQL database cannot be used ({reason}): check its address (--database)."
    )
