"""Figures 4 to 7: the best networks, item by item, on SET+POS-hard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from operator import attrgetter
from statistics import fmean

from markupsafe import Markup

from seesay.errors import UserError
from seesay.papers.malevic.scene_figures import (
    AUTHORS,
    BIG,
    OURS,
    SENTENCE_TYPES,
    published_test,
    scene_test,
    sentence_type,
    type_name,
)
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status
from seesay.reports.charts import Bar, bars, histograms
from seesay.reports.formatting import NONE, brief, interval, number
from seesay.reports.pages.sections import DataTable
from seesay.scenes.reasoners import checkpoints
from seesay.scenes.reasoners.diagnostics import (
    DISTANCE_EDGES,
    DiagnosedExample,
    GroupAccuracy,
    bins,
    diagnosed_items,
    share,
    shares,
)
from seesay.scenes.reasoners.evaluate import CEILING, Prediction, SceneTest, predict
from seesay.scenes.reasoners.model import Reasoner
from seesay.scenes.reasoners.networks.registry import NAMES
from seesay.scenes.reasoners.selection import TrainedReasoner, best_reasoners, trained_reasoners
from seesay.scenes.reports.attention_overlay import attention_chart
from seesay.scenes.reports.reasoner_charts import between, right_and_wrong
from seesay.scenes.reports.reasoner_page import ACCURACY_COLUMNS, accuracy_cells
from seesay.scenes.rules import holds

HARD = "set+pos-hard"
CHANCE = 0.5
PAIR = 2
TRAINING_ITEMS = 16_000
"""In print, of every task but that of seen combinations."""
LEFTMOST = 2
"""Columns of Figure 6 that its text is about."""


@dataclass(frozen=True)
class HardTest:
    """A reasoner's predictions of every item."""

    reasoner: TrainedReasoner
    predictions: Sequence[Prediction]
    model: Reasoner | None = None

    @property
    def name(self) -> str:
        return NAMES[self.reasoner.network]

    @cached_property
    def overall(self) -> GroupAccuracy:
        """The accuracy on all items, as the published one is."""
        return share_of(self.predictions, "right")

    @cached_property
    def training_items(self) -> int:
        """How many items the reasoner was trained on; of one that does not say so, as in print."""
        settings = checkpoints.read_settings(self.reasoner.folder)
        items: int = settings.get("items", TRAINING_ITEMS)
        return items

    @property
    def is_sample(self) -> bool:
        """Whether these are fewer than in print."""
        return self.training_items < TRAINING_ITEMS

    @property
    def status(self) -> Status:
        """Figures 6 and 7 are FiLM's: another network's are only like them, and so are those of a
        network that was trained on fewer items."""
        return Status.of(self.reasoner.network == "film" and not self.is_sample)

    @property
    def caution(self) -> str:
        """What a reader must know of a network that has learnt nothing that this test measures."""
        return chance_caution(self.name, self.overall)

    @property
    def about(self) -> str:
        """Which reasoner this is, how it was chosen, and whether its training was a sample."""
        sample = ""
        if self.is_sample:
            sample = (
                f" It was trained on a sample: {self.training_items:,} items, where print has "
                f"{TRAINING_ITEMS:,}."
            )
        return (
            f"The {self.name} with the highest validation accuracy on SET+POS among the folders "
            f"given ({number(self.reasoner.validation)}), on {self.overall.items:,} generated "
            f"items of SET+POS-hard: accuracy {number(self.overall.accuracy)} "
            f"({interval(self.overall.low, self.overall.high)}).{sample}"
        )

    @property
    def about_film(self) -> str:
        """The same for a figure of FiLM, with the caution."""
        other = ""
        if self.reasoner.network != "film":
            other = " No FiLM trained on SET+POS is among the folders given."
        return f"{self.about}{other}{self.caution}"


def share_of(predictions: Sequence[Prediction], field: str) -> GroupAccuracy:
    """Return of how many predictions a field is true, such as `right`, with an interval."""
    count = sum(map(attrgetter(field), predictions))
    return share(HARD, (), count, len(predictions))


def chance_caution(name: str, accuracy: GroupAccuracy) -> str:
    """Return a paragraph of its own where an accuracy cannot be told from guessing, else nothing.

    >>> chance_caution("FiLM", share("set+pos-hard", (), 90, 100))
    ''
    """
    if not accuracy.low <= CHANCE <= accuracy.high:
        return ""
    return (
        f"\n\nCaution: {name} is at chance here ({number(accuracy.accuracy)}, 95 % interval "
        f"{interval(accuracy.low, accuracy.high)}): what is shown of it is what guesses look like, "
        "not what the network has learnt."
    )


def reasoners(material: Material) -> list[TrainedReasoner]:
    """Return the trained reasoners at hand, sweeps included."""
    return material.once("reasoners", lambda: trained_reasoners(material.folders["reasoner"]))


def hard_tests(material: Material) -> list[HardTest]:
    """Return the best reasoner of each network trained on SET+POS, on the hard test."""
    candidates = [reasoner for reasoner in reasoners(material) if reasoner.task == "set+pos"]
    if not candidates:
        raise UserError("There is no reasoner trained on SET+POS among the folders given.")
    best = best_reasoners(candidates)
    order = [best[name, "set+pos"] for name in NAMES if (name, "set+pos") in best]
    return material.once("hard tests", lambda: [_ask(material, reasoner) for reasoner in order])


def hard_test(material: Material) -> HardTest:
    """Return FiLM on the hard test, or else the network with the best validation accuracy."""
    tests = hard_tests(material)
    # Figures 6 and 7 are of FiLM, so that a better network of another kind does not take its place
    for test in tests:
        if test.reasoner.network == "film":
            return test
    return max(tests, key=lambda test: test.reasoner.validation)


def _ask(material: Material, reasoner: TrainedReasoner) -> HardTest:
    """Ask a reasoner every item of the hard test."""
    from seesay.models.options import ModelOptions
    from seesay.scenes.reasoners.model import load_reasoner

    test = scene_test(material, HARD)
    model = load_reasoner(str(reasoner.folder), ModelOptions())
    with material.progress(f"{reasoner.folder} on {HARD}", "items") as advance:
        predictions = predict(model, test, lambda done: advance(done, len(test.items)))
    return HardTest(reasoner, predictions, model)


def by_type_and_shape(material: Material) -> Rendered:
    """Figure 4: accuracy by sentence type and shape, for every network given."""
    charts = []
    body = []
    paragraphs = []
    for test in hard_tests(material):
        rows = shares(test.predictions, _type_and_shape)
        # in one order for all networks
        rows.sort(key=lambda row: SENTENCE_TYPES.index(row.group[0]))
        chart_bars = []
        for row in rows:
            kind, shape = row.group
            chart_bars.append(Bar(kind, row.accuracy, row.low, row.high, shape))
            body.append([test.name, kind, shape, *accuracy_cells(row)])
        title = f"{test.name} on SET+POS-hard ({100 * test.overall.accuracy:.0f} % acc.)"
        charts.append(
            bars(
                chart_bars,
                title=title,
                x_label="accuracy; the dashed line is chance",
                x_end=1,
                chance=CHANCE,
            )
        )
        small = share_of(test.predictions, "predicts_low")
        paragraphs.append(
            f"{test.about} It says false of big and true of small, whichever the thing is, in "
            f"{_percent(small)} of cases.{test.caution}"
        )
    names = {test.reasoner.network for test in hard_tests(material) if not test.is_sample}
    paragraphs.append(
        "The bias that the paper reports, 73 % of cases, is that of CNN+LSTM+SA; it says of FiLM "
        "that big objects are harder for it than small ones."
    )
    header = ["network", "sentence type", "shape", *ACCURACY_COLUMNS]
    return Rendered(
        "\n\n".join(paragraphs),
        charts=charts,
        numbers=DataTable(header, body),
        status=Status.of(names >= {"film", "stacked-attention"}),
    )


def _type_and_shape(row: Prediction) -> tuple[str, str]:
    return type_name(row.adjective, row.answer), row.shape


def k_by_sentence_type(material: Material) -> Rendered:
    """Figure 5: the distribution of k by sentence type, where the fixed threshold gives the same
    adjective or another."""
    tests = {OURS: scene_test(material, HARD)}
    authors = published_test(material, HARD)
    if authors is not None:
        tests[AUTHORS] = authors
    # as in print, true is at the left and false at the right, big above small
    columns: dict[str, list[Markup]] = {"true": [], "false": []}
    body = []
    text = ""
    for origin, test in tests.items():
        groups = k_groups(test)
        flips = {}
        # one axis for all four panels, so that they can be compared
        every_k = [item.scene.k for item in test.items if item.scene.k is not None]
        for kind in sorted(SENTENCE_TYPES):
            same, different = groups[kind]
            title = f"{kind} ({origin})"
            series = [("same", same), ("different", different)]
            columns[kind.split(" ")[-1]].append(
                histograms(
                    series,
                    title=title,
                    x_label="k",
                    y_label="items",
                    x_ends=every_k,
                )
            )
            total = len(same) + len(different)
            flips[kind] = len(different)
            cells = [
                origin,
                kind,
                brief(total),
                brief(len(different)),
                number(len(different) / total) if total else NONE,
                _mean(same),
                _mean(different),
            ]
            body.append(cells)
        big = sum(flips[kind] for kind in BIG)
        text += (
            f"{len(test.items):,} items of SET+POS-hard ({origin}): the adjective would be "
            f"another with k = 0.29 for {sum(flips.values()):,} of them, {big:,} of these about "
            "things that count as big.\n\n"
        )
    text += (
        "Four panels, one for each sentence type. Things that count as big are closer to the "
        "threshold, so that they flip more often than small ones: by a k above 0.29, which puts "
        "the threshold low enough for them to be big. Small things flip by a k below it. Nothing "
        "in the picture shows k."
    )
    if authors is None:
        text += (
            " With the authors' files (`--data FOLDER`, its `set-pos-hard`) theirs are shown, too."
        )
    header = [
        "items of",
        "sentence type",
        "items",
        "different",
        "share",
        "mean k, same",
        "mean k, different",
    ]
    tables = [DataTable(header, body, "Same and different with k = 0.29")]
    # what is one drawing stays together, however wide the page
    charts = [Markup("").join(panels) for panels in columns.values()]
    return Rendered(text, tables, charts)


def k_groups(test: SceneTest) -> dict[str, tuple[list[float], list[float]]]:
    """Return k by sentence type: where the fixed k gives the same answer, and where it does not."""
    fixed = test.rules()[CEILING]
    groups: dict[str, tuple[list[float], list[float]]] = {kind: ([], []) for kind in SENTENCE_TYPES}
    for item in test.items:
        answer = holds(fixed, item.scene, test.sentence(item))
        is_different = answer != item.cell.answer
        if item.scene.k is not None:
            groups[sentence_type(item)][is_different].append(item.scene.k)
    return groups


def by_distance(material: Material) -> Rendered:
    """Figure 6: right and wrong answers by the target's distance from the threshold."""
    test = hard_test(material)
    # all sentence types together
    rows = bins(test.predictions, lambda row: row.distance, DISTANCE_EDGES, lambda _: ())
    end = DISTANCE_EDGES[LEFTMOST - 1]
    errors = [row for row in test.predictions if not row.right]
    near = [row for row in errors if row.distance is not None and row.distance < end]
    text = test.about_film
    if near:
        # what the thing is by the scene's own threshold, whatever the sentence says of it
        big = share_of(near, "is_high")
        every = share_of(errors, "is_high")
        text += (
            f"\n\nOf its {len(near):,} errors within the two leftmost columns (up to {end:g}) "
            f"{_percent(big)} are on things that count as big; of all its {len(errors):,} errors, "
            f"{_percent(every)}. How wide the paper's columns are is not printed; ours are "
            f"{DISTANCE_EDGES[0]:g} wide."
        )
    label = "distance from the threshold, in shares of the set's range"
    chart = right_and_wrong(rows, f"{test.name} on SET+POS-hard: right and wrong answers", label)
    body = []
    for row in rows:
        right = row.share.right
        items = row.share.items
        counts = map(brief, (items, right, items - right))
        body.append([between(row), *counts, number(row.share.accuracy)])
    numbers = DataTable(["distance", "items", "right", "wrong", "accuracy"], body)
    return Rendered(text, charts=[chart], numbers=numbers, status=test.status)


def max_pooled_features(material: Material) -> Rendered:
    """Figure 7: where the features that FiLM keeps come from, on two borderline items."""
    test = hard_test(material)
    scenes = scene_test(material, HARD)
    places = borderline_pair(scenes, test.predictions)
    examples: list[DiagnosedExample] = []
    if test.model is not None:
        examples = diagnosed_items(test.model, scenes, test.predictions, places)
    if not any(example.attention for example in examples):
        raise UserError(
            f"{test.name} has no attention to show: give a FiLM or a stacked-attention reasoner."
        )
    parts = []
    for letter, place in zip("ab", places, strict=False):
        row = test.predictions[place]
        outcome = "right" if row.right else "wrong"
        parts.append(f"({letter}) {outcome}, {number(row.distance)} from the threshold")
    same = len({example.sentence for example in examples}) == 1
    whole = same and len(examples) == PAIR
    text = (
        f"{test.about_film}\n\nTwo borderline scenes in which a sentence with big is true: "
        f"{'; '.join(parts)}. "
        + ("Both have the same sentence. " if whole else "")
        + "Of all such pairs it is the one closest to the threshold; none is chosen by hand. The "
        "target is framed. The overlay shows how many channels take their maximum from a cell, as "
        "far as that exceeds an even share: all that the classifier gets to see."
    )
    charts = [attention_chart(example, test.name) for example in examples]
    return Rendered(text, charts=charts, status=test.status if whole else Status.IN_PART)


def borderline_pair(test: SceneTest, predictions: Sequence[Prediction]) -> list[int]:
    """Return an item answered right and one answered wrong, both with a true sentence with "big".

    Of pairs with one sentence, it is the pair whose larger distance from the threshold is the
    smallest; without such a pair, the closest item of each kind.
    """
    candidates: dict[bool, list[int]] = {True: [], False: []}
    for place, row in enumerate(predictions):
        is_big_and_true = row.adjective == "big" and row.answer
        if is_big_and_true and row.distance is not None:
            candidates[row.right].append(place)

    def distance(place: int) -> float:
        return predictions[place].distance or 0.0

    pairs = [
        (right, wrong)
        for right, wrong in product(candidates[True], candidates[False])
        if test.sentence(test.items[right]) == test.sentence(test.items[wrong])
    ]
    if pairs:
        return list(min(pairs, key=lambda pair: max(map(distance, pair))))
    return [min(places, key=distance) for places in candidates.values() if places]


def _percent(row: GroupAccuracy) -> str:
    return f"{100 * row.accuracy:.0f} % ({100 * row.low:.0f} to {100 * row.high:.0f})"


def _mean(values: Sequence[float]) -> str:
    return number(fmean(values)) if values else NONE
