"""MALeViC table by table: figures from a real reasoner, tables from a sweep, and the numbers in
print."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.browser import chromium
from tests.scenes.reasoners.one_epoch import train_one
from tests.shared_data import shared

from seesay.papers import load_paper
from seesay.papers.malevic.hard_test import (
    HardTest,
    borderline_pair,
    by_distance,
    by_type_and_shape,
    hard_test,
    k_by_sentence_type,
    k_groups,
)
from seesay.papers.malevic.scene_figures import BIG, EXAMPLES, SENTENCE_TYPES, scene_test
from seesay.papers.malevic.tables import rule_table, sweep_table
from seesay.papers.material import Material
from seesay.papers.paper import Page, Rendered, Status, render_entries, write_paper
from seesay.scenes.labels import label_objects
from seesay.scenes.reasoners.evaluate import Prediction, SceneTest
from seesay.scenes.reasoners.selection import TrainedReasoner, best_reasoners, trained_reasoners

RESULTS = """network,task,config,seed,folder,validation,\
test,test_seen,test_unseen,pos-hard,set+pos-hard,minutes,error,warning
film,pos,lr1,0,a,0.9,0.8,,,0.7,,1,,
film,pos,lr1,1,b,0.94,0.9,,,0.8,,1,,
film,pos,lr2,0,c,0.91,0.99,,,0.99,,1,,
cnn-lstm,compositional,lr1,0,d,0.6,,0.61,0.41,,,1,,
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with two small reasoners that really were trained."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEESAY_CACHE", str(tmp_path_factory.mktemp("cache")))
        folder = tmp_path_factory.mktemp("reasoners")
        for task in ("set+pos", "compositional"):
            train_one("film", task, folder / task)
        yield folder


@pytest.fixture(scope="module")
def material(trained: Path) -> Material:
    return Material([trained], items=80)


@pytest.fixture(scope="module")
def page(material: Material) -> Page:
    return render_entries(load_paper("malevic"), material)


def by_number(page: Page) -> dict[str, Rendered]:
    return {entry.number: rendered for entry, rendered in page}


def test_every_table_and_figure_of_the_paper_is_listed(page: Page) -> None:
    """Seven figures and three tables, each under its own number."""
    expected = {*(f"Figure {n}" for n in range(1, 8)), *(f"Table {n}" for n in range(1, 4))}
    assert set(by_number(page)) == expected


def test_a_film_gives_its_figures(page: Page) -> None:
    shown = by_number(page)
    for number in ("Figure 1", "Figure 2", "Figure 3", "Figure 5", "Figure 6"):
        assert shown[number].status is Status.SHOWN, number
    # clockwise from top left, as the caption of Figure 5 has them
    left, right = (str(column) for column in shown["Figure 5"].charts)
    assert 0 < left.index("big true") < left.index("small true")
    assert 0 < right.index("big false") < right.index("small false")
    # Figure 4 is of two networks, of which one is here
    assert shown["Figure 4"].status is Status.IN_PART
    table = shown["Figure 4"].numbers
    assert table is not None
    assert [row[:3] for row in table.rows[:2]] == [
        ["FiLM", "big true", "circle"],
        ["FiLM", "big true", "rectangle"],
    ]
    assert {row[1] for row in table.rows} == set(SENTENCE_TYPES)
    assert sum(int(str(row[4])) for row in table.rows) == 80
    assert "is that of CNN+LSTM+SA" in shown["Figure 4"].text
    assert 'class="leader"' in str(shown["Figure 4"].charts[0])  # the dashed line of chance


def test_every_network_is_in_figure_4(trained: Path, tmp_path: Path) -> None:
    train_one("stacked-attention", "set+pos", tmp_path / "sa")
    material = Material([trained, tmp_path], items=80)
    figure = by_type_and_shape(material)
    assert figure.status is Status.SHOWN
    assert figure.numbers is not None
    assert {row[0] for row in figure.numbers.rows} == {"FiLM", "CNN+LSTM+SA"}
    assert len(figure.charts) == 2


def test_figure_1_draws_max_min_and_t(page: Page) -> None:
    """T = Max − k (Max − Min), by hand from the text; things above it are big in the table."""
    figure = by_number(page)["Figure 1"]
    chart = str(figure.charts[1])
    assert all(f">{word}</text>" in chart for word in ("Max", "Min", "T"))
    numbers = re.search(
        r"k = ([\d.]+), Max = ([\d,]+), Min = ([\d,]+) and T = ([\d,]+)", figure.text
    )
    assert numbers is not None
    k, most, least, threshold = (float(cell.replace(",", "")) for cell in numbers.groups())
    # k is shown with three decimals
    assert threshold == pytest.approx(most - k * (most - least), abs=0.0005 * (most - least) + 1)
    assert figure.numbers is not None
    for row in figure.numbers.rows:
        area = float(str(row[1]).replace(",", ""))
        assert row[2] == ("big" if area > threshold else "small")


def test_figure_2_has_the_true_sentences_of_its_caption(page: Page) -> None:
    """By the scene's own threshold, or its sizes: each sentence is true; the wording is print's."""
    figure = by_number(page)["Figure 2"]
    printed = {str(row[0]): str(row[1]) for row in figure.tables[0].rows}
    assert len(printed) == len(EXAMPLES)
    for words, (name, cell) in zip(printed.values(), EXAMPLES.items(), strict=True):
        test = SceneTest(name, 80)
        (item,) = [item for item in test.items if item.cell == cell]
        labels = label_objects(item.scene, test.config.kind)
        assert test.sentence(item) == words
        assert labels[item.target].word in words.split()
        # a long sentence takes two lines, and none is cut off
        drawn = " ".join(re.findall(r'class="small">([^<]*)<', str(figure.charts[0])))
        assert f"{words}." in drawn


def test_figure_3_counts_area_classes_from_40_to_110(page: Page) -> None:
    """640 training items for 80 of each test; half of the sentences of each adjective are true."""
    table = by_number(page)["Figure 3"].numbers
    assert table is not None
    assert [row[1] for row in table.rows] == [str(size) for size in range(40, 111, 10)]
    columns = [sum(int(str(row[place])) for row in table.rows) for place in (2, 3, 4, 5)]
    assert columns == [160, 160, 160, 160]
    # big things are asked about in more of the large classes, small ones in more of the little
    first, last = table.rows[0], table.rows[-1]
    assert int(str(first[2])) < int(str(first[3]))
    assert int(str(last[2])) > int(str(last[3]))


def test_figure_5_has_four_panels_in_which_big_things_flip(material: Material) -> None:
    """Big things flip by a k above 0.29, small ones by one below: so the rule has it."""
    test = SceneTest("set+pos-hard", 400)
    groups = k_groups(test)
    assert list(groups) == list(SENTENCE_TYPES)
    assert sum(len(same) + len(other) for same, other in groups.values()) == 400
    for kind, (_, different) in groups.items():
        if kind in BIG:
            assert all(k > 0.29 for k in different)
        else:
            assert all(k < 0.29 for k in different)
    flips = {kind: len(different) for kind, (_, different) in groups.items()}
    assert sum(flips[kind] for kind in BIG) > sum(flips.values()) / 2
    columns = k_by_sentence_type(material).charts
    assert [column.count("<svg") for column in columns] == [2, 2]


def test_what_the_authors_files_give_stands_beside_ours() -> None:
    """Of the published test of seen combinations 97.6 % have the answer of k = 0.29
    (docs/results/scenes.md)."""
    data = shared("malevic/set-pos-compositional/annotation/test_seen_annotation.json").parents[2]
    rows = rule_table(Material(data=data, items=80), "Table 3").rows
    by_test = {(row[0], row[1]): row for row in rows}
    ceiling = by_test["seen combinations", "k = 0.29 (ceiling)"]
    assert ceiling[2:4] == ["–", "0.976"]
    # of the unseen ones the scenes are not at hand
    assert by_test["unseen combinations", "k = 0.29 (ceiling)"][3] == "–"


def test_figure_6_counts_errors_of_the_two_leftmost_columns() -> None:
    """Three errors nearer than 0.1, two of them on big things; a far one is counted apart."""
    rows = [
        hard_prediction("big", True, 0.1, 0.01),
        hard_prediction("small", False, 0.9, 0.09),
        hard_prediction("big", False, 0.9, 0.05),
        hard_prediction("big", False, 0.9, 0.3),
        hard_prediction("big", True, 0.9, 0.02),
    ]
    reasoner = TrainedReasoner(Path("x"), "film", "set+pos", 0.7)
    material = Material(items=80)
    material.once("reasoners", lambda: [reasoner])
    material.once("hard tests", lambda: [HardTest(reasoner, rows)])
    text = by_distance(material).text
    assert "Of its 3 errors within the two leftmost columns (up to 0.1) 67 %" in text
    assert "of all its 4 errors, 50 %" in text


def test_figure_7_is_a_pair_with_one_sentence_that_is_true(material: Material) -> None:
    test, scenes = hard_test(material), scene_test(material, "set+pos-hard")
    # what a network of one epoch gets right is a matter of luck: half of the items, here
    predictions = [
        replace(row, p_yes=float(row.answer == (place % 2 == 0)))
        for place, row in enumerate(test.predictions)
    ]
    right, wrong = borderline_pair(scenes, predictions)
    assert predictions[right].right
    assert not predictions[wrong].right
    for place in (right, wrong):
        assert (predictions[place].adjective, predictions[place].answer) == ("big", True)
    assert not borderline_pair(scenes, [])


def hard_prediction(adjective: str, answer: bool, yes: float, distance: float) -> Prediction:
    return replace(prediction(adjective, answer, yes), distance=distance)


def test_a_network_at_chance_has_a_caution() -> None:
    reasoner = TrainedReasoner(Path("x"), "film", "set+pos", 0.5)
    guesses = [prediction("big", answer, 0.9) for answer in (True, False) * 20]
    assert "Caution: FiLM is at chance here" in HardTest(reasoner, guesses).about_film
    learnt = [prediction("big", True, 0.9) for _ in range(40)]
    assert "Caution" not in HardTest(reasoner, learnt).about_film


def prediction(adjective: str, answer: bool, yes: float) -> Prediction:
    return Prediction(
        "set+pos-hard", adjective, "red", "circle", answer, yes, 0.29, 0.1, {"fixed-k": answer}
    )


def test_small_answers_and_errors_on_big_things_by_hand() -> None:
    """Yes to small and no to big say small; a big thing is one of which big is true or small is
    false."""
    rows = [
        prediction("big", True, 0.1),
        prediction("big", False, 0.2),
        prediction("small", True, 0.9),
        prediction("small", False, 0.4),
    ]
    assert [row.predicts_low for row in rows] == [True, True, True, False]
    assert [row.is_high for row in rows] == [True, False, False, True]
    assert [row.right for row in rows] == [False, True, True, True]
    assert [row.is_high for row in rows if not row.right] == [True]


def test_the_rules_come_out_as_in_print() -> None:
    """Print: 97 % with k = 0.29; on SET+POS about 65 % with the whole scene and 92 % with only the
    biggest."""
    rows = {(row[0], row[1]): row for row in rule_table(Material(items=480), "Table 1").rows}
    printed = {
        ("POS1", "k = 0.29 (ceiling)"): 0.97,
        ("POS", "k = 0.29 (ceiling)"): 0.97,
        ("SET+POS", "k = 0.29 (ceiling)"): 0.97,
        ("SET+POS", "k = 0.29, whole scene"): 0.65,
        ("SET+POS", "only the biggest is big"): 0.92,
    }
    for key, value in printed.items():
        _, _, published, _, accuracy, interval, _ = map(str, rows[key])
        low, high = map(float, interval.split("–"))
        # the text says that one of them is about right
        about = "~" if value == 0.65 else ""
        assert published == f"{about}{100 * value:.0f}%"
        # print is rounded to two decimals
        assert low - 0.005 <= value <= high + 0.005, (key, accuracy)


def test_tables_from_a_sweep(tmp_path: Path) -> None:
    """The best by mean validation accuracy, (.9 + .94) / 2 = .92 against .91; sd over its two seeds
    by hand. The hyper-parameters are those of its best run, if its folder is there."""
    (tmp_path / "results.csv").write_text(RESULTS, encoding="utf-8")
    (tmp_path / "b" / "training").mkdir(parents=True)
    settings = {"learning_rate": 3e-4, "sizes": {"dropout": 0.5, "batch_norm": True}}
    (tmp_path / "b" / "training" / "settings.json").write_text(
        json.dumps(settings), encoding="utf-8"
    )
    shown = by_number(render_entries(load_paper("malevic"), Material([tmp_path], items=80)))
    our_table = next(table for table in shown["Table 1"].tables if table.title == "Ours")
    assert [list(row) for row in our_table.rows] == [
        [
            "POS",
            "FiLM",
            "0.9400",
            "0.9200 ± 0.028",
            "0.8500 ± 0.071",
            "0.0003",
            "0.5",
            "yes",
            "2",
            "2",
            "0.9333",
            "−0.083",
        ]
    ]
    assert "CNN+LSTM on SUP1" in shown["Table 1"].text
    assert "Caution" not in shown["Table 1"].text
    hard = next(table for table in shown["Table 2"].tables if table.title == "Ours")
    assert hard.rows[0][4] == "0.7500 ± 0.071"
    assert hard.rows[0][10] == "0.8693"
    third = next(table for table in shown["Table 3"].tables if table.title == "Ours")
    assert [(row[4], row[5], row[10]) for row in third.rows] == [
        ("0.6100", "–", "0.608"),
        ("0.4100", "–", "0.4036"),
    ]
    assert shown["Figure 4"].status is Status.NEEDS_RUN


def test_a_training_that_learnt_nothing_is_named_under_the_table(tmp_path: Path) -> None:
    text = RESULTS.replace(
        "film,pos,lr1,0,a,0.9,0.8,,,0.7,,1,,", "film,pos,lr1,0,a,0.9,0.8,,,0.7,,1,,x"
    )
    (tmp_path / "results.csv").write_text(text, encoding="utf-8")
    table = sweep_table("Table 1")(Material([tmp_path], items=80))
    assert "1 of 2 of FiLM on POS" in table.text


def test_a_training_on_a_sample_of_the_items_is_named_under_the_table(tmp_path: Path) -> None:
    """400 items in place of 16,000: what is shown is not what the paper's table is of."""
    (tmp_path / "results.csv").write_text(RESULTS, encoding="utf-8")
    (tmp_path / "a" / "training").mkdir(parents=True)
    settings = {"learning_rate": 3e-4, "sizes": {}, "items": 400}
    (tmp_path / "a" / "training" / "settings.json").write_text(
        json.dumps(settings), encoding="utf-8"
    )
    material = Material([tmp_path], items=80)
    table = sweep_table("Table 1")(material)
    assert table.status is Status.IN_PART
    assert "a sample of the items, which in print are 16,000" in table.text
    assert "FiLM on POS (400)." in table.text
    # seen combinations were trained on something else
    assert "a sample" not in sweep_table("Table 3")(material).text


def test_figures_of_a_network_trained_on_a_sample_say_so(tmp_path: Path) -> None:
    """A figure of 400 items is not the paper's; without settings the items are print's."""
    (tmp_path / "training").mkdir()
    test = HardTest(TrainedReasoner(tmp_path, "film", "set+pos", 0.9), [])
    assert (test.training_items, test.status) == (16_000, Status.SHOWN)
    (tmp_path / "training" / "settings.json").write_text('{"items": 400}', encoding="utf-8")
    sample = HardTest(TrainedReasoner(tmp_path, "film", "set+pos", 0.9), [])
    assert (sample.training_items, sample.status) == (400, Status.IN_PART)


def test_max_val_is_over_all_runs_and_pixels_stand_in_brackets(tmp_path: Path) -> None:
    """lr2 has the highest single validation, though lr1 is the best configuration by its mean; runs
    from pixels are no further seeds of it."""
    header = RESULTS.splitlines()[0]
    sweeps = {
        "features": ["lr1,0,a,0.9", "lr1,1,b,0.94", "lr2,0,c,0.95", "lr2,1,d,0.7"],
        "pixels": ["lr1,0,a,0.99"],
    }
    for name, runs in sweeps.items():
        lines = [header]
        for run in runs:
            folder = run.split(",")[2]
            lines.append(f"film,pos,{run},0.8,,,0.7,,1,,")
            training = tmp_path / name / folder / "training"
            training.mkdir(parents=True)
            features = "pixels" if name == "pixels" else "resnet101"
            settings = {"features": features, "learning_rate": 3e-4, "sizes": {}}
            (training / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
        (tmp_path / name / "results.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rendered = sweep_table("Table 1")(Material([tmp_path], items=80))
    row = rendered.tables[0].rows[0]
    assert row[2:4] == ["0.9500 (0.9900)", "0.9200 ± 0.028"]
    only_pixels = sweep_table("Table 1")(Material([tmp_path / "pixels"], items=80))
    assert only_pixels.tables[0].rows[0][2:4] == ["– (0.9900)", "0.9900"]
    assert "from pixels" in only_pixels.text


def test_the_best_reasoner_is_chosen_by_validation_accuracy(trained: Path, tmp_path: Path) -> None:
    reasoners = trained_reasoners([trained / "set+pos", trained / "compositional", tmp_path])
    assert [(reasoner.network, reasoner.task) for reasoner in reasoners] == [
        ("film", "set+pos"),
        ("film", "compositional"),
    ]
    result = json.loads(
        (trained / "set+pos" / "training" / "result.json").read_text(encoding="utf-8")
    )
    assert reasoners[0].validation == result["best"]
    others = [
        TrainedReasoner(tmp_path / name, "film", "pos", value)
        for name, value in (("a", 0.6), ("b", 0.7), ("c", 0.7))
    ]
    assert best_reasoners(others)["film", "pos"].folder.name == "b"


def test_another_network_is_shown_in_part() -> None:
    reasoner = TrainedReasoner(Path("x"), "stacked-attention", "set+pos", 0.7)
    test = HardTest(reasoner, [prediction("big", True, 0.9)])
    assert test.status is Status.IN_PART
    assert "No FiLM" in test.about_film


def test_in_a_browser(page: Page, tmp_path: Path) -> None:
    """Nothing is wider than the screen, at desktop and phone width, and no text of a chart leaves
    it."""
    path = write_paper(tmp_path / "malevic.html", load_paper("malevic"), page)
    with chromium() as browser:
        for width in (1280, 390):
            tab = browser.new_page(viewport={"width": width, "height": 900})
            tab.goto(path.as_uri())
            assert tab.evaluate("document.documentElement.scrollWidth") == width
            cut = tab.evaluate(
                """() => [...document.querySelectorAll("svg.chart text")].filter(text => {
                    const box = text.getBoundingClientRect();
                    const chart = text.closest("svg").getBoundingClientRect();
                    return box.right > chart.right + 1 || box.left < chart.left - 1;
                }).map(text => text.textContent)"""
            )
            assert cut == []
