"""SQLite: one file a study. One thread writes; what waits in its queue is committed together, with one sync.

Commits are the slow part (each waits for the disk), so sharing one among the requests that came meanwhile is what lets
hundreds of people answer at once. No request is told "saved" before its commit has returned.
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
from seesay.judge.storage.database import TABLES, Row, UnavailableError

T = TypeVar("T")
_TOGETHER = 64


class SqliteTransaction:
    """Statements on the one connection; the write lock is held from the start."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, *values: object) -> list[Row]:
        return self._connection.execute(sql, values).fetchall()

    def many(self, sql: str, values: Sequence[Sequence[object]]) -> None:
        self._connection.executemany(sql, values)

    def lock_study(self) -> None:
        pass

    def lock_person(self, person: int) -> None:
        pass


class SqliteDatabase:
    """A study's file, in write-ahead mode and synced at every commit."""

    def __init__(self, path: Path) -> None:
        self._queue: queue.SimpleQueue[tuple[Callable[[SqliteTransaction], Any], Future[Any]] | None] = (
            queue.SimpleQueue()
        )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.touch(mode=0o600)  # it holds the study's secrets
            self._connection = sqlite3.connect(path, timeout=20, isolation_level=None, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("PRAGMA foreign_keys = ON")
            for table in TABLES:
                self._connection.execute(table)
        except sqlite3.DatabaseError as error:
            raise UserError(f"'{path}' cannot be used as a study ({error}): name another file with --study.") from error
        self._thread = threading.Thread(target=self._work, name="seesay-judge-sqlite", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[SqliteTransaction], T]) -> Future[T]:
        future: Future[T] = Future()
        self._queue.put((work, future))
        return future

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def _work(self) -> None:
        while (first := self._queue.get()) is not None:
            batch = [first]
            last = False
            while len(batch) < _TOGETHER and not last:
                try:
                    following = self._queue.get_nowait()
                except queue.Empty:
                    break
                if following is None:
                    last = True
                else:
                    batch.append(following)
            self._commit(batch)
            if last:
                return

    def _commit(self, batch: Sequence[tuple[Callable[[SqliteTransaction], Any], Future[Any]]]) -> None:
        transaction = SqliteTransaction(self._connection)
        done: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for work, future in batch:
                self._connection.execute("SAVEPOINT one")
                try:
                    done.append((future, work(transaction), None))
                except Exception as error:
                    self._connection.execute("ROLLBACK TO one")
                    done.append((future, None, error))
                self._connection.execute("RELEASE one")
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:  # a full disk, a lock held for too long: nothing of the batch was kept
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            done = [(future, None, UnavailableError(str(error))) for _, future in batch]
        for future, result, failure in done:
            if failure is not None:
                future.set_exception(failure)
            else:
                future.set_result(result)
