"""Memory Colors and Property Norms: runs through the real path beside what is printed, and Tables
1 and 4 by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.models.encoders.tiny_encoders import save_tiny_encoder
from tests.reports.made_up import run, task
from tests.shared_data import shared
from tests.tasks.test_property_norms import LOOKS, line, people, write

from seesay import api
from seesay.papers import load_paper
from seesay.papers.material import Material
from seesay.papers.memory_colors.figures import read_results
from seesay.papers.memory_colors.norms import PanelFigure, by_segment, by_template, relation_scores
from seesay.papers.paper import Page, Rendered, Status, render_entries
from seesay.questions import Slice
from seesay.reports.groups import group_runs
from seesay.runs.records import Figure
from seesay.runs.run import Run


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


def test_the_entries_are_the_paper_s_own_numbers(page: Page) -> None:
    """Figure 1, Tables 1 to 4 and Figures 2 to 5; the others are sections, and a file."""
    assert {number for number in by_number(page) if number[-1].isdigit()} == {
        *(f"Figure {number}" for number in range(1, 6)),
        *(f"Table {number}" for number in range(1, 5)),
        *(f"Section {number}" for number in (2, 4, 6)),
    }


def test_a_run_stands_beside_the_authors_means(page: Page) -> None:
    """results.csv: CLIP-BERT-explicit .882 (.066), BERT-base .252 (.102)."""
    shown = by_number(page)["Figure 2"]
    assert shown.status is Status.SHOWN
    published, our_table = shown.tables
    assert published.title == "From the authors' files (results.csv)"
    rows = {row[0]: row[1:] for row in published.rows}
    assert (rows["CLIP-BERT-explicit"], rows["BERT-base"]) == (
        ["0.882", "0.066"],
        ["0.252", "0.102"],
    )
    assert our_table.rows[0][0] == "mock"
    assert our_table.rows[0][-1] == "0.091"  # chance, one of eleven
    # (a) and (b)
    colors, norms = shown.charts
    assert "CLIP-BERT-explicit, multimodal: 0.882 (0.816 to 0.948)" in colors
    assert "BERT-base, unimodal: 0.252 (0.15 to 0.354)" in colors
    assert "mock, unimodal: " in colors
    for segment in (2, 5, 10, 20, 30):
        assert f"(b) Visual Property Norms, PF ≥ {segment}<" in norms


def test_the_means_come_out_of_the_authors_file(page: Page, data: Path) -> None:
    """Mean and sd over the 13 templates of results.csv."""
    table = by_number(page)["Results file"].tables[0]
    means = by_number(page)["Figure 2"].tables[0]
    names, mean, sd = list(table.header), table.rows[-2], table.rows[-1]
    for model, value, spread in means.rows:
        column = names.index(f"{model}, results.csv")
        assert (mean[column], sd[column]) == (value, spread)
    results = read_results(data / "memory_colors" / "results.csv")
    assert all(
        (109 * value) == pytest.approx(round(109 * value))
        for rows in results.values()
        for value in rows.values()
    )
    assert len(table.rows) == 13 + 2
    assert "mock" in names


def test_section_2_counts_what_the_files_hold(page: Page) -> None:
    printed, ours = by_number(page)["Section 2"].tables
    numbers = {row[0]: row[1] for row in ours.rows}
    as_printed = {row[0]: row[1] for row in printed.rows}
    for name in ("things", "templates", "colours"):
        assert str(numbers[f"Memory Colors: {name}"]) == as_printed[f"Memory Colors: {name}"]
    # print contradicts its own Figure 4
    assert (as_printed["Property Norms: templates"], numbers["Property Norms: templates"]) == (
        "8",
        9,
    )
    # the invented norms: magic lamp, imp and soot
    assert numbers["Property Norms: concepts"] == 3


def test_table_1_is_looked_up_in_the_norms(tmp_path: Path) -> None:
    (tmp_path / "cslb-norms").mkdir()
    rows = [
        ("cherry", "has a stalk", 17, "has a stalk", people(17)),
        ("fern", "is green", 28, "is green", people(28)),
    ]
    write(tmp_path / "cslb-norms", [line(row) for row in rows])
    shown = by_number(render_entries(load_paper("memory-colors"), Material(data=tmp_path)))[
        "Table 1"
    ]
    printed, ours = shown.tables
    assert [row[1:] for row in printed.rows][3] == ["17", "29", "22", "9"]
    assert [row[3:] for row in ours.rows] == [
        ["17", "17"],
        ["29", "28"],
        ["22", "not there"],
        ["9", "not there"],
    ]
    assert shown.status is Status.IN_PART


def test_table_4_counts_entries_and_says_how_far_they_are_from_print(page: Page) -> None:
    shown = by_number(page)["Table 4"]
    printed, ours = shown.tables
    assert [row[0] for row in printed.rows] == [row[0] for row in ours.rows]
    assert printed.rows[0][1:] == ["6,541", "3641", "2001", "613", "27"]
    rows = {row[0]: row[1:] for row in ours.rows}
    # of 30 people: is red, is black, is shiny
    assert [rows[name][-1] for name in ("entries", "has", "has a", "made of", "is")] == [
        "3",
        "0",
        "0",
        "0",
        "3",
    ]
    assert "25 of 25 counts are not those in print" in shown.text
    assert "PF ≥ 30 by −24" in shown.text
    assert shown.status is Status.IN_PART


def test_the_printed_relations_add_up_to_the_printed_entries(page: Page) -> None:
    printed = by_number(page)["Table 4"].tables[0]
    counts = [[int(str(cell).replace(",", "")) for cell in row[1:]] for row in printed.rows]
    entries, *relations = counts
    assert [sum(column) for column in zip(*relations, strict=True)] == entries


def test_table_4_takes_the_answer_words_from_their_own_folder(tmp_path: Path) -> None:
    for name in ("cslb-norms", "property_norms"):
        (tmp_path / name).mkdir()
    write(tmp_path / "cslb-norms", [line(row) for row in LOOKS])
    (tmp_path / "property_norms" / "labels.txt").write_text("red\nblack\n")
    shown = by_number(render_entries(load_paper("memory-colors"), Material(data=tmp_path)))[
        "Table 4"
    ]
    rows = {row[0]: row for row in shown.tables[1].rows}
    assert (rows["is"][-1], rows["entries"][-1]) == ("2", "2")  # is red, is black


def test_tables_2_and_3_have_their_printed_contents(page: Page) -> None:
    shown = by_number(page)
    printed, names, asked = shown["Table 2"].tables
    rows = {row[0]: row[1:] for row in printed.rows}
    assert rows["LXMERT"] == ["", "", "9.2 M", "0.1 M", "MLM, RFR, DLC, ITM, IQA"]
    # as many sizes as the text has, each as often
    cells = [cell for row in rows.values() for cell in row[:4] if cell]
    assert sorted(map(str, cells)) == sorted(
        ["80 M"] * 6
        + ["4.7 M"] * 3
        + ["400 M"] * 2
        + ["0.1 M"] * 2
        + ["9.0 M"] * 2
        + ["9.2 M", "1.7 M"]
    )
    assert [row[0] for row in names.rows] == list(rows)
    assert {row[0] for row in asked.rows} == {"mock"}
    assert shown["Table 3"].tables[0].rows[1] == ["# of text", "4.72 M", "9.18 M", "1.27 M"]
    assert {number for number, rendered in shown.items() if rendered.status is Status.NOT_HERE} == (
        set()
    )


def test_every_panel_of_the_norms(page: Page) -> None:
    shown = by_number(page)
    panels = {}
    for number in (2, 3, 4, 5):
        rendered = shown[f"Figure {number}"]
        assert rendered.numbers is not None
        panels[number] = rendered.numbers.rows
        # Figure 4 has no bar of chance in print
        assert ("mock" in rendered.charts[-1], "Random" in rendered.charts[-1]) == (
            True,
            number != 4,
        )
    assert [row[2] for row in panels[2]] == [f"PF ≥ {pf}" for pf in (2, 5, 10, 20, 30)]
    assert {row[0] for row in panels[3]} == {"has", "has a", "is", "is made of"}
    assert len({row[0] for row in panels[4]}) == 9
    assert {row[0] for row in panels[5]} == {"answers that are colours"}


def test_figure_4_writes_its_templates_out(page: Page) -> None:
    printed, ours = by_number(page)["Figure 4"].tables
    assert len(printed.rows) == 9
    for (number, template), (our_number, text, _) in zip(printed.rows, ours.rows, strict=True):
        assert number == our_number
        worded = str(text).replace("{thing}", "[DESCRIPTOR] [CONCEPT]")
        worded = worded.replace("{relation}", "[FEATURE_STARTER]")
        # the authors' code ends the first sentence of the two that describe
        assert worded.replace("[CONCEPT]. [D", "[CONCEPT] [D") == template


def figure(value: float, n: int, spread: float | None = None, segment: int = 2) -> Figure:
    return Figure(
        model="a model",
        task="property-norms",
        metric="average_precision",
        template=None,
        slice=Slice.of({"segment": f"pf>={segment}"}),
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


def test_bars_are_means_with_the_sd_over_templates() -> None:
    """By segment the figure and its spread; by template over the questions of all segments, (3 x
    0.2 + 1 x 0.6) / 4 = 0.3."""
    asked = run(task("property-norms"))
    cells = [
        PanelFigure("plain", "a model", figure(0.2, 3, 0.05, 2), asked),
        PanelFigure("plain", "a model", figure(0.6, 1, 0.1, 5), asked),
    ]
    chart = by_segment(cells)
    first, second = chart.split("</svg>")[:2]
    assert "PF ≥ 2<" in first
    assert "a model, unimodal or chance: 0.2 (0.15 to 0.25)</title>" in first
    assert "PF ≥ 5<" in second
    assert "a model, unimodal or chance: 0.6 (0.5 to 0.7)</title>" in second
    assert "Random, unimodal or chance: 0.1</title>" in second
    assert "5, a model: 0.3</title>" in by_template(cells)  # the fifth of the nine


def norms_run(runs: Path, data: Path) -> Run:
    return api.probe(
        "mock", "property-norms", data=data / "cslb-norms", output=runs, resamples=200
    ).runs[0]


def test_a_relation_s_bar_is_the_mean_over_segments_in_each_template(
    data: Path, tmp_path: Path
) -> None:
    """The mean over templates is that of the run's own figures by relation and segment."""
    asked = norms_run(tmp_path, data)
    scores = relation_scores(asked)
    assert {len(values) for values in scores.values()} == {9}
    for relation, values in scores.items():
        figures = [
            figure.value
            for figure in asked.figures
            if figure.metric == "average_precision"
            and figure.template is None
            and figure.slice is not None
            and figure.slice.tags == ("relation", "segment")
            and figure.slice["relation"] == relation
        ]
        assert sum(values) / 9 == pytest.approx(sum(figures) / len(figures))


def test_sentences_of_section_4_are_held_against_the_file_and_the_runs(page: Page) -> None:
    _, ours = by_number(page)["Section 4"].tables
    rows = {row[0]: row[1] for row in ours.rows}
    assert rows["Figure 2a, best"] == "CLIP-BERT-explicit (0.882) in results.csv"
    assert rows["Figure 2a, second"] == "BERT-LXMERT-train (0.761) in results.csv"
    assert "of 1 model: " in str(rows["Figure 2b"])
    assert "of 1 model: " in str(rows["Figure 3"])
    # the others compare models, and one cannot be compared
    assert by_number(page)["Section 4"].status is Status.IN_PART


def test_two_models_are_compared_for_section_4(data: Path, tmp_path: Path) -> None:
    """Colours, and templates that do not ask q: … a:, question by question from the figures."""
    for model in ("mock", "baseline:random"):
        api.probe(model, "property-norms", data=data / "cslb-norms", output=tmp_path, resamples=200)
    material = Material([tmp_path], data)
    shown = by_number(render_entries(load_paper("memory-colors"), material))["Section 4"]
    assert shown.status is Status.SHOWN
    rows = {row[0]: str(row[1]) for row in shown.tables[1].rows}
    without: dict[str, float] = {}
    colors: dict[str, float] = {}
    for asked in material.runs:
        precisions = [figure for figure in asked.figures if figure.metric == "average_precision"]
        plain = [
            figure
            for figure in precisions
            if figure.template not in (None, "q-a", "q-a-usually")
            and figure.slice is not None
            and figure.slice.tags == ("segment",)
        ]
        of_colors = [
            figure
            for figure in precisions
            if figure.template is None
            and figure.slice is not None
            and figure.slice.tags == ("answers", "segment")
            and figure.slice["answers"] == "colour"
        ]
        for scores, members in ((without, plain), (colors, of_colors)):
            total = sum(figure.value * figure.n for figure in members)
            scores[asked.label] = total / sum(figure.n for figure in members)
    for number, scores in (("Figure 4", without), ("Figure 5", colors)):
        best = max(scores, key=scores.__getitem__)
        assert f" is {best} ({scores[best]:.3f}); of all" in rows[number]
    # what guesses is no model that sees
    chart = by_number(render_entries(load_paper("memory-colors"), material))["Figure 2"].charts[-1]
    assert "baseline:random, unimodal or chance: " in chart
    assert "multimodal" not in chart


def test_section_6_compares_pictures_with_none(data: Path, tmp_path: Path) -> None:
    vilt = save_tiny_encoder("vilt", tmp_path / "vilt")
    api.probe(
        str(vilt),
        "memory-colors",
        data=data / "memory_colors",
        picture="none,blank,random",
        picture_seeds=2,
        limit=8,
        resamples=200,
        output=tmp_path / "runs",
    )
    material = Material([tmp_path / "runs"], data, brief=True)
    shown = by_number(render_entries(load_paper("memory-colors"), material))
    tests = shown["Section 6"].tables[1]
    assert [row[2] for row in tests.rows] == [
        f"{vilt} · blank picture",
        f"{vilt} · random picture · seed 0",
    ]
    assert "a sample of the questions" in shown["Section 6"].text
    # the figures are of texts alone, as in print
    assert [row[0] for row in shown["Figure 2"].tables[1].rows] == [str(vilt)]
    # ViLT sees, and is in the warm colour of the authors' models that do
    assert f"{vilt}, multimodal: " in shown["Figure 2"].charts[0]


def test_without_runs_the_published_values_are_still_there() -> None:
    shown = by_number(render_entries(load_paper("memory-colors"), Material()))
    assert shown["Figure 2"].status is Status.NEEDS_RUN
    assert len(shown["Figure 2"].tables[0].rows) == 8
    assert shown["Figure 5"].status is Status.NEEDS_RUN
    assert shown["Section 6"].status is Status.NEEDS_RUN
    assert "norms.dat" in shown["Table 4"].text
    assert len(shown["Table 4"].tables[0].rows) == 5


def test_a_run_in_other_templates_has_no_column() -> None:
    other = run(task("memory-colors"))
    material = Material()
    vars(material)["groups"] = group_runs([other])
    shown = by_number(render_entries(load_paper("memory-colors"), material))["Results file"]
    assert shown.status is Status.NEEDS_RUN
    assert "in its templates" in shown.text
