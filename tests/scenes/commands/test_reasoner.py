"""`seesay reasoner`, as a user types it."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree

import numpy as np
import pytest
from safetensors.numpy import load_file
from tests.cli.program import SEESAY, error_here, usage_error
from tests.needs import absent

from seesay.cli import main
from seesay.models import load_model
from seesay.scenes.config import SceneConfig
from seesay.scenes.dataset_writer import SceneOutput, write_dataset
from seesay.scenes.plan import make_plan

QUICK = ("--items", "80", "--epochs", "1", "--preset", "cpu", "--device", "cpu")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def run(*arguments: str | Path) -> None:
    """To a good end."""
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    assert ended.value.code == 0


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    return error_here(capsys, "reasoner", *arguments)


def test_train(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scenes are made, a network learns, is tested, and is a model; asked again, nothing is trained
    again."""
    # nothing in it yet, so that every bar is shown
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    command = (
        "reasoner",
        "train",
        "film",
        "--task",
        "set+pos",
        "--image-size",
        "16",
        "--batch",
        "40",
        *QUICK,
    )
    run(*command)
    folder = Path("reasoners/film-set+pos-0")
    out, err = capsys.readouterr()
    assert out.startswith(f"{folder}: 2 steps in ")
    assert "; test 0." in out
    assert "set+pos, train" in err
    assert "film" in err
    ended = (folder / "training" / "result.json").stat().st_mtime_ns
    run(*command, "--json")
    printed = json.loads(capsys.readouterr().out)
    assert printed["items"] == {"train": 80, "val": 10, "test": 10, "set+pos-hard": 10}
    assert printed["validation"]["validation_accuracy"] == printed["best"]
    assert (
        printed["tests"]
        == json.loads((folder / "test.json").read_text(encoding="utf-8"))["accuracy"]
    )
    assert f"test {printed['tests']['test']:.3f}" in out
    run(*command, "--quiet")
    assert capsys.readouterr() == (out, "")
    run(*command, "--silent")
    assert capsys.readouterr() == ("", "")
    assert printed["steps"] == 2
    assert (folder / "training" / "result.json").stat().st_mtime_ns == ended
    assert load_model(str(folder)).family == "reasoner"
    assert "was started with seed 0, not 1" in error_of(
        capsys, *command[1:], "-o", folder, "--seed", "1"
    )
    assert "was started with sizes" in error_of(capsys, *command[1:], "--no-batch-norm")


def test_several_tasks_and_a_curriculum(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """First tasks have trainings of their own within the folder; the settings and the name tell of
    them."""
    command = ("reasoner", "train", "object-centred", *QUICK, "--json", "-o")
    run(*command, tmp_path / "joint", "-t", "sup1,pos")
    joint = json.loads(capsys.readouterr().out)
    assert joint["items"]["train"] == 160
    assert list(joint["tests"]) == ["sup1", "pos", "pos-hard"]
    run(*command, tmp_path / "second", "-t", "pos", "--curriculum", "sup1,pos1")
    second = json.loads(capsys.readouterr().out)
    assert second["task"] == "pos-after-sup1-after-pos1"
    settings = json.loads((tmp_path / "second/training/settings.json").read_text(encoding="utf-8"))
    assert (settings["task"], settings["curriculum"]) == ("pos", ["sup1", "pos1"])
    stages = [
        tmp_path / "second/curriculum" / task / "training/settings.json"
        for task in ("sup1", "pos1")
    ]
    first, then = (json.loads(path.read_text(encoding="utf-8")) for path in stages)
    assert [
        (stage["task"], bool(stage["curriculum"]), "start" in stage)
        for stage in (first, then, settings)
    ] == [
        ("sup1", False, False),
        ("pos1", False, True),
        ("pos", True, True),
    ]
    sweep = (
        "reasoner",
        "sweep",
        "-o",
        tmp_path / "sweep",
        "--cells",
        "object-centred/pos",
        "--seeds",
        "1",
    )
    run(*sweep, *QUICK, "--json")
    capsys.readouterr()
    run(*sweep, *QUICK, "--curriculum", "sup1", "--json")
    cells = json.loads(capsys.readouterr().out)["tables"]
    assert {(cell["table"], cell["column"]) for cell in cells} == {
        ("Table 1", "POS"),
        ("Table 2", "POS-hard"),
        ("Other tasks", "pos-after-sup1 test"),
        ("Other tasks", "pos-after-sup1 pos-hard"),
    }


def test_learning_curve_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(
        "reasoner",
        "train",
        "object-centred",
        "-t",
        "compositional",
        "-o",
        tmp_path / "made",
        *QUICK,
        "--json",
    )
    assert list(json.loads(capsys.readouterr().out)["tests"]) == ["test_seen", "test_unseen"]
    page = (tmp_path / "made" / "training" / "curve.html").read_text(encoding="utf-8")
    assert "share of answers that are right" in page
    assert "validation items that the network never learns from" in page
    assert "of captions" not in page
    run("reasoner", "curve", tmp_path / "made", "-o", tmp_path / "page.html", "--json")
    files = json.loads(capsys.readouterr().out)["files"]
    assert files == [
        str(tmp_path / name) for name in ("page.html", "page-loss.svg", "page-accuracy.svg")
    ]
    assert "give a folder that `seesay reasoner` made" in error_of(capsys, "curve", tmp_path)


def test_a_data_set_and_a_probe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `scenes make` writes is learnt from; `probe` on its test items finds the accuracy that
    `train` told."""
    data, folder = tmp_path / "data", tmp_path / "made"
    write_dataset(
        SceneConfig("pos"),
        make_plan("pos", 100),
        SceneOutput(data, picture=192, formats=("json",)),
        workers=1,
    )
    run("reasoner", "train", "object-centred", "--data", data, "-o", folder, *QUICK[2:], "--json")
    printed = json.loads(capsys.readouterr().out)
    assert (printed["task"], printed["items"]) == ("data", {"train": 80, "val": 10, "test": 10})
    run(
        "probe",
        folder,
        "-t",
        "malevic-pos",
        "--data",
        data,
        "-o",
        tmp_path / "run",
        "--resamples",
        "100",
        "--json",
    )
    run_row = json.loads(capsys.readouterr().out)[0]
    assert (run_row["metric"], run_row["n"]) == ("accuracy", 10)
    # the same under every template: it reads sentences
    assert run_row["value"] == pytest.approx(printed["tests"]["test"])


def test_reasoner_that_learnt_nothing_says_so_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rate that moves nothing: the best weights are the untrained ones.

    They were tested and probed as if they had been trained.
    """
    data, folder = tmp_path / "data", tmp_path / "made"
    plan = make_plan("pos", 100)
    output = SceneOutput(data, picture=192, formats=("json",))
    write_dataset(SceneConfig("pos"), plan, output, workers=1)
    command = ("reasoner", "train", "object-centred", "--data", data, "-o", folder, *QUICK[2:])
    run(*command, "--learning-rate", "1e-12", "--json")
    out, err = capsys.readouterr()
    printed = json.loads(out)
    assert (printed["best_step"], printed["learnt"]) == (0, False)
    sentence = "It learnt nothing: no validation was better than the one before the first step"
    assert printed["warning"].startswith(sentence)
    assert sentence in " ".join(err.split())
    run(*command, "--learning-rate", "1e-12")
    assert sentence in " ".join(capsys.readouterr().out.split())
    assert sentence in (folder / "training" / "curve.html").read_text(encoding="utf-8")
    runs = tmp_path / "run"
    task = ("-t", "malevic-pos", "--data", data)
    run("probe", folder, *task, "-o", runs, "--resamples", "100", "--json")
    capsys.readouterr()
    (manifest,) = runs.rglob("manifest.json")
    (note,) = json.loads(manifest.read_text(encoding="utf-8"))["notes"]
    assert note.startswith(f"{folder} learnt nothing in its training")


def test_diagnose(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A page with its figures, and the same numbers as JSON; accuracy on the test's own items is
    what training told."""
    folder, page = tmp_path / "made", tmp_path / "page.html"
    run("reasoner", "train", "object-centred", "-t", "set+pos", "-o", folder, *QUICK, "--json")
    tests = json.loads(capsys.readouterr().out)["tests"]
    command = (
        "reasoner",
        "diagnose",
        folder,
        "-o",
        page,
        "--items",
        "10",
        "--examples",
        "2",
        "--device",
        "cpu",
    )
    run(*command, "--json")
    out, err = capsys.readouterr()
    printed = json.loads(out)
    assert err == ""
    assert printed["written"][0] == str(page)
    assert all(Path(path).is_file() for path in printed["written"])
    (one,) = printed["reasoners"]
    assert (one["network"], one["task"]) == ("object-centred", "set+pos")
    own = {row["test"]: row for row in one["accuracy"] if row["group"] == ["reasoner"]}
    assert {name: (row["items"], row["accuracy"]) for name, row in own.items()} == {
        "set+pos": (10, tests["test"]),
        "set+pos-hard": (10, tests["set+pos-hard"]),
    }
    assert len(one["examples"]) == 2
    run(*command)
    out, err = capsys.readouterr()
    assert "SET+POS-hard" in out
    assert out.endswith(f"{page}\n")
    assert "answers" in err
    assert "There is no trained reasoner in" in error_of(
        capsys, "diagnose", folder, tmp_path, *command[3:]
    )
    arguments = ("reasoner", "diagnose", folder, "-o", page, "--device", "gpu")
    assert "'gpu' is not one of 'cpu', 'auto'" in usage_error(capsys, *arguments)


def test_start_from_another_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its weights are taken over: with a rate that moves nothing, it says what the other says of
    the same items."""
    first, second = tmp_path / "first", tmp_path / "second"
    run("reasoner", "train", "object-centred", "-t", "pos", "-o", first, *QUICK, "--json")
    tests = json.loads(capsys.readouterr().out)["tests"]
    command = (
        "reasoner",
        "train",
        "object-centred",
        "-t",
        "pos",
        "-o",
        second,
        *QUICK,
        "--learning-rate",
        "1e-12",
    )
    run(*command, "--from", first, "--json")
    assert json.loads(capsys.readouterr().out)["tests"] == tests
    before, after = (load_file(folder / "model.safetensors") for folder in (first, second))
    assert all(np.allclose(before[name], after[name], atol=1e-6) for name in before)
    assert "was started with start " in error_of(capsys, *command[1:])
    small = ("--image-size", "16", *QUICK, "-o", tmp_path / "third")
    message = error_of(capsys, "train", "film", "-t", "pos", "--from", first, *small)
    assert (
        f"The reasoner in '{first}' (object-centred) has other layers: start from one of the same "
        "network" in message
    )
    assert "could not be read" in error_of(
        capsys, "train", "film", "-t", "pos", "--from", tmp_path, *small
    )
    assert not (tmp_path / "third").exists()


def test_easy_vqa(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pictures that nobody here made, and 13 answers: learnt from, tested on, and asked by
    `probe`."""
    if find_spec("easy_vqa") is None:
        absent("easy-vqa is not installed: pip install easy-vqa")
    folder = tmp_path / "made"
    run(
        "reasoner",
        "train",
        "cnn-lstm",
        "-t",
        "easy-vqa",
        "-o",
        folder,
        "--image-size",
        "16",
        *QUICK,
        "--json",
    )
    printed = json.loads(capsys.readouterr().out)
    assert (printed["task"], printed["items"]["train"], printed["items"]["test"]) == (
        "easy-vqa",
        80,
        9_673,
    )
    run(
        "probe",
        folder,
        "-t",
        "easy-vqa",
        "--limit",
        "20",
        "-o",
        tmp_path / "run",
        "--resamples",
        "100",
        "--json",
    )
    run_row = json.loads(capsys.readouterr().out)[0]
    assert (run_row["metric"], run_row["n"]) == ("accuracy", 20)
    assert "has no test of scenes" in error_of(
        capsys, "diagnose", folder, "-o", tmp_path / "page.html"
    )


def test_interrupted_and_resumed(tmp_path: Path) -> None:
    """The weights are those of a training that nothing interrupted, bit by bit; dropout,
    augmentation and all."""
    command = [
        "reasoner",
        "train",
        "cnn-lstm",
        "-t",
        "pos",
        "--items",
        "80",
        "--image-size",
        "16",
        "--epochs",
        "4",
        "--batch",
        "8",
        "--dropout",
        "0.3",
        "--preset",
        "cpu",
        "--device",
        "cpu",
        "--quiet",
        "-o",
    ]
    run(*command, tmp_path / "whole")
    checkpoint = tmp_path / "parts" / "training" / "checkpoint.safetensors"
    with subprocess.Popen(
        [*SEESAY, *command, str(tmp_path / "parts")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not checkpoint.exists():
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert not (tmp_path / "parts" / "config.json").exists()
    assert (process.returncode, out) == (130, "")
    assert err == (
        "seesay: Interrupted. What was saved is kept: commands that save their progress resume "
        "when run again.\n"
    )
    run(*command, tmp_path / "parts")
    whole, parts = (
        (tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "parts")
    )
    assert whole == parts


def test_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A training that was made by hand counts; tables with the published figures; and as JSON."""
    run(
        "reasoner",
        "train",
        "object-centred",
        "-t",
        "pos",
        "-o",
        tmp_path / "object-centred/pos/preset-seed0",
        *QUICK,
    )
    made = tmp_path / "object-centred/pos/preset-seed0/training/result.json"
    before = made.stat().st_mtime_ns
    capsys.readouterr()
    command = ("reasoner", "sweep", "-o", tmp_path, "--networks", "object-centred", *QUICK)
    run(*command, "--tasks", "pos", "--tasks", "compositional,pos", "--seeds", "2")
    out, err = capsys.readouterr()
    assert made.stat().st_mtime_ns == before
    for message in ("Table 1", "POS-hard", "unseen", "ceiling, k = 0.29", "97%", "4 trainings"):
        assert message in out
    assert "1 of 4: pos …" in err
    assert "1 of 4: pos: " not in err  # it is trained already
    assert "2 of 4: compositional: " in err
    with (tmp_path / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["task"], row["seed"]) for row in rows] == [
        ("pos", "0"),
        ("compositional", "0"),
        ("pos", "1"),
        ("compositional", "1"),
    ]
    run(*command, "--tasks", "pos", "--seeds", "1", "--json")
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["trainings"]) == 4  # the whole folder's, not this command's alone
    assert {(one["task"], one["config"], one["seeds"]) for one in printed["best"]} == {
        ("pos", "preset", 2),
        ("compositional", "preset", 2),
    }
    (pos,) = (one for one in printed["tables"] if one["column"] == "POS")
    assert pos["mean"] == pytest.approx(
        sum(float(row["test"]) for row in rows if row["task"] == "pos") / 2
    )
    assert Path(printed["page"]).is_file()
    run(*command, "--tasks", "pos", "--seeds", "1", "--silent")
    assert capsys.readouterr() == ("", "")
    # its row stands; there is nothing left to ask
    rmtree(tmp_path / "object-centred/compositional/preset-seed0")
    run(*command, "--tasks", "pos", "--seeds", "1")
    out, err = capsys.readouterr()
    assert "unseen" in out
    assert "compositional/preset-seed0 is not diagnosed: There is no trained reasoner in" in err
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "object-centred, POS: by sentence type and shape" in page
    assert "object-centred, seen only: by" not in page


@pytest.mark.seconds
def test_shares_of_a_sweep_are_merged_into_the_same_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In another order than that of the plan, and one of them repeated elsewhere."""
    command = ("reasoner", "sweep", "--cells", "object-centred/pos", "--seeds", "3", *QUICK)
    run(*command, "-o", tmp_path / "whole")
    for job, number in enumerate((2, 1, 2)):
        run(*command, "-o", tmp_path / f"job-{job}", "--shard", f"{number}/2")
        capsys.readouterr()
        if job == 0:
            message = error_here(capsys, "merge", tmp_path / "job-0", "-o", tmp_path / "merged")
            assert "Of the reasoner sweep, share 1 of 2 is missing" in message
    jobs = [tmp_path / f"job-{job}" for job in range(3)]
    run("merge", *jobs, "-o", tmp_path / "merged")
    whole, merged = (sweep_files(tmp_path / name) for name in ("whole", "merged"))
    assert whole == merged
    assert "object-centred/pos/preset-seed2/model.safetensors" in whole


def sweep_files(folder: Path) -> dict[str, object]:
    """The files of a sweep, without what says how long it took, and of checkpoints."""
    files: dict[str, object] = {}
    for path in folder.rglob("*"):
        if path.is_file() and "training" not in path.parts:
            files[path.relative_to(folder).as_posix()] = path.read_bytes()
    with (folder / "results.csv").open(encoding="utf-8", newline="") as file:
        files["results.csv"] = [{**row, "minutes": ""} for row in csv.DictReader(file)]
    return files


def test_a_sweep_with_too_little_time_is_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("reasoner", "sweep", "-o", tmp_path, "--cells", "object-centred/pos", "--seeds", "1")
    quick = ("--items", "80", "--epochs", "3", "--preset", "cpu", "--device", "cpu")
    run(*command, *quick, "--minutes", "0")
    assert "The 0 minutes are over: the same command resumes." in capsys.readouterr().err
    assert not (tmp_path / "results.csv").exists()
    run(*command, *quick, "--json")
    (line,) = json.loads(capsys.readouterr().out)["best"]
    assert (line["network"], line["task"], line["seeds"], line["batch_norm"]) == (
        "object-centred",
        "pos",
        1,
        None,
    )
    assert line["highest"] == line["mean"]
    assert Path(line["best_run"]) == tmp_path / "object-centred/pos/preset-seed0"


def test_a_dry_run_trains_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = (
        "reasoner",
        "sweep",
        "-o",
        tmp_path / "made",
        "--cells",
        "film/pos,object-centred/pos",
        "--dry-run",
    )
    run(*command, "--items", "80", "--grid", "paper", "--preset", "cpu", "--workers", "4")
    assert "51 trainings: " in (shown := capsys.readouterr().out)
    assert "with 4 workers" in shown
    run(*command, "--items", "80", "--preset", "cpu", "--json")
    plan = json.loads(capsys.readouterr().out)
    assert [(cell["network"], cell["trainings"]) for cell in plan["cells"]] == [
        ("film", 3),
        ("object-centred", 3),
    ]
    assert plan["hours"]["here"] == pytest.approx(sum(cell["hours"] for cell in plan["cells"]))
    assert not (tmp_path / "made").exists()


def test_sweep_with_only_failures_reports_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "object-centred/pos/preset-seed0").mkdir(parents=True)
    (tmp_path / "object-centred/pos/preset-seed0/config.json").write_text("{}", encoding="utf-8")
    command = (
        "sweep",
        "-o",
        tmp_path,
        "--networks",
        "object-centred",
        "--tasks",
        "pos",
        "--seeds",
        "1",
        *QUICK,
    )
    message = error_of(capsys, *command, "--quiet")
    assert message.startswith("All trainings failed; the first error: ")
    assert "holds another model (config.json)" in message


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("train", "flim"),
            "Unknown network 'flim': choose one of cnn-lstm, stacked-attention, film, "
            "object-centred.",
        ),
        (("train", "film", "-t", "positive"), "Unknown scene task 'positive': choose one of sup1"),
        (
            ("train", "film", "-t", "pos-hard"),
            "pos-hard is only a test: train on pos, which is tested on it too.",
        ),
        (
            ("train", "film", "--learning-rate", "0"),
            "--learning-rate is 0.0: give a number above 0",
        ),
        (("train", "film", "--features", "objects"), "takes pixels or feature maps, not objects"),
        (("train", "film", "--data", "absent"), "There is no folder"),
        (("train", "film", "--data", "empty"), "has no train items"),
        (
            ("train", "film", "--data", "empty", "--items", "80"),
            "--items is for scenes made on the fly",
        ),
        (
            ("train", "film", "-o", "other", "--items", "80", "--image-size", "16"),
            "other holds another model (config.json)",
        ),
        (
            ("train", "film", "-t", "mixture-64", "--items", "64"),
            "mixture-64 needs more than 64 training items",
        ),
        (("sweep", "-o", "made", "--networks", "film,flim"), "Unknown network 'flim'"),
        (("sweep", "-o", "made", "--tasks", "pos,pos-hard"), "pos-hard is only a test"),
        (("sweep", "-o", "made", "--tasks", ","), "Name at least one network and one task."),
    ],
)
def test_mistakes_give_one_sentence(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    Path("other").mkdir()
    Path("other/config.json").write_text("{}", encoding="utf-8")
    assert sentence in error_of(capsys, *arguments)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "other"]
    assert [path.name for path in Path("other").iterdir()] == ["config.json"]


@pytest.mark.parametrize(
    ("arguments", "choices"),
    [
        (("train", "film", "--preset", "huge"), "'huge' is not one of 'cpu', 'paper', 'auto'"),
        (("train", "film", "--device", "gpu"), "'gpu' is not one of 'cpu', 'auto'"),
        (("sweep", "-o", "made", "--grid", "all"), "'all' is not one of 'paper', 'preset'"),
    ],
)
def test_unknown_choices_list_the_choices(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], choices: str
) -> None:
    assert choices in usage_error(capsys, "reasoner", *arguments)
