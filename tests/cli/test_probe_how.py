"""`seesay probe --how …` through the program: a tiny model, a tiny knowledge folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.cli.program import error_here, json_records, record_label
from tests.models.encoders.tiny_encoders import save_tiny_encoder
from tests.reports.test_gold_analyses import made_up

from seesay.cli import main
from seesay.data import knowledge
from seesay.data.knowledge import COLORS, ColorFact, SizeFact
from seesay.reports.analysis import LabelShares
from seesay.reports.gold_analyses import compare_categories
from seesay.runs.store import find_runs
from seesay.tasks.categories import CATEGORIES

Capture = pytest.CaptureFixture[str]
Folder = Callable[[str], Path]

THINGS = [
    f"{kind} {thing}"
    for kind in ("light", "dark", "very dark")
    for thing in ("apple", "banana", "snow", "grass")
]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Knowledge of twelve things' colours and sizes; features go to a cache of the test's own."""
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    shares = np.eye(len(COLORS))
    colors = [
        ColorFact(thing, tuple(shares[place % 11].tolist()), (COLORS[place % 11],), 20)
        for place, thing in enumerate(THINGS)
    ]
    sizes = [
        SizeFact(a, b, 9 * (i > j), 9 * (i < j), (">" if i > j else "<",))
        for i, a in enumerate(THINGS)
        for j, b in enumerate(THINGS)
        if i != j
    ]
    knowledge.write(tmp_path / "mined", colors, ColorFact)
    knowledge.write(tmp_path / "mined", sizes, SizeFact)
    return tmp_path / "mined"


def output_of(capsys: Capture, *arguments: str | Path) -> str:
    """What a command that ends well prints."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert ended.value.code == 0, err
    return out


def overall(text: str) -> dict[tuple[str, str], float]:
    return {
        (record_label(record), record.metric): record.value
        for record in json_records(text)
        if record.template is None and record.slice is None
    }


def test_choice(data: Path, tmp_path: Path, tiny_folder: Folder, capsys: Capture) -> None:
    options = (
        "--task",
        "viphy-color",
        "--data",
        data,
        "--resamples",
        "100",
        "--output",
        tmp_path / "runs",
        "--json",
    )
    bert = str(tiny_folder("bert"))
    by_choice = overall(output_of(capsys, "probe", bert, "--how", "choice", *options))
    by_cloze = overall(output_of(capsys, "probe", bert, *options))
    assert (bert, "vocabulary_accuracy") in by_cloze
    assert (bert, "vocabulary_accuracy") not in by_choice
    assert by_choice[bert, "true_confidence"] != by_cloze[bert, "true_confidence"]


def test_linear_with_seeds(
    data: Path, tmp_path: Path, tiny_folder: Folder, capsys: Capture
) -> None:
    bert, runs = str(tiny_folder("bert")), tmp_path / "runs"
    options = (
        "--task",
        "viphy-size",
        "--data",
        data,
        "--how",
        "linear",
        "--resamples",
        "100",
        "--output",
        runs,
    )
    results = overall(
        output_of(capsys, "probe", bert, "baseline:uniform", *options, "--seeds", "3", "--json")
    )
    values = [results[f"{bert} · linear · seed {seed}", "accuracy"] for seed in range(3)]
    assert results["baseline:uniform", "accuracy"] == 0.5
    together = json.loads((runs / "seeds.json").read_text())
    row = next(row for row in together if row["metric"] == "accuracy" and row["slice"] is None)
    assert (row["seeds"], row["low"], row["high"]) == (3, min(values), max(values))
    assert row["mean"] == pytest.approx(sum(values) / 3)
    assert "linear" in output_of(capsys, "probe", bert, *options)


def test_a_probe_of_the_question(
    data: Path, tmp_path: Path, tiny_folder: Folder, capsys: Capture
) -> None:
    """A T5's encoder reads the question with its options; its run does not mix with that of the
    plain text."""
    t5, runs = str(tiny_folder("t5")), tmp_path / "runs"
    options = (
        "--task",
        "viphy-color",
        "--data",
        data,
        "--resamples",
        "100",
        "--output",
        runs,
        "--json",
    )
    for how, template in (("linear-question", "linear-question"), ("linear", "linear")):
        rows = json.loads(output_of(capsys, "probe", t5, "--how", how, *options))
        assert {row["template"] for row in rows} - {None} <= {template}
        assert {row["model"] for row in rows} == {t5}
        assert {(row["condition"]["how"], row["condition"]["probe_seed"]) for row in rows} == {
            (how, 0)
        }
    assert len(find_runs([runs])) == 2


def test_encoders_are_found_by_name(
    data: Path, tmp_path: Path, tiny_folder: Folder, capsys: Capture
) -> None:
    clip, both = (
        save_tiny_encoder("clip", tmp_path / "clip"),
        save_tiny_encoder("clip-bert", tmp_path / "both"),
    )
    names = [
        f"clip-bert:{tiny_folder('bert')}+{clip}",
        f"clip-bert:{both}",
        f"clip-bert-implicit:{both}",
    ]
    options = (
        "--task",
        "viphy-color",
        "--data",
        data,
        "--how",
        "linear",
        "--resamples",
        "100",
        "--quiet",
        "--json",
    )
    results = overall(output_of(capsys, "probe", *names, *options, "--output", tmp_path / "runs"))
    assert {model for model, _ in results} == {f"{name} · linear · seed 0" for name in names}
    assert "needs a checkpoint" in error_here(capsys, "probe", "clip-bert:", *options)
    assert "Unknown model" in error_here(capsys, "probe", names[1], "clip-bertt:x", *options)


def test_learning_curves(data: Path, tmp_path: Path, tiny_folder: Folder, capsys: Capture) -> None:
    bert, runs, page = (
        str(tiny_folder("bert")),
        tmp_path / "runs",
        tmp_path / "pages" / "curves.html",
    )
    options = ("--data", data, "--how", "learning-curve", "--output", runs)
    both = output_of(
        capsys,
        "probe",
        bert,
        *options,
        "-t",
        "viphy-color",
        "-t",
        "viphy-size",
        "--report",
        page,
        "--json",
    )
    results = json.loads(both)
    assert results == json.loads((runs / "learning-curve.json").read_text())
    assert page.read_text().startswith("<!")
    assert {band["seeds"] for band in results["curves"]} == {5}, "a band needs several seeds"
    assert len(results["points"]) == 2 * 6 * 5
    assert {"accuracy", "relaxed_accuracy"} <= {band["metric"] for band in results["curves"]}
    shown = output_of(capsys, "probe", bert, *options, "-t", "viphy-color", "--seeds", "1")
    assert f"Report: {runs / 'report.html'}" in shown.replace("\n", "")
    # the curve of sizes is in the folder still, and so on its page
    assert "viphy-size: learning curve" in (runs / "report.html").read_text()


def test_a_learning_curve_by_the_published_protocol(
    data: Path, tmp_path: Path, tiny_folder: Folder, capsys: Capture
) -> None:
    """Figures 8 and 9 of ViPhy: fifths of the training questions, one epoch, no validation."""
    bert = str(tiny_folder("bert"))
    options = ("--data", data, "--how", "learning-curve", "-t", "viphy-size", "--seeds", "2")
    protocol = ("--fractions", "20,40,60,80,100", "--epochs", "1", "--no-validation")
    shown = output_of(capsys, "probe", bert, *options, *protocol, "-o", tmp_path / "runs", "--json")
    results = json.loads(shown)
    assert {point["training"] for point in results["points"]} == {"1 epoch, no validation"}
    assert {point["epoch"] for point in results["points"]} == {1}
    assert [point["fraction"] for point in results["points"][::2]] == [0.2, 0.4, 0.6, 0.8, 1.0]
    page = (tmp_path / "runs" / "report.html").read_text()
    assert "(1 epoch, no validation)" in page
    for fractions in ("0,20", "20,120", "a fifth"):
        assert f"--fractions is '{fractions}'" in error_here(
            capsys, "probe", bert, *options, "--fractions", fractions
        )
    assert "are for --how learning-curve" in error_here(
        capsys, "probe", bert, "--how", "linear", "--epochs", "1"
    )


def test_an_encoder_decoder_is_tuned(
    data: Path, tmp_path: Path, tiny_folder: Folder, capsys: Capture
) -> None:
    """ViPhy's trained UnifiedQA, with a tiny T5: a run for every seed, beside a baseline."""
    t5 = str(tiny_folder("t5"))
    task = ("--data", data, "-t", "viphy-size", "--max-tokens", "4")
    options = (*task, "--resamples", "100", "--quiet", "--json", "-o", tmp_path / "runs")
    names = (t5, "baseline:majority")
    trained = output_of(capsys, "probe", *names, *options, "--how", "qa-trained", "--seeds", "2")
    records = overall(trained)
    assert {model for model, _ in records} == {
        f"{t5} · qa-trained · seed 0",
        f"{t5} · qa-trained · seed 1",
        "baseline:majority",
    }
    assert {metric for _, metric in records if metric == "accuracy"} == {"accuracy"}
    asked = overall(output_of(capsys, "probe", t5, *options, "--how", "qa"))
    assert {model for model, _ in asked} == {f"{t5} · qa"}


def test_a_model_that_fails_costs_the_others_nothing(
    data: Path, tmp_path: Path, tiny_folder: Folder, capsys: Capture
) -> None:
    bert, runs = str(tiny_folder("bert")), tmp_path / "runs"
    (tmp_path / "empty").mkdir()
    options = (
        "--data",
        str(data),
        "--how",
        "learning-curve",
        "--seeds",
        "1",
        "--output",
        str(runs),
        "--quiet",
    )
    with pytest.raises(SystemExit) as ended:
        main(["probe", bert, str(tmp_path / "empty"), "-t", "viphy-color", *options])
    assert ended.value.code == 2
    assert "empty" in capsys.readouterr().err
    assert {
        point["model"] for point in json.loads((runs / "learning-curve.json").read_text())["points"]
    } == {bert}
    assert (runs / "report.html").is_file()


def test_contradictory_options_are_rejected(
    data: Path, tiny_folder: Folder, capsys: Capture
) -> None:
    bert = str(tiny_folder("bert"))
    for how in ("cloze", "choice"):
        assert "--seeds is for probes" in error_here(
            capsys, "probe", bert, "--how", how, "--seeds", "5"
        )
    assert "--limit does not go" in error_here(
        capsys, "probe", bert, "--how", "learning-curve", "--limit", "5"
    )
    assert "cannot encode texts" in error_here(
        capsys, "probe", "baseline:uniform", "--how", "learning-curve"
    )
    sizes = ("-t", "viphy-size", "--data", data)
    assert "--categories goes with" in error_here(
        capsys, "probe", bert, *sizes, "--categories", bert
    )
    assert "nothing to draw" in error_here(
        capsys, "tasks", "viphy-size", "--data", data, "--page", data / "p.html"
    )
    assert "one task" in error_here(capsys, "tasks", "viphy", "--page", data / "p.html")


def test_categories_slice_mined_colours(
    data: Path, tmp_path: Path, tiny_folder: Folder, capsys: Capture
) -> None:
    options = (
        "--task",
        "viphy-color",
        "--data",
        data,
        "--resamples",
        "100",
        "--output",
        tmp_path / "runs",
        "--json",
    )
    rows = json.loads(
        output_of(capsys, "probe", "mock", *options, "--categories", tiny_folder("bert"))
    )
    results = {
        row["slice"].removeprefix("category=")
        for row in rows
        if (row["slice"] or "").startswith("category=")
    }
    assert results
    assert results <= set(CATEGORIES)


def test_a_page_of_what_a_task_asks(data: Path, tmp_path: Path, capsys: Capture) -> None:
    page = tmp_path / "pages" / "colours.html"
    assert "viphy-color" in output_of(
        capsys, "tasks", "viphy-color", "--data", data, "--page", page
    )
    assert "From one colour to many" in page.read_text()
    names = [
        analysis["name"] for analysis in json.loads(page.with_suffix(".analyses.json").read_text())
    ]
    assert names == ["cardinality", "distributions-by-entropy"]


def test_a_page_that_compares_categories(
    data: Path, tmp_path: Path, tiny_folder: Folder, capsys: Capture
) -> None:
    """Mined things get categories; where some are published, the two are compared (Table 8)."""
    page, bert = tmp_path / "colours.html", tiny_folder("bert")
    output_of(capsys, "tasks", "viphy-color", "--data", data, "--page", page, "--categories", bert)
    names = [
        analysis["name"] for analysis in json.loads(page.with_suffix(".analyses.json").read_text())
    ]
    assert names == ["cardinality", "distributions-by-entropy", "labels-by-category"]
    (compared,) = compare_categories(made_up(), str(bert))
    assert (compared.name, compared.source) == (
        "category-agreement",
        "Singh, Qasemi & Chen 2023, Table 8",
    )
    assert [row.part for row in compared.rows if isinstance(row, LabelShares)] == ["food", "nature"]
    assert "--page" in error_here(
        capsys, "tasks", "viphy-color", "--data", data, "--categories", bert
    )
