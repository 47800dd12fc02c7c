"""Exclude careless participants. The published rule: whoever fails a control loses all
contributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Annotated

from pydantic import Field

from seesay.documents import Document
from seesay.errors import UserError
from seesay.judge.items import SLIDER_MAX, StudyItem
from seesay.judge.storage.database import Transaction
from seesay.judge.storage.studies import open_study
from seesay.judge.study import Study

Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class Judgement:
    """One participant's answer to one item: what was chosen as a number, what was typed as a text
    (`judge.items`)."""

    person: int
    item: StudyItem
    value: int
    start: int | None
    how: str
    seconds: float
    changes: int
    given: float
    text: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The options that it names."""
        return self.item.labels(self.value, self.text)

    @property
    def number(self) -> float | None:
        """The number that it states: the slider's position from 0 to 1, or what was typed."""
        return self.item.number(self.value, self.text)


class QualityCriteria(Document):
    """When a participant is excluded. The first two as published (Ghanimifard & Dobnik 2019,
    appendix)."""

    distinct_above: Share = 0.6
    """Exclude above this rating of unlike words (green, above)."""
    same_below: Share = 0.9
    """Exclude below this rating of a word with itself."""
    known_below: Share = 0.7
    """Exclude below this share of correct known answers."""
    seconds_below: float = Field(default=0, ge=0)
    """Exclude below this median time per item; 0: never."""


class ExcludedParticipant(Document):
    """A participant whose judgements do not count, and why."""

    person: int
    """The participant's number in the study."""
    code: str
    """Their completion code; empty if they did not finish."""
    judgements: int
    """Judgements that are excluded, controls not counted."""
    reasons: tuple[str, ...]
    """Each criterion that they failed, in words."""


def read_judgements(tx: Transaction, study: Study) -> tuple[list[Judgement], dict[int, str]]:
    """All judgements of a study, controls included, and the completion codes of the participants
    who have one."""
    rows = tx.execute(
        """SELECT a.person, a.item, value, start, how, seconds, changes, given, text FROM answer a
        LEFT JOIN typed t ON t.person = a.person AND t.item = a.item ORDER BY a.person, given, a.item"""
    )
    judgements = [
        Judgement(
            person, study.items_by_id[item], value, start, how, seconds, changes, given, text or ""
        )
        for person, item, value, start, how, seconds, changes, given, text in rows
    ]
    codes = tx.execute("SELECT id, code FROM person WHERE code IS NOT NULL")
    return judgements, dict(codes)


def pilot_judgements(location: str) -> list[list[Judgement]]:
    """The judgements of each measured item of a study that has been answered, for plans."""
    with open_study(location) as opened:
        judgements, _ = opened.database.submit(
            lambda tx: read_judgements(tx, opened.study)
        ).result()
    measured = by_item([judgement for judgement in judgements if not judgement.item.control])
    if not measured:
        raise UserError(f"The pilot study '{location}' has no judgements.")
    return list(measured.values())


def by_item(judgements: Sequence[Judgement]) -> dict[str, list[Judgement]]:
    """The judgements of each item."""
    groups: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        groups.setdefault(judgement.item.id, []).append(judgement)
    return groups


def by_participant(judgements: Sequence[Judgement]) -> dict[int, list[Judgement]]:
    """The judgements of each participant, in the order of their numbers."""
    groups: dict[int, list[Judgement]] = {}
    for judgement in sorted(judgements, key=lambda judgement: judgement.person):
        groups.setdefault(judgement.person, []).append(judgement)
    return groups


def exclude_careless(
    judgements: Sequence[Judgement],
    criteria: QualityCriteria,
    codes: Mapping[int, str] | None = None,
) -> tuple[list[Judgement], list[ExcludedParticipant]]:
    """The judgements that count, without controls, and the participants who were excluded."""
    counted: list[Judgement] = []
    excluded: list[ExcludedParticipant] = []
    for person, theirs in by_participant(judgements).items():
        measured = [judgement for judgement in theirs if not judgement.item.control]
        reasons = _failed_criteria(theirs, criteria)
        if reasons:
            code = (codes or {}).get(person, "")
            excluded.append(
                ExcludedParticipant(
                    person=person, code=code, judgements=len(measured), reasons=reasons
                )
            )
        else:
            counted += measured
    return counted, excluded


def _failed_criteria(judgements: Sequence[Judgement], criteria: QualityCriteria) -> tuple[str, ...]:
    reasons = []
    correct: list[bool] = []
    for judgement in judgements:
        item = judgement.item
        rating = judgement.value / SLIDER_MAX
        if item.control == "distinct" and rating > criteria.distinct_above:
            reasons.append(f"{item.quoted} rated {rating:.0%}, above {criteria.distinct_above:.0%}")
        elif item.control == "same" and rating < criteria.same_below:
            reasons.append(f"{item.quoted} rated {rating:.0%}, below {criteria.same_below:.0%}")
        elif item.control == "known":
            correct.append(item.is_correct(judgement.value, judgement.text))
    if correct and sum(correct) / len(correct) < criteria.known_below:
        reasons.append(
            f"{sum(correct)} of {len(correct)} known answers correct, below "
            f"{criteria.known_below:.0%}"
        )
    seconds = median(judgement.seconds for judgement in judgements)
    if seconds < criteria.seconds_below:
        reasons.append(f"median time {seconds:.2f} s per item, below {criteria.seconds_below:g} s")
    return tuple(reasons)
