"""Exclude careless participants. As published, whoever fails a control loses all contributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from operator import attrgetter
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
IMPORTED = "imported"
"""How an answer was given that another program collected."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One participant's answer to one item."""

    person: int
    item: StudyItem
    value: int
    """What was chosen, as a number (`judge.items`)."""
    start: int | None
    """The initial position of the slider."""
    how: str
    """How it was answered: moved, confirmed, chosen, typed, or imported."""
    seconds: float
    """How long it took; NaN where that is unknown."""
    changes: int
    """How often the answer was changed."""
    answered_at: float
    """When; NaN where that is unknown."""
    text: str = ""
    """What was typed."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the options that it names."""
        return self.item.labels(self.value, self.text)

    @property
    def number(self) -> float | None:
        """Return the number that it states: the slider's place from 0 to 1, or what was typed."""
        return self.item.number(self.value, self.text)


class QualityCriteria(Document):
    """When a participant is excluded.

    The first two are as published (Ghanimifard & Dobnik 2019, appendix).
    """

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
    """Return all judgements of a study, controls included, and the completion codes.

    Only participants who have finished have a code.
    """
    rows = tx.execute(
        """SELECT a.person, a.item, value, start, how, seconds, changes, answered_at,
        COALESCE(text, '')
        FROM answer a LEFT JOIN typed t ON t.person = a.person AND t.item = a.item
        ORDER BY a.person, answered_at, a.item"""
    )
    judgements = []
    for person, item, *fields in rows:
        judgements.append(Judgement(person, study.items_by_id[item], *fields))
    codes = tx.execute("SELECT id, code FROM person WHERE code IS NOT NULL")
    return judgements, dict(codes)


def pilot_judgements(location: str) -> list[list[Judgement]]:
    """Return the judgements of each measured item of a study that has been answered, for plans."""
    with open_study(location) as opened:
        reading = opened.database.submit(lambda tx: read_judgements(tx, opened.study))
        judgements, _ = reading.result()
    measured = by_item([judgement for judgement in judgements if not judgement.item.control])
    if not measured:
        raise UserError(f"The pilot study '{location}' has no judgements.")
    return list(measured.values())


def median_seconds(judgements: Sequence[Judgement]) -> float | None:
    """Return the median of the times that are known; None where none is."""
    times = [judgement.seconds for judgement in judgements if not isnan(judgement.seconds)]
    return median(times) if times else None


def by_item(judgements: Sequence[Judgement]) -> dict[str, list[Judgement]]:
    """Return the judgements of each item."""
    groups: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        groups.setdefault(judgement.item.id, []).append(judgement)
    return groups


def by_participant(judgements: Sequence[Judgement]) -> dict[int, list[Judgement]]:
    """Return the judgements of each participant, in the order of their numbers."""
    groups: dict[int, list[Judgement]] = {}
    for judgement in sorted(judgements, key=attrgetter("person")):
        groups.setdefault(judgement.person, []).append(judgement)
    return groups


def exclude_careless(
    judgements: Sequence[Judgement],
    criteria: QualityCriteria,
    codes: Mapping[int, str] | None = None,
    rejected: Mapping[int, str] | None = None,
) -> tuple[list[Judgement], list[ExcludedParticipant]]:
    """Return the judgements that count, without controls, and the excluded participants.

    `rejected`: participants who are excluded anyway, and why.
    """
    counted: list[Judgement] = []
    excluded: list[ExcludedParticipant] = []
    for person, group in by_participant(judgements).items():
        measured = [judgement for judgement in group if not judgement.item.control]
        reasons = _failed_criteria(group, criteria)
        if person in (rejected or {}):
            reasons = ((rejected or {})[person], *reasons)
        if not reasons:
            counted += measured
            continue
        excluded.append(
            ExcludedParticipant(
                person=person,
                code=(codes or {}).get(person, ""),
                judgements=len(measured),
                reasons=reasons,
            )
        )
    return counted, excluded


def _failed_criteria(judgements: Sequence[Judgement], criteria: QualityCriteria) -> tuple[str, ...]:
    """Return each criterion that a participant failed, in words."""
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
    # A single mistake excludes nobody here, unlike an extreme rating: questions can be ambiguous.
    if correct and sum(correct) / len(correct) < criteria.known_below:
        reasons.append(
            f"{sum(correct)} of {len(correct)} known answers correct, below "
            f"{criteria.known_below:.0%}"
        )
    seconds = median_seconds(judgements)
    if seconds is not None and seconds < criteria.seconds_below:
        reasons.append(f"median time {seconds:.2f} s per item, below {criteria.seconds_below:g} s")
    return tuple(reasons)
