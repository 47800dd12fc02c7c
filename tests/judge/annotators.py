"""Careful and careless people, made up: what they would say to a study's items."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from seesay.judge.items import StudyItem
from seesay.judge.results.quality import Judgement
from seesay.judge.study import Study

Rater = Callable[[StudyItem, random.Random], int]


def careful(truth: Mapping[str, float], noise: float = 0.12) -> Rater:
    """Rates by the truth with some noise; knows that green is like no relation and a word is like
    itself."""

    def rate(item: StudyItem, chance: random.Random) -> int:
        if item.control == "distinct":
            return chance.randint(0, 20)
        if item.control == "same":
            return chance.randint(95, 100)
        return round(100 * min(max(chance.gauss(truth[item.id], noise), 0), 1))

    return rate


def at_random(item: StudyItem, chance: random.Random) -> int:
    """Moves every slider anywhere."""
    return chance.randint(0, 100)


def always_similar(item: StudyItem, chance: random.Random) -> int:
    """Pushes every slider to the right."""
    return chance.randint(85, 100)


def always_middle(item: StudyItem, chance: random.Random) -> int:
    """Confirms every slider about where it stands."""
    return chance.randint(45, 55)


def judge(
    study: Study, raters: Sequence[Rater], seed: int = 0, controls: int = 2
) -> list[Judgement]:
    """Everyone rates as many items as it takes for each item to have its number, and their
    controls."""
    chance = random.Random(seed)
    required = [item for item in study.measured for _ in range(study.design.judgements)]
    piles: list[dict[str, StudyItem]] = [{} for _ in raters]
    for item in required:
        free = [pile for pile in piles if item.id not in pile]
        smallest = min(len(pile) for pile in free)
        chance.choice([pile for pile in free if len(pile) == smallest])[item.id] = item
    judgements = []
    for number, (rate, pile) in enumerate(zip(raters, piles, strict=True), start=1):
        for item in (*pile.values(), *study.controls_for(number)[:controls]):
            judgements.append(Judgement(number, item, rate(item, chance), 50, "moved", 4.0, 0, 0.0))
    return judgements
