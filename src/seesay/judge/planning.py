"""Plans of a study, before any money is spent: judgements, people, their time, and the cost.

The adaptive design is simulated: people whose agreement on each item is taken from a pilot study or
assumed, answer until each item's interval is narrow enough, with the rule of the server itself
(`adaptive`).
"""

from __future__ import annotations

import math
import random
import sqlite3
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from statistics import stdev

from seesay.judge.adaptive import Z, estimate_need, share_width
from seesay.judge.assignment import open_page
from seesay.judge.items import ChoiceItem, ItemAnswer
from seesay.judge.results.quality import Judgement, pilot_judgements
from seesay.judge.storage.database import create_tables
from seesay.judge.storage.sqlite import SqliteTransaction
from seesay.judge.storage.studies import insert_items, minutes_per_person, seconds_per_item
from seesay.judge.study import Study, StudyDesign

MAX_JUDGEMENTS = 10_000
_MAX_SIMULATED = 10_000
"""Judgements of the largest study whose assignment is simulated: a second or two."""


@dataclass(frozen=True)
class DesignPlan:
    """What one design takes."""

    design: str
    judgements_per_item: float
    judgements: int
    people: int
    """Those who come until all judgements are there; the fewest, unless `simulated`."""
    minutes: float | None
    cost: float | None
    simulated: bool = False
    """Whether the server's assignment has been simulated to count the people."""


@dataclass(frozen=True)
class StudyPlan:
    """What a study takes in the fixed and in the adaptive design."""

    designs: list[DesignPlan]
    width: float
    """Adaptive: the width of an item's interval that is enough."""
    least: int
    """Adaptive: the fewest judgements that an item gets."""
    most: int
    """The most judgements that an item gets."""
    basis: str
    """What says how far people agree."""


def judgements_for_width(share: float, width: float) -> int:
    """Return how few judgements make Wilson's 95 % interval of a share no wider than this.

    >>> judgements_for_width(0.5, 0.1), judgements_for_width(0.9, 0.1)
    (381, 141)
    """
    # The width falls with every judgement, so that the first that is narrow enough can be bisected.
    counts = range(1, MAX_JUDGEMENTS)
    return 1 + bisect_left(counts, True, key=lambda count: share_width(share, count) <= width)


Simulated = list[list[int]]
"""The options that were chosen, item by item."""


def simulate_adaptive(
    answer: Callable[[int, int], int],
    items: Sequence[ChoiceItem],
    people: int,
    design: StudyDesign,
) -> Simulated:
    """Return the judgements that the adaptive design asks for, item by item.

    Its rule looks at the answers to one item, so that items can be simulated one after another.

    `answer`: returns the option that a person chooses of an item, by their numbers.
    """
    simulated: Simulated = []
    first_person = 0
    for number, item in enumerate(items):
        values: list[int] = []
        answers: list[ItemAnswer] = []
        while len(answers) < estimate_need(design, item, answers)[0]:
            # People take turns, from item to item, and nobody judges an item twice.
            person = (first_person + len(answers)) % people
            values.append(answer(person, number))
            answers.append(ItemAnswer(values[-1], "chosen"))
        first_person += len(answers)
        simulated.append(values)
    return simulated


def assumed_shares(items: int, agreement: float, seed: int) -> list[float]:
    """Return how often people give each item's most frequent answer, around a mean agreement.

    They are drawn from a beta distribution with the weight of five judgements.
    """
    rng = random.Random(seed)
    if agreement >= 1:
        return [1.0] * items
    alpha = 5 * agreement
    beta = 5 * (1 - agreement)
    return [max(rng.betavariate(alpha, beta), 0.05) for _ in range(items)]


def pilot_shares(labels: Sequence[Sequence[tuple[str, ...]]]) -> list[float]:
    """Return the share of each item's most frequent answer in a pilot.

    One judgement of each kind is added: three people who agree do not prove that all would.
    """
    shares = []
    for item_labels in labels:
        if item_labels:
            most_frequent = Counter(item_labels).most_common(1)[0][1]
            shares.append((most_frequent + 1) / (len(item_labels) + 2))
    return shares


def rating_judgements(spreads: Sequence[float], design: StudyDesign) -> tuple[int, float]:
    """Return the judgements that the widest item takes, and the mean in the adaptive design.

    `spreads`: the standard deviations of the items' ratings.
    """
    # The interval of a mean of n ratings is 2 Z spread / √n wide.
    needed = [max(math.ceil((2 * Z * spread / design.width) ** 2), 1) for spread in spreads]
    most = max(needed)
    least = min(design.min_judgements, most)
    return most, sum(max(count, least) for count in needed) / len(needed)


def mean_judgements(design: StudyDesign, shares: Sequence[float], seed: int = 0) -> float:
    """Return the mean number of judgements per item that the adaptive design asks for.

    `shares`: how often people give each item's most frequent answer.
    """
    rng = random.Random(seed)
    # The most frequent answer is the first, and the others are equally rare.
    options = tuple(map(str, range(6)))
    items = [ChoiceItem(id=str(i), base=str(i), options=options) for i in range(len(shares))]

    def answer(person: int, item: int) -> int:
        return 0 if rng.random() < shares[item] else rng.randint(1, 5)

    simulated = simulate_adaptive(answer, items, 10**9, design)
    return sum(map(len, simulated)) / len(simulated)


def is_simulated(study: Study) -> bool:
    """Return whether `people_needed` simulates the assignment of a study."""
    total = len(study.measured) * study.design.judgements
    return study.design.allocation == "fixed" and total <= _MAX_SIMULATED


def people_needed(study: Study) -> int:
    """Return how many people come, one after another, until every item has its judgements.

    The server's own assignment says so: a person's controls are things that they cannot judge, and
    the last items may be ones that they have judged, so that it can take more people than the
    number of judgements says. Where it is not simulated, the fewest people are returned; of an
    adaptive study, the fewest if every item needs all of its judgements.
    """
    if not is_simulated(study):
        return study.participants_needed
    total = len(study.measured) * study.design.judgements
    with closing(sqlite3.connect(":memory:")) as connection:
        create_tables(connection.execute)
        tx = SqliteTransaction(connection)
        insert_items(tx, study)
        for person in count(1):
            for page in range(1, study.pages_for(person) + 1):
                assigned = open_page(tx, study, person, page, 0.0)
                total -= sum(not entry.item.control for entry in assigned)
            if total <= 0:
                return person
    raise AssertionError("people never run out")


def plan_design(
    name: str,
    per_item: float,
    *,
    items: int,
    items_per_person: int,
    most: int,
    minutes: float | None,
    pay: float | None,
    fee: float,
) -> DesignPlan:
    """Return people, time and cost of a design with this many judgements per item.

    `most`: the fewest people whom it takes: nobody judges an item twice.
    """
    # A mean that is a whole number up to rounding is not rounded up.
    judgements = math.ceil(items * per_item - 1e-9)
    people = max(math.ceil(judgements / items_per_person), most)
    return DesignPlan(
        design=name,
        judgements_per_item=per_item,
        judgements=judgements,
        people=people,
        minutes=minutes,
        cost=None if pay is None else judgements * pay * (1 + fee),
    )


def plan_study(
    study: Study,
    *,
    width: float | None = None,
    agreement: float = 0.8,
    spread: float = 0.2,
    pilot: Path | None = None,
    pay: float | None = None,
    fee: float = 0.0,
) -> StudyPlan:
    """Plan a study whose items all get intervals of this width.

    Without a width they get the study's own judgements. How far people agree is taken from a pilot
    study, or assumed: `agreement` is how often they give an item's most frequent answer, `spread`
    the standard deviation of the ratings of one item.
    """
    items = len(study.measured)
    most = study.design.judgements
    piloted: list[list[Judgement]] = []
    minutes = None
    if pilot is not None:
        piloted = pilot_judgements(str(pilot))
        minutes = minutes_per_person(study, seconds_per_item(str(pilot)))
    adaptive = study.design.model_copy(
        update={"allocation": "adaptive", "width": width or study.design.width}
    )
    if study.kind == "rating":
        spreads = _pilot_spreads(piloted)
        basis = f"the pilot's {len(spreads)} pairs"
        if not spreads:
            spreads = [spread] * items
            basis = f"a spread of {spread:g}, which is assumed"
        widest, mean = rating_judgements(spreads, adaptive)
        if width is not None:
            most = widest
    else:
        shares = pilot_shares([_labels(judgements) for judgements in piloted])
        basis = f"the pilot's {len(shares)} items"
        if not shares:
            shares = assumed_shares(items, agreement, study.design.seed)
            basis = f"an agreement of {agreement:.0%}, which is assumed"
        if width is not None:
            # An even split has the widest interval of all.
            most = max(judgements_for_width(share, width) for share in (0.5, *shares))
        adaptive = adaptive.model_copy(update={"judgements": most})
        mean = mean_judgements(adaptive, shares, study.design.seed)
    per_item = {"fixed": most, "adaptive": min(mean, most)}
    fixed = study.design.model_copy(update={"allocation": "fixed", "judgements": most})
    fixed_study = study.model_copy(update={"design": fixed})
    people = people_needed(fixed_study)
    designs = [
        plan_design(
            name,
            judgements,
            items=items,
            items_per_person=study.items_per_person,
            # Where all items need all their judgements, the adaptive design is the fixed one.
            most=people if judgements == most else most,
            minutes=minutes,
            pay=pay,
            fee=fee,
        )
        for name, judgements in per_item.items()
    ]
    if is_simulated(fixed_study):
        designs = [
            replace(design, simulated=design.judgements_per_item == most) for design in designs
        ]
    least = min(adaptive.min_judgements, most)
    return StudyPlan(designs, adaptive.width, least, most, basis)


def _pilot_spreads(piloted: Sequence[Sequence[Judgement]]) -> list[float]:
    """Return the standard deviation of each pair that was rated more than once."""
    spreads = []
    for judgements in piloted:
        if len(judgements) > 1:
            spreads.append(stdev(judgement.number or 0.0 for judgement in judgements))
    return spreads


def _labels(judgements: Sequence[Judgement]) -> list[tuple[str, ...]]:
    return [judgement.labels for judgement in judgements]
