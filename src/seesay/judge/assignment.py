"""Which participant judges which items.

Every item gets its number of judgements, with few superfluous ones. An item's `taken` counts its
judgements and the leases held on it. A page gets the items with the lowest count; an item that has
reached its number is not assigned. A lease expires when its participant has been inactive for a
while: the item becomes available again, and if they return they get it back only where nobody else
took it in the meantime.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from seesay.judge import participants
from seesay.judge.items import ItemAnswer, StudyItem
from seesay.judge.participants import Participant
from seesay.judge.storage.database import SqlRow, Transaction
from seesay.judge.study import Study

_CANDIDATES = 500
"""Number of items with the lowest counts that are considered for a page."""


@dataclass(frozen=True, slots=True)
class PageItem:
    """An item on a page."""

    place: int
    """Its position, from 1."""
    item: StudyItem
    start: int | None
    """The initial position of its slider."""
    order: tuple[int, ...]
    """The indices of its options, in the order in which the participant sees them."""
    answer: ItemAnswer | None = None
    """The answer so far."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """What a participant sees next."""

    status: str
    """consent, check, failed, practice, page, done, full, paused, closed or withdrawn."""
    participant: Participant
    page: int = 0
    pages: int = 0
    items: tuple[PageItem, ...] = ()


def next_step(tx: Transaction, study: Study, person: int, now: float) -> NextStep:
    """Return what a participant sees next; assign a page where they have none."""
    tx.lock_study()
    tx.lock_person(person)
    participant = participants.get_participant(tx, person)
    if participant.finished:
        return NextStep("done" if participant.consented else "withdrawn", participant)
    if participant.study_state != "open":
        return NextStep(participant.study_state, participant)
    if not participant.consented:
        return NextStep("consent", participant)
    if participant.pages_sent == 0:
        first_step = _before_first_page(tx, study, person)
        if first_step:
            return NextStep(first_step, participant)
    page = participant.pages_sent + 1
    pages = study.pages_for(person)
    if page <= pages:
        items = open_page(tx, study, person, page, now)
        if items:
            tx.execute("UPDATE person SET last_active = ? WHERE id = ?", now, person)
            # An answer that is on disk has its assignment there; without one, nothing is lost.
            tx.defer_sync()
            return NextStep("page", participant, page, pages, items)
    if participant.pages_sent == 0:
        return NextStep("full", participant)
    return NextStep("done", participants.finish(tx, study, person, now))


def _before_first_page(tx: Transaction, study: Study, person: int) -> str:
    """Return the step that a participant has not taken yet, if the study has any."""
    steps = [step for step in ("check", "practice") if study.has_step(step)]
    if not steps:
        return ""
    details = participants.get_details(tx, person)
    if details.get("check") == "failed":
        return "failed"
    for step in steps:
        if not details.get(step, "").startswith("passed"):
            return step
    return ""


def open_page(
    tx: Transaction,
    study: Study,
    person: int,
    page: int,
    now: float,
) -> tuple[PageItem, ...]:
    """Return the items of a participant's page; assign new ones where it has none to measure."""
    _expire_leases(tx, now)
    assigned = tx.execute("SELECT item, page, place FROM assignment WHERE person = ?", person)
    places = [place for _, on_page, place in assigned if on_page == page]
    items: tuple[PageItem, ...] = ()
    if places:
        _retake_page(tx, study, person, page, now)
        items = page_items(tx, study, person, page)
    if any(not page_item.item.control for page_item in items):
        return items
    seen = {item for item, _, _ in assigned}
    first = 1 + max(places, default=0)
    return _assign_page(tx, study, person, page, items, seen, first, now)


def page_items(tx: Transaction, study: Study, person: int, page: int) -> tuple[PageItem, ...]:
    """Return the items of a participant's page, from top to bottom."""
    rows = tx.execute(
        """SELECT s.place, s.item, a.value, a.how, t.text FROM assignment s
        LEFT JOIN answer a ON a.person = s.person AND a.item = s.item
        LEFT JOIN typed t ON t.person = s.person AND t.item = s.item
        WHERE s.person = ? AND s.page = ? ORDER BY s.place""",
        person,
        page,
    )
    items = []
    for place, item, value, how, text in rows:
        answer = None if value is None else ItemAnswer(value, how, text or "")
        items.append(page_item(study, person, place, study.items_by_id[item], answer))
    return tuple(items)


def page_item(
    study: Study, person: int, place: int, item: StudyItem, answer: ItemAnswer | None = None
) -> PageItem:
    """Return an item as a participant sees it."""
    start = study.initial_position(person, item.id)
    return PageItem(place, item, start, study.option_order(person, item), answer)


def retake(tx: Transaction, study: Study, person: int, item: str, now: float) -> bool:
    """Renew an expired lease if the item still needs judgements; requires the study's lock."""
    # Controls have no number that they could exceed.
    if study.items_by_id[item].control:
        tx.execute("UPDATE item SET taken = taken + 1 WHERE id = ?", item)
    elif not tx.execute(
        """UPDATE item SET taken = taken + 1 WHERE id = ? AND taken < COALESCE(
        (SELECT judgements FROM need WHERE need.item = item.id), ?) RETURNING id""",
        item,
        study.first_judgements,
    ):
        return False
    lease = _lease_end(study, now)
    tx.execute(
        "UPDATE assignment SET state = 'open', lease = ? WHERE person = ? AND item = ?",
        lease,
        person,
        item,
    )
    return True


def renew_leases(tx: Transaction, study: Study, person: int, page: int, now: float) -> None:
    """Extend the leases of a page after activity of its participant.

    Only once a twentieth of them has passed: an answer need not rewrite the rows of the whole page.
    """
    tx.execute(
        "UPDATE assignment SET lease = ? WHERE person = ? AND page = ? AND state = 'open' AND "
        "lease < ?",
        _lease_end(study, now),
        person,
        page,
        renewal_time(study, now),
    )


def renewal_time(study: Study, now: float) -> float:
    """Return the time such that leases which end before it are renewed by an answer."""
    return now + 0.95 * 60 * study.design.lease_minutes


def _expire_leases(tx: Transaction, now: float) -> None:
    """Make the items of all expired leases available again."""
    rows = tx.execute(
        "UPDATE assignment SET state = 'returned' WHERE state = 'open' AND lease < ? RETURNING "
        "item",
        now,
    )
    for (item,) in rows:
        tx.execute("UPDATE item SET taken = taken - 1 WHERE id = ?", item)


def _retake_page(tx: Transaction, study: Study, person: int, page: int, now: float) -> None:
    """Give a participant who returns their items back, except those that others took."""
    expired = "SELECT item FROM assignment WHERE person = ? AND page = ? AND state = 'returned'"
    for (item,) in tx.execute(expired, person, page):
        if not retake(tx, study, person, item, now):
            tx.execute("DELETE FROM assignment WHERE person = ? AND item = ?", person, item)
    renew_leases(tx, study, person, page, now)


def _assign_page(
    tx: Transaction,
    study: Study,
    person: int,
    page: int,
    controls: Sequence[PageItem],
    seen: Container[str],
    first: int,
    now: float,
) -> tuple[PageItem, ...]:
    """Fill a page from the place `first` on.

    `controls` are those of a page whose other items have gone to other participants; they stay. The
    others' places are not used again: an answer that was on its way to one of them, from another
    tab or from a browser that was offline, must not count for a new item.
    """
    rng = study.rng("page", person, page)
    planned_controls = study.controls_for(person)
    reserved = {item.base for item in planned_controls}
    candidates = [row for row in _needy_items(tx, study, person) if row[1] not in reserved]
    # Random among equal ranks, or all participants would see the same items together.
    candidates.sort(key=lambda row: (row[2], rng.random()))
    rows = candidates[: study.design.per_page]
    if not rows:
        return ()
    if not controls:
        unseen = [item for item in planned_controls if item.id not in seen]
        rows += [(item.id, item.base, 0) for item in unseen[: study.design.controls]]
    rng.shuffle(rows)
    lease = _lease_end(study, now)
    assignments = []
    new_items = []
    for place, (item, base, _) in enumerate(rows, first):
        assignments.append((person, item, base, page, place, "open", lease))
        new_items.append(page_item(study, person, place, study.items_by_id[item]))
    tx.insert(
        "assignment",
        ("person", "item", "base", "page", "place", "state", "lease"),
        assignments,
    )
    tx.execute(
        """UPDATE item SET taken = taken + 1 WHERE id IN
        (SELECT item FROM assignment WHERE person = ? AND page = ? AND place >= ?)""",
        person,
        page,
        first,
    )
    return *controls, *new_items


def _needy_items(tx: Transaction, study: Study, person: int) -> list[SqlRow]:
    """Return items that need more judgements and are new to a participant: id, base and rank.

    The rank is their count or, in an adaptive study beyond the minimum, falls with the width of
    their interval.
    """
    if study.design.allocation == "fixed":
        return tx.execute(
            f"""SELECT id, base, taken FROM item WHERE control = '' AND taken < ? AND base NOT IN
            (SELECT base FROM assignment WHERE person = ?)
            ORDER BY taken, place LIMIT {_CANDIDATES}""",
            study.design.judgements,
            person,
        )
    # A million puts items beyond the minimum after all others.
    return tx.execute(
        f"""SELECT id, base,
        CASE WHEN taken < ? THEN taken ELSE 1000000 - COALESCE(width, 1) END AS rank
        FROM item LEFT JOIN need ON need.item = item.id
        WHERE control = '' AND taken < COALESCE(judgements, ?)
        AND base NOT IN (SELECT base FROM assignment WHERE person = ?)
        ORDER BY rank, place LIMIT {_CANDIDATES}""",
        study.first_judgements,
        study.first_judgements,
        person,
    )


def _lease_end(study: Study, now: float) -> float:
    return now + 60 * study.design.lease_minutes
