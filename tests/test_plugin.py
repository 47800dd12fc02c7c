"""A task and a model of another package do everything that built-in ones do, found by their entry
points alone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.cli.program import error_of, json_records, record_label, seesay

from seesay.runs import store

PACKAGE = Path(__file__).with_name("plugin_package")
MODEL = "plugin-model:ripe"


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package on the path of every process that is started, with the metadata that an installer
    writes."""
    site = tmp_path / "site-packages"
    shutil.copytree(PACKAGE / "seesay_fruit", site / "seesay_fruit")
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = site / f"seesay_fruit-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n",
        encoding="utf-8",
    )
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in points.items())
        for group, points in project["entry-points"].items()
    )
    (info / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(site), os.environ.get("PYTHONPATH", ""))))
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def document(*arguments: str) -> Any:
    """The JSON document that a command prints."""
    done = seesay(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def probe(*arguments: str) -> dict[tuple[str, str], float]:
    """The figures over all questions and templates, by model and metric."""
    done = seesay("probe", *arguments, "--output", "runs", "--resamples", "100", "--json")
    assert done.returncode == 0, done.stderr
    return {
        (record_label(record), record.metric): record.value
        for record in json_records(done.stdout)
        if record.template is None and record.slice is None
    }


def test_they_are_listed() -> None:
    tasks = {row["name"]: row for row in document("tasks")["tasks"]}
    assert tasks["plugin-task"]["source"] == tasks["plugin-pictures"]["source"] == "seesay-fruit"
    assert (
        "from the package 'seesay-fruit'"
        in {r["name"]: r["what"] for r in document("models")}["plugin-model:…"]
    )
    shown = document("tasks", "plugin-task")
    assert (shown["title"], shown["metrics"]) == (
        "The colors of fruit",
        ["accuracy", "true_confidence"],
    )
    assert "Did you mean 'plugin-task'" in error_of("probe", MODEL, "--task", "plugin-tusk")


def test_cloze() -> None:
    """It knows every fruit: six parts of eight for the right color, of three."""
    figures = probe(MODEL, "baseline:uniform", "--task", "plugin-task")
    assert figures[MODEL, "accuracy"] == 1
    assert figures[MODEL, "true_confidence"] == pytest.approx(6 / 8)
    assert figures["baseline:uniform", "accuracy"] == pytest.approx(1 / 3)


def test_choice() -> None:
    figures = probe(MODEL, "--task", "plugin-task", "--how", "choice")
    assert figures[MODEL, "accuracy"] == 1
    (manifest,) = (json.loads(path.read_text()) for path in Path("runs").rglob(store.MANIFEST))
    assert manifest["templates"] == ["choice"]
    assert any(note.startswith("Position bias") for note in manifest["notes"])


def test_linear() -> None:
    """Trained on four fruits of each color, asked three others: the model's vectors give their
    color away."""
    figures = probe(
        MODEL, "baseline:uniform", "--task", "plugin-task", "--how", "linear", "--seeds", "2"
    )
    assert [figures[f"{MODEL} · linear · seed {seed}", "accuracy"] for seed in range(2)] == [1, 1]
    assert figures["baseline:uniform", "accuracy"] == pytest.approx(1 / 3)
    manifests = [json.loads(path.read_text()) for path in Path("runs").rglob(store.MANIFEST)]
    assert {(manifest["questions"], *manifest["templates"]) for manifest in manifests} == {
        (9, "linear")
    }


def test_learning_curve() -> None:
    points = document(
        "probe",
        MODEL,
        "--task",
        "plugin-task",
        "--how",
        "learning-curve",
        "--output",
        "runs",
        "--seeds",
        "2",
    )
    assert points
    assert (Path("runs") / "learning-curve.json").is_file()


def test_pictures() -> None:
    assert probe(MODEL, "--task", "plugin-pictures")[MODEL, "accuracy"] == 1
    assert probe(MODEL, "--task", "plugin-pictures", "--how", "choice")[MODEL, "accuracy"] == 1
    assert "asks about pictures" in error_of(
        "probe", "plugin-model:blind", "--task", "plugin-pictures", "--quiet"
    )


def test_a_killed_run_goes_on_with_the_same_answers() -> None:
    command = (
        "probe",
        "plugin-model:slow@0.2",
        "--task",
        "plugin-task",
        "--resamples",
        "100",
        "--quiet",
        "--output",
    )
    with subprocess.Popen([sys.executable, "-m", "seesay", *command, "killed"]) as process:
        while process.poll() is None and not any(
            p.stat().st_size for p in Path("killed").rglob(store.JOURNAL)
        ):
            time.sleep(0.01)
        process.kill()
    assert process.returncode == -signal.SIGKILL, "the run ended before it could be killed"
    assert not list(Path("killed").rglob(store.ANSWERS))
    assert seesay(*command, "killed").returncode == seesay(*command, "whole").returncode == 0
    (killed,), (whole,) = (list(Path(root).rglob(store.MANIFEST)) for root in ("killed", "whole"))
    for name in (store.ANSWERS, store.QUESTIONS, store.FIGURES):
        assert (killed.parent / name).read_bytes() == (whole.parent / name).read_bytes(), name


def test_report_and_comparison() -> None:
    probe(MODEL, "baseline:uniform", "--task", "plugin-task")
    (comparison,) = [
        c for c in document("compare", "runs", "--resamples", "100") if c["metric"] == "accuracy"
    ]
    assert {comparison["a"], comparison["b"]} == {MODEL, "baseline:uniform"}
    assert seesay("report", "runs", "--output", "page.html").returncode == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "The colors of fruit" in page
    assert MODEL in page
