"""MALeViC table by table: figures from a real reasoner, tables from a sweep, and the numbers in
print."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.browser import chromium
from tests.scenes.reasoners.one_epoch import train_one

from seesay.papers import load_paper
from seesay.papers.malevic.hard_test import FILM, HardTest, hard_test
from seesay.papers.malevic.tables import rule_table
from seesay.papers.material import Material
from seesay.papers.paper import Page, Rendered, Status, render_entries, write_paper
from seesay.scenes.reasoners.evaluate import Prediction
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


def test_a_film_gives_all_its_figures(page: Page) -> None:
    shown = by_number(page)
    assert all(shown[f"Figure {n}"].status is Status.SHOWN for n in range(3, 8))
    assert "published: 73 %" in shown["Figure 4"].text
    assert "published for FiLM: 83 %" in shown["Figure 6"].text
    assert all("published for FiLM: 0.651" in shown[f"Figure {n}"].text for n in (4, 6, 7))
    assert list(FILM.values()) == [0.651, 0.73, 0.83]
    table = shown["Figure 4"].numbers
    assert table is not None
    assert [row[:2] for row in table.rows[:2]] == [["big", "circle"], ["big", "rectangle"]]
    assert sum(int(str(row[3])) for row in table.rows) == 80


def test_figure_5_counts_where_the_fixed_threshold_agrees(page: Page, material: Material) -> None:
    table = by_number(page)["Figure 5"].numbers
    assert table is not None
    agreeing = sum(row.agrees for row in hard_test(material).predictions)
    assert [row[:2] for row in table.rows] == [
        ["agree", str(agreeing)],
        ["differ", str(80 - agreeing)],
    ]
    away = [float(str(row[4])) for row in table.rows]
    assert away[0] < away[1]  # k is farther from 0.29 where the answers differ


def test_figure_7_shows_the_items_next_to_the_threshold(material: Material) -> None:
    test = hard_test(material)
    by_right = {
        right: sorted(row.distance or 1 for row in test.predictions if row.right is right)
        for right in (True, False)
    }
    shown = {
        right: [example for example in test.examples if example.right is right]
        for right in (True, False)
    }
    assert len(test.examples) == 6
    for right, examples in shown.items():
        closest = by_right[right][: len(examples)]
        distances = {(row.p_yes, row.distance) for row in test.predictions if row.right is right}
        assert (
            sorted(next(d or 1 for p, d in distances if p == example.p_yes) for example in examples)
            == closest
        )


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
    """Print: ceiling 1, .97, .97, .97; on SET+POS the whole scene about .65 and only the biggest
    about .92."""
    rows = {(row[0], row[1]): row for row in rule_table(Material(items=480), "Table 1").rows}
    printed = {
        ("SUP1", "k = 0.29 (ceiling)"): 1.0,
        ("POS1", "k = 0.29 (ceiling)"): 0.97,
        ("POS", "k = 0.29 (ceiling)"): 0.97,
        ("SET+POS", "k = 0.29 (ceiling)"): 0.97,
        ("SET+POS", "k = 0.29, whole scene"): 0.65,
        ("SET+POS", "only the biggest is big"): 0.92,
    }
    for key, value in printed.items():
        _, _, accuracy, interval, _, published = map(str, rows[key])
        low, high = map(float, interval.split("–"))
        assert float(published) == value
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
            "lr1",
            "2",
            "0.0003, 0.5, yes",
            "2",
            "0.940",
            "0.920",
            "0.028",
            "0.850",
            "0.071",
            "0.933",
            "−0.083",
        ]
    ]
    assert "CNN+LSTM on SUP1" in shown["Table 1"].text
    hard = next(table for table in shown["Table 2"].tables if table.title == "Ours")
    assert hard.rows[0][9:12] == ["0.750", "0.071", "0.869"]
    third = next(table for table in shown["Table 3"].tables if table.title == "Ours")
    assert [(row[4], row[9]) for row in third.rows] == [("–, –, –", "0.610"), ("–, –, –", "0.410")]
    assert shown["Figure 4"].status is Status.NEEDS_RUN
    # as printed
    assert shown["Table 1"].tables[0].rows[2] == ["FiLM", "0.999", "0.855", "0.933", "0.879"]


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
    test = HardTest(reasoner, [prediction("big", True, 0.9)], [])
    assert test.status is Status.IN_PART
    assert "No FiLM" in test.about


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
