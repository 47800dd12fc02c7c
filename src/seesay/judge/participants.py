"""The participants of a study: how they are invited, consent and finish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seesay.judge import security
from seesay.judge.storage.database import Transaction, first_row, get_setting
from seesay.judge.study import Study


@dataclass(frozen=True, slots=True)
class Participant:
    """The state of a participant. `sent` counts the pages they have completed, `acted` is their last activity."""

    id: int
    consented: bool
    finished: bool
    sent: int
    acted: float
    code: str


def find_by_token(tx: Transaction, token: str) -> int | None:
    """The id of the participant with this link, if there is one."""
    row = first_row(tx, "SELECT id FROM person WHERE token = ?", security.digest(token))
    return None if row is None else int(row[0])


def get_participant(tx: Transaction, person: int) -> Participant:
    """The current state of a participant."""
    row = tx.execute("SELECT id, consented, finished, sent, acted, code FROM person WHERE id = ?", person)[0]
    number, consented, finished, sent, acted, code = row
    return Participant(int(number), consented is not None, finished is not None, int(sent), acted, code or "")


def create_links(tx: Transaction, count: int, now: float) -> list[str]:
    """Create participants and return the tokens of their links, which are not stored."""
    tx.lock_study()
    tokens = [security.new_token() for _ in range(count)]
    _add(tx, tokens, "link", now)
    return tokens


def join(tx: Transaction, site: str, worker: str, now: float) -> str:
    """The token of a worker of a crowdsourcing site: the same one when they return or open a second tab.

    The worker's id is stored as a keyed digest: enough to recognise them, not enough to identify them.
    """
    tx.lock_study()
    key = get_setting(tx, "secret") or ""
    worker_digest = security.sign(key, "outside", site, worker)
    token = security.sign(key, "token", site, worker)[:32]
    if not first_row(tx, "SELECT id FROM person WHERE outside = ?", worker_digest):
        _add(tx, [token], site, now, worker_digest)
    return token


def record_consent(tx: Transaction, person: int, now: float) -> None:
    """Record that a participant agreed; a second time changes nothing."""
    tx.execute("UPDATE person SET consented = ?, acted = ? WHERE id = ? AND consented IS NULL", now, now, person)


def finish(tx: Transaction, study: Study, person: int, now: float) -> Participant:
    """Mark a participant as finished and give them a completion code."""
    code = study.design.completion_code or security.new_completion_code()
    tx.execute(
        "UPDATE person SET finished = ?, acted = ?, code = ? WHERE id = ? AND finished IS NULL", now, now, code, person
    )
    return get_participant(tx, person)


def _add(tx: Transaction, tokens: Sequence[str], source: str, now: float, worker_digest: str | None = None) -> None:
    row = first_row(tx, "SELECT COALESCE(MAX(id), 0) FROM person")
    first = int(row[0]) + 1 if row else 1
    tx.executemany(
        "INSERT INTO person (id, token, outside, source, created, acted) VALUES (?, ?, ?, ?, ?, ?)",
        [(first + i, security.digest(token), worker_digest, source, now, now) for i, token in enumerate(tokens)],
    )
