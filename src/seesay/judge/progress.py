"""The progress of a study while it runs, for the researcher."""

from __future__ import annotations

from statistics import median

from seesay.documents import Document
from seesay.judge.storage.database import Transaction, get_setting
from seesay.judge.study import Study

_ACTIVE_SECONDS = 5 * 60


class StudyProgress(Document):
    """Live counts of a study."""

    state: str
    """open, paused or closed."""
    invited: int
    """Participants with a personal link."""
    started: int
    """Participants who gave their consent."""
    active: int
    """Participants who have started, have not finished, and were active in the last 5 minutes."""
    finished: int
    """Participants who have finished."""
    judgements: int
    """Judgements given, controls not counted."""
    judgements_needed: int
    """Judgements that the design asks for in total."""
    items_assigned: int
    """Unanswered items on open pages, controls not counted."""
    items: int
    """Items in the study, controls not counted."""
    items_complete: int
    """Items with all their judgements."""
    seconds: float | None
    """Median time per item in seconds; null before the first answer."""


def study_progress(tx: Transaction, study: Study, now: float) -> StudyProgress:
    """Return all counts at one moment."""

    def count(sql: str, *values: object) -> int:
        return int(tx.execute(sql, *values)[0][0] or 0)

    measured = "FROM answer a JOIN item i ON i.id = a.item WHERE i.control = ''"
    first = study.first_judgements
    judgements = count(f"SELECT COUNT(*) {measured}")
    # SQLite has no median: the middle row, or the two of an even number.
    middle = tx.execute(
        f"SELECT a.seconds {measured} ORDER BY a.seconds LIMIT ? OFFSET ?",
        2 - judgements % 2,
        max(judgements - 1, 0) // 2,
    )
    seconds = None
    if middle:
        seconds = median(float(row[0]) for row in middle)
    # Only items of an adaptive study that were answered have a need of their own.
    more = count("SELECT SUM(judgements - ?) FROM need", first)
    return StudyProgress(
        state=get_setting(tx, "state") or "",
        invited=count("SELECT COUNT(*) FROM person"),
        started=count("SELECT COUNT(*) FROM person WHERE consented IS NOT NULL"),
        active=count(
            """SELECT COUNT(*) FROM person
            WHERE consented IS NOT NULL AND finished IS NULL AND last_active > ?""",
            now - _ACTIVE_SECONDS,
        ),
        finished=count(
            "SELECT COUNT(*) FROM person WHERE finished IS NOT NULL AND consented IS NOT NULL"
        ),
        judgements=judgements,
        judgements_needed=len(study.measured) * first + more,
        items_assigned=count(
            """SELECT COUNT(*) FROM assignment s JOIN item i ON i.id = s.item
            WHERE s.state = 'open' AND s.lease >= ? AND i.control = ''""",
            now,
        ),
        items=len(study.measured),
        items_complete=count(
            f"""SELECT COUNT(*) FROM (SELECT a.item {measured} GROUP BY a.item HAVING COUNT(*) >=
            COALESCE((SELECT judgements FROM need WHERE need.item = a.item), ?)) AS full_items""",
            first,
        ),
        seconds=seconds,
    )
