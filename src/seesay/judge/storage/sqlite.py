"""SQLite: one file per study, to which one thread writes.

It commits all queued transactions together, with one sync. Commits are slow (each waits for the
disk), so sharing one commit among the requests that arrived in the meantime lets hundreds of people
answer at once. No request is answered "saved" before its commit has returned.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from seesay.errors import UserError
from seesay.judge.storage.database import SqlRow, Transaction, UnavailableError, create_tables

T = TypeVar("T")
_MAX_BATCH = 64
"""Transactions that share a commit: the first of them waits for all."""


class SqliteTransaction(Transaction):
    """Statements on the one connection; the write lock is held from the start."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, *values: object) -> list[SqlRow]:
        return self._connection.execute(sql, values).fetchall()

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        marks = ", ".join("?" * len(columns))
        self._connection.executemany(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})",
            rows,
        )


_Request = tuple[Callable[[SqliteTransaction], Any], Future[Any]]


class SqliteDatabase:
    """The file of a study, in write-ahead mode and synced at every commit."""

    def __init__(self, path: Path) -> None:
        self._queue: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # It contains the study's secrets.
            if not path.exists():
                path.touch(mode=0o600)
            # Opened here, so that errors are raised here, and used by the one thread.
            self._connection = sqlite3.connect(
                path,
                timeout=20,
                isolation_level=None,
                check_same_thread=False,
            )
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("PRAGMA foreign_keys = ON")
            create_tables(self._connection.execute)
        # Decoding fails where SQLite's message quotes a file that is no text.
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise UserError(
                f"'{path}' cannot be used as a study ({error}): give another file."
            ) from error
        self._thread = threading.Thread(target=self._run, name="seesay-judge-sqlite", daemon=True)
        self._thread.start()

    def submit(
        self,
        work: Callable[[SqliteTransaction], T],
        *,
        locks_study: bool = False,
    ) -> Future[T]:
        future: Future[T] = Future()
        self._queue.put((work, future))
        return future

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        """Commit what is queued, until the end of the queue is reached."""
        while (first := self._queue.get()) is not None:
            batch = [first]
            # Nobody else takes from the queue, so that it is not empty when `get` is called.
            while len(batch) < _MAX_BATCH and not self._queue.empty():
                queued = self._queue.get()
                if queued is None:
                    self._commit(batch)
                    return
                batch.append(queued)
            self._commit(batch)

    def _commit(self, requests: Sequence[_Request]) -> None:
        """Run functions in one transaction, each with a savepoint: an error undoes its own work."""
        batch = [
            (work, future) for work, future in requests if future.set_running_or_notify_cancel()
        ]
        transaction = SqliteTransaction(self._connection)
        outcomes: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for work, future in batch:
                self._connection.execute("SAVEPOINT request")
                try:
                    outcomes.append((future, work(transaction), None))
                except Exception as error:
                    self._connection.execute("ROLLBACK TO request")
                    outcomes.append((future, None, error))
                self._connection.execute("RELEASE request")
            self._connection.execute("COMMIT")
        # A full disk, a lock held for too long: the batch was not committed.
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            outcomes = [(future, None, UnavailableError(str(error))) for _, future in batch]
        # Only now, after the commit: nobody reads "saved" before it is on disk.
        for future, result, failure in outcomes:
            if failure is not None:
                future.set_exception(failure)
            else:
                future.set_result(result)
