"""How many judgements an item needs: a fixed number, or as many as make its interval narrow enough.

In the adaptive design every item first gets a minimum of judgements. After each further answer the
width of its 95 % interval is computed anew: of the share of its most frequent answer (Wilson), or
of its mean rating. Items on which people agree stop early; the judgements go to those where they
disagree, the widest first, up to the design's number.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean

from seesay.judge.items import ItemAnswer, StudyItem
from seesay.judge.storage.database import Transaction
from seesay.judge.study import Study, StudyDesign

Z = 1.959964
"""The quantile of the normal distribution for a 95 % interval."""
_PRIOR_VARIANCE = 0.04
"""Of ratings: a standard deviation of 0.2."""
_PRIOR_WEIGHT = 2.0
"""The judgements that the prior variance counts for, because three equal ones prove little."""


def share_width(share: float, n: float) -> float:
    """Return the width of Wilson's 95 % interval of a share of n judgements.

    >>> round(share_width(0.5, 10), 3), round(share_width(1.0, 10), 3)
    (0.527, 0.278)
    """
    spread = math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return 2 * Z * spread / (1 + Z * Z / n)


def mean_width(variance: float, n: float) -> float:
    """Return the width of the 95 % interval of a mean of n ratings."""
    return 2 * Z * math.sqrt(variance / n)


def estimate_need(
    design: StudyDesign,
    item: StudyItem,
    answers: Sequence[ItemAnswer],
) -> tuple[int, float]:
    """Return how many judgements an item needs in all, and the width of its interval now.

    It needs the number at which its interval reaches the target if people go on as they have begun,
    between the minimum and the design's number. Before the first answer the width is the whole
    range.
    """
    n = len(answers)
    if not n:
        return min(design.min_judgements, design.judgements), 1.0
    width = _width_by_count(item, answers)
    # Never fewer than there are: judgements are not taken back.
    first = min(max(n, design.min_judgements), design.judgements)
    for count in range(first, design.judgements):
        if width(count) <= design.width:
            return count, width(n)
    return design.judgements, width(n)


def _width_by_count(item: StudyItem, answers: Sequence[ItemAnswer]) -> Callable[[int], float]:
    """Return the width of an item's interval by the number of its judgements.

    The share or the variance is that of the answers so far.
    """
    n = len(answers)
    if item.has_labels:
        names = [item.labels(answer.value, answer.text) for answer in answers]
        share = Counter(names).most_common(1)[0][1] / n
        return partial(share_width, share)
    numbers = [item.number(answer.value, answer.text) or 0.0 for answer in answers]
    # The sample variance, with the prior's weight in both sums.
    mean = fmean(numbers)
    spread = sum((number - mean) ** 2 for number in numbers)
    variance = (spread + _PRIOR_WEIGHT * _PRIOR_VARIANCE) / (n - 1 + _PRIOR_WEIGHT)
    return partial(mean_width, variance)


def update_need(tx: Transaction, study: Study, item: StudyItem) -> None:
    """Store how many judgements an item of an adaptive study needs after an answer to it."""
    rows = tx.execute(
        """SELECT a.value, a.how, t.text FROM answer a
        LEFT JOIN typed t ON t.person = a.person AND t.item = a.item WHERE a.item = ?""",
        item.id,
    )
    answers = [ItemAnswer(value, how, text or "") for value, how, text in rows]
    judgements, width = estimate_need(study.design, item, answers)
    tx.execute(
        """INSERT INTO need (item, judgements, width) VALUES (?, ?, ?)
        ON CONFLICT (item) DO UPDATE SET judgements = excluded.judgements, width = excluded.width
        """,
        item.id,
        judgements,
        width,
    )
