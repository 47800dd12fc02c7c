"""The paper on spatial relations: Figure 3 from the published matrix, and the figures in print beside ours."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from tests.browser import chromium
from tests.shared_data import shared

from seesay.data.relations import shown_contexts, shown_relations
from seesay.relations.published import p_vectors_of, read
from seesay.relations.pvectors import write
from seesay.reports.papers import load_paper
from seesay.reports.papers.material import Material
from seesay.reports.papers.paper import Page, Rendered, Status, render_entries, write_paper
from seesay.reports.papers.spatial_relations.vector_tests import perplexities, precision


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """From the published files, with the shown part of the matrix as one's own."""
    data, own = shared("spatial_relations"), tmp_path_factory.mktemp("own")
    write(own, read(data).matrix.take(shown_relations(), shown_contexts()), {"model": "mine", "contexts": {"above": 7}})
    return render_entries(load_paper("spatial-relations"), Material([own], data, brief=True))


def by_number(page: Page) -> dict[str, Rendered]:
    return {entry.number: rendered for entry, rendered in page}


def test_figure_3_is_the_p_vectors_of_67_relations_over_57_contexts(page: Page) -> None:
    chart = str(by_number(page)["Figure 3"].charts[0])
    assert chart.count('class="heat"') == 67 * 57 + 20  # and the scale
    assert "wide" in chart
    vectors = p_vectors_of(read(shared("spatial_relations")), "67 x 57")
    assert vectors.rows.shape == (67, 57)
    highest = float(vectors.rows.max())
    assert ">0</text>" in chart  # the scale begins at zero
    assert f"{highest:.4g} fits worse" in chart
    at = divmod(int(vectors.rows.argmax()), 57)
    title = f"{shown_relations()[at[0]]}, {shown_contexts()[at[1]]}: {highest:.4g}"
    assert f'fill-opacity="1"><title>{title}</title>' in chart  # the darkest cell is the greatest value


def test_figures_in_print_and_ours(page: Page) -> None:
    """.86, .62; .87, .90, .72, .70, .22, 1.0; .48 (55 pairs), .40 (28): ours differ by rounding or truncation only."""
    shown = by_number(page)
    seen = 0
    for number in ("Section 4, analogies", "Section 4, odd one out"):
        for row in shown[number].tables[0].rows:
            if row[-1] != "–":
                assert 0 <= float(str(row[3])) - float(str(row[-1])) + 0.005 < 0.015
                seen += 1
    assert seen == 8
    rows = [row for row in shown["Word association"].tables[0].rows if row[-1] != "–"]
    assert [(row[5], row[-1]) for row in rows] == [("55", "0.480"), ("28", "0.400")]
    assert [float(str(row[3])) for row in rows] == pytest.approx([0.476, 0.404], abs=5e-4)


def test_a_matrix_of_ones_own_stands_beside_the_published(page: Page) -> None:
    shown = by_number(page)
    assert len(shown["Figure 3"].charts) == 2
    ours = {(row[0], row[1], row[2]): row[3] for row in shown["Section 4, analogies"].tables[0].rows}
    assert ours["analogy", "P-vectors", "mine"] == ours["analogy", "P-vectors", "published files, 67 x 57"] == "0.625"
    table = shown["Section 3"].numbers
    assert table is not None
    assert table.header[-1] == "contexts of mine"
    assert [row[-1] for row in table.rows if row[0] == "above"] == ["7"]


def test_pairs_are_told_apart_by_rank(page: Page) -> None:
    """above / over is pair 65 of 2,211 by cosine; 2,146 of the 2,210 others are farther apart."""
    pairs = by_number(page)["Section 4, clusters"].tables[1]
    row = next(row for row in pairs.rows if row[0] == "above / over")
    assert row[1:3] == ["65 of 2,211", "97.1 %"]
    assert "1.000" not in str(row)


def test_the_examples_of_the_notes_by_hand() -> None:
    """10 bits over 6 tokens and over 2 sentences; seven words of which all, or two, are in a reference."""
    by_token, by_sentence = (float(str(row[1])) for row in perplexities(Material()).tables[0].rows)
    assert by_token == pytest.approx(2 ** (10 / 6), abs=5e-4)
    assert by_sentence == pytest.approx(2 ** (10 / 2), abs=5e-4)
    plain, clipped = (float(str(row[1])) for row in precision(Material()).tables[0].rows)
    assert plain == 1
    assert clipped == pytest.approx(2 / 7, abs=5e-4)
    assert not math.isclose(plain, clipped)


def test_without_the_files_the_entries_say_what_they_need() -> None:
    shown = by_number(render_entries(load_paper("spatial-relations"), Material(brief=True)))
    assert shown["Figure 3"].status is Status.NOT_HERE
    assert "--data" in shown["Figure 3"].text
    assert shown["Course notes, precision"].status is Status.SHOWN


def test_in_a_browser(page: Page, tmp_path: Path) -> None:
    """The heat map uses the page's width, nothing overflows, and no word of a table is broken on a phone."""
    path = write_paper(tmp_path / "relations.html", load_paper("spatial-relations"), page)
    with chromium() as browser:
        for width in (1280, 390):
            tab = browser.new_page(viewport={"width": width, "height": 900})
            tab.goto(path.as_uri())
            assert tab.evaluate("document.documentElement.scrollWidth") == width
            if width == 1280:
                chart = tab.locator("#figure-3 svg.heat-map").first.bounding_box()
                assert chart is not None
                assert chart["width"] > 900
            heights = tab.evaluate(
                """() => [...document.querySelectorAll("#section-4-analogies td")].map(cell => cell.offsetHeight)"""
            )
            assert max(heights) < 120
