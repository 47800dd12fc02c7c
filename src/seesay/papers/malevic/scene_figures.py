"""Figures 1 to 3: the approach, the tasks, and the areas that are asked about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from seesay.papers.material import Material
from seesay.papers.paper import Rendered
from seesay.reports.charts import Bar, bars
from seesay.reports.pages.sections import DataTable
from seesay.scenes.config import DesignCell, SceneConfig
from seesay.scenes.labels import label_objects
from seesay.scenes.lookup import annotation_path
from seesay.scenes.plan import make_plan
from seesay.scenes.reasoners.evaluate import SceneTest
from seesay.scenes.reports.reasoner_charts import title_of
from seesay.scenes.reports.scene_charts import scene_chart, threshold_chart
from seesay.scenes.sampling import SceneItem
from seesay.scenes.scene_batches import scene_items
from seesay.scenes.thresholds import RH_R
from seesay.scenes.world import area

EXAMPLES = {
    "sup1": DesignCell("yellow", "triangle", positive=True, answer=True),
    "pos1": DesignCell("white", "square", positive=False, answer=True),
    "pos": DesignCell("red", "circle", positive=True, answer=True),
    "set+pos": DesignCell("white", "rectangle", positive=True, answer=True),
}
"""The paper's four tasks, and what the sentences in the caption of Figure 2 are about."""
SENTENCE_TYPES = ("big true", "big false", "small true", "small false")
"""As the paper calls them (Figures 4 and 5)."""
BIG = ("big true", "small false")
"""Those about things that count as big."""
FIRST_CLASS = 40
LAST_CLASS = 110
OURS = "ours, generated"
AUTHORS = "authors' files"


def scene_test(material: Material, name: str) -> SceneTest:
    """Return a test of generated scenes, the same for all entries."""

    def generate() -> SceneTest:
        with material.progress(f"scenes of {name}", "items") as advance:
            return SceneTest(name, material.items, advance)

    return material.once(f"test {name}", generate)


def published_test(material: Material, name: str, split: str = "test") -> SceneTest | None:
    """Return the authors' own items, where the data given have their scenes."""
    data = material.data_of("malevic")
    if data is None:
        return None
    folder = data / name.replace("+", "-")
    # both tests of the compositional data are in one folder
    if name.startswith("compositional-"):
        folder = data / "set-pos-compositional"
        split = f"test_{name.removeprefix('compositional-')}"
    needed = (annotation_path(folder, split), folder / "dataset" / f"{split}.json")
    if not all(map(Path.is_file, needed)):
        return None
    return material.once(f"published {name}", lambda: SceneTest.read(name, folder, split))


def sentence_type(item: SceneItem) -> str:
    """Return the adjective of an item's sentence, and whether it is true."""
    return type_name("big" if item.cell.positive else "small", item.cell.answer)


def type_name(adjective: str, answer: bool) -> str:
    """Return a sentence type as the paper calls it.

    >>> type_name("big", True)
    'big true'
    """
    return f"{adjective} {str(answer).lower()}"


def approach(material: Material) -> Rendered:
    """Figure 1: a scene and its two sentences, and the threshold among its sizes."""
    test = SceneTest("pos1", 80)
    # the paper draws squares
    item = next(item for item in test.items if item.cell.shape == "square")
    scene = item.scene
    k = 0.0 if scene.k is None else scene.k
    target = scene.objects[item.target]
    labels = label_objects(scene, test.config.kind)
    words = [label.word for label in labels]
    areas = [area(thing.shape, thing.radius) for thing in scene.objects]
    # T = Max − k (Max − Min): the paper's section 4
    threshold = max(areas) - k * (max(areas) - min(areas))
    verdicts = []
    for start, word in ((f"The {target.color} {target.shape} is", "small"), ("… is", "big")):
        is_true = words[item.target] == word
        verdicts.append(f"{start} a {word} {target.shape}: {str(is_true).lower()}")
    text = (
        "A scene of ours, by the paper's rule: things whose area is above "
        "T = Max − k · (Max − Min) are big, all others small. k is drawn once per scene from "
        f"Normal({RH_R.mean}, {RH_R.deviation}), whose curve stands over the sizes; here "
        f"k = {k:.3f}, Max = {max(areas):,}, Min = {min(areas):,} and T = {threshold:,.0f} pixels."
    )
    body = []
    for thing, size, label in zip(scene.objects, areas, labels, strict=True):
        probability = "" if label.prob is None else f"{label.prob:.3f}"
        cells = [
            f"{thing.color} {thing.shape}",
            f"{size:,}",
            label.word,
            probability,
        ]
        body.append(cells)
    charts = [
        scene_chart([(scene, verdicts[0], verdicts[1])], "The context and two sentences"),
        threshold_chart(scene, words, RH_R, "The threshold among the sizes of this context"),
    ]
    table = DataTable(["thing", "area", "label", "probability of the label"], body)
    return Rendered(text, charts=charts, numbers=table)


def examples(material: Material) -> Rendered:
    """Figure 2: a scene and a true sentence of every task."""
    panels = []
    for name, cell in EXAMPLES.items():
        # eighty items have every combination once
        test = SceneTest(name, 80)
        item = next(item for item in test.items if item.cell == cell)
        panels.append((item.scene, f"{test.sentence(item)}.", title_of(name)))
    text = (
        "One scene of each task in which the sentence of the paper's caption is true, generated by "
        "the published rules (`docs/scenes.md` says what is exact). `seesay scenes show` draws as "
        "many others as you like."
    )
    return Rendered(text, charts=[scene_chart(panels, "One item of each task")])


def queried_areas(material: Material) -> Rendered:
    """Figure 3: which areas are asked about in the training items of POS, by question type."""
    # 16,000 of 20,000 items are for training
    plan = make_plan("pos", 10 * material.items)
    config = SceneConfig(plan.task)
    counts = {OURS: area_classes(scene_items(config, plan, "train"))}
    authors = published_test(material, "pos", "train")
    if authors is not None:
        counts[AUTHORS] = area_classes(authors.items)
    classes = range(FIRST_CLASS, LAST_CLASS + 1, 10)
    charts = []
    body = []
    for origin, by_class in counts.items():
        rows = [
            Bar(str(radius), by_class[radius, kind], series=kind)
            for radius in classes
            for kind in SENTENCE_TYPES
        ]
        title = f"POS, train: area classes asked about ({origin})"
        charts.append(bars(rows, title=title, x_label="items"))
        for radius in classes:
            numbers = [str(by_class[radius, kind]) for kind in SENTENCE_TYPES]
            body.append([origin, str(radius), *numbers])
    total = counts[OURS].total()
    others = sorted({radius for radius, _ in counts[OURS]} - set(classes))
    text = (
        f"The area classes of the things asked about in {total:,} generated training items of POS, "
        "by sentence type: `big true` and `small false` are about big things, the other two about "
        "small ones. Things of any class from 40 to 110 are big in some scenes and small in "
        "others; "
        + ("those of 30 and 120 are never asked about." if not others else f"also asked: {others}.")
    )
    if authors is None:
        text += (
            "\n\nThe paper prints no numbers of this figure; with the authors' POS data "
            "(`--data FOLDER`, its `pos/dataset` and `pos/annotation`) theirs are counted, too."
        )
    header = ["items", "area class", *SENTENCE_TYPES]
    return Rendered(text, charts=charts, numbers=DataTable(header, body))


def area_classes(items: Iterable[SceneItem]) -> Counter[tuple[int, str]]:
    """Count items by the area class of the thing asked about, its radius, and sentence type."""
    counts: Counter[tuple[int, str]] = Counter()
    for item in items:
        radius = item.scene.objects[item.target].radius
        counts[radius, sentence_type(item)] += 1
    return counts
