"""The paper on spatial relations: P-vectors from the published matrix, and the figures in print
beside ours."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.browser import chromium
from tests.shared_data import shared

from seesay.language.relations.inventory import shown_contexts, shown_relations
from seesay.language.relations.published import p_vectors_of, read
from seesay.language.relations.pvectors import PerplexityMatrix, write
from seesay.papers import load_paper
from seesay.papers.material import Material
from seesay.papers.paper import Page, Rendered, Status, render_entries, write_paper
from seesay.papers.published import published_tables
from seesay.papers.spatial_relations.appendix import described_pictures, question_layout
from seesay.papers.spatial_relations.vector_tests import perplexities
from seesay.papers.spatial_relations.vectors import example_contexts


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """From the published files, with the shown part of the matrix as one's own."""
    data, folder = shared("spatial_relations"), tmp_path_factory.mktemp("own")
    write(
        folder,
        read(data).matrix.take(shown_relations(), shown_contexts()),
        {"model": "mine", "contexts": {"above": 7}},
    )
    return render_entries(load_paper("spatial-relations"), Material([folder], data, brief=True))


def by_number(page: Page) -> dict[str, Rendered]:
    return {entry.number: rendered for entry, rendered in page}


def test_every_table_and_figure_of_the_paper_is_listed(page: Page) -> None:
    """Five tables, four figures and the four of the appendix, after the authors' source of the
    paper."""
    numbers = [entry.number for entry, _ in page]
    assert {f"Table {n}" for n in range(1, 6)} | {f"Figure {n}" for n in range(1, 5)} <= set(
        numbers
    )
    appendix = [number for number in numbers if number.startswith("Appendix")]
    assert appendix == [
        "Appendix A",
        "Appendix B, Figures 1 and 2",
        "Appendix C, Figure 3",
        "Appendix D, Figure 4",
    ]


def test_figure_3_is_the_p_vectors_of_two_clusters(page: Page) -> None:
    """above and over; to the left of, to the right of and next to: clusters 15 and 28 of Table
    2."""
    above, left = map(str, by_number(page)["Figure 3"].charts)
    assert (above.count('class="heat"'), left.count('class="heat"')) == (2 * 57 + 20, 3 * 57 + 20)


def test_appendix_c_is_the_p_vectors_of_67_relations_over_57_contexts(page: Page) -> None:
    chart = str(by_number(page)["Appendix C, Figure 3"].charts[0])
    assert chart.count('class="heat"') == 67 * 57 + 20  # and the scale
    assert "wide" in chart
    vectors = p_vectors_of(read(shared("spatial_relations")), "67 x 57")
    assert vectors.rows.shape == (67, 57)
    highest = float(vectors.rows.max())
    assert ">0</text>" in chart  # the scale begins at zero
    assert f"{highest:.3g} fits worse" in chart
    at = divmod(int(vectors.rows.argmax()), 57)
    title = f"{shown_relations()[at[0]]}, {shown_contexts()[at[1]]}: {highest:.4g}"
    # the darkest cell is the greatest value
    assert f'fill-opacity="1"><title>{title}</title>' in chart


def test_printed_and_computed_figures(page: Page) -> None:
    """.86, .62; .87, .90, .72, .70, .22, 1.0 differ from ours by rounding or truncation only;
    phrases differ more."""
    shown = by_number(page)
    seen = 0
    for number in ("Table 3", "Table 4"):
        for row in shown[number].tables[1].rows:
            if row[-1] != "–" and "phrases" not in str(row[0]):
                assert 0 <= float(str(row[3])) - float(str(row[-1])) + 0.005 < 0.015
                seen += 1
    assert seen == 8
    rows = [
        row
        for row in shown["Table 5"].tables[1].rows
        if row[0] == "word association" and row[-1] != "–"
    ]
    assert [(row[1], row[3], row[-1]) for row in rows] == [
        ("P-vectors", "0.474", "0.48***"),
        ("LM embeddings", "0.484", "0.48***"),
        ("spatial templates", "−0.043", "−0.02"),
    ]
    printed = {row[0]: row[1:] for row in shown["Table 5"].tables[0].rows}
    assert printed["P-vectors"] == ["0.48***", "0.19", "0.40**", "−0.08"]


def test_own_matrices_are_shown_beside_the_published(page: Page) -> None:
    shown = by_number(page)
    assert len(shown["Appendix C, Figure 3"].charts) == 2
    values = {(row[0], row[1], row[2]): row[3] for row in shown["Table 3"].tables[1].rows}
    assert (
        values["analogy", "P-vectors", "mine"]
        == values["analogy", "P-vectors", "published files, 67 x 57"]
        == "0.625"
    )
    table = shown["Table 1"].numbers
    assert table is not None
    assert table.header[-1] == "contexts of mine"
    assert [row[-1] for row in table.rows if row[0] == "above"] == ["7"]


def test_pairs_differ_by_rank(page: Page) -> None:
    """above / over is pair 65 of 2,211 by cosine; 2,146 of the 2,210 others are farther apart."""
    pairs = by_number(page)["Table 2"].tables[2]
    row = next(row for row in pairs.rows if row[0] == "above / over")
    assert row[1:3] == ["65 of 2,211", "97.1 %"]
    assert "1.000" not in str(row)


def test_perplexities_by_hand() -> None:
    """10 bits over 6 tokens and over 2 sentences."""
    by_token, by_sentence = (float(str(row[1])) for row in perplexities(Material()).tables[0].rows)
    assert by_token == pytest.approx(2 ** (10 / 6), abs=5e-4)
    assert by_sentence == pytest.approx(2 ** (10 / 2), abs=5e-4)


def test_figure_2_is_normalised_by_itself(page: Page) -> None:
    """28 relations over 26 contexts: columns by the sum of these 28, then rows to length 1."""
    figure = by_number(page)["Figure 2"]
    assert figure.status is Status.SHOWN
    names = {str(row[0]): tuple(str(row[1]).split(", ")) for row in figure.tables[0].rows}
    words, columns = names["relations"], names["contexts"]
    assert (len(words), len(columns)) == (28, 26)
    matrix = read(shared("spatial_relations")).matrix.take(words, columns).perplexity
    shares = matrix / matrix.sum(axis=0)
    vectors = shares / np.linalg.norm(shares, axis=1, keepdims=True)
    chart = str(figure.charts[0])
    assert chart.count('class="heat"') == 28 * 26 + 20  # and the scale
    for word, column in (("above", "over"), ("without", "with"), ("back of", "out")):
        value = vectors[words.index(word), columns.index(column)]
        assert f"<title>{word}, {column}: {value:.4g}</title>" in chart


def write_visual_genome(folder: Path) -> None:
    """Two pictures with the regions that the appendix prints, among others; one in capitals."""
    (folder / "VG_100K").mkdir(parents=True)
    entries: list[dict[str, object]] = [{"id": 1, "regions": []}]
    for picture, phrases in published_tables("spatial_relations")["Appendix B"].rows.items():
        regions = [{"region_id": 7, "phrase": "a tree", "x": 0, "y": 0, "width": 5, "height": 5}]
        for place, phrase in enumerate(phrases):
            box = {"x": 10 * place, "y": 20, "width": 100, "height": 50}
            regions.append({"region_id": 8 + place, "phrase": phrase.capitalize(), **box})
        entries.append({"id": int(picture), "regions": regions})
        Image.new("RGB", (200, 150)).save(folder / "VG_100K" / f"{picture}.jpg")
    (folder / "region_descriptions.json").write_text(json.dumps(entries), encoding="utf-8")


def test_appendix_b_shows_pictures_and_the_regions_used(tmp_path: Path) -> None:
    folder = tmp_path / "visual-genome"
    write_visual_genome(folder)
    material = Material(data=tmp_path, brief=True)
    figure = described_pictures(material)
    assert figure.status is Status.SHOWN
    assert figure.tables[0].rows[1] == [
        "2367586",
        "Bench below the green trees",
        "9",
        "100 x 50 at 10, 20",
    ]
    assert [str(chart).count('stroke="currentColor"') for chart in figure.charts] == [3, 3]
    assert all("data:image/jpeg" in str(chart) for chart in figure.charts)
    assert "image_id = 2320485" in str(figure.charts[1])
    # pictures alone, as the appendix has them
    (folder / "region_descriptions.json").unlink()
    alone = described_pictures(Material(data=tmp_path, brief=True))
    assert alone.status is Status.SHOWN
    assert [str(chart).count('stroke="currentColor"') for chart in alone.charts] == [0, 0]
    assert "bench below the green trees</text>" in str(alone.charts[0])
    assert alone.tables == []
    (folder / "VG_100K" / "2320485.jpg").unlink()
    partial = described_pictures(Material(data=tmp_path, brief=True))
    assert partial.status is Status.IN_PART
    assert "the picture 2320485.jpg" in partial.text


def test_a_description_that_visual_genome_lacks_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "visual-genome"
    write_visual_genome(folder)
    path = folder / "region_descriptions.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("Scissors above the pen", "Scissors"), encoding="utf-8")
    figure = described_pictures(Material(data=tmp_path, brief=True))
    assert figure.status is Status.IN_PART
    assert "the description “scissors above the pen”" in figure.text
    assert ["2320485", "scissors above the pen", "–", "–"] in figure.tables[0].rows


def test_appendix_d_is_a_page_of_the_judge() -> None:
    """Sliders between the study's own ends, one below the other, with both kinds of control."""
    figure = question_layout(Material())
    chart = str(figure.charts[0])
    assert figure.status is Status.SHOWN
    assert chart.count(">dissimilar</text>") == chart.count(">similar</text>") == 6
    assert chart.count("<circle") == 6
    assert "green · " in figure.text


def test_table_1_and_the_steps_of_figure_1(page: Page) -> None:
    """The six descriptions split around their relations; three columns of P-vectors by hand."""
    shown = by_number(page)
    assert example_contexts()["next to"] == [
        ("car", "the water"),
        ("a ball-pen", "the scissors"),
    ]
    assert shown["Figure 1"].status is Status.SHOWN
    exchanged, perplexities, vectors = shown["Figure 1"].tables
    assert exchanged.rows[1][1] == "tall building below the bridge"
    values = np.array([[float(str(cell)) for cell in row[1:]] for row in perplexities.rows])
    shares = values / values.sum(0)
    expected = shares / np.linalg.norm(shares, axis=1, keepdims=True)
    ours = np.array([[float(str(cell)) for cell in row[1:]] for row in vectors.rows])
    # both tables are rounded to three decimals
    assert np.allclose(ours, expected, atol=2e-3)


def test_the_diagram_of_figure_1_has_a_cell_for_each_context(page: Page) -> None:
    """The perplexities of the authors' relation, from the published matrix."""
    chart = str(by_number(page)["Figure 1"].charts[0])
    assert chart.count('class="heat"') == 57
    for part in ("Corpus", "Training", "Held-out", "language model", "bin 1", "bin 57"):
        assert f">{part}</text>" in chart, part
    assert "rel_i = “on the left of”" in chart
    matrix = read(shared("spatial_relations")).matrix.take(("on the left of",), ("above",))
    assert f"<title>above: {float(matrix.perplexity[0, 0]):.4g}</title>" in chart
    without = by_number(render_entries(load_paper("spatial-relations"), Material(brief=True)))
    assert without["Figure 1"].status is Status.IN_PART


def test_own_matrices_need_no_published_files(tmp_path: Path) -> None:
    """A heat map and the tests of one's own vectors; random ones are at chance, with a caution."""
    words = shown_relations()
    rng = np.random.default_rng(0)
    matrix = PerplexityMatrix(words, words, rng.uniform(10, 20, (len(words), len(words))))
    write(tmp_path, matrix, {"model": "dice"})
    shown = by_number(
        render_entries(load_paper("spatial-relations"), Material([tmp_path], brief=True))
    )
    heat = shown["Appendix C, Figure 3"]
    assert heat.status is Status.IN_PART
    assert ["P-vectors of dice" in str(chart) for chart in heat.charts] == [True]
    table = shown["Table 4"]
    assert table.status is Status.IN_PART
    assert "Caution: at chance here" in table.text
    assert "P-vectors of dice (odd one out, spearman)" in table.text


def test_without_the_files_the_entries_say_what_they_need() -> None:
    shown = by_number(render_entries(load_paper("spatial-relations"), Material(brief=True)))
    assert "2367586.jpg" in shown["Appendix B, Figures 1 and 2"].text
    assert "relations matrix" in shown["Appendix C, Figure 3"].text
    assert shown["Table 2"].status is Status.NEEDS_RUN
    assert "--data" in shown["Table 2"].text


def test_in_a_browser(page: Page, tmp_path: Path) -> None:
    """The heat map uses the page's width, nothing overflows, and no word of a table is broken on a
    phone."""
    path = write_paper(tmp_path / "relations.html", load_paper("spatial-relations"), page)
    with chromium() as browser:
        for width in (1280, 390):
            tab = browser.new_page(viewport={"width": width, "height": 900})
            tab.goto(path.as_uri())
            assert tab.evaluate("document.documentElement.scrollWidth") == width
            if width == 1280:
                chart = tab.locator("#appendix-c-figure-3 svg.heat-map").first.bounding_box()
                assert chart is not None
                assert chart["width"] > 900
            cells = """document.querySelectorAll("#table-3 td")"""
            heights = tab.evaluate(f"() => [...{cells}].map(cell => cell.offsetHeight)")
            assert max(heights) < 120
            # captions of wide tables are not cut off, whether the table is scrolled or not
            right_ends = tab.evaluate(
                """() => [...document.querySelectorAll(".numbers caption bdi")].map(caption => {
                    caption.closest(".scroll").scrollLeft = 1000;
                    const box = caption.getBoundingClientRect();
                    return [box.left, box.right];
                })"""
            )
            assert right_ends
            assert min(left for left, _ in right_ends) >= 0
            assert max(right for _, right in right_ends) <= width
