"""What people send: each answer once, kept before anyone is told so."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from seesay.judge import participants
from seesay.judge.assignment import ANSWERED, OPEN, RETURNED, page_of, renew, take
from seesay.judge.participants import Person
from seesay.judge.storage.database import Transaction, one, setting
from seesay.judge.study import TOP, Item, Study

HOW = {"rating": ("moved", "confirmed"), "choice": ("chosen",)}


class RefusedError(Exception):
    """Something that cannot be taken, with the HTTP status and the sentence that say so."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Said:
    """One answer as it was sent: a slider's position or an option's number."""

    value: int
    how: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a page is."""

    page: int
    answered: int
    of: int


def save(
    tx: Transaction, study: Study, person_id: int, page: int, place: int, said: Said, key: str, now: float
) -> Progress:
    """Keep one answer of the page that is open. The same key again changes nothing."""
    _lock(tx, person_id, page)
    if _is_new(tx, person_id, key, [page, place, said.value, said.how]):
        person = _check_open(tx, person_id, page)
        _keep(tx, study, person, page, place, said, now)
        renew(tx, study, person_id, page, now)
    return progress(tx, person_id, page)


def send(
    tx: Transaction, study: Study, person_id: int, page: int, answers: Mapping[int, Said], key: str, now: float
) -> Progress:
    """Keep a whole page and close it, if nothing is missing on it. The same form again changes nothing."""
    _lock(tx, person_id, page)
    content = [page, sorted((place, said.value, said.how) for place, said in answers.items())]
    if known := one(tx, "SELECT digest FROM receipt WHERE person = ? AND key = ?", person_id, key):
        if known[0] != _digest(content):
            raise RefusedError(409, "This page was sent before, with other answers: the first ones are kept.")
        return progress(tx, person_id, page)
    person = _check_open(tx, person_id, page)
    slots = page_of(tx, study, person_id, page)
    shown = len(slots)
    for place, said in sorted(answers.items()):
        slot = next((slot for slot in slots if slot.place == place), None)
        if slot is None or slot.given is None or slot.given.value != said.value:
            try:
                _keep(tx, study, person, page, place, said, now, share=max(shown, 1))
            except RefusedError as refused:
                if refused.status != 410:  # one that has gone to someone else is simply not on the page any more
                    raise
                tx.rows("DELETE FROM assignment WHERE person = ? AND page = ? AND place = ?", person_id, page, place)
    standing = progress(tx, person_id, page)
    renew(tx, study, person_id, page, now)
    if standing.answered == standing.of:
        _is_new(tx, person_id, key, content)
        tx.rows("UPDATE person SET sent = ?, acted = ? WHERE id = ?", page, now, person_id)
        if page >= study.design.pages:
            participants.finish(tx, study, participants.by_id(tx, person_id), now)
    return standing


def _lock(tx: Transaction, person: int, page: int) -> None:
    """Keep the person's other requests waiting; the study's too where an item that had gone back is to be taken again.

    Most answers need no lock of the study, so that people do not wait for each other.
    """
    if one(tx, "SELECT 1 FROM assignment WHERE person = ? AND page = ? AND state = ? LIMIT 1", person, page, RETURNED):
        tx.lock_study()
    tx.lock_person(person)


def progress(tx: Transaction, person: int, page: int) -> Progress:
    """How many items of a page are answered."""
    row = one(
        tx,
        "SELECT COUNT(*), COALESCE(SUM(CASE WHEN state = 'answered' THEN 1 ELSE 0 END), 0) "
        "FROM assignment WHERE person = ? AND page = ?",
        person,
        page,
    )
    assert row is not None
    return Progress(page, int(row[1]), int(row[0]))


def check(item: Item, said: Said) -> None:
    """Whether the answer is one that the item can have."""
    top = largest(item)
    if not 0 <= said.value <= top:
        raise RefusedError(422, f"The answer must be a whole number from 0 to {top}.")
    if said.how not in HOW["rating" if item.words else "choice"]:
        raise RefusedError(422, f"'{said.how}' is not how this item is answered.")


def largest(item: Item) -> int:
    """The slider's right end, or the number of the last option."""
    return TOP if item.words else len(item.options) - 1


def _check_open(tx: Transaction, person_id: int, page: int) -> Person:
    person = participants.by_id(tx, person_id)
    if setting(tx, "state") != "open":
        raise RefusedError(409, "The study is not open now. What you sent before is kept.")
    if not person.consented:
        raise RefusedError(403, "Please read and accept the first page before you answer.")
    if person.finished or page != person.sent + 1:
        raise RefusedError(409, "This page is closed: it was sent before.")
    return person


def _keep(
    tx: Transaction, study: Study, sender: Person, page: int, place: int, said: Said, now: float, share: int = 1
) -> None:
    """`share`: the time since the last sign is shared among so many answers that came together."""
    person = sender.id
    row = one(tx, "SELECT item, state FROM assignment WHERE person = ? AND page = ? AND place = ?", person, page, place)
    if row is None:
        raise RefusedError(404, "There is no such item on your page.")
    item, state = row
    check(study.by_id[item], said)
    if state == RETURNED:
        tx.lock_study()
        if not take(tx, study, person, item, now):
            raise RefusedError(410, "You were away for a while, and this item has gone to someone else.")
    tx.rows(
        """INSERT INTO answer (person, item, value, start, how, seconds, given) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (person, item) DO UPDATE SET value = excluded.value, how = excluded.how,
        seconds = answer.seconds + excluded.seconds, changes = answer.changes + 1, given = excluded.given""",
        person,
        item,
        said.value,
        study.start(person, item) if study.by_id[item].words else None,
        said.how,
        max(now - sender.acted, 0.0) / share,
        now,
    )
    tx.rows("UPDATE assignment SET state = ? WHERE person = ? AND item = ? AND state = ?", ANSWERED, person, item, OPEN)
    if share == 1:
        tx.rows("UPDATE person SET acted = ? WHERE id = ?", now, person)


def _is_new(tx: Transaction, person: int, key: str, content: object) -> bool:
    """Note a key. Whether it was not there before; the same key with another content is refused."""
    digest = _digest(content)
    known = one(tx, "SELECT digest FROM receipt WHERE person = ? AND key = ?", person, key)
    if known is None:
        tx.rows("INSERT INTO receipt (person, key, digest) VALUES (?, ?, ?)", person, key, digest)
        return True
    if known[0] != digest:
        raise RefusedError(409, "This key was used before for another answer.")
    return False


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
