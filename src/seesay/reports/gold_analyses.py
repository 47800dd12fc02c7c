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
    """Return the analyses of a task's questions that its labels and tags allow."""
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
    """Return whether the questions have the tag with more than one value."""
    return len({*tag_values(task, tag).values()}) > 1


def tag_values(task: Task, tag: str) -> dict[str, str]:
    """Return the values of a tag by the ids of the questions that have it."""
    return {question.id: question.tags[tag] for question in task.questions if tag in question.tags}


def cardinality(task: Task) -> Analysis:
    """Return questions by their number of right labels, and the labels' shares among them."""
    counts = {question.id: str(len(question.gold)) for question in task.questions}
    rows = label_shares(task, counts)
    # by number, since "10" comes before "2" in the order of texts
    rows.sort(key=lambda row: int(row.part))
    axis = "right labels"
    counted = columns(
        [(row.part, row.n) for row in rows], title="Questions", y_label="questions", x_label=axis
    )
    divided = _stacked(rows, task, f"Labels by number of {axis}")
    return Analysis(
        name="cardinality",
        task=task.name,
        title="How many labels are right",
        source=f"{SOURCE}, Fig. 11",
        text="Questions with one right label, two, or more, and the shares of the labels among "
        "them.",
        rows=rows,
        charts=(counted, divided),
    )


def by_category(task: Task) -> Analysis:
    """Return the shares of the labels in each category of objects."""
    text = (
        "The shares of the gold answers in each category of objects, every object weighted equally."
    )
    return _labels_by(task, "category", "Labels by category", f"{SOURCE}, like Fig. 15", text)


def by_scene(task: Task) -> Analysis:
    """Return the shares of the relations in each scene."""
    text = "The shares of the gold relations in each scene, every pair weighted equally."
    return _labels_by(task, "scene", "Relations by scene", "", text)


def _labels_by(
    task: Task,
    tag: str,
    title: str,
    source: str,
    text: str,
) -> Analysis:
    """Return the shares of the labels for every value of a tag."""
    rows = label_shares(task, tag_values(task, tag))
    return Analysis(
        name=f"labels-by-{tag}",
        task=task.name,
        title=title,
        source=source,
        text=text,
        rows=rows,
        charts=(_stacked(rows, task, title),),
    )


def entropies(task: Task) -> Analysis:
    """Return every object's distribution, from a single label to many equal ones."""
    rows = [distribution(question, task) for question in task.questions]
    rows.sort(key=lambda row: (row.entropy, row.object))
    # from the first to the last, so that the whole range of entropies is seen
    sample = even_steps(rows, MAX_BARS)
    labels = _words(task)
    title = "By entropy"
    if len(sample) < len(rows):
        title = f"{quantity(len(sample), 'object')} of {len(rows):,}, by entropy"
    bars = []
    for row in sample:
        values = [row.shares.get(label, 0.0) for label in labels]
        bars.append((row.object, values))
    histogram = histograms(
        [("", [row.entropy for row in rows])], title="Entropy", x_label="bits", y_label="objects"
    )
    return Analysis(
        name="distributions-by-entropy",
        task=task.name,
        title="From one colour to many",
        source="",
        text="Objects sorted by the entropy of their gold distribution: from those of one colour "
        "to those of many.",
        rows=rows,
        charts=(stacked_bars(bars, labels, title=title), histogram),
        # thousands of rows are for the file beside the page
        row_limit=0,
    )


def distribution(question: Question, task: Task) -> GoldDistribution:
    """Return a question's gold distribution and its entropy."""
    shares = {label: share for label, share in question.gold_shares.items() if share > 0}
    words = {_word(task, label): share for label, share in shares.items()}
    return GoldDistribution(
        question.object,
        entropy(shares.values()),
        words,
    )


def entropy(shares: Iterable[float]) -> float:
    """Return Shannon's entropy in bits.

    >>> entropy([0.5, 0.25, 0.25]), entropy([1.0, 0.0])
    (1.5, 0.0)
    """
    # of a single label the sum is 0, and its negative would be printed as -0
    return abs(-sum(share * math.log2(share) for share in shares if share > 0))


def compare_categories(task: Task, encoder: str) -> list[Analysis]:
    """Compare the published categories of a task's objects with those that an encoder finds.

    The list is empty where there are none to compare with.
    """
    from seesay.models.encoders import load_encoder
    from seesay.probes.vector_cache import VectorCache
    from seesay.tasks.categories import assign

    published = {}
    for question in task.questions:
        if "category" in question.tags:
            published[question.object] = question.tags["category"]
    if not published:
        return []
    # thousands of names are encoded once, and kept for the next page
    vectors = VectorCache(load_encoder(encoder))
    categories = assign(list(published), vectors.rows)
    return [category_agreement(task.name, categories, published, encoder)]


def category_agreement(
    task: str,
    categories: Mapping[str, str],
    published: Mapping[str, str],
    encoder: str,
) -> Analysis:
    """Return how names of each published category are distributed by an encoder."""
    agreed = agreement(categories, published)
    # all twelve categories, in their order, even those that no name was put into
    labels = list(dict.fromkeys((*CATEGORIES, *categories.values())))
    pairs = Counter(
        (published[name], category) for name, category in categories.items() if name in published
    )
    rows = []
    for label in sorted({published_label for published_label, _ in pairs}):
        n = sum(pairs[label, other] for other in labels)
        shares = {other: pairs[label, other] / n for other in labels}
        rows.append(LabelShares(label, n, shares))
    chart = heat_map(
        [[row.shares[label] for label in labels] for row in rows],
        [row.part for row in rows],
        labels,
        title=f"Published category (rows) and category by {encoder} (columns)",
    )
    share = f"{100 * agreed.share:.1f} % of {agreed.names:,} names"
    kappa = f"Cohen's kappa {agreed.kappa:.3f}"
    return Analysis(
        name="category-agreement",
        task=task,
        title="Categories by a sentence encoder",
        source=f"{SOURCE}, Table 8",
        text=f"{encoder} puts {share} into their published category ({kappa}).",
        rows=rows,
        charts=(chart,),
    )


def label_shares(task: Task, part_of: Mapping[str, str]) -> list[LabelShares]:
    """Return the mean gold distribution of each part.

    `part_of` maps the ids of questions to parts.
    """
    sums: dict[str, dict[str, float]] = {}
    counts: Counter[str] = Counter()
    for question in task.questions:
        part = part_of.get(question.id)
        if part is None:
            continue
        counts[part] += 1
        part_sums = sums.setdefault(part, dict.fromkeys(task.labels, 0.0))
        for label, share in question.gold_shares.items():
            part_sums[label] += share
    rows = []
    for part, n in sorted(counts.items()):
        means = {_word(task, label): total / n for label, total in sums[part].items()}
        rows.append(LabelShares(part, n, means))
    return rows


def even_steps(rows: Sequence[T], most: int) -> list[T]:
    """Return at most `most` of the rows, from the first to the last at even steps.

    >>> even_steps("abc", 40), even_steps(range(101), 5)
    (['a', 'b', 'c'], [0, 25, 50, 75, 100])
    """
    if len(rows) <= most:
        return list(rows)
    return [rows[round(step * (len(rows) - 1) / (most - 1))] for step in range(most)]


def _declared(task: Task) -> PageAnalyses:
    """Return what the task's page declares, or the defaults."""
    return PAGE_ANALYSES.get(task.name, PageAnalyses())


def _word(task: Task, label: str) -> str:
    """Return a label as the page writes it."""
    return _declared(task).label_words.get(label, label)


def _words(task: Task) -> list[str]:
    return [_word(task, label) for label in task.labels]


def _stacked(rows: Sequence[LabelShares], task: Task, title: str) -> Markup:
    """Draw the shares of each part, which is named with its number of questions."""
    labels = _words(task)
    bars = []
    for row in rows:
        values = [row.shares[label] for label in labels]
        bars.append((f"{row.part} ({row.n:,})", values))
    return stacked_bars(bars, labels, title=title)
