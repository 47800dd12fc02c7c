"""Before any money is spent: how many judgements and people a study takes, how long they are busy,
and what it costs.

The adaptive design is simulated: people whose agreement on each item is taken from a pilot study or
assumed, answer until each item's interval is narrow enough, with the rule of the server itself
(`adaptive`).
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import stdev

from seesay.judge.adaptive import Z, judgements_wanted, share_width
from seesay.judge.items import ChoiceItem, ItemAnswer
from seesay.judge.results.quality import pilot_judgements
from seesay.judge.storage.studies import minutes_per_person, seconds_per_item
from seesay.judge.study import Study, StudyDesign

MAX_JUDGEMENTS = 10_000


@dataclass(frozen=True)
class DesignPlan:
    """What one design takes."""

    design: str
    judgements_per_item: float
    judgements: int
    people: int
    minutes: float | None
    cost: float | None


@dataclass(frozen=True)
class StudyPlan:
    """What a study takes in the fixed and in the adaptive design.

    An item gets from `least` to `most` judgements in the adaptive one, until its interval is no
    wider than `width`; `basis`: what says how far people agree.
    """

    designs: list[DesignPlan]
    width: float
    least: int
    most: int
    basis: str


def judgements_for_width(share: float, width: float) -> int:
    """The smallest number of judgements at which Wilson's 95 % interval of a share is no wider than
    this.

    >>> judgements_for_width(0.5, 0.1), judgements_for_width(0.9, 0.1)
    (381, 141)
    """
    fewer = range(1, MAX_JUDGEMENTS)
    return 1 + bisect_left(fewer, True, key=lambda count: share_width(share, count) <= width)


Simulated = list[list[int]]
"""The given options of each item."""


def simulate_adaptive(
    answer: Callable[[int, int], int], items: Sequence[ChoiceItem], people: int, design: StudyDesign
) -> Simulated:
    """The judgements that the adaptive design asks for, item by item: its rule looks at the answers
    to one item."""
    given: Simulated = []
    offset = 0
    for number, item in enumerate(items):
        answers: list[int] = []
        while (
            len(answers)
            < judgements_wanted(design, item, [ItemAnswer(v, "chosen") for v in answers])[0]
        ):
            answers.append(answer((offset + len(answers)) % people, number))
        offset += len(answers)
        given.append(answers)
    return given


def assumed_shares(items: int, agreement: float, seed: int) -> list[float]:
    """How often people give an item's most frequent answer: spread around the mean (Beta, of the
    weight of five)."""
    rng = random.Random(seed)
    if agreement >= 1:
        return [1.0] * items
    return [max(rng.betavariate(5 * agreement, 5 * (1 - agreement)), 0.05) for _ in range(items)]


def pilot_shares(labels: Sequence[Sequence[tuple[str, ...]]]) -> list[float]:
    """The share of each item's most frequent answer in a pilot, drawn towards a half by one
    judgement of each kind."""
    return [
        (Counter(named).most_common(1)[0][1] + 1) / (len(named) + 2) for named in labels if named
    ]


def rating_judgements(spreads: Sequence[float], design: StudyDesign) -> tuple[int, float]:
    """Of ratings with these standard deviations: the judgements that the widest item takes, and the
    mean number that the adaptive design asks for."""
    needed = [max(math.ceil((2 * Z * spread / design.width) ** 2), 1) for spread in spreads]
    least = design.min_judgements
    return max(needed), sum(max(count, min(least, max(needed))) for count in needed) / len(needed)


def mean_judgements(design: StudyDesign, shares: Sequence[float], seed: int = 0) -> float:
    """The mean number of judgements per item that the adaptive design asks for, if this is how far
    people agree."""
    rng = random.Random(seed)
    options = tuple(map(str, range(6)))  # the most frequent answer, and five others
    items = [ChoiceItem(id=str(i), base=str(i), options=options) for i in range(len(shares))]

    def answer(person: int, item: int) -> int:
        return 0 if rng.random() < shares[item] else rng.randint(1, 5)

    given = simulate_adaptive(answer, items, 10**9, design)
    return sum(map(len, given)) / len(given)


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
    """People, time and cost of a design with this many judgements per item. Nobody judges an item
    twice, so there are at least as many people as an item has judgements (`most`)."""
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
    """Plan a study whose items all get intervals of this width; without it they get the study's own
    judgements.

    How far people agree is taken from a pilot study, or assumed: `agreement` is how often they give
    an item's most frequent answer, `spread` the standard deviation of the ratings of one item.
    """
    items = len(study.measured)
    most = study.design.judgements
    piloted = [] if pilot is None else pilot_judgements(str(pilot))
    if pilot is None:
        minutes = None
    else:
        minutes = minutes_per_person(study, seconds_per_item(str(pilot)))
    adaptive = study.design.model_copy(
        update={"allocation": "adaptive", "width": width or study.design.width}
    )
    if study.kind == "rating":
        numbers = [
            [judgement.number or 0.0 for judgement in judged]
            for judged in piloted
            if len(judged) > 1
        ]
        needed, mean = rating_judgements(
            [stdev(each) for each in numbers] or [spread] * items, adaptive
        )
        most = most if width is None else needed
        if numbers:
            basis = f"the pilot's {len(numbers)} pairs"
        else:
            basis = f"a spread of {spread:g}, which is assumed"
    else:
        shares = pilot_shares([[judgement.labels for judgement in judged] for judged in piloted])
        if shares:
            basis = f"the pilot's {len(shares)} items"
        else:
            basis = f"an agreement of {agreement:.0%}, which is assumed"
        shares = shares or assumed_shares(items, agreement, study.design.seed)
        if width is not None:
            most = max(judgements_for_width(share, width) for share in (0.5, *shares))
        mean = mean_judgements(
            adaptive.model_copy(update={"judgements": most}), shares, study.design.seed
        )
    per_item = {"fixed": most, "adaptive": min(mean, most)}
    designs = [
        plan_design(
            name,
            judgements,
            items=items,
            items_per_person=study.items_per_person,
            most=most,
            minutes=minutes,
            pay=pay,
            fee=fee,
        )
        for name, judgements in per_item.items()
    ]
    return StudyPlan(designs, adaptive.width, min(adaptive.min_judgements, most), most, basis)
