"""Memory Colors and Property Norms: runs through the real path beside the published means, and
Table 4 by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.reports.made_up import run, task
from tests.shared_data import shared
from tests.tasks.test_property_norms import LOOKS, line, write

from seesay import api
from seesay.papers import load_paper
from seesay.papers.material import Material
from seesay.papers.memory_colors.figures import read_results
from seesay.papers.memory_colors.norms import PanelFigure, over_questions, over_segments
from seesay.papers.paper import Page, Rendered, Status, render_entries
from seesay.reports.groups import group_runs
from seesay.runs.records import Figure


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published colours with the authors' results, and invented norms."""
    folder = tmp_path_factory.mktemp("data")
    shutil.copytree(shared("memory_colors"), folder / "memory_colors")
    (folder / "cslb-norms").mkdir()
    write(folder / "cslb-norms", [line(row) for row in LOOKS])
    return folder


@pytest.fixture(scope="module")
def page(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Page:
    runs = tmp_path_factory.mktemp("runs")
    for name, folder in (("memory-colors", "memory_colors"), ("property-norms", "cslb-norms")):
        api.probe("mock", name, data=data / folder, output=runs, resamples=200)
    return render_entries(load_paper("memory-colors"), Material([runs], data))


def by_number(page: Page) -> dict[str, Rendered]:
    return {entry.number: rendered for entry, rendered in page}


def test_a_run_stands_beside_the_published_means(page: Page) -> None:
    """Hagström & Johansson 2022: CLIP-BERT-explicit .882 (.066), BERT-base .252 (.102)."""
    shown = by_number(page)["Figures 2 to 5, Memory Colors"]
    assert shown.status is Status.SHOWN
    published, our_table = shown.tables
    rows = {row[0]: row[1:] for row in published.rows}
    assert (rows["CLIP-BERT-explicit"], rows["BERT-base"]) == (
        ["0.882", "0.066"],
        ["0.252", "0.102"],
    )
    assert our_table.rows[0][0] == "mock"
    assert our_table.rows[0][-1] == "0.091"  # chance, one of eleven


def test_the_published_means_come_out_of_the_published_file(page: Page, data: Path) -> None:
    """Mean and sd over the 13 templates of the authors' results.csv are those in print."""
    table = by_number(page)["Results file"].tables[0]
    printed = by_number(page)["Figures 2 to 5, Memory Colors"].tables[0]
    names, mean, sd = list(table.header), table.rows[-2], table.rows[-1]
    for model, value, spread in printed.rows:
        column = names.index(f"{model}, published")
        assert (mean[column], sd[column]) == (value, spread)
    results = read_results(data / "memory_colors" / "results.csv")
    assert all(
        (109 * value) == pytest.approx(round(109 * value))
        for rows in results.values()
        for value in rows.values()
    )
    assert len(table.rows) == 13 + 2
    assert "mock" in names


def test_table_4_counts_entries_and_says_how_far_they_are_from_print(page: Page) -> None:
    shown = by_number(page)["Table 4"]
    rows = {row[0]: row for row in shown.tables[0].rows}
    assert [rows[f"PF ≥ {segment}"][-1] for segment in (2, 5, 10, 20, 30)] == [
        "6,541",
        "3,641",
        "2,001",
        "613",
        "27",
    ]
    # is red, is black, is shiny; has, has a, is made of, all
    assert rows["PF ≥ 30"][1:-1] == ["3", "0", "0", "0", "3"]
    assert "PF ≥ 30 by −24" in shown.text


def test_table_4_takes_the_answer_words_from_their_own_folder(tmp_path: Path) -> None:
    for name in ("cslb-norms", "property_norms"):
        (tmp_path / name).mkdir()
    write(tmp_path / "cslb-norms", [line(row) for row in LOOKS])
    (tmp_path / "property_norms" / "labels.txt").write_text("red\nblack\n")
    shown = by_number(render_entries(load_paper("memory-colors"), Material(data=tmp_path)))[
        "Table 4"
    ]
    rows = {row[0]: row for row in shown.tables[0].rows}
    assert rows["PF ≥ 30"][1:-1] == ["2", "0", "0", "0", "2"]  # is red, is black


def test_tables_that_no_source_has_are_listed_as_such(page: Page) -> None:
    shown = by_number(page)
    assert {number for number, rendered in shown.items() if rendered.status is Status.NOT_HERE} == {
        "Table 1",
        "Norlund et al. 2021",
    }
    trained, models = shown["Tables 2 and 3"].tables
    assert len(trained.rows) == 7
    assert [row[0] for row in models.rows] == ["mock"]


def test_every_panel_of_the_norms(page: Page) -> None:
    shown = by_number(page)
    panels = {}
    for name in ("segments", "templates", "relations", "colours"):
        rendered = shown[f"Figures 2 to 5, {name}"]
        assert len(rendered.charts) == 1
        assert "chance" in rendered.charts[0]
        assert rendered.numbers is not None
        panels[name] = rendered.numbers.rows
    assert [row[2] for row in panels["segments"]] == [
        "pf>=2",
        "pf>=5",
        "pf>=10",
        "pf>=20",
        "pf>=30",
    ]
    assert len({row[0] for row in panels["templates"]}) == 9
    assert {row[0] for row in panels["relations"]} == {"has", "has a", "is", "is made of"}
    assert {row[0] for row in panels["colours"]} == {"answers that are colours"}


def figure(value: float, n: int, spread: float | None = None) -> Figure:
    return Figure(
        model="a model",
        task="property-norms",
        metric="average_precision",
        template=None,
        slice=None,
        value=value,
        low=value,
        high=value,
        n=n,
        objects=n,
        too_few=False,
        signature="",
        spread=spread,
        chance=0.1,
    )


def test_bars_are_means_as_the_authors_draw_them() -> None:
    """generate-plots.ipynb: in each template over the questions of all segments, (3 x 0.2 + 1 x
    0.6) / 4 = 0.3; by relation over segments and templates, (0.2 + 0.6) / 2 = 0.4."""
    cells = [
        PanelFigure("has", "a model", figure(0.2, 3, 0.0)),
        PanelFigure("has", "a model", figure(0.6, 1, 0.0)),
    ]
    assert "has, a model: 0.3</title>" in over_questions(cells)
    # The sd over two segments of nine templates each, all of them 0.2 and 0.6: 0.2 x sqrt(18 / 17)
    # = 0.2058.
    assert "has, a model: 0.4 (0.1942 to 0.6058)</title>" in over_segments(cells)


def test_without_runs_the_published_values_are_still_there() -> None:
    shown = by_number(render_entries(load_paper("memory-colors"), Material()))
    assert shown["Figures 2 to 5, Memory Colors"].status is Status.NOT_HERE
    assert len(shown["Figures 2 to 5, Memory Colors"].tables[0].rows) == 8
    assert shown["Figures 2 to 5, segments"].status is Status.NOT_HERE
    assert "norms.dat" in shown["Table 4"].text


def test_a_run_in_other_templates_has_no_column() -> None:
    other = run(task("memory-colors"))
    material = Material()
    vars(material)["groups"] = group_runs([other])
    shown = by_number(render_entries(load_paper("memory-colors"), material))["Results file"]
    assert shown.status is Status.NOT_HERE
    assert "in its templates" in shown.text
