"""The participants of a study: how they are invited, consent and finish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seesay.errors import UserError
from seesay.judge import security
from seesay.judge.storage.database import SqlRow, Transaction, first_row, get_setting
from seesay.judge.study import Study

_FORGET_AFTER = 3600.0
"""Seconds after which a worker who never agreed to take part may be forgotten."""


class TooManyWorkersError(Exception):
    """As many participants came by the join link as are allowed."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A worker's visit of the join link."""

    site: str
    worker: str
    """The site's id of the worker."""
    id: str = ""
    """The site's id of the visit."""
    is_signed: bool = False
    """Whether the site has signed the worker's id."""


@dataclass(frozen=True, slots=True)
class Participant:
    """The state of a participant."""

    id: int
    consented: bool
    finished: bool
    pages_sent: int
    """How many pages they have completed."""
    last_active: float
    """The time of their last activity."""
    code: str
    study_state: str
    """Whether the study is open, paused or closed."""


def find_by_token(tx: Transaction, token: str) -> tuple[int, bool] | None:
    """Return the id of the participant with this link, and whether they have consented.

    None if there is no such link.
    """
    row = first_row(tx, "SELECT id, consented FROM person WHERE token = ?", security.digest(token))
    return None if row is None else (row[0], row[1] is not None)


PARTICIPANT_COLUMNS = """p.id, p.consented IS NOT NULL, p.finished IS NOT NULL, p.pages_sent,
    p.last_active, COALESCE(p.code, ''), (SELECT value FROM study WHERE key = 'state')"""
"""The fields of `Participant`, of a table `person p`."""


def read_participant(row: SqlRow) -> Participant:
    """Return a participant from a row that begins with `PARTICIPANT_COLUMNS`."""
    # SQLite's truth values are numbers.
    person, consented, finished, *others = row[:7]
    return Participant(person, bool(consented), bool(finished), *others)


def get_participant(tx: Transaction, person: int) -> Participant:
    """Return the current state of a participant."""
    rows = tx.execute(f"SELECT {PARTICIPANT_COLUMNS} FROM person p WHERE p.id = ?", person)
    return read_participant(rows[0])


def create_links(tx: Transaction, count: int, now: float) -> list[str]:
    """Create participants and return the tokens of their links, which are not stored."""
    tx.lock_study()
    tokens = [security.new_token() for _ in range(count)]
    _add(tx, tokens, "link", now)
    return tokens


def join(tx: Transaction, study: Study, visit: Visit, now: float) -> str | None:
    """Return the token of a worker of a crowdsourcing site.

    None where their id alone does not prove that it is theirs. Whoever has a signed id, or the id
    of the visit with which they came first, gets the same token when they return or open a second
    tab. The worker's id is stored as a keyed digest: enough to recognise them, not enough to
    identify them.
    """
    tx.lock_study()
    key = get_setting(tx, "secret") or ""
    worker_digest = security.sign(key, "worker", visit.site, visit.worker)
    if visit.is_signed or visit.id:
        # Computed, not stored: the same proof leads to the same token.
        proof = "signed" if visit.is_signed else f"visit {visit.id}"
        token = security.sign(key, "token", visit.site, visit.worker, proof)[:32]
    else:
        token = security.new_token()
    row = first_row(tx, "SELECT token FROM person WHERE worker = ?", worker_digest)
    if row is None:
        _make_room(tx, study, now)
        _add(tx, [token], visit.site, now, worker_digest)
    elif visit.is_signed:
        # They may have come without a signature before: from now on only the signed token is valid.
        tx.execute(
            "UPDATE person SET token = ? WHERE worker = ?",
            security.digest(token),
            worker_digest,
        )
    elif row[0] != security.digest(token):
        return None
    return token


def max_workers(study: Study) -> int:
    """Return how many participants may come by the join link: anyone who has it can invent ids."""
    return max(1000, 20 * study.participants_needed)


def _make_room(tx: Transaction, study: Study, now: float) -> None:
    """Refuse a worker beyond the limit.

    Those who never agreed to take part are forgotten first, after an hour. The last participant
    stays, so that no number is given out twice.
    """
    count = "SELECT COUNT(*) FROM person WHERE worker IS NOT NULL"
    if tx.execute(count)[0][0] < max_workers(study):
        return
    tx.execute(
        """DELETE FROM person WHERE worker IS NOT NULL AND consented IS NULL AND finished IS NULL
        AND created < ? AND id < (SELECT MAX(id) FROM person)""",
        now - _FORGET_AFTER,
    )
    if tx.execute(count)[0][0] >= max_workers(study):
        raise TooManyWorkersError


def record_consent(tx: Transaction, person: int, now: float) -> None:
    """Record that a participant agreed.

    A second time, or after they have withdrawn, it changes nothing.
    """
    tx.execute(
        """UPDATE person SET consented = ?, last_active = ?
        WHERE id = ? AND consented IS NULL AND finished IS NULL""",
        now,
        now,
        person,
    )


def get_details(tx: Transaction, person: int) -> dict[str, str]:
    """Return what else is known of a participant.

    `language`; `check`: tries, or failed; `practice`: how many were right.
    """
    rows = tx.execute("SELECT key, value FROM detail WHERE person = ?", person)
    return dict(rows)


def all_details(tx: Transaction) -> dict[int, dict[str, str]]:
    """Return the details of every participant who has any."""
    rows = tx.execute("SELECT person, key, value FROM detail ORDER BY person")
    details: dict[int, dict[str, str]] = {}
    for person, key, value in rows:
        details.setdefault(person, {})[key] = value
    return details


def withdraw(tx: Transaction, code_or_token: str) -> int:
    """Delete the answers of the participant with this completion code or link.

    Returns how many there were. The participant stays, finished but without consent and code, so
    that they do not come back as someone else; their items become available.
    """
    tx.lock_study()
    rows = tx.execute(
        "SELECT id FROM person WHERE code = ? OR token = ?",
        code_or_token,
        security.digest(code_or_token),
    )
    if not rows:
        raise UserError("No participant has this completion code or link.")
    # A study may have one code for all.
    if len(rows) > 1:
        raise UserError(
            "Several participants share this completion code: give the participant's link instead."
        )
    person = rows[0][0]
    tx.execute(
        """UPDATE item SET taken = taken - 1 WHERE id IN
        (SELECT item FROM assignment WHERE person = ? AND state != 'returned')""",
        person,
    )
    answers = tx.execute("DELETE FROM answer WHERE person = ? RETURNING item", person)
    for table in ("typed", "assignment", "receipt", "detail"):
        tx.execute(f"DELETE FROM {table} WHERE person = ?", person)
    tx.execute(
        """UPDATE person SET code = NULL, consented = NULL, pages_sent = 0, finished = last_active
        WHERE id = ?""",
        person,
    )
    return len(answers)


def set_detail(tx: Transaction, person: int, key: str, value: str) -> None:
    """Note something about a participant."""
    tx.execute(
        """INSERT INTO detail (person, key, value) VALUES (?, ?, ?)
        ON CONFLICT (person, key) DO UPDATE SET value = excluded.value""",
        person,
        key,
        value,
    )


def finish(tx: Transaction, study: Study, person: int, now: float) -> Participant:
    """Mark a participant as finished and give them a completion code."""
    code = study.design.completion_code or security.new_completion_code()
    tx.execute(
        """UPDATE person SET finished = ?, last_active = ?, code = ?
        WHERE id = ? AND finished IS NULL""",
        now,
        now,
        code,
        person,
    )
    return get_participant(tx, person)


def _add(
    tx: Transaction,
    tokens: Sequence[str],
    source: str,
    now: float,
    worker_digest: str | None = None,
) -> None:
    """Add participants with the next free numbers; requires the study's lock."""
    first = 1 + tx.execute("SELECT COALESCE(MAX(id), 0) FROM person")[0][0]
    tx.insert(
        "person",
        ("id", "token", "worker", "source", "created", "last_active"),
        [
            (person, security.digest(token), worker_digest, source, now, now)
            for person, token in enumerate(tokens, first)
        ],
    )
