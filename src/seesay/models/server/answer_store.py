"""Answers of servers, kept on this machine and reused where the very same request is made again
(`--reuse`)."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from seesay import caches
from seesay.data.json_stream import parse_json
from seesay.digests import json_digest
from seesay.errors import UserError


class AnswerStore:
    """One row per request: a digest of address, model and body, and the answer as the server gave
    it."""

    def __init__(self, path: Path | None = None) -> None:
        path = path or caches.SERVER_ANSWERS.folder / "answers.sqlite"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._path = path
        with self._usable():
            # runs of other processes write here too: wait for them, up to a minute
            self._database = sqlite3.connect(path, timeout=60, check_same_thread=False)
            with self._database:
                self._database.execute(
                    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT "
                    "NULL)"
                )

    def get(self, address: str, body: dict[str, Any]) -> Any:
        """The answer to this request; None where it was never made."""
        with self._usable():
            query = "SELECT answer FROM answers WHERE key = ?"
            row = self._database.execute(query, (_key(address, body),)).fetchone()
            if row is None:
                return None
            return parse_json(row[0])

    def put(self, address: str, body: dict[str, Any], answer: Any) -> None:
        """Keep an answer."""
        with self._usable(), self._database:
            row = (_key(address, body), json.dumps(answer))
            self._database.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", row)

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """Give the database to one thread at a time, and one sentence for whatever is wrong with
        it."""
        try:
            with self._lock:
                yield
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise UserError(
                f"The answers kept in '{self._path}' cannot be used ({error}): delete that file."
            ) from error


def _key(address: str, body: dict[str, Any]) -> str:
    return json_digest([address, body], 16, sort_keys=True, ensure_ascii=False)
