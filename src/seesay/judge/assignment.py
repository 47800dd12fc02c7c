"""Who gets which items. Every item reaches its number of judgements, and few are given that nobody needs.

An item's `taken` counts the judgements it has and the leases that are out. A page takes the items with the fewest; an
item whose count is full is not handed out. A lease ends when its person has given no sign for a while: the item goes
back, and if they return it is theirs again only where nobody took it meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seesay.judge import participants
from seesay.judge.participants import Person
from seesay.judge.storage.database import Row, Transaction, setting
from seesay.judge.study import Item, Study

OPEN, ANSWERED, RETURNED = "open", "answered", "returned"
_CANDIDATES = 500
"""So many of the neediest items are looked at for a page; beyond that, order makes no difference."""


@dataclass(frozen=True, slots=True)
class Given:
    """An answer that is kept."""

    value: int
    how: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A place on a page: the item, where its slider starts, and the answer so far."""

    place: int
    item: Item
    start: int
    given: Given | None


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person is shown now: `consent`, `page`, `done`, `full`, `paused` or `closed`."""

    status: str
    person: Person
    page: int = 0
    slots: tuple[Slot, ...] = ()


def turn(tx: Transaction, study: Study, person_id: int, now: float) -> Turn:
    """What a person is shown now; hands out a page where they have none."""
    tx.lock_study()
    tx.lock_person(person_id)
    person = participants.by_id(tx, person_id)
    state = setting(tx, "state")
    if person.finished:
        return Turn("done", person)
    if state != "open":
        return Turn(str(state), person)
    if not person.consented:
        return Turn("consent", person)
    page = person.sent + 1
    if page <= study.design.pages:
        give_back(tx, now)
        _take_again(tx, study, person.id, page, now)
        slots = page_of(tx, study, person.id, page)
        if not any(not slot.item.control for slot in slots):
            slots = _new_page(tx, study, person.id, page, slots, now)
        if slots:
            tx.rows("UPDATE person SET acted = ? WHERE id = ?", now, person.id)
            return Turn("page", person, page, slots)
    if person.sent == 0:
        return Turn("full", person)
    return Turn("done", participants.finish(tx, study, person, now))


def page_of(tx: Transaction, study: Study, person: int, page: int) -> tuple[Slot, ...]:
    """A person's page, from top to bottom."""
    rows = tx.rows(
        """SELECT s.place, s.item, a.value, a.how FROM assignment s
        LEFT JOIN answer a ON a.person = s.person AND a.item = s.item
        WHERE s.person = ? AND s.page = ? ORDER BY s.place""",
        person,
        page,
    )
    return tuple(
        Slot(
            int(place), study.by_id[item], study.start(person, item), None if value is None else Given(int(value), how)
        )
        for place, item, value, how in rows
    )


def give_back(tx: Transaction, now: float) -> None:
    """End the leases of people who gave no sign; needs the study's lock."""
    rows = tx.rows("UPDATE assignment SET state = ? WHERE state = ? AND lease < ? RETURNING item", RETURNED, OPEN, now)
    _count(tx, rows, -1)


def take(tx: Transaction, study: Study, person: int, item: str, now: float) -> bool:
    """Lease an item again that had gone back, if it still is needed; needs the study's lock."""
    wanted = study.design.judgements if not study.by_id[item].control else None
    if wanted is None:
        tx.rows("UPDATE item SET taken = taken + 1 WHERE id = ?", item)
    elif not tx.rows("UPDATE item SET taken = taken + 1 WHERE id = ? AND taken < ? RETURNING id", item, wanted):
        return False
    tx.rows(
        "UPDATE assignment SET state = ?, lease = ? WHERE person = ? AND item = ?",
        OPEN,
        _lease(study, now),
        person,
        item,
    )
    return True


def renew(tx: Transaction, study: Study, person: int, page: int, now: float) -> None:
    """A sign of life keeps a page's open items."""
    tx.rows(
        "UPDATE assignment SET lease = ? WHERE person = ? AND page = ? AND state = ?",
        _lease(study, now),
        person,
        page,
        OPEN,
    )


def _take_again(tx: Transaction, study: Study, person: int, page: int, now: float) -> None:
    rows = tx.rows("SELECT item FROM assignment WHERE person = ? AND page = ? AND state = ?", person, page, RETURNED)
    for (item,) in rows:
        if not take(tx, study, person, item, now):
            tx.rows("DELETE FROM assignment WHERE person = ? AND item = ?", person, item)
    renew(tx, study, person, page, now)


def _new_page(
    tx: Transaction, study: Study, person: int, page: int, there: Sequence[Slot], now: float
) -> tuple[Slot, ...]:
    """Fill a page. Where its pairs have gone to others, its controls are `there` still and stay."""
    chance = study.rng("page", person, page)
    plan = study.controls_for(person)
    reserved = {item.base for item in plan}
    rows = [
        row
        for row in tx.rows(
            f"""SELECT id, base, taken FROM item WHERE control = '' AND taken < ? AND base NOT IN
            (SELECT base FROM assignment WHERE person = ?) ORDER BY taken, place LIMIT {_CANDIDATES}""",
            study.design.judgements,
            person,
        )
        if row[1] not in reserved
    ]
    rows.sort(key=lambda row: (row[2], chance.random()))
    chosen = rows[: study.design.per_page]
    if not chosen:
        return ()
    if not there:
        met = {row[0] for row in tx.rows("SELECT item FROM assignment WHERE person = ?", person)}
        chosen += [(item.id, item.base, 0) for item in plan if item.id not in met][: study.design.controls]
    chance.shuffle(chosen)
    first = max((slot.place for slot in there), default=0) + 1
    lease = _lease(study, now)
    tx.many(
        "INSERT INTO assignment (person, item, base, page, place, state, lease) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(person, item, base, page, place, OPEN, lease) for place, (item, base, _) in enumerate(chosen, first)],
    )
    _count(tx, chosen, 1)
    return page_of(tx, study, person, page)


def _count(tx: Transaction, rows: Sequence[Row], change: int) -> None:
    tx.many("UPDATE item SET taken = taken + ? WHERE id = ?", [(change, row[0]) for row in rows])


def _lease(study: Study, now: float) -> float:
    return now + 60 * study.design.lease_minutes
