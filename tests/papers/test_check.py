"""What pages call published is what papers print: every row is looked for in the paper's text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet
from tests.cli.program import error_here
from tests.papers.test_paper import printed
from tests.shared_data import shared

from seesay.cli import main
from seesay.papers import load_paper
from seesay.papers.check import PaperText, check_paper, check_table, find_texts
from seesay.papers.published import PublishedTable

PAPERS = ("viphy", "malevic", "memory-colors", "spatial-relations", "cs388")


def places() -> list[ParameterSet]:
    """Every published table of every paper, and the figures of its tasks."""
    cases = []
    for name in PAPERS:
        for place in (*load_paper(name).tables, "tasks"):
            cases.append(pytest.param(name, place, id=f"{name}, {place}"))
    return cases


@pytest.mark.parametrize(("name", "place"), places())
def test_every_published_value_is_in_the_text(name: str, place: str) -> None:
    paper = load_paper(name)
    texts = find_texts(paper, shared("../papers"))
    rows = check_paper(paper, texts)
    if place == "tasks":
        rows = [row for row in rows if row.place.split(",")[0] in paper.figures]
    else:
        rows = [row for row in rows if row.place == place]
    assert [(row.place, row.row, row.cells) for row in rows if row.is_missing] == []


def test_a_row_is_a_line_with_its_name_and_cells() -> None:
    text = PaperText.of(
        "made-up.txt",
        "A sentence with 70.45 and BERT.\n"
        "POS <sub>1</sub>\tBERT _{base}\t70.45\t$0.94 \\pm 0.002$\n"
        "\tFiLM\t70.45\t$\\textbf{0.95} \\pm 0.01$",
    )
    assert text.line_of_row("BERT base", ["70.45", "0.94 ± 0.002"]) == 2
    assert text.line_of_row("POS1: FiLM", ["70.45", "0.95 ± 0.01"]) == 3
    # another order, a part of a number, another row's group
    assert text.line_of_row("BERT base", ["0.94 ± 0.002", "70.45"]) is None
    assert text.line_of_row("BERT base", ["0.4", "0.94 ± 0.002"]) is None
    assert text.line_of_row("BERT base", ["70.4"]) is None
    assert text.line_of_row("SUP1: FiLM", ["70.45"]) is None


def test_of_several_lines_that_nearest_the_caption_counts() -> None:
    lines = [
        "Its 3 relations are spatial.",
        *[""] * 9,
        "Color\tobjects 14k",
        "Spatial\trelations 3",
    ]
    text = PaperText.of("made-up.txt", "\n".join([*lines, "Size\tobjects 14k", "Table 1: Data."]))
    cells = {"Spatial: relations": ["3"], "Color: objects": ["14k"], "Size: objects": ["14k"]}
    table = PublishedTable(["what", "number"], cells)
    places = {row.row: row.line for row in check_table("Table 1", table, [text])}
    assert places == {"Spatial: relations": 12, "Color: objects": 11, "Size: objects": 13}
    # without a caption it is the first
    assert text.line_of_row("Spatial: relations", ["3"]) == 1


@pytest.mark.parametrize("row", ["Subtype: objects", "Spatial: relations"])
def test_viphy_s_table_1_is_found_where_it_stands(row: str) -> None:
    paper = load_paper("viphy")
    rows = check_table("Table 1", paper.tables["Table 1"], find_texts(paper, shared("../papers")))
    (line,) = [checked.line for checked in rows if checked.row == row]
    assert line in range(104, 108)


def test_a_quote_is_in_the_text_and_has_the_cells() -> None:
    table = PublishedTable(
        ["what", "share"],
        {"all": ["92%"], "small": ["73%"], "big": ["5%"]},
        quotes={"all": "a remarkable 92% accuracy", "small": "in some cases", "big": "in 5% of"},
    )
    text = PaperText.of("made-up.txt", "First line.\nIt had a remarkable\n92 \\% accuracy, 73%.")
    rows = {row.row: row for row in check_table("Text", table, [text])}
    assert rows["all"].where == "made-up.txt, line 2"
    # a quote without its cell, and one that is not there
    assert rows["small"].is_missing
    assert rows["big"].where == "not in the text"


def test_a_formula_is_quoted_with_its_marks() -> None:
    """Subscripts and emphasis are taken out of the text and of the quote alike."""
    formula = "\\sum_{t=1}^T \\log_2 q(w_t)"
    table = PublishedTable(
        ["equation", "formula"],
        {"(6)": [formula], "(7)": ["\\sum_{t=2}"]},
        quotes={"(6)": f"{formula} \\quad (6)", "(7)": "\\sum_{t=2}^T"},
    )
    text = PaperText.of("made-up.txt", f"It is a *big* object.\n$${formula} \\quad (6)$$")
    rows = {row.row: row.line for row in check_table("Appendix", table, [text])}
    assert rows == {"(6)": 2, "(7)": None}
    assert text.lines[0] == "It is a big object."


def test_what_has_a_source_is_not_looked_for() -> None:
    table = PublishedTable(["model", "a"], {"BERT": ["1.00"]}, source="vis/results.ipynb")
    (row,) = check_table("Figure 5", table, [PaperText.of("made-up.txt", "")])
    assert not row.is_missing
    assert row.where == "not printed: vis/results.ipynb"
    assert table.as_printed.title == "From the authors' files (vis/results.ipynb)"


def test_a_changed_digit_is_missed() -> None:
    """Every number of every printed table of ViPhy, with its last digit changed, is not found."""
    paper = load_paper("viphy")
    texts = find_texts(paper, shared("../papers"))
    table = paper.tables["Table 4"]
    for name, cells in table.rows.items():
        for place, cell in enumerate(cells):
            if cell == "-":
                continue
            wrong = [*cells]
            wrong[place] = cell[:-1] + str((int(cell[-1]) + 1) % 10)
            changed = PublishedTable(table.header, {name: wrong})
            assert next(check_table("Table 4", changed, texts)).is_missing, wrong


def test_the_command_lists_places_and_statuses(capsys: pytest.CaptureFixture[str]) -> None:
    shared("../papers/viphy.txt")
    document = json.loads(
        printed(capsys, "paper", "viphy", "--check", "--text", shared("../papers"), "--json")
    )
    rows = {(row["place"], row["row"]): row for row in document["published"]}
    assert rows["Table 4", "CLIP"]["line"] == 201
    assert rows["Figure 6", "food"]["source"] == "extra/err_category.ipynb"
    assert {entry["status"] for entry in document["entries"]} <= {
        "shown",
        "shown in part",
        "needs a run",
        "needs data",
        "not possible here",
    }
    assert document["page"] is None
    out = printed(capsys, "paper", "viphy", "--check", "--text", shared("../papers/viphy.txt"))
    assert "viphy.txt, line 201" in " ".join(out.split())


def test_a_value_that_is_not_there_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "viphy.txt").write_text("Another paper.", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["paper", "viphy", "--check", "--text", str(tmp_path)])
    assert ended.value.code == 1
    assert "not in the text" in capsys.readouterr().out


def test_without_a_text_there_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = error_here(capsys, "paper", "viphy", "--check", "--text", tmp_path)
    assert "There is no text of the paper (viphy.txt)" in message
    assert "--text FILE" in message
