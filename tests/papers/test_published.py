"""The files of published values: whole, readable, and as printed."""

from __future__ import annotations

import pytest

from seesay.papers.published import PublishedTable, published_tables

PAPERS = ("viphy", "malevic", "memory_colors", "spatial_relations", "cs388")


@pytest.mark.parametrize("paper", PAPERS)
def test_every_row_fits_its_header(paper: str) -> None:
    for name, table in published_tables(paper).items():
        assert all(isinstance(cell, str) for cells in table.rows.values() for cell in cells), name
        if name != "Figure 16":  # a list of objects, of which five have shares
            assert all(1 <= len(cells) < len(table.header) for cells in table.rows.values()), name


def test_cells_stay_as_printed_and_have_their_numbers() -> None:
    table = PublishedTable(
        ["model", "1", "2"], {"BERT": ["48.60", "67.08"], "people": ["100.00"]}, "Accuracy"
    )
    assert table.numbers == {"BERT": {"1": 48.6, "2": 67.08}, "people": {"1": 100.0}}
    assert table.as_printed.rows == [["BERT", "48.60", "67.08"], ["people", "100.00", None]]
    assert table.as_printed.title == "As printed: Accuracy"


def test_some_values_of_viphy() -> None:
    """Read off the authors' notebooks."""
    tables = published_tables("viphy")
    assert tables["Figure 5, confidence"].numbers["CLIP"]["7"] == 79.77
    assert tables["Figure 6"].numbers["vehicle"] == {"BERT": 70.56, "CLIP": 80.34}
    assert tables["Figure 9"].rows["FLAVA"] == ["53.34", "57.68", "60.01", "63.82", "64.64"]
    assert tables["Figure 13"].numbers["office"] == {"ViLT": 50.89, "BERT": 49.11, "CapBERT": 50.0}
