"""`seesay compare` and `seesay report` as a user meets them, and the documents that programs
read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.program import error_here, seesay, usage_error

from seesay import metrics
from seesay.cli import main
from seesay.runs import store
from seesay.runs.records import Comparison, Record

DOCUMENT = Path(__file__).parents[2] / "docs" / "json.md"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models on two tasks."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.raises(SystemExit, match="0"):
        main(
            [
                *("probe", "mock:1", "mock:2", "--task", "core-color,core-size", "--limit", "40"),
                *("--resamples", "100", "--quiet", "--output", str(folder)),
            ]
        )
    return folder


def test_comparisons_as_json(runs: Path) -> None:
    done = seesay("compare", runs, "--resamples", "100", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    comparisons = [Comparison.model_validate(row) for row in json.loads(done.stdout)]
    assert {(comparison.task, comparison.a, comparison.b) for comparison in comparisons} == {
        ("core-color", "mock:1", "mock:2"),
        ("core-size", "mock:1", "mock:2"),
    }
    for comparison in comparisons:
        assert comparison.difference == pytest.approx(comparison.value_a - comparison.value_b)
        assert comparison.n == 40
    assert {
        comparison.p_mcnemar is None
        for comparison in comparisons
        if comparison.metric == "true_confidence"
    } <= {True}


def test_a_plan_of_questions(runs: Path) -> None:
    """At the pilot's standard error, a difference as large as can be detected takes as many
    questions as there were."""
    rows = json.loads(seesay("compare", runs, "--resamples", "100", "--plan", "--json").stdout)
    wide = next(row for row in rows if row["detectable"])
    target = str(wide["detectable"])
    again = json.loads(
        seesay(
            "compare", runs, "--resamples", "100", "--plan", "--difference", target, "--json"
        ).stdout
    )
    same = next(
        row for row in again if (row["task"], row["metric"]) == (wide["task"], wide["metric"])
    )
    assert same["questions"] == same["n"] == 40
    shown = seesay(
        "compare", runs, "--resamples", "100", "--plan", "--difference", "0.05", "--power", "0.9"
    )
    assert "power 90%" in shown.stdout


def test_what_cannot_be_planned_says_why(runs: Path) -> None:
    rows = json.loads(seesay("compare", runs, "--resamples", "100", "--plan", "--json").stdout)
    no_means = [row for row in rows if not metrics.get(row["metric"]).is_mean]
    assert no_means
    for row in no_means:
        assert (row["questions"], row["detectable"]) == (None, None)
        assert "no mean over questions" in row["reason"]
    shown = seesay("compare", runs, "--resamples", "100", "--plan").stdout
    assert f"{no_means[0]['task']}, {no_means[0]['metric']}" in shown
    assert "no mean over questions" in shown


def test_comparisons_for_people(runs: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = seesay("compare", runs, "--resamples", "100", "--report", page)
    assert done.returncode == 0
    assert "mock:1" in done.stdout
    assert f"Report: {page}" in done.stdout
    assert "mock:2" in page.read_text()


def test_a_report_of_runs_that_are_there(runs: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = seesay("report", runs, "--output", page, "--json")
    document = json.loads(done.stdout)
    assert document["report"] == str(page)
    assert len(document["runs"]) == 4
    assert page.stat().st_size < 3_000_000
    assert seesay("report", document["runs"][0], "--output", page).stdout == f"Report: {page}\n"
    assert seesay("report", document["runs"][0], "--output", page, "-q").stdout == ""


def test_crossed_slices_are_printed_and_on_the_page(runs: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = seesay("report", runs, "--slice", "category,cardinality", "--output", page)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"cardinality=\d × category=\w+", done.stdout)
    assert "cardinality × category" in page.read_text()
    printed = json.loads(
        seesay("report", runs, "--slice", "category,cardinality", "-o", page, "--json").stdout
    )
    figures = printed["figures"]
    assert any(" × " in figure["slice"] for figure in figures)


def test_mistakes(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no finished run" in error_here(capsys, "compare", tmp_path)
    assert "no file or folder" in error_here(capsys, "report", tmp_path / "nowhere")
    (comparison, *_) = sorted(runs.rglob(store.MANIFEST))
    assert "nothing to compare" in error_here(capsys, "compare", comparison.parent)
    assert "add --plan" in error_here(capsys, "compare", runs, "--difference", "0.02")
    assert "No question has the tag 'nope'" in error_here(capsys, "report", runs, "--slice", "nope")
    assert "is a folder" in error_here(capsys, "report", runs, "--output", tmp_path)
    assert "--resamples is 5" in error_here(capsys, "compare", runs, "--resamples", "5")
    assert "Invalid value for '--seed'" in usage_error(capsys, "compare", runs, "--seed", "-1")


def section(name: str) -> str:
    text = DOCUMENT.read_text(encoding="utf-8")
    return text.split(f"## `seesay {name}")[1].split("\n## ")[0]


@pytest.mark.parametrize(("command", "document"), [("probe", Record), ("compare", Comparison)])
def test_the_documentation_names_every_field(
    command: str, document: type[Record] | type[Comparison]
) -> None:
    lines = section(command).splitlines()
    rows = {line.split("|")[1].strip(" `") for line in lines if line.startswith("| `")}
    assert rows == set(document.model_fields)


@pytest.mark.parametrize("command", ["tasks", "tasks core-color", "models", "data", "report"])
def test_the_documentation_names_every_key(command: str, runs: Path, tmp_path: Path) -> None:
    extra = [str(runs), "--output", str(tmp_path / "page.html")] if command == "report" else []
    document = json.loads(seesay(*command.split(), *extra, "--json").stdout)
    text = section(command.split()[0])
    for row in document if isinstance(document, list) else [document]:
        for key in row:
            assert f"`{key}`" in text, key
