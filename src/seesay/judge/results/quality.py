"""Which people's judgements count. The published rule: who fails a control loses all contributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from pydantic import BaseModel, ConfigDict, Field

from seesay.judge.storage.database import Transaction
from seesay.judge.study import TOP, Item, Study


@dataclass(frozen=True, slots=True)
class Judgement:
    """One answer: a slider's position (0 to 100) or the number of the option."""

    person: int
    item: Item
    value: int
    start: int | None
    how: str
    seconds: float
    changes: int
    given: float


class Rule(BaseModel):
    """When a person is dropped. The first two as published (Ghanimifard & Dobnik 2019, appendix)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    distinct_above: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="Above this on a control of unlike words (green, above), a person is dropped.",
    )
    same_below: float = Field(
        default=0.9, ge=0, le=1, description="Below this on a control of a word with itself, a person is dropped."
    )
    known_below: float = Field(
        default=0.7, ge=0, le=1, description="With a smaller share of known answers right, a person is dropped."
    )
    seconds_below: float = Field(
        default=0,
        ge=0,
        description="With a smaller median time for an item, in seconds, a person is dropped; 0: never.",
    )


class Dropped(BaseModel):
    """Someone whose judgements do not count, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    person: int = Field(description="The person's number in the study.")
    code: str = Field(description="Their completion code; empty if they did not finish.")
    judgements: int = Field(description="Judgements that are left out, controls not counted.")
    reasons: tuple[str, ...] = Field(description="Each control that they failed, in words.")


def read(tx: Transaction, study: Study) -> tuple[list[Judgement], dict[int, str]]:
    """Every judgement of a study, controls included, and the completion code of each person who has one."""
    rows = tx.rows(
        "SELECT person, item, value, start, how, seconds, changes, given FROM answer ORDER BY person, given, item"
    )
    found = [
        Judgement(
            int(person),
            study.by_id[item],
            int(value),
            None if start is None else int(start),
            how,
            float(seconds),
            int(changes),
            float(given),
        )
        for person, item, value, start, how, seconds, changes, given in rows
    ]
    return found, {int(person): code for person, code in tx.rows("SELECT id, code FROM person WHERE code IS NOT NULL")}


def clean(
    judgements: Sequence[Judgement], rule: Rule, codes: dict[int, str] | None = None
) -> tuple[list[Judgement], list[Dropped]]:
    """The judgements that count, controls left out, and the people who were dropped."""
    by_person: dict[int, list[Judgement]] = {}
    for judgement in judgements:
        by_person.setdefault(judgement.person, []).append(judgement)
    kept: list[Judgement] = []
    dropped: list[Dropped] = []
    for person, given in sorted(by_person.items()):
        measured = [judgement for judgement in given if not judgement.item.control]
        reasons = _faults(given, rule)
        if reasons:
            code = (codes or {}).get(person, "")
            dropped.append(Dropped(person=person, code=code, judgements=len(measured), reasons=reasons))
        else:
            kept += measured
    return kept, dropped


def _faults(given: Sequence[Judgement], rule: Rule) -> tuple[str, ...]:
    found = []
    known: list[bool] = []
    for judgement in given:
        item, share = judgement.item, judgement.value / TOP
        if item.control == "distinct" and share > rule.distinct_above:
            found.append(f"{_names(item)} rated {share:.0%}, above {rule.distinct_above:.0%}")
        elif item.control == "same" and share < rule.same_below:
            found.append(f"{_names(item)} rated {share:.0%}, below {rule.same_below:.0%}")
        elif item.control == "known":
            known.append(item.options[judgement.value] in item.known)
    if known and sum(known) / len(known) < rule.known_below:
        found.append(f"{sum(known)} of {len(known)} known answers right, below {rule.known_below:.0%}")
    typical = median(judgement.seconds for judgement in given)
    if typical < rule.seconds_below:
        found.append(f"median time {typical:.2f} s an item, below {rule.seconds_below:g} s")
    return tuple(found)


def _names(item: Item) -> str:
    return " and ".join(f"'{word}'" for word in item.words or ())
