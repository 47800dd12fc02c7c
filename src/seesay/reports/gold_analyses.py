"""Analyses of a task's questions, from the gold answers alone.

They work for published data and for knowledge that `seesay mine` wrote: both are tasks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from markupsafe import Markup

from seesay.quantities import quantity
from seesay.questions import Question, Task
from seesay.reports.analysis import Analysis, GoldDistribution, LabelShares
from seesay.reports.charts import columns, heat_map, histograms, stacked_bars
from seesay.tasks.categories import CATEGORIES, agreement
from seesay.tasks.page_analyses import PAGE_ANALYSES, PageAnalyses
from seesay.tasks.viphy.facts import SOURCE

T = TypeVar("T")

MAX_BARS = 40
"""Objects drawn out of thousands, at even steps of their order."""


def task_analyses(task: Task) -> list[Analysis]:
    """The analyses of a task's questions that its labels and tags allow."""
    analyses = []
    if len(task.labels) > 2:
        analyses.append(cardinality(task))
    if _declared(task).by_entropy:
        analyses.append(entropies(task))
    if has_tag(task, "category"):
        analyses.append(by_category(task))
    if has_tag(task, "scene"):
        analyses.append(by_scene(task))
    return analyses


def has_tag(task: Task, tag: str) -> bool:
    """Whether the questions have the tag with more than one value."""
    return len({question.tags[tag] for question in task.questions if tag in question.tags}) > 1


def cardinality(task: Task) -> Analysis:
    """Questions by their number of right labels, and the labels' shares among them."""
    rows = label_shares(task, {q.id: str(len(q.gold)) for q in task.questions})
    rows.sort(key=lambda row: int(row.part))
    axis = "right labels"
    counted = columns(
        [(row.part, row.n) for row in rows], title="Questions", y_label="questions", x_label=axis
    )
    divided = _stacked(rows, task, f"Labels by number of {axis}")
    text = "Questions with one right label, two, or more, and the shares of the labels among them."
    source = f"{SOURCE}, Fig. 10 and 11"
    return Analysis(
        "cardinality",
        task.name,
        "How many labels are right",
        source,
        text,
        rows,
        (counted, divided),
    )


def by_category(task: Task) -> Analysis:
    """The shares of the labels in each category of objects."""
    text = (
        "The shares of the gold answers in each category of objects, every object weighted equally."
    )
    return _labels_by(task, "category", "Labels by category", f"{SOURCE}, Fig. 15", text)


def by_scene(task: Task) -> Analysis:
    """The shares of the relations in each scene."""
    text = "The shares of the gold relations in each scene, every pair weighted equally."
    return _labels_by(task, "scene", "Relations by scene", "", text)


def _labels_by(task: Task, tag: str, title: str, source: str, text: str) -> Analysis:
    rows = label_shares(task, {q.id: q.tags[tag] for q in task.questions if tag in q.tags})
    return Analysis(
        f"labels-by-{tag}", task.name, title, source, text, rows, (_stacked(rows, task, title),)
    )


def entropies(task: Task) -> Analysis:
    """Every object's distribution, from a single label to many equal ones."""
    rows = [distribution(question, task) for question in task.questions]
    rows.sort(key=lambda row: (row.entropy, row.object))
    drawn = even_steps(rows, MAX_BARS)
    labels = _words(task)
    bars = [(row.object, [row.shares.get(label, 0.0) for label in labels]) for row in drawn]
    if len(drawn) < len(rows):
        title = f"{quantity(len(drawn), 'object')} of {len(rows):,}, by entropy"
    else:
        title = "By entropy"
    charts = (
        stacked_bars(bars, labels, title=title),
        histograms(
            [("", [row.entropy for row in rows])],
            title="Entropy",
            x_label="bits",
            y_label="objects",
        ),
    )
    text = "Objects sorted by the entropy of their gold distribution: from those of one colour to those of many."
    heading = "From one colour to many"
    return Analysis("distributions-by-entropy", task.name, heading, "", text, rows, charts, shown=0)


def distribution(question: Question, task: Task) -> GoldDistribution:
    """A question's gold distribution and its entropy."""
    shares = {label: share for label, share in question.gold_shares.items() if share > 0}
    in_words = {_word(task, label): share for label, share in shares.items()}
    return GoldDistribution(question.object, entropy(shares.values()), in_words)


def entropy(shares: Iterable[float]) -> float:
    """Shannon's entropy in bits.

    >>> entropy([0.5, 0.25, 0.25]), entropy([1.0, 0.0])
    (1.5, 0.0)
    """
    return abs(-sum(share * math.log2(share) for share in shares if share > 0))


def found_categories(task: Task, encoder: str) -> list[Analysis]:
    """The published categories of a task's objects compared with those that an encoder finds;
    nothing to compare with, no analysis."""
    from seesay.models.encoders import load_encoder
    from seesay.probes.vector_cache import VectorCache
    from seesay.tasks.categories import assign

    published = {q.object: q.tags["category"] for q in task.questions if "category" in q.tags}
    if not published:
        return []
    categories = assign(list(published), VectorCache(load_encoder(encoder)).rows)
    return [category_agreement(task.name, categories, published, encoder)]


def category_agreement(
    task: str, ours: Mapping[str, str], published: Mapping[str, str], encoder: str
) -> Analysis:
    """How the names of each published category are distributed when an encoder assigns them."""
    agreed = agreement(ours, published)
    labels = list(dict.fromkeys((*CATEGORIES, *ours.values())))
    pairs = Counter((published[name], ours[name]) for name in ours if name in published)
    rows = []
    for label in sorted({theirs for theirs, _ in pairs}):
        n = sum(pairs[label, other] for other in labels)
        rows.append(LabelShares(label, n, {other: pairs[label, other] / n for other in labels}))
    title = f"Published category (rows) and category by {encoder} (columns)"
    matrix = [[row.shares[label] for label in labels] for row in rows]
    chart = heat_map(matrix, [row.part for row in rows], labels, title=title)
    share = f"{100 * agreed.share:.1f} % of {agreed.names:,} names"
    text = (
        f"{encoder} puts {share} into their published category (Cohen's kappa {agreed.kappa:.3f})."
    )
    heading = "Categories by a sentence encoder"
    return Analysis("category-agreement", task, heading, f"{SOURCE}, Table 8", text, rows, (chart,))


def label_shares(task: Task, part_of: Mapping[str, str]) -> list[LabelShares]:
    """The mean gold distribution of each part; `part_of` maps the ids of questions to parts."""
    sums: dict[str, dict[str, float]] = {}
    counts: Counter[str] = Counter()
    for question in task.questions:
        part = part_of.get(question.id)
        if part is not None:
            counts[part] += 1
            part_sums = sums.setdefault(part, dict.fromkeys(task.labels, 0.0))
            for label, share in question.gold_shares.items():
                part_sums[label] += share
    rows = []
    for part, n in sorted(counts.items()):
        rows.append(
            LabelShares(
                part, n, {_word(task, label): share / n for label, share in sums[part].items()}
            )
        )
    return rows


def even_steps(rows: Sequence[T], most: int) -> list[T]:
    """At most `most` of the rows, from the first to the last at even steps.

    >>> even_steps("abc", 40), even_steps(range(101), 5)
    (['a', 'b', 'c'], [0, 25, 50, 75, 100])
    """
    if len(rows) <= most:
        return list(rows)
    return [rows[round(step * (len(rows) - 1) / (most - 1))] for step in range(most)]


def _declared(task: Task) -> PageAnalyses:
    return PAGE_ANALYSES.get(task.name, PageAnalyses())


def _word(task: Task, label: str) -> str:
    return _declared(task).label_words.get(label, label)


def _words(task: Task) -> list[str]:
    return [_word(task, label) for label in task.labels]


def _stacked(rows: Sequence[LabelShares], task: Task, title: str) -> Markup:
    labels = _words(task)
    bars = [(f"{row.part} ({row.n:,})", [row.shares[label] for label in labels]) for row in rows]
    return stacked_bars(bars, labels, title=title)
