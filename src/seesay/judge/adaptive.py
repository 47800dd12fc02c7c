"""How many judgements an item needs: a fixed number, or as many as it takes until its interval is
narrow enough.

In the adaptive design every item first gets a minimum of judgements. After each further answer the
width of its 95 % interval is computed anew: of the share of its most frequent answer (Wilson), or
of its mean rating. Items on which people agree stop early; the judgements go to those where they
disagree, the widest first, up to the design's number.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from seesay.judge.items import ItemAnswer, StudyItem
from seesay.judge.storage.database import Transaction
from seesay.judge.study import Study, StudyDesign

Z = 1.959964
_PRIOR_VARIANCE, _PRIOR_WEIGHT = 0.04, 2.0
"""Of ratings: a standard deviation of 0.2, with the weight of two judgements, because three equal
ones prove little."""


def share_width(share: float, n: float) -> float:
    """The width of Wilson's 95 % interval of a share of n judgements.

    >>> round(share_width(0.5, 10), 3), round(share_width(1.0, 10), 3)
    (0.527, 0.278)
    """
    return 2 * Z * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)


def mean_width(variance: float, n: float) -> float:
    """The width of the 95 % interval of a mean of n ratings."""
    return 2 * Z * math.sqrt(variance / n)


def judgements_wanted(
    design: StudyDesign, item: StudyItem, answers: Sequence[ItemAnswer]
) -> tuple[int, float]:
    """The number of judgements at which the item's interval reaches the target if people go on as
    they have begun, between the minimum and the design's number; and its width now (the whole range
    before the first answer)."""
    n = len(answers)
    if not n:
        return min(design.min_judgements, design.judgements), 1.0
    if item.has_labels:
        names = [item.labels(answer.value, answer.text) for answer in answers]
        share = Counter(names).most_common(1)[0][1] / n

        def width(count: int) -> float:
            return share_width(share, count)

    else:
        numbers = [item.number(answer.value, answer.text) or 0.0 for answer in answers]
        mean = fmean(numbers)
        spread = sum((number - mean) ** 2 for number in numbers)
        variance = (spread + _PRIOR_WEIGHT * _PRIOR_VARIANCE) / (n - 1 + _PRIOR_WEIGHT)

        def width(count: int) -> float:
            return mean_width(variance, count)

    first = min(max(n, design.min_judgements), design.judgements)
    wanted = next(
        (count for count in range(first, design.judgements) if width(count) <= design.width), None
    )
    return wanted if wanted is not None else max(first, design.judgements), width(n)


def update_need(tx: Transaction, study: Study, item: StudyItem) -> None:
    """After an answer to an item of an adaptive study: how many judgements it wants now."""
    rows = tx.execute(
        """SELECT a.value, a.how, t.text FROM answer a LEFT JOIN typed t ON t.person = a.person AND t.item = a.item
        WHERE a.item = ?""",
        item.id,
    )
    answers = [ItemAnswer(value, how, text or "") for value, how, text in rows]
    wanted, width = judgements_wanted(study.design, item, answers)
    tx.execute(
        """INSERT INTO need (item, wanted, width) VALUES (?, ?, ?)
        ON CONFLICT (item) DO UPDATE SET wanted = excluded.wanted, width = excluded.width""",
        item.id,
        wanted,
        width,
    )
