"""The framework of `seesay paper`: every entry is listed with its status, whatever is at hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.program import error_here
from tests.shared_data import shared

from seesay.cli import main
from seesay.errors import UserError
from seesay.papers import load_paper, paper_addresses
from seesay.papers.material import Material
from seesay.papers.paper import (
    Paper,
    PaperEntry,
    Rendered,
    Status,
    as_records,
    render_entries,
    write_paper,
)
from seesay.papers.published import PublishedTable
from seesay.reports.pages.sections import DataTable


def printed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """What the command prints."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert ended.value.code == 0
    return capsys.readouterr().out


def shown(material: Material) -> Rendered:
    return Rendered("As <printed>.", tables=[DataTable(["ours"], [[0.5]])])


def missing(material: Material) -> Rendered:
    raise UserError("It needs `seesay reasoner train`.")


PRINTED = PublishedTable(["model", "accuracy"], {"a network": ["0.25"]}, "Accuracy")
MADE_UP = Paper(
    "made-up",
    "A <b>paper</b>",
    "Nobody. 2026.",
    (
        PaperEntry("Table 1", "Numbers", shown, "seesay probe"),
        PaperEntry("Figure 2", "A network", missing, "seesay reasoner train", published=[PRINTED]),
    ),
)


def test_an_entry_that_lacks_something_is_listed_with_its_command_and_the_published_values(
    tmp_path: Path,
) -> None:
    page = render_entries(MADE_UP, Material())
    assert [(entry.number, rendered.status) for entry, rendered in page] == [
        ("Table 1", "shown"),
        ("Figure 2", "needs a run"),
    ]
    (_, absent) = page[1]
    assert absent.text == "It needs `seesay reasoner train`."
    assert [table.title for table in absent.tables] == ["As printed: Accuracy"]
    assert absent.tables[0].rows == [["a network", "0.25"]]
    text = write_paper(tmp_path / "new" / "page.html", MADE_UP, page).read_text(encoding="utf-8")
    assert "A &lt;b&gt;paper&lt;/b&gt;" in text
    assert "As &lt;printed&gt;." in text
    assert text.count("seesay reasoner train") == 2  # in the sentence and as the command
    words = " ".join(text.split())
    assert "1 shown, 0 shown in part, 1 needs a run, 0 needs data, 0 not possible here." in words


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("seesay data add viphy FOLDER && seesay paper viphy", "needs data"),
        ("seesay data fetch coda && seesay probe smollm2 --task coda -o runs", "needs a run"),
    ],
)
def test_an_entry_of_which_only_published_files_are_missing_needs_data(
    command: str, status: str
) -> None:
    (_, figure) = MADE_UP.entries
    only = replace(MADE_UP, entries=(replace(figure, command=command),))
    ((_, rendered),) = render_entries(only, Material())
    assert rendered.status == status


def test_records_hold_every_table() -> None:
    page = render_entries(MADE_UP, Material())
    record = as_records(page)[0]
    assert record["tables"] == [{"title": "", "header": ["ours"], "rows": [[0.5]]}]
    assert "tables" not in as_records(page, brief=True)[0]


@pytest.mark.parametrize("name", paper_addresses())
def test_every_paper_has_entries_in_order_with_numbers_of_their_own(name: str) -> None:
    paper = load_paper(name)
    anchors = [entry.anchor for entry in paper.entries]
    assert anchors
    assert len(set(anchors)) == len(anchors)
    assert all(entry.command.startswith("seesay ") for entry in paper.entries)


@pytest.mark.parametrize("name", paper_addresses())
def test_a_paper_without_anything_at_hand_is_listed(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = json.loads(printed(capsys, "paper", name, "--list", "--json"))
    assert listed["page"] is None
    assert [entry["number"] for entry in listed["entries"]] == [
        entry.number for entry in load_paper(name).entries
    ]
    assert {entry["status"] for entry in listed["entries"]} <= set(Status)


@pytest.mark.seconds
def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, page = shared("viphy"), tmp_path / "viphy.html"
    assert "Figure 16" in printed(capsys, "paper", "viphy", "--data", data, "-o", page)
    assert 'id="figure-16"' in page.read_text(encoding="utf-8")


def test_mistakes_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "'malevich'" in error_here(capsys, "paper", "malevich")
    assert "There is no folder" in error_here(capsys, "paper", "viphy", tmp_path / "none")
    assert "holds no run" in error_here(capsys, "paper", "viphy", tmp_path)
    assert "--data" in error_here(capsys, "paper", "viphy", "--data", tmp_path / "none")
    assert "is a folder" in error_here(capsys, "paper", "viphy", "-o", tmp_path)


@pytest.mark.parametrize("missing", ["seesay.papers.malevic", "seesay.scenes"])
def test_a_paper_whose_instrument_is_missing_is_one_sentence(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def import_nothing(address: str) -> None:
        raise ModuleNotFoundError(f"No module named '{missing}'", name=missing)

    monkeypatch.setattr("seesay.papers.load_address", import_nothing)
    with pytest.raises(
        UserError, match=f"'malevic' needs a part of seesay that is not installed here: {missing}"
    ):
        load_paper("malevic")
