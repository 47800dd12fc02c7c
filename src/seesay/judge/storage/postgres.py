"""PostgreSQL: one schema a study, for many annotators or several server processes on one study."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Any, LiteralString, TypeVar

import psycopg
from psycopg import sql as composed
from psycopg.conninfo import conninfo_to_dict

from seesay.errors import UserError
from seesay.judge.storage.database import TABLES, Row, UnavailableError

T = TypeVar("T")
PREFIX = "seesay_"
_CONNECTIONS = 8
_ATTEMPTS = 5


@lru_cache(maxsize=256)
def _own(sql: str) -> LiteralString:
    return sql.replace("?", "%s")


class PostgresTransaction:
    """Statements on one of the connections."""

    def __init__(self, connection: psycopg.Connection[Row], study: int) -> None:
        self._connection = connection
        self._study = study

    def rows(self, sql: str, *values: object) -> list[Row]:
        cursor = self._connection.execute(_own(sql), values)
        return cursor.fetchall() if cursor.description else []

    def many(self, sql: str, values: Sequence[Sequence[object]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_own(sql), values)

    def lock_study(self) -> None:
        self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (self._study,))

    def lock_person(self, person: int) -> None:
        self._connection.execute("SELECT 1 FROM person WHERE id = %s FOR UPDATE", (person,))


class PostgresDatabase:
    """Some connections, each with its thread. A lost connection is made anew; a deadlock is tried again."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._schema = schema_name(name)
        self._local = threading.local()
        self._open: list[psycopg.Connection[Row]] = []
        self._guard = threading.Lock()
        self._study = 0
        _check_address(url)
        try:
            with psycopg.connect(url, autocommit=True) as first:
                row = first.execute("SELECT hashtextextended(%s, 0)", (self._schema,)).fetchone()
                self._study = int(row[0]) if row else 0
                with first.transaction():
                    first.execute("SELECT pg_advisory_xact_lock(%s)", (self._study,))
                    first.execute(
                        composed.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(composed.Identifier(self._schema))
                    )
                    first.execute(composed.SQL("SET search_path TO {}").format(composed.Identifier(self._schema)))
                    for table in TABLES:
                        first.execute(table)
        except psycopg.Error as error:
            raise _unusable(error) from error
        self._threads = ThreadPoolExecutor(_CONNECTIONS, thread_name_prefix="seesay-judge-postgres")

    def submit(self, work: Callable[[PostgresTransaction], T]) -> Future[T]:
        return self._threads.submit(self._run, work)

    def close(self) -> None:
        self._threads.shutdown(wait=True)
        for connection in self._open:
            connection.close()

    def _run(self, work: Callable[[PostgresTransaction], T]) -> T:
        for _ in range(_ATTEMPTS):
            try:
                connection = self._connection()
                with connection.transaction():
                    return work(PostgresTransaction(connection, self._study))
            except (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure):
                continue
            except psycopg.OperationalError as error:
                raise UnavailableError(str(error)) from error
        raise UnavailableError("too much is going on at once")

    def _connection(self) -> psycopg.Connection[Row]:
        connection: psycopg.Connection[Row] | None = getattr(self._local, "connection", None)
        if connection is None or connection.closed or connection.broken:
            made: psycopg.Connection[Any] = psycopg.connect(self._url, autocommit=True)
            made.execute(composed.SQL("SET search_path TO {}").format(composed.Identifier(self._schema)))
            with self._guard:
                self._open = [kept for kept in self._open if not kept.closed]
                self._open.append(made)
            self._local.connection = connection = made
        return connection


def schema_name(name: str) -> str:
    """The schema of a study."""
    return PREFIX + re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")[:50]


def studies(url: str) -> list[str]:
    """The schemas in a database that hold studies."""
    _check_address(url)
    try:
        with psycopg.connect(url) as connection:
            names = connection.execute(
                "SELECT table_schema FROM information_schema.tables WHERE table_name = 'assignment' "
                "AND table_schema LIKE %s ORDER BY 1",
                (PREFIX.replace("_", r"\_") + "%",),
            ).fetchall()
    except psycopg.Error as error:
        raise _unusable(error) from error
    return [str(row[0]).removeprefix(PREFIX) for row in names]


def _check_address(url: str) -> None:
    """Reject an address that libpq would misread: its messages quote the unparsed part, which may be the password."""
    try:
        parts = conninfo_to_dict(url)
        malformed = not str(parts.get("port", "5432")).isdecimal() or "@" in str(parts.get("dbname", ""))
    except psycopg.ProgrammingError:
        malformed = True
    if malformed:
        raise UserError(
            "The PostgreSQL address cannot be parsed: percent-encode special characters of the password (%40 for @, "
            "%2F for /)."
        ) from None


def _unusable(error: psycopg.Error) -> UserError:
    reason = str(error).strip().splitlines()[0]
    return UserError(f"The PostgreSQL database cannot be used ({reason}): check its address (--database).")
