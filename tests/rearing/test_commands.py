"""`seesay rear`: texts, edited captions, and what is refused in one sentence."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seesay.cli import app
from seesay.errors import UserError


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["rear", *arguments])
    # the program prints it, and exits with 2
    if isinstance(result.exception, UserError):
        return 2, str(result.exception)
    return result.exit_code, " ".join(result.output.split())


def test_texts_and_their_card(tmp_path: Path) -> None:
    code, output = run("texts", "-o", str(tmp_path), "--diet", "silent", "--json")
    assert code == 0, output
    counts = json.loads(output)
    train = (tmp_path / "train.csv").read_text().splitlines()
    assert len(train) == counts["train"] + 1
    card = json.loads((tmp_path / "card.json").read_text())
    assert len(card["kinds"]) == counts["kinds"]
    assert (card["diet"]["typical"], card["diet"]["other"]) == (0.0, 0.0)


def test_a_diet_with_an_unknown_dial_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "diets.yaml"
    path.write_text("- {name: mine, sugar: 1}\n")
    code, output = run("sweep", "-o", str(tmp_path / "out"), "--diet-file", str(path))
    assert code == 2
    assert "A diet has no dial 'sugar'." in output
    assert "Traceback" not in output
    assert not (tmp_path / "out").exists()


def test_other_mistakes_are_one_sentence(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    for arguments, message in (
        (["sweep", "-o", out, "--diets", "silnt"], "There is no diet 'silnt' (did you mean"),
        (["sweep", "-o", out, "--learners", "eyes"], "Unknown learner 'eyes'"),
        (["sweep", "-o", out, "--shard", "3/2"], "--shard is 3/2"),
        (["page", str(tmp_path)], "There is no results.csv"),
    ):
        code, output = run(*arguments)
        assert (code, message in output) == (2, True), output


def test_edited_captions(tmp_path: Path) -> None:
    corpus = tmp_path / "captions.txt"
    corpus.write_text("A brown dog runs.\nA white dog sits.\n")
    out = tmp_path / "out"
    code, output = run("captions", str(corpus), "-o", str(out), "--things", "dog")
    assert code == 0, output
    assert "2 captions, 2 statements changed" in output
    assert (out / "captions.txt").read_text() == "A dog runs.\nA dog sits.\n"
    code, output = run(
        "captions", str(corpus), "-o", str(out), "--things", "dog", "--edit", "burnt"
    )
    assert (code, "Unknown --edit 'burnt'" in output) == (2, True)


@pytest.mark.slow
def test_shares_are_merged_into_the_same_models_and_figures(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    diets = tmp_path / "diets.yaml"
    diets.write_text("- {name: small, doses: [0, 2]}\n")
    options = ("--diet-file", str(diets), "--learners", "text", "--seeds", "3", "--epochs", "1")
    for arguments in (
        ("-o", "whole"),
        ("-o", "parts", "--shard", "2/2"),
        ("-o", "parts", "--shard", "1/2"),
    ):
        folder = str(tmp_path / arguments[1])
        code, output = run("sweep", "-o", folder, *arguments[2:], *options)
        assert code == 0, output
    merged = CliRunner().invoke(
        app, ["merge", str(tmp_path / "parts"), "-o", str(tmp_path / "merged")]
    )
    assert merged.exit_code == 0, merged.output
    tables = []
    for name in ("whole", "merged"):
        with (tmp_path / name / "results.csv").open(encoding="utf-8", newline="") as file:
            tables.append([{**row, "minutes": ""} for row in csv.DictReader(file)])
    assert tables[0] == tables[1]
    assert [row["seed"] for row in tables[0]] == ["0", "1", "2"]
    names = ("model.safetensors", "answers.parquet", "metrics.json")
    whole = [path for path in (tmp_path / "whole").rglob("*") if path.name in names]
    assert len(whole) >= 6
    for path in whole:
        twin = tmp_path / "merged" / path.relative_to(tmp_path / "whole")
        assert twin.read_bytes() == path.read_bytes(), path
