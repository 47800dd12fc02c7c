"""ViPhy's tables and figures, each with the paper's own number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.judge.results.test_several_labels import BLUE, GREEN, RED, judged, study
from tests.reports.test_score_analyses import answered
from tests.shared_data import shared

from seesay.data.knowledge import ColorFact, PlaceFact, SizeFact
from seesay.judge.results.human_run import write_human_run
from seesay.papers import load_paper
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status, render_entries
from seesay.papers.published import published_tables
from seesay.papers.viphy import figures, source, tables
from seesay.questions import Task
from seesay.reports.pages.sections import DataTable
from seesay.runs import store
from seesay.runs.answer_table import AnswerTable
from seesay.runs.run import Run
from seesay.tasks.template_files import read_template_file
from seesay.tasks.viphy import space

PEOPLE = ((96.46, 96.74, 100, 98.61, 100, 100), (75.69, 77.02, 83.76, 83.57, 83.04, 92.81))
"""Figure 5: CoDa's annotators, relaxed accuracy and confidence for 1 to 6 typical colours, as
published."""


@pytest.fixture(scope="module")
def material() -> Material:
    shared("viphy/results/colors.json")
    return Material((), shared("viphy").parent)


def cells(table: DataTable | None) -> dict[str, list[object]]:
    assert table is not None
    return {str(row[0]): list(row[1:]) for row in table.rows}


def test_table_1(material: Material) -> None:
    """What the published files give, two cardinalities of which are not as printed."""
    rendered = tables.dataset(material)
    assert rendered.status is Status.SHOWN
    assert cells(rendered.tables[0]) == {
        "names of objects, subtypes included": [
            "14,353",
            "7.73 (12.91)",
            "14,353",
            "8,087 (56.3%)",
        ],
        "colour: objects": ["13,250", "2.38 (1.37)", "13,250", "7,737 (58.4%)"],
        "size: pairs": ["43,096", "1.00 (0.00)", "1,682", "1,595 (94.8%)"],
        "space: pairs in scenes": ["6,570", "1.29 (0.45)", "313", "141 (45.0%)"],
    }
    assert "1,170 names" in rendered.text


def test_people_on_the_annotated_examples(material: Material) -> None:
    """94 of 96 sizes (three pairs are not in the table, one is labelled "-"), 96 of 100 places."""
    assert source.on_examples(material, SizeFact) == (94, 96)
    assert source.on_examples(material, PlaceFact) == (96, 100)


def test_tables_4_to_6_have_people_kappas_and_averages(material: Material) -> None:
    page = {
        entry.number: rendered for entry, rendered in render_entries(load_paper("viphy"), material)
    }
    assert "kappa of the people behind the human row: 0.78" in page["Table 5"].text
    assert "kappa of the people behind the human row: 0.85" in page["Table 6"].text
    color = cells(page["Table 4"].tables[0])
    assert color["Human CoDa"] == ["97.45", "78.65", "68.82"]
    people = cells(page["Table 4"].tables[1])
    assert people["people (CoDa), any typical colour in common"][1:] == ["97.45", "78.66", "63.99"]
    assert people["people (CoDa), their most frequent colour"][1] == "86.81"
    sizes = cells(page["Table 6"].tables[0])
    assert sizes["CapBERT"] == ["83.69", "79.14", "91.82"]
    assert any("94 of 96" in name for name in cells(page["Table 6"].tables[1]))
    assert page["Table 6"].status is Status.IN_PART


def test_figure_5_has_people_as_published(material: Material) -> None:
    """CoDa's annotators by the number of typical colours come out as the authors' notebook has
    them."""
    rendered = figures.by_cardinality(material)
    rows = [row for row in rendered.tables[0].rows if row[0] == "people (CoDa), ours"]
    for row, printed in zip(rows, PEOPLE, strict=True):
        assert [float(str(cell)) for cell in row[2:8]] == pytest.approx(printed, abs=0.011)


def test_figures_10_and_11_have_coda_beside_viphy(material: Material) -> None:
    numbers = figures.cardinality(material).numbers
    assert numbers is not None
    rows = {name: [row for row in numbers.rows if row[1] == name] for name in ("ViPhy", "CoDa")}
    assert [row[2] for row in rows["CoDa"]] == [176, 89, 61, 87, 15, 4]
    assert sum(int(str(row[2])) for row in rows["ViPhy"]) == 13_250
    for row in numbers.rows:
        # eleven rounded shares
        assert sum(float(str(cell)) for cell in row[3:]) == pytest.approx(100, abs=0.6)


def test_figure_14_is_about_pairs_in_the_kitchen(material: Material) -> None:
    """2,852 rows, every pair both ways round; thirty are drawn, each with its three shares."""
    rendered = figures.kitchen(material)
    assert rendered.numbers is not None
    assert len(rendered.numbers.rows) == 30
    for row in rendered.numbers.rows:
        assert sum(float(str(share)) for share in row[2:]) == pytest.approx(100, abs=0.2)
    facts = source.rows(material, PlaceFact)
    rows = figures.scene_pairs(facts, "kitchen")
    pairs = {tuple(sorted((fact.a, fact.b))) for fact in facts if fact.scene == "kitchen"}
    assert len(rows) == len(pairs)
    assert "30 of the" in rendered.charts[0]
    assert rendered.charts[0].count(" – ") >= 30


def test_figure_15_is_in_percent(material: Material) -> None:
    numbers = figures.category_colors(material).numbers
    assert numbers is not None
    assert len(numbers.rows) == 17
    for row in numbers.rows:
        assert sum(float(str(cell)) for cell in row[2:]) == pytest.approx(100, abs=0.6)


def test_figure_16_has_all_ninety_objects(material: Material) -> None:
    """85 of them are in the released table; the published file has the other five."""
    rendered = figures.ninety_objects(material)
    assert rendered.numbers is not None
    objects = published_tables("viphy")["Figure 16"].rows
    assert {row[0] for row in rendered.numbers.rows} == set(objects)
    assert len(objects) == 90
    released = {fact.object for fact in source.rows(material, ColorFact)}
    assert set(objects) - released == {name for name, shares in objects.items() if shares}
    entropies = [float(str(row[1])) for row in rendered.numbers.rows]
    assert entropies == sorted(entropies)
    assert entropies[0] == 0.0


def places(levels: Mapping[str, tuple[str, ...]]) -> Task:
    """Places of made-up pairs with these labels."""
    facts = [
        PlaceFact("kitchen", name, "sink", 1, 1, 1, typical) for name, typical in levels.items()
    ]
    questions = tuple(space.questions(facts))
    templates = read_template_file("viphy-space")["templates"]
    return Task(
        "viphy-space", "1", "t", templates, questions, ("relaxed_accuracy", "vocabulary_accuracy")
    )


def test_two_labels_by_hand() -> None:
    """Three pairs, one of which may be level and is left out. The model says "level" to all, and
    after it "above": of the two that remain it is right about the first."""
    task = places({"lamp": (">",), "floor": ("<",), "cup": ("=", ">")})
    run = answered(task, ["="] * 3)
    answers = AnswerTable.of(
        replace(answer, scores=replace(answer.scores, logp=(-1.0, 0.0, -2.0)))
        for answer in run.answers
    )
    figure = tables.two_labels(replace(run, answers=answers))
    assert figure is not None
    assert (figure.value, figure.n) == (0.5, 2)


def saved(run: Run, folder: Path) -> Path:
    """The run as a folder, as `seesay probe` leaves it."""
    store.write_manifest(folder, run.manifest)
    store.write_task(folder / store.QUESTIONS, run.task)
    store.write_answers(folder / store.ANSWERS, run.answers)
    store.finish(folder, run.figures)
    return folder


def rendered(folder: Path, number: str) -> Rendered:
    page = {
        entry.number: shown
        for entry, shown in render_entries(load_paper("viphy"), Material((folder,)))
    }
    return page[number]


def test_a_run_stands_in_its_table_and_figure(tmp_path: Path) -> None:
    """A run of places: zero-shot with two labels and three, and by scene."""
    task = places({"lamp": (">",), "floor": ("<",), "cup": ("=", ">")})
    questions = tuple(
        replace(q, tags={**q.tags, "scene": "office" if i else "kitchen"})
        for i, q in enumerate(task.questions)
    )
    folder = saved(
        answered(replace(task, questions=questions), [">", ">", ">"]), tmp_path / "runs/space"
    )
    table = rendered(folder, "Table 3")
    assert table.status is Status.IN_PART
    values = {str(row[2]): row[3] for row in table.tables[1].rows}
    assert str(values["two labels (the paper's), the same pairs"]).startswith("50.00 (")
    assert str(values["three labels (ours), all pairs"]).startswith("66.67 (")
    scenes = rendered(folder, "Figure 13")
    assert scenes.status is Status.SHOWN
    assert cells(scenes.tables[1])["kitchen"] == ["100.00"]
    assert cells(scenes.tables[1])["office"] == ["50.00"]


def test_people_who_name_several_colours_stand_in_table_4(tmp_path: Path) -> None:
    """The run of a study with several labels per answer: macro F1 is 37/45, worked out in
    tests/judge."""
    a_study = study()
    assert a_study.task is not None
    colors = a_study.model_copy(update={"task": replace(a_study.task, name="viphy-color")})
    things = (
        (RED, RED, RED, RED | GREEN),
        (RED | GREEN, RED | GREEN, RED, GREEN),
        (BLUE, BLUE, GREEN, GREEN | RED),
    )
    write_human_run(colors, judged(colors, *things), {}, tmp_path, resamples=100)
    row = next(row for row in rendered(tmp_path, "Table 4").tables[1].rows if row[0] == "people")
    assert row[1] == "judge"
    assert [str(cell).split(" ")[0] for cell in row[2:]] == ["83.33", "73.33", "82.22"]


def test_a_run_that_is_not_finished_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    task = places({"lamp": (">",), "floor": ("<",)})
    saved(answered(task, [">", "<"]), tmp_path / "runs/whole")
    unfinished = saved(answered(task, [">", ">"], "other"), tmp_path / "runs/begun")
    for name in (store.FIGURES, store.ANSWERS):
        (unfinished / name).unlink()
    assert [run.manifest.model for run in Material((tmp_path,)).runs] == ["a-model"]
    assert "1 runs that are not finished" in caplog.text


def test_without_anything_the_published_values_stand_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEESAY_DATA", str(tmp_path))
    page = render_entries(load_paper("viphy"), Material())
    assert {shown.status for _, shown in page} == {Status.NEEDS_RUN, Status.NOT_HERE}
    by_number = {entry.number: shown for entry, shown in page}
    assert cells(by_number["Table 3"].tables[0])["BERT large"] == ["48.39", "44.61", "20.96"]
    assert cells(by_number["Figure 13"].tables[0])["kitchen"] == ["67.49", "66.78", "70.03"]
    assert all(shown.text for _, shown in page)
