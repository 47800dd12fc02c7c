"""What a task's questions are like, before any model is asked: drawn from the gold answers alone.

The same for the published data and for knowledge that `seesay mine` made: both come as a task.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from seesay.questions import Question, Task
from seesay.report.analyses.base import Analysis, Shares, Spread
from seesay.report.charts import columns, histogram, stacked_bars
from seesay.report.formatting import count

WORDS = {
    "viphy-space": {">": "above", "=": "similar level", "<": "below"},
    "viphy-size": {">": "larger", "<": "smaller"},
}
"""Signs as people read them."""

DRAWN = 40
"""How many things are drawn out of thousands, at even steps of their order."""


def analyses(task: Task) -> list[Analysis]:
    """Everything there is to say about a task's questions, by what they are tagged with."""
    made = []
    if len(task.labels) > 2:
        made.append(cardinality(task))
    if task.name == "viphy-color":
        made.append(entropies(task))
    if has(task, "category"):
        made.append(by_category(task))
    if has(task, "scene"):
        made.append(by_scene(task))
    return made


def has(task: Task, tag: str) -> bool:
    """Whether questions bear the tag, and not all the same value."""
    return len({question.tags[tag] for question in task.questions if tag in question.tags}) > 1


def cardinality(task: Task) -> Analysis:
    """How many questions have one right label, two, three…, and which labels these are (Fig. 10 and 11)."""
    rows = shares(task, {q.id: str(len(q.gold)) for q in task.questions})
    rows.sort(key=lambda row: int(row.part))
    axis = "right labels"
    counted = columns([(row.part, row.n) for row in rows], title="Questions", y_label="questions", x_label=axis)
    divided = _stacked(rows, task, f"Labels by number of {axis}")
    text = "How many questions have one right label, two, or more, and how these are shared among the labels."
    return Analysis(
        "cardinality", task.name, "How many labels are right", "Fig. 10 and 11", text, rows, (counted, divided)
    )


def by_category(task: Task) -> Analysis:
    """How the labels are shared in each category of things (Fig. 15)."""
    rows = shares(task, {q.id: q.tags["category"] for q in task.questions if "category" in q.tags})
    chart = _stacked(rows, task, "Labels by category")
    text = "How the gold answers are shared in each category of things, every thing counting the same."
    return Analysis("labels-by-category", task.name, "Labels by category", "Fig. 15", text, rows, (chart,))


def by_scene(task: Task) -> Analysis:
    """How the relations are shared in each scene (Fig. 14)."""
    rows = shares(task, {q.id: q.tags["scene"] for q in task.questions if "scene" in q.tags})
    chart = _stacked(rows, task, "Relations by scene")
    text = "How the gold relations are shared in each scene, every pair counting the same."
    return Analysis("labels-by-scene", task.name, "Relations by scene", "Fig. 14", text, rows, (chart,))


def entropies(task: Task) -> Analysis:
    """Every thing's distribution, from one colour alone to many alike (Fig. 16)."""
    rows = sorted((spread(question, task) for question in task.questions), key=lambda row: (row.entropy, row.object))
    drawn = [rows[place] for place in evenly(len(rows), DRAWN)]
    labels = [_word(task, label) for label in task.labels]
    bars = [(row.object, [row.shares.get(label, 0.0) for label in labels]) for row in drawn]
    title = f"{count(len(drawn), 'thing')} of {len(rows):,}, by entropy" if len(drawn) < len(rows) else "By entropy"
    charts = (
        stacked_bars(bars, labels, title=title),
        histogram([row.entropy for row in rows], title="Entropy", x_label="bits", y_label="things"),
    )
    text = "Things sorted by the entropy of their gold distribution: from those of one colour to those of many."
    return Analysis(
        "distributions-by-entropy", task.name, "From one colour to many", "Fig. 16", text, rows, charts, shown=0
    )


def spread(question: Question, task: Task) -> Spread:
    """A question's gold distribution and its entropy."""
    total = sum(question.gold.values())
    parts = {label: weight / total for label, weight in question.gold.items() if weight > 0}
    entropy = -sum(share * math.log2(share) for share in parts.values())
    return Spread(question.object, abs(entropy), {_word(task, label): share for label, share in parts.items()})


def shares(task: Task, part_of: Mapping[str, str]) -> list[Shares]:
    """The mean gold distribution of each part; `part_of` says which part a question belongs to, if any."""
    sums: dict[str, dict[str, float]] = {}
    counts: dict[str, int] = defaultdict(int)
    for question in task.questions:
        part = part_of.get(question.id)
        if part is not None:
            total = sum(question.gold.values())
            counts[part] += 1
            of = sums.setdefault(part, dict.fromkeys(task.labels, 0.0))
            for label, weight in question.gold.items():
                of[label] += weight / total
    return [
        Shares(part, counts[part], {_word(task, label): share / counts[part] for label, share in sums[part].items()})
        for part in sorted(sums)
    ]


def evenly(n: int, most: int) -> list[int]:
    """At most `most` of n places, from the first to the last at even steps.

    >>> evenly(3, 40), evenly(101, 5)
    ([0, 1, 2], [0, 25, 50, 75, 100])
    """
    return list(range(n)) if n <= most else [round(step * (n - 1) / (most - 1)) for step in range(most)]


def _word(task: Task, label: str) -> str:
    kind = "viphy-size" if task.name.startswith("viphy-size") else task.name
    return WORDS.get(kind, {}).get(label, label)


def _stacked(rows: Sequence[Shares], task: Task, title: str) -> Markup:
    labels = [_word(task, label) for label in task.labels]
    bars = [(f"{row.part} ({row.n:,})", [row.shares[label] for label in labels]) for row in rows]
    return stacked_bars(bars, labels, title=title)
