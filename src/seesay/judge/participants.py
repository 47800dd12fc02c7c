"""The people of a study: how they come in, consent and finish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seesay.judge import secret
from seesay.judge.storage.database import Row, Transaction, one, setting
from seesay.judge.study import Study

_COLUMNS = "id, source, consented, finished, sent, acted, code"


@dataclass(frozen=True, slots=True)
class Person:
    """Where a person stands. `sent` counts the pages they have sent."""

    id: int
    source: str
    consented: bool
    finished: bool
    sent: int
    acted: float
    code: str


def by_token(tx: Transaction, token: str) -> int | None:
    """The number of the person whose link it is."""
    row = one(tx, "SELECT id FROM person WHERE token = ?", secret.digest(token))
    return None if row is None else int(row[0])


def by_id(tx: Transaction, person: int) -> Person:
    """The person as they stand now."""
    row: Row = tx.rows(f"SELECT {_COLUMNS} FROM person WHERE id = ?", person)[0]
    number, source, consented, finished, sent, acted, code = row
    return Person(int(number), source, consented is not None, finished is not None, int(sent), acted, code or "")


def invite(tx: Transaction, count: int, now: float) -> list[str]:
    """New personal links; their tokens are told here and nowhere else."""
    tx.lock_study()
    tokens = [secret.new_token() for _ in range(count)]
    _add(tx, tokens, "link", now)
    return tokens


def join(tx: Transaction, source: str, outside: str, now: float) -> str:
    """The token of a worker of a crowdsourcing site; who comes back, or opens a second tab, gets the same one.

    The worker's id is kept as a keyed digest: enough to know them again, not enough to tell who they are.
    """
    tx.lock_study()
    key = setting(tx, "secret") or ""
    mark = secret.sign(key, "outside", source, outside)
    token = secret.sign(key, "token", source, outside)[:32]
    if not one(tx, "SELECT id FROM person WHERE outside = ?", mark):
        _add(tx, [token], source, now, mark)
    return token


def consent(tx: Transaction, person: int, now: float) -> None:
    """Note that a person agreed; a second time changes nothing."""
    tx.rows("UPDATE person SET consented = ?, acted = ? WHERE id = ? AND consented IS NULL", now, now, person)


def finish(tx: Transaction, study: Study, person: Person, now: float) -> Person:
    """Close a person's work and give them their code."""
    code = study.design.completion_code or secret.new_code()
    tx.rows(
        "UPDATE person SET finished = ?, acted = ?, code = ? WHERE id = ? AND finished IS NULL",
        now,
        now,
        code,
        person.id,
    )
    return by_id(tx, person.id)


def _add(tx: Transaction, tokens: Sequence[str], source: str, now: float, outside: str | None = None) -> None:
    row = one(tx, "SELECT COALESCE(MAX(id), 0) FROM person")
    first = int(row[0]) + 1 if row else 1
    tx.many(
        "INSERT INTO person (id, token, outside, source, created, acted) VALUES (?, ?, ?, ?, ?, ?)",
        [(first + i, secret.digest(token), outside, source, now, now) for i, token in enumerate(tokens)],
    )
