"""`seesay tasks` and `seesay data` as a user meets them."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from seesay.cli.data import app as data_app
from seesay.cli.tasks import tasks
from seesay.data import catalogue
from seesay.data.catalogue import CATALOGUE, DataFile, DataSet
from seesay.data.rows import parse_table
from seesay.errors import UserError
from seesay.tasks import load_task

ROW = {"descriptor": "a", "item": "tomato", "label": "red"}

app = typer.Typer()
app.add_typer(data_app, name="data")
app.command()(tasks)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEESAY_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path / "data"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def document_of(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exception is None, result.output
    return json.loads(result.stdout)


def refused(*arguments: str) -> str:
    result = run(*arguments)
    assert isinstance(result.exception, UserError), result.output
    assert result.stdout == ""
    return str(result.exception)


@pytest.fixture
def colours(tmp_path: Path) -> Path:
    path = tmp_path / "memory_colors.jsonl"
    path.write_text(f"{json.dumps(ROW)}\nnot json\n")
    return path


def test_tasks_are_listed_without_loading_them() -> None:
    listed = document_of("tasks")
    assert [task["name"] for task in listed["tasks"]][:4] == listed["groups"]["core"]
    colors = next(task for task in listed["tasks"] if task["name"] == "memory-colors")
    assert colors["missing"] == ["memory-colors"]
    assert "memory-colors" in run("tasks").stdout
    assert [task["name"] for task in document_of("tasks", "core")["tasks"]] == listed["groups"][
        "core"
    ]


def test_one_task_is_shown(colours: Path) -> None:
    shown = document_of("tasks", "memory-colors", "--data", str(colours))
    assert shown["questions"] == 1
    assert len(shown["templates"]) == 13
    assert shown["example"]["text"] == "Q: What is the color of a tomato? A: It is [MASK]."
    assert shown["example"]["gold"] == {"red": 1.0}
    assert shown["metrics"] == ["accuracy"]
    assert shown["bad_rows"] == [{"row": 2, "reason": "not JSON", "file": ""}]
    assert "Norlund" in shown["citation"]
    assert shown["licence"]
    text = run("tasks", "memory-colors", "--data", str(colours)).stdout
    assert "What is the color of {thing}? [SEP] [MASK]." in text
    assert "row 2: not JSON" in text


def test_mistakes_about_tasks(tmp_path: Path) -> None:
    assert "Did you mean 'memory-colors'" in refused("tasks", "memory-colours")
    assert "`seesay data fetch memory-colors`" in refused("tasks", "memory-colors")
    assert "no file or folder" in refused(
        "tasks", "memory-colors", "--data", str(tmp_path / "nowhere")
    )


def test_data_sets_are_listed(folder: Path) -> None:
    listed = document_of("data")
    assert listed["folder"] == str(folder)
    assert {file["state"] for entry in listed["datasets"] for file in entry["files"]} == {"missing"}
    text = run("data").stdout
    assert "seesay data fetch NAME" in text
    assert "Centre for Speech" in text


def test_adding_and_checking(colours: Path, folder: Path) -> None:
    assert "--force" in refused("data", "add", "memory-colors", str(colours))
    added = document_of("data", "add", "memory_colors", str(colours), "--force")
    assert added["files"] == [
        {
            "dataset": "memory-colors",
            "file": "memory_colors.jsonl",
            "state": "unverified",
            "path": str(folder / "memory-colors" / "memory_colors.jsonl"),
        },
        # the authors' accuracies, which their paper's page reads and no task
        {
            "dataset": "memory-colors",
            "file": "results.csv",
            "state": "missing",
            "path": str(folder / "memory-colors" / "results.csv"),
        },
    ]
    listed = {task["name"]: task["missing"] for task in document_of("tasks")["tasks"]}
    assert listed["memory-colors"] == []
    assert listed["viphy-color"] == ["viphy"]
    assert document_of("data", "check")["damaged"] == 0
    assert document_of("tasks", "memory-colors")["questions"] == 1
    (folder / "memory-colors" / "memory_colors.jsonl").write_text("changed")
    result = run("data", "check", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["damaged"] == 1
    assert "has changed since it was added" in run("data", "check").stdout


def test_adding_the_norms_counts_their_entries(tmp_path: Path, folder: Path) -> None:
    norms = tmp_path / "norms.dat"
    norms.write_text(
        "domain\tfeature type\tconcept\tfeature\tpf\tfeature alternatives\tparticipant list\n"
        "living\tvisual perceptual\timp\tis red\t7\tis red\tp 1 2 3 4 5 6 7\n"
    )
    notes = document_of("data", "add", "cslb-norms", str(norms))["notes"]
    assert notes[2] == (
        "property-norms: entries of pf>=2: 1 (published: 6,541); is 1, has 0, has a 0, is made of 0"
    )
    norms.write_text("something else\n")
    assert "is not the CSLB norms" in run("data", "add", "cslb-norms", str(norms)).stdout.replace(
        "\n", " "
    )


def test_fetching_what_is_there_already(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = DataFile("x.txt", "https://data.invalid/x.txt", hashlib.sha256(b"x").hexdigest(), 1)
    monkeypatch.setitem(catalogue.CATALOGUE, "tiny", DataSet("tiny", "", (file,), "", "", "", ""))
    (folder / "tiny").mkdir(parents=True)
    (folder / "tiny" / "x.txt").write_text("x")
    assert [got["state"] for got in document_of("data", "fetch", "tiny")["files"]] == ["verified"]
    assert run("data", "fetch", "tiny", "--quiet").stdout == ""
    assert "cannot be fetched" in refused("data", "fetch", "cslb-norms")
    assert "Unknown data set 'tinny'. Did you mean 'tiny'?" in refused("data", "fetch", "tinny")


def test_commands_import_nothing_heavy() -> None:
    code = (
        "import sys, seesay.cli.data, seesay.cli.tasks, seesay.cli.output, seesay.tasks\n"
        "print([m for m in ('numpy', 'pyarrow', 'pydantic', 'torch', 'urllib.request') if m in "
        "sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_program_itself(colours: Path) -> None:
    def seesay(*arguments: str) -> subprocess.CompletedProcess[str]:
        code = "import sys; from seesay.cli import main; sys.exit(main())"
        return subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
        )

    done = seesay("tasks", "memory-colors", "--data", str(colours), "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["questions"] == 1
    done = seesay("tasks", "memory-colours")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Did you mean 'memory-colors'" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    done = seesay("data", "--json")
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["datasets"]) == len(CATALOGUE)


def test_rows_of_your_own_have_your_licence(tmp_path: Path) -> None:
    data = tmp_path / "mine.jsonl"
    data.write_text('{"descriptor": "a", "item": "tomato", "label": "red"}\n')
    task = load_task("memory-colors", data)
    assert (task.provenance.licence, task.title.endswith("(from mine.jsonl)")) == ("yours", True)


def test_a_wrong_separator_is_reported(tmp_path: Path) -> None:
    table = tmp_path / "fruit.csv"
    table.write_text("object;colour\nlemon;yellow\n")
    with pytest.raises(UserError, match="separated by semicolons, not by commas"):
        parse_table(table, ("object", "colour"), dict)


def test_data_list_is_another_name_for_data() -> None:
    assert run("data", "list", "--json").stdout == run("data", "--json").stdout
