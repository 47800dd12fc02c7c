"""Figures 4 to 7: the best FiLM, item by item, on SET+POS-hard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from statistics import fmean, stdev

from seesay.errors import UserError
from seesay.papers.malevic.scene_figures import scene_test
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status
from seesay.papers.published import published_tables
from seesay.reports.charts import Bar, bars, histograms
from seesay.reports.formatting import NONE, brief, interval, number
from seesay.reports.pages.sections import DataTable
from seesay.scenes.reasoners.diagnostics import (
    DISTANCE_EDGES,
    DiagnosedExample,
    GroupAccuracy,
    bins,
    example_items,
    share,
    shares,
)
from seesay.scenes.reasoners.evaluate import CEILING, Prediction, predict
from seesay.scenes.reasoners.networks.registry import NAMES
from seesay.scenes.reasoners.selection import TrainedReasoner, best_reasoners, trained_reasoners
from seesay.scenes.reports.attention_overlay import attention_chart
from seesay.scenes.reports.reasoner_charts import between, right_and_wrong
from seesay.scenes.reports.reasoner_page import ACCURACY_COLUMNS, accuracy_cells
from seesay.scenes.rules import FIXED_K, holds

HARD = "set+pos-hard"
EXAMPLES = 6
FILM = {
    what: row["share"]
    for what, row in published_tables("malevic")["FiLM on SET+POS-hard"].numbers.items()
}
"""What is published of FiLM on SET+POS-hard."""


@dataclass(frozen=True)
class HardTest:
    """A reasoner's predictions of every item, and borderline examples with what it attended to."""

    reasoner: TrainedReasoner
    predictions: Sequence[Prediction]
    examples: Sequence[DiagnosedExample]

    @property
    def name(self) -> str:
        return NAMES[self.reasoner.network]

    @property
    def status(self) -> Status:
        """The figures are FiLM's: another network's are only like them."""
        if self.reasoner.network == "film":
            return Status.SHOWN
        return Status.IN_PART

    @property
    def about(self) -> str:
        """Which reasoner this is, and how it was chosen."""
        # on all items, as the published accuracy is
        right = sum(row.right for row in self.predictions)
        overall = share(HARD, (), right, len(self.predictions))
        other = ""
        if self.reasoner.network != "film":
            other = " No FiLM trained on SET+POS is among the folders given."
        printed = number(FILM["accuracy"])
        return (
            f"The {self.name} with the highest validation accuracy on SET+POS among the folders "
            f"given ({number(self.reasoner.validation)}), on {overall.items:,} generated items of "
            f"SET+POS-hard: accuracy {number(overall.accuracy)} "
            f"({interval(overall.low, overall.high)}); published for FiLM: {printed}.{other}"
        )


def reasoners(material: Material) -> list[TrainedReasoner]:
    """Return the trained reasoners at hand, sweeps included."""
    return material.once("reasoners", lambda: trained_reasoners(material.folders["reasoner"]))


def hard_test(material: Material) -> HardTest:
    """Return the best FiLM trained on SET+POS, or else the best other network, on the hard test."""
    candidates = [reasoner for reasoner in reasoners(material) if reasoner.task == "set+pos"]
    if not candidates:
        raise UserError("There is no reasoner trained on SET+POS among the folders given.")
    best = best_reasoners(candidates)
    # the figures are of FiLM, so that a better network of another kind does not take its place
    reasoner = best.get(("film", "set+pos"))
    if reasoner is None:
        reasoner = max(best.values(), key=lambda candidate: candidate.validation)
    return material.once("hard test", lambda: _ask(material, reasoner))


def _ask(material: Material, reasoner: TrainedReasoner) -> HardTest:
    """Ask a reasoner every item of the hard test."""
    from seesay.models.options import ModelOptions
    from seesay.scenes.reasoners.model import load_reasoner

    test = scene_test(material, HARD)
    model = load_reasoner(str(reasoner.folder), ModelOptions())
    with material.progress(f"{reasoner.folder} on {HARD}", "items") as advance:
        predictions = predict(model, test, lambda done: advance(done, len(test.items)))
    examples = example_items(model, test, predictions, EXAMPLES, borderline=True)
    return HardTest(reasoner, predictions, examples)


def by_adjective_and_shape(material: Material) -> Rendered:
    """Figure 4: accuracy by adjective and shape."""
    test = hard_test(material)
    rows = shares(test.predictions, lambda row: (row.adjective, row.shape))
    chart_bars = []
    for row in rows:
        adjective, shape = row.group
        chart_bars.append(Bar(shape, row.accuracy, row.low, row.high, adjective))
    chart_bars.sort(key=lambda bar: bar.name)
    printed = 100 * FILM["answers that say small"]
    say_small = sum(row.predicts_low for row in test.predictions)
    small = share(HARD, (), say_small, len(test.predictions))
    text = (
        f'{test.about}\n\nIts answers amount to "small" (yes to small, no to big) for '
        f"{100 * small.accuracy:.0f} % "
        f"of the items ({100 * small.low:.0f} to {100 * small.high:.0f}); published: {printed:.0f} "
        "%. "
        "Half of the items are about small things."
    )
    title = f"{test.name} on SET+POS-hard: by shape and adjective"
    return Rendered(
        text,
        charts=[bars(chart_bars, title=title, x_label="accuracy")],
        numbers=share_table(["adjective", "shape"], rows),
        status=test.status,
    )


def k_of_agreeing_and_differing(material: Material) -> Rendered:
    """Figure 5: the distribution of k, where the scene's threshold and the fixed one agree or
    differ."""
    test = scene_test(material, HARD)
    # k = 0.29 is the mean of the distribution that k is drawn from, the best guess without knowing
    # it
    fixed = test.rules()[CEILING]
    groups: dict[str, list[float]] = {"agree": [], "differ": []}
    for item in test.items:
        scene = item.scene
        answer = holds(fixed, scene, test.sentence(item))
        name = "agree" if answer == item.cell.answer else "differ"
        groups[name].append(nan if scene.k is None else scene.k)
    agree, differ = groups.values()
    text = (
        f"k of the scenes of {len(test.items):,} generated items of SET+POS-hard. The scene's own "
        f"threshold and that of k = 0.29 give the same answer for {len(agree):,} of them and "
        f"another one for {len(differ):,}: those whose k is far from the mean, in either "
        "direction. Nothing in the picture tells them apart."
    )
    chart = histograms(
        list(groups.items()),
        title="SET+POS-hard: k where the two thresholds agree and differ",
        x_label="k",
        y_label="items",
    )
    body = [[name, brief(len(values)), *_spread(values)] for name, values in groups.items()]
    header = ["thresholds", "items", "mean k", "sd", "mean distance of k from 0.29"]
    numbers = DataTable(header, body)
    tables: list[DataTable] = []
    try:
        hard = hard_test(material)
    except UserError:
        text += (
            "\n\nWith a trained reasoner among the folders, its accuracy on both groups is shown "
            "here, too."
        )
    else:
        rows = shares(hard.predictions, lambda row: ("agree" if row.agrees else "differ",))
        tables.append(share_table(["thresholds"], rows, f"{hard.name} on the two groups"))
    return Rendered(text, tables, [chart], numbers)


def by_distance(material: Material) -> Rendered:
    """Figure 6: right and wrong answers by the target's distance from the threshold."""
    test = hard_test(material)
    rows = bins(test.predictions, lambda row: row.distance, DISTANCE_EDGES, lambda _: ())
    errors = [row for row in test.predictions if not row.right]
    text = test.about
    if errors:
        # what the thing is by the scene's own threshold, whatever the sentence says of it
        big = share(HARD, (), sum(row.is_high for row in errors), len(errors))
        printed = 100 * FILM["errors that are on big things"]
        text += (
            f"\n\nOf its {len(errors):,} errors {100 * big.accuracy:.0f} % ({100 * big.low:.0f} to "
            f"{100 * big.high:.0f}) are on big things; published for FiLM: {printed:.0f} %. Errors "
            "next to the threshold are due to vagueness, those far from it are the network's own."
        )
    label = "distance from the threshold, in shares of the set's range"
    chart = right_and_wrong(rows, f"{test.name} on SET+POS-hard: right and wrong answers", label)
    body = []
    for row in rows:
        right = row.share.right
        items = row.share.items
        counts = [brief(count) for count in (items, right, items - right)]
        body.append(
            [
                between(row),
                *counts,
                number(row.share.accuracy),
            ]
        )
    numbers = DataTable(["distance", "items", "right", "wrong", "accuracy"], body)
    return Rendered(
        text,
        charts=[chart],
        numbers=numbers,
        status=test.status,
    )


def max_pooled_features(material: Material) -> Rendered:
    """Figure 7: where the features that FiLM keeps come from, on borderline items."""
    test = hard_test(material)
    if not any(example.attention for example in test.examples):
        raise UserError(
            f"{test.name} has no attention to show: give a FiLM or a stacked-attention reasoner."
        )
    text = (
        f"{test.about}\n\nBorderline items: those next to the threshold, half of them answered "
        "right and half wrong where there are enough; none is chosen by hand. The target is "
        "framed. The overlay shows how many channels take their maximum from a cell, as far as "
        "that exceeds an even share: all that the classifier gets to see."
    )
    return Rendered(
        text,
        charts=[attention_chart(example, test.name) for example in test.examples],
        status=test.status,
    )


def _spread(values: Sequence[float]) -> list[str]:
    """Return mean, standard deviation, and mean distance from the fixed k."""
    # of a single value there is neither a deviation nor a mean distance
    if len(values) < 2:
        only = number(values[0]) if values else NONE
        return [only, NONE, NONE]
    distance = fmean(abs(k - FIXED_K) for k in values)
    return [
        number(fmean(values)),
        number(stdev(values)),
        number(distance),
    ]


def share_table(names: Sequence[str], rows: Sequence[GroupAccuracy], title: str = "") -> DataTable:
    """Return accuracies by group; `names` are the heads of the group's parts."""
    body = [[*row.group, *accuracy_cells(row)] for row in rows]
    return DataTable([*names, *ACCURACY_COLUMNS], body, title)
