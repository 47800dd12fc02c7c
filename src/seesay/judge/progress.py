"""What the researcher sees while a study runs."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from seesay.judge.storage.database import Transaction, one, setting
from seesay.judge.study import Study

_LATELY = 5 * 60


class Counts(BaseModel):
    """Live counts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    state: str = Field(description="open, paused or closed.")
    invited: int = Field(description="People with a link of their own.")
    begun: int = Field(description="People who gave their consent.")
    at_work: int = Field(description="People who have begun, are not finished, and gave a sign in the last 5 minutes.")
    finished: int = Field(description="People who have finished.")
    judgements: int = Field(description="Judgements given, without controls.")
    wanted: int = Field(description="Judgements wanted in all.")
    out: int = Field(description="Items that people have on their pages now, without controls.")
    items: int = Field(description="Items in the study, without controls.")
    complete: int = Field(description="Items that have their number of judgements.")
    seconds: float | None = Field(description="Median time for an item, in seconds; null before the first.")


def counts(tx: Transaction, study: Study, now: float) -> Counts:
    """All counts at one moment."""

    def number(sql: str, *values: object) -> int:
        row = one(tx, sql, *values)
        return int(row[0] or 0) if row else 0

    measured = "FROM answer a JOIN item i ON i.id = a.item WHERE i.control = ''"
    given = number(f"SELECT COUNT(*) {measured}")
    median = one(tx, f"SELECT a.seconds {measured} ORDER BY a.seconds LIMIT 1 OFFSET ?", given // 2)
    return Counts(
        state=setting(tx, "state") or "",
        invited=number("SELECT COUNT(*) FROM person"),
        begun=number("SELECT COUNT(*) FROM person WHERE consented IS NOT NULL"),
        at_work=number(
            "SELECT COUNT(*) FROM person WHERE consented IS NOT NULL AND finished IS NULL AND acted > ?", now - _LATELY
        ),
        finished=number("SELECT COUNT(*) FROM person WHERE finished IS NOT NULL"),
        judgements=given,
        wanted=len(study.measured) * study.design.judgements,
        out=number(
            "SELECT COUNT(*) FROM assignment s JOIN item i ON i.id = s.item WHERE s.state = 'open' AND s.lease >= ? "
            "AND i.control = ''",
            now,
        ),
        items=len(study.measured),
        complete=number(
            f"SELECT COUNT(*) FROM (SELECT a.item {measured} GROUP BY a.item HAVING COUNT(*) >= ?) AS full_items",
            study.design.judgements,
        ),
        seconds=None if median is None else float(median[0]),
    )
