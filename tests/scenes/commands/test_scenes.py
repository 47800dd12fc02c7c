"""`seesay scenes make` and `show`, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.modules import needed
from tests.shared_data import shared

from seesay.errors import UserError
from seesay.models import load_model
from seesay.runs import ask
from seesay.scenes.commands.scenes import app
from seesay.tasks import load_task


def run(*arguments: str) -> None:
    app(list(arguments), standalone_mode=False)


def test_make(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "data"
    command = [
        "make",
        "--task",
        "set+pos",
        "-n",
        "40",
        "--size",
        "64",
        "--workers",
        "1",
        "--formats",
        "parquet",
        "-o",
        str(folder),
    ]
    run(*command)
    assert "train 32, val 4, test 4" in capsys.readouterr().out
    assert (folder / "data" / "test.parquet").is_file()
    assert len(list(folder.glob("images/*/*.png"))) == 40
    run(*command, "--json")
    printed = json.loads(capsys.readouterr().out)
    assert printed["splits"] == {"train": 32, "val": 4, "test": 4}
    assert printed["recipe"]["task"] == "set+pos"
    run(*command, "--quiet")
    captured = capsys.readouterr()
    assert captured.out == ""


def test_options_reach_the_scenes(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    options = [
        "--adjective",
        "bright",
        "--threshold",
        "rh-n",
        "--k-mean",
        "0.4",
        "--objects",
        "6",
        "--arrays",
        "16",
    ]
    run(
        "make",
        "-t",
        "pos",
        "-n",
        "10",
        "--size",
        "0",
        "--formats",
        "json",
        "--quiet",
        "-o",
        str(folder),
        "--workers",
        "1",
        *options,
    )
    scenes = json.loads((folder / "annotation" / "train_annotation.json").read_text())
    assert {scene[0]["n_objects"] for scene in scenes.values()} == {"6"}
    assert {o["size"] for scene in scenes.values() for o in scene[1]["objects"]} == {
        "bright",
        "dark",
    }
    assert (folder / "arrays" / "train.npy").is_file()
    assert not (folder / "images").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--task", "pos9"],
        ["-n", "0"],
        ["--objects", "five"],
        ["--objects", "9-5"],
        ["--objects", "5-"],
        ["--objects", "-5"],
        ["--objects", "5-99999999999"],
        ["--adjective", "heavy"],
        ["--threshold", "x"],
        ["--size", "5"],
        ["--arrays", "100000"],
        ["--formats", "csv"],
        ["--workers", "0"],
        ["--seed", "-1"],
        ["--k-mean", "nan"],
    ],
)
def test_mistakes_give_one_sentence_and_write_nothing(tmp_path: Path, arguments: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        run("make", "-o", str(tmp_path / "data"), "--quiet", *arguments)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "data").exists()


def test_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    image = needed("PIL.Image")
    sheet = tmp_path / "sheets" / "pos.png"
    run(
        "show", "-t", "pos", "-n", "6", "-o", str(sheet), "--columns", "3", "--size", "64", "--json"
    )
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["scenes"]) == 6
    assert image.open(sheet).width == 3 * 72 + 8
    run("show", str(shared("malevic/examples/pos")), "-n", "4", "-o", str(sheet))
    assert "4 scenes" in capsys.readouterr().out
    with pytest.raises(UserError, match="no annotation"):
        run("show", str(tmp_path), "-o", str(sheet))


def judgement_table(path: Path, *rows: str) -> Path:
    """Write a table of judgements."""
    path.write_text("\n".join(["size,set,big,person", *rows]) + "\n")
    return path


def test_fit_reads_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    needed("scipy")
    # sizes 0 to 100 and a line at 60: k is 0.4, but for the last row, which has no range
    rows = []
    for person in range(4):
        for size in range(5, 100, 10):
            answer = "yes" if size > 60 else "no"
            rows.append(f"{size},0 {size} 100,{answer},p{person}")
    table = judgement_table(tmp_path / "judgements.csv", *rows, "5,5 5,no,p0")
    run("fit", str(table), "--resamples", "20", "--json")
    (fitted,) = json.loads(capsys.readouterr().out)
    assert fitted["left_out"] == 1
    by_name = {fit["threshold"]: fit for fit in fitted["fits"]}
    # nothing lies between 55 and 65
    assert 0.35 <= by_name["rh-r"]["mean"] <= 0.45
    assert 55 <= by_name["ah"]["mean"] <= 65
    assert by_name["rh-r"]["judgements"] == 40
    assert sum(each["judgements"] for each in fitted["calibration"]) == 40
    run("fit", str(table), "--resamples", "0")
    printed = capsys.readouterr()
    assert "1 judgements left out" in printed.err
    lines = {line.split()[0]: line for line in printed.out.splitlines() if line.strip()}
    assert {"rh-r", "rh-n", "rh-sd", "rh-c", "ah"} <= set(lines)
    assert f"{by_name['ah']['mean']:.4g}" in lines["ah"]
    assert "mean distance from the vague k" in printed.out


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("5,1 5 9,maybe,p", "row 2: sizes are numbers"),
        ("5,1 9,yes,p", "row 2: the set must have the thing's own size"),
        ("5,1 5 9,1.5,p", "'big' lies between 0 and 1"),
        (",1 5 9,yes,p", "the column 'size' is missing or empty"),
        ("5,5 nan,yes,p", "all finite"),
    ],
)
def test_fit_refuses_a_bad_row(tmp_path: Path, row: str, reason: str) -> None:
    needed("scipy")
    table = judgement_table(tmp_path / "judgements.csv", row)
    with pytest.raises(UserError, match=reason):
        run("fit", str(table))


def test_fit_leaves_out_runs_that_call_nothing_big(tmp_path: Path) -> None:
    needed("scipy")
    sizes = ask.run(
        load_model("baseline:majority"),
        ask.limit_questions(load_task("core-size"), 10, 0),
        tmp_path,
        ask.Settings(resamples=100),
    )
    with pytest.raises(UserError, match="None of these runs asks whether something is big"):
        run("fit", str(sizes.folder))
