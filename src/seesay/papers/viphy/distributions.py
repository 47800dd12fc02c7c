"""ViPhy's figures of labels: how colours and relations are distributed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from seesay.data import viphy
from seesay.data.knowledge import COLORS, ColorFact, PlaceFact
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status, noting
from seesay.papers.published import published_tables
from seesay.papers.viphy import source
from seesay.reports.analysis import LabelShares, as_table
from seesay.reports.charts import Bar, bars, stacked_bars
from seesay.reports.gold_analyses import entropy, even_steps
from seesay.reports.pages.sections import DataTable

Cells = list[list[str | float | None]]

PUBLISHED = published_tables("viphy")
PLACES = ("above", "similar level", "below")
PAIRS = 30
"""Pairs drawn of a scene."""
WIDE = 270.0
"""Room for the names of pairs."""


def _typical(material: Material) -> NDArray[np.bool_]:
    """Return which colours are typical of each object of ViPhy."""
    facts = source.rows(material, ColorFact)
    return np.array([np.isin(COLORS, fact.typical) for fact in facts])


def color_shares(material: Material) -> Rendered:
    """Figure 10: the share of each colour among the typical labels of ViPhy and CoDa."""
    tables = {"VIPHY": _typical(material)}
    notes: list[str] = []
    with noting(notes, "CoDa: "):
        tables["CoDa"] = source.coda_typical(material)
    shares = {}
    labels = {}
    for name, table in tables.items():
        counts = table.sum(axis=0)
        shares[name] = dict(zip(COLORS, (100 * counts / counts.sum()).tolist(), strict=True))
        labels[name] = f"{name} ({len(table):,} objects, {int(counts.sum()):,} labels)"
    published = PUBLISHED["Figure 10"].numbers
    # the commonest first
    colors = sorted(COLORS, key=lambda color: -shares["VIPHY"][color])
    chart_bars = []
    rows: Cells = []
    for color in colors:
        row: list[str | float | None] = [color]
        for name, by_color in shares.items():
            chart_bars.append(Bar(color, by_color[color], series=labels[name]))
            row += [f"{published[color][name]:.2f}", f"{by_color[color]:.2f}"]
        rows.append(row)
    header = ["colour"]
    for name in shares:
        header += [f"{name}, authors' files", f"{name}, recomputed"]
    chart = bars(
        chart_bars,
        title="Share of each colour, percent of all typical labels",
        x_label="percent of the typical labels",
    )
    text = (
        "Every typical label of every object counts once: of ViPhy's released table, and of all of "
        "CoDa's objects, whose typical colours are found by the same rule."
    )
    return _beside_coda([text, *notes], DataTable(header, rows, "In percent"), chart)


def cardinality(material: Material) -> Rendered:
    """Figure 11: how many objects of ViPhy and of CoDa have one typical colour, two, or more."""
    numbers = {"VIPHY": _typical(material).sum(axis=1)}
    notes: list[str] = []
    with noting(notes, "CoDa: "):
        numbers["CoDa"] = (source.shared_things(material).typical > 0).sum(axis=1)
    header = PUBLISHED["Figure 11"].header[1:]
    chart_bars = []
    rows: Cells = []
    for name, counts in numbers.items():
        percentages = [100 * float(np.mean(counts == int(number))) for number in header]
        rows.append([f"{name}, authors' files", *PUBLISHED["Figure 11"].rows[name]])
        rows.append([f"{name}, recomputed", *(f"{value:.2f}" for value in percentages)])
        for number, value in zip(header, percentages, strict=True):
            chart_bars.append(Bar(number, value, series=f"{name} ({len(counts):,} objects)"))
    # the bars of one number stand together
    chart_bars.sort(key=lambda bar: int(bar.name))
    chart = bars(
        chart_bars,
        title="Objects by number of typical colours, percent",
        x_label="percent of the objects",
    )
    text = (
        "CoDa's objects are here those that it shares with ViPhy. The authors' shares of ViPhy are "
        "of an earlier table than the released one."
    )
    table = DataTable(["typical colours", *header], rows, "In percent")
    return _beside_coda([text, *notes], table, chart)


def _beside_coda(paragraphs: Sequence[str], table: DataTable, chart: Markup) -> Rendered:
    """Return a figure of ViPhy and CoDa; a second paragraph says that CoDa is missing."""
    status = Status.of(len(paragraphs) == 1)
    return Rendered("\n\n".join(paragraphs), [table], [chart], status=status, has_published=True)


def kitchen(material: Material) -> Rendered:
    """Figure 14: pairs of objects in the kitchen."""
    # at even steps the thirty show the whole range, and are the same every time
    rows = scene_pairs(source.rows(material, PlaceFact), "kitchen")
    sample = even_steps(rows, PAIRS)
    title = f"{len(sample)} of the {len(rows):,} pairs in a kitchen"
    # the shares of a row are in the order of `PLACES`
    chart_rows = [(row.part, list(row.shares.values())) for row in sample]
    text = (
        "Pairs of objects in a kitchen: how often the first is above the second, level with it, "
        "and below it, in percent. These stand at even steps of the order; how the paper's pairs "
        "were selected its text does not say."
    )
    chart = stacked_bars(chart_rows, PLACES, title=title, room=WIDE)
    return Rendered(text, charts=[chart], numbers=_in_percent(sample))


def scene_pairs(facts: Sequence[PlaceFact], scene: str) -> list[LabelShares]:
    """Return how often the first of two objects is above, level and below, from the most often
    above to the most often below.

    Every pair is taken in one direction.
    """
    rows = []
    for fact in facts:
        total = fact.above + fact.level + fact.below
        # the published table has every pair twice, once in each direction
        if fact.scene.replace("_", " ") != scene or fact.a >= fact.b or not total:
            continue
        counts = np.array([fact.above, fact.level, fact.below])
        shares = dict(zip(PLACES, (counts / total).tolist(), strict=True))
        rows.append(LabelShares(f"{fact.a} – {fact.b}", total, shares))
    return sorted(rows, key=lambda row: (row.shares["below"] - row.shares["above"], row.part))


def _in_percent(rows: Sequence[LabelShares]) -> DataTable | None:
    """Return shares as a table of percentages."""
    percentages = []
    for row in rows:
        shares = {name: round(100 * share, 1) for name, share in row.shares.items()}
        percentages.append(LabelShares(row.part, row.n, shares))
    return as_table(percentages)


def category_colors(material: Material) -> Rendered:
    """Figure 15: the colours of each category, every typical label counted once; the largest
    category first."""
    task = material.task("viphy-color")
    labels: dict[str, Counter[str]] = {}
    for question in task.questions:
        # the labels alone: a mapping would be counted by its shares
        labels.setdefault(question.tags["category"], Counter()).update([*question.gold])
    sizes = Counter(viphy.categories(source.require(material, viphy.CATEGORIES))[0].values())
    rows = []
    percentages: Cells = []
    for category, size in sizes.most_common():
        # a category may have no object among the test questions
        counts = labels.get(category, Counter())
        shares = {color: counts[color] / max(counts.total(), 1) for color in COLORS}
        percentage = 100 * size / sizes.total()
        rows.append((f"{category} ({percentage:.1f} %)", list(shares.values())))
        printed = PUBLISHED["Figure 15"].rows.get(category, [None])[0]
        in_percent = [f"{100 * share:.1f}" for share in shares.values()]
        percentages.append([category, printed, f"{percentage:.1f}", counts.total(), *in_percent])
    chart = stacked_bars(rows, COLORS, title="Colours by category, each typical label once")
    text = (
        f"The typical labels of the {len(task.questions):,} test questions, each counted once, as "
        "in the authors' notebook. In brackets stands the percentage of all objects in the "
        "category, the largest first; the figure rounds it down."
    )
    header = ["category", "objects, authors' files", "objects, recomputed", "labels", *COLORS]
    return Rendered(
        text,
        charts=[chart],
        numbers=DataTable(header, percentages, "In percent"),
        has_published=True,
    )


def ninety_objects(material: Material) -> Rendered:
    """Figure 16: all answers about the paper's ninety objects, from one colour to many."""
    answers = PUBLISHED["Figure 16"].numbers
    by_entropy = []
    for name, counts in answers.items():
        total = sum(counts.values())
        shares = [count / total for count in counts.values()]
        by_entropy.append((entropy(shares), name, int(total), shares))
    chart_rows = []
    rows: Cells = []
    for bits, name, total, shares in sorted(by_entropy):
        chart_rows.append((name, shares))
        rows.append([name, round(bits, 3), total, *(f"{100 * share:.1f}" for share in shares)])
    chart = stacked_bars(chart_rows, COLORS, title="The paper's 90 objects, by entropy")
    text = (
        "All ninety, each with the whole distribution of its answers, in percent, sorted by its "
        f"entropy. The answers are those of the authors' files ({PUBLISHED['Figure 16'].source}); "
        "the released table has typical colours only."
    )
    numbers = DataTable(["object", "entropy, bits", "answers", *COLORS], rows)
    return Rendered(text, charts=[chart], numbers=numbers, has_published=True)
