"""Store what participants submit: each answer once, committed before it is acknowledged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from seesay.digests import json_digest
from seesay.documents import Document
from seesay.judge import participants
from seesay.judge.adaptive import update_need
from seesay.judge.assignment import page_items, renew_leases, renewal_time, retake
from seesay.judge.items import ItemAnswer
from seesay.judge.messages import mark
from seesay.judge.participants import PARTICIPANT_COLUMNS, Participant, read_participant
from seesay.judge.rejections import MistakenAnswerError, RequestRejectedError
from seesay.judge.storage.database import Transaction, first_row
from seesay.judge.study import Study


class PageProgress(Document):
    """How many items of a page are answered."""

    page: int
    """The number of the participant's page."""
    answered: int
    """Items with an answer."""
    items: int
    """Items on the page."""

    @property
    def is_complete(self) -> bool:
        return self.answered == self.items


def save_answer(
    tx: Transaction,
    study: Study,
    person: int,
    page: int,
    place: int,
    answer: ItemAnswer,
    key: str,
    now: float,
) -> PageProgress:
    """Store one answer on the open page. Repeating the idempotency key changes nothing.

    `place`: the position of the item on the page.
    `key`: is new for each answer; a browser that got no reply sends the same one again.
    """
    _lock(tx, person, page)
    content = [page, place, *_content(answer)]
    participant, receipt, assigned, progress = _read(tx, person, key, page, place)
    if _is_repeated(receipt, content, mark("This key was used before for another answer.")):
        return progress
    _check_open(participant, page)
    _add_receipt(tx, person, key, content)
    item = _store(tx, study, participant, assigned, answer, now)
    if item.lease < renewal_time(study, now):
        renew_leases(tx, study, person, page, now)
    # The progress was read before the answer was stored: a changed answer adds nothing to it.
    if item.state == "answered":
        return progress
    return progress.model_copy(update={"answered": progress.answered + 1})


def submit_page(
    tx: Transaction,
    study: Study,
    person: int,
    page: int,
    answers: Mapping[int, ItemAnswer],
    now: float,
    problems: dict[int, RequestRejectedError] | None = None,
) -> PageProgress:
    """Store a whole page, and close it if it is complete. Repeating the same form changes nothing.

    `answers`: by the places of their items.
    `problems`: collects answers given by mistake, by place, which are left out; without it they
    reject the form.
    """
    _lock(tx, person, page)
    key = f"page {page}"
    content = [page, sorted((place, *_content(answer)) for place, answer in answers.items())]
    participant, receipt, _, _ = _read(tx, person, key, page)
    if _is_repeated(
        receipt,
        content,
        mark("This page was sent before, with other answers: the first ones are kept."),
    ):
        return page_progress(tx, person, page)
    _check_open(participant, page)
    saved = {page_item.place: page_item.answer for page_item in page_items(tx, study, person, page)}
    for place, answer in sorted(answers.items()):
        before = saved.get(place)
        # The script has stored most answers already: they are neither changes nor take time again.
        if before is None or (before.value, before.text) != (answer.value, answer.text):
            try:
                assigned = _read(tx, person, key, page, place)[2]
                _store(tx, study, participant, assigned, answer, now, share=max(len(saved), 1))
            except RequestRejectedError as rejected:
                if isinstance(rejected, MistakenAnswerError) and problems is not None:
                    problems[place] = rejected
                    continue
                # An item that has gone to someone else is just no longer there.
                if rejected.status not in (404, 410):
                    raise
                tx.execute(
                    "DELETE FROM assignment WHERE person = ? AND page = ? AND place = ?",
                    person,
                    page,
                    place,
                )
    progress = page_progress(tx, person, page)
    renew_leases(tx, study, person, page, now)
    if progress.is_complete:
        _add_receipt(tx, person, key, content)
        tx.execute(
            "UPDATE person SET pages_sent = ?, last_active = ? WHERE id = ?", page, now, person
        )
        if page >= study.pages_for(person):
            participants.finish(tx, study, person, now)
    return progress


def page_progress(tx: Transaction, person: int, page: int) -> PageProgress:
    """Count the items of a page, and how many of them are answered."""
    row = first_row(
        tx,
        "SELECT COUNT(*), COALESCE(SUM(CASE WHEN state = 'answered' THEN 1 ELSE 0 END), 0) "
        "FROM assignment WHERE person = ? AND page = ?",
        person,
        page,
    )
    assert row is not None
    return PageProgress(page=page, answered=int(row[1]), items=int(row[0]))


def _lock(tx: Transaction, person: int, page: int) -> None:
    """Block the participant's other requests.

    Where an expired item is to be taken again, other assignments are blocked too. Most answers need
    no lock of the study, so that participants do not wait for each other.
    """
    tx.lock_study(
        "SELECT 1 FROM assignment WHERE person = ? AND page = ? AND state = 'returned'",
        person,
        page,
    )
    tx.lock_person(person)


@dataclass(frozen=True, slots=True)
class _Assigned:
    """The item at a place of a page, with its lease."""

    item: str
    state: str
    """open, answered, or returned because the lease ran out."""
    lease: float


def _read(
    tx: Transaction,
    person: int,
    key: str,
    page: int,
    place: int = 0,
) -> tuple[Participant, str | None, _Assigned | None, PageProgress]:
    """Return what an answer depends on.

    That is the participant, the receipt of its key, the item at its place, and how much of the page
    is answered: in one query, since each is a round trip to PostgreSQL.
    """
    row = tx.execute(
        f"""SELECT {PARTICIPANT_COLUMNS}, r.digest, s.item, s.state, s.lease,
        (SELECT COUNT(*) FROM assignment c
        WHERE c.person = p.id AND c.page = ? AND c.state = 'answered'),
        (SELECT COUNT(*) FROM assignment c WHERE c.person = p.id AND c.page = ?)
        FROM person p LEFT JOIN receipt r ON r.person = p.id AND r.key = ?
        LEFT JOIN assignment s ON s.person = p.id AND s.page = ? AND s.place = ? WHERE p.id = ?""",
        page,
        page,
        key,
        page,
        place,
        person,
    )[0]
    receipt, item, state, lease, answered, items = row[-6:]
    assigned = None if item is None else _Assigned(item, state, lease)
    progress = PageProgress(page=page, answered=answered, items=items)
    return read_participant(row), receipt, assigned, progress


def _check_open(participant: Participant, page: int) -> None:
    """Reject an answer to a page that is not the participant's open one."""
    if participant.study_state != "open":
        raise RequestRejectedError(
            409, "The study is not open at the moment. What you sent before is saved."
        )
    if not participant.consented:
        raise RequestRejectedError(403, "Please read and accept the first page before you answer.")
    if participant.finished or page != participant.pages_sent + 1:
        raise RequestRejectedError(409, "This page is closed: it was sent before.")


def _store(
    tx: Transaction,
    study: Study,
    participant: Participant,
    assigned: _Assigned | None,
    answer: ItemAnswer,
    now: float,
    share: int = 1,
) -> _Assigned:
    """Store an answer to an item, and return how the item was assigned.

    `share`: the number of answers submitted together, among which the time since the last activity
    is divided.
    """
    person = participant.id
    if assigned is None:
        raise RequestRejectedError(404, "There is no such item on your page.")
    item = assigned.item
    study.items_by_id[item].check(answer)
    if assigned.state == "returned":
        tx.lock_study()
        if not retake(tx, study, person, item, now):
            raise RequestRejectedError(
                410, "You were away for a while, and this item has gone to someone else."
            )
    tx.execute(
        """INSERT INTO answer (person, item, value, start, how, seconds, answered_at)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (person, item) DO UPDATE SET value = excluded.value, how = excluded.how,
        seconds = answer.seconds + excluded.seconds, changes = answer.changes + 1,
        answered_at = excluded.answered_at""",
        person,
        item,
        answer.value,
        study.initial_position(person, item),
        answer.how,
        max(now - participant.last_active, 0.0) / share,
        now,
    )
    if answer.text:
        tx.execute(
            """INSERT INTO typed (person, item, text) VALUES (?, ?, ?)
            ON CONFLICT (person, item) DO UPDATE SET text = excluded.text""",
            person,
            item,
            answer.text,
        )
    if study.design.allocation == "adaptive" and not study.items_by_id[item].control:
        update_need(tx, study, study.items_by_id[item])
    tx.execute(
        "UPDATE assignment SET state = 'answered' WHERE person = ? AND item = ? AND state = 'open'",
        person,
        item,
    )
    # After the last answer of a form, `submit_page` does this itself.
    if share == 1:
        tx.execute("UPDATE person SET last_active = ? WHERE id = ?", now, person)
    return assigned


def _content(answer: ItemAnswer) -> tuple[int, str, str]:
    """Return what a receipt remembers of an answer."""
    return answer.value, answer.how, answer.text


def _is_repeated(receipt: str | None, content: object, conflict: str) -> bool:
    """Return whether a request with this key was stored before.

    Other content under the same key is a conflict.
    """
    if receipt is not None and receipt != json_digest(content, 16):
        raise RequestRejectedError(409, conflict)
    return receipt is not None


def _add_receipt(tx: Transaction, person: int, key: str, content: object) -> None:
    tx.execute(
        "INSERT INTO receipt (person, key, digest) VALUES (?, ?, ?)",
        person,
        key,
        json_digest(content, 16),
    )
