"""`seesay probe` as a user meets it."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.cli.program import SEESAY, error_here, error_of, seesay

from seesay.questions import BadRow, Slice
from seesay.runs import store
from seesay.runs.records import Manifest, Record

FEW = ("--resamples", "100", "--task", "core-color", "--limit", "5")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Away from the folders of runs: `mock` would name one of them there, and not the model."""
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))


def probe(
    output: Path, *arguments: str | Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    done = seesay("probe", *arguments, "--output", output, **environment)
    assert done.returncode == 0, done.stderr
    return done


def records(output: Path, *arguments: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(probe(output, *arguments, "--json").stdout)
    return rows


def test_a_table_and_a_report(tmp_path: Path) -> None:
    done = probe(tmp_path / "runs", "mock", *FEW)
    assert "relaxed_accuracy" in done.stdout
    assert f"Report: {tmp_path / 'runs' / 'report.html'}" in done.stdout
    assert (tmp_path / "runs" / "report.html").read_text().startswith("<!")
    assert "mock · core-color" in done.stderr
    probe(tmp_path / "runs", "mock", *FEW, "--report", tmp_path / "deep" / "page.html")
    assert (tmp_path / "deep" / "page.html").is_file()


def test_records(tmp_path: Path) -> None:
    rows = records(tmp_path, "mock", *FEW)
    for record in rows:
        assert list(record) == list(Record.model_fields)
        # printed as a text, stored as tags and values
        part = record["slice"] and Slice.parse(record["slice"])
        checked = Record.model_validate({**record, "slice": part})
        assert checked.low <= checked.value <= checked.high
        assert checked.signature.endswith(f"|metric:{checked.metric}")
    overall = [record for record in rows if record["template"] is None and record["slice"] is None]
    assert [record["metric"] for record in overall][:2] == [
        "relaxed_accuracy",
        "calibrated_relaxed_accuracy",
    ]
    assert {record["n"] for record in overall} == {5}
    assert len({record["template"] for record in rows}) == 6 + 1
    assert any(str(record["slice"]).startswith("category=") for record in rows)


def test_nan_is_never_printed(tmp_path: Path) -> None:
    data = tmp_path / "memory_colors.jsonl"
    data.write_text('{"descriptor": "a", "item": "tomato", "label": "red"}\n')
    done = probe(
        tmp_path, "mock", "--task", "memory-colors", "--data", data, "--json", "--resamples", "100"
    )
    assert "NaN" not in done.stdout
    assert "Infinity" not in done.stdout
    assert json.loads(done.stdout)


def test_quiet_prints_figures_and_silent_nothing(tmp_path: Path) -> None:
    data = tmp_path / "memory_colors.jsonl"
    data.write_text('{"descriptor": "a", "item": "tomato", "label": "red"}\nrubbish\n')
    arguments = ("mock", "--task", "memory-colors", "--data", data, "--resamples", "100")
    quiet = probe(tmp_path, *arguments, "--quiet")
    assert ("accuracy" in quiet.stdout, "Report:" in quiet.stdout, quiet.stderr) == (
        True,
        False,
        "",
    )
    silent = probe(tmp_path, *arguments, "--silent")
    assert (silent.returncode, silent.stdout, silent.stderr) == (0, "", "")


def test_bad_rows_are_reported_and_the_rest_asked(tmp_path: Path) -> None:
    data = tmp_path / "memory_colors.jsonl"
    data.write_text('{"descriptor": "a", "item": "tomato", "label": "red"}\nrubbish\n')
    done = probe(tmp_path, "mock", "--task", "memory-colors", "--data", data, "--resamples", "100")
    assert "1 bad row left out, 1 question kept" in done.stderr
    assert "row 2: not JSON" in done.stderr
    (manifest,) = tmp_path.rglob(store.MANIFEST)
    assert Manifest.model_validate_json(manifest.read_text()).bad_rows == [BadRow(2, "not JSON")]


def test_several_models_and_tasks(tmp_path: Path) -> None:
    rows = records(
        tmp_path,
        "mock",
        "baseline:uniform",
        "baseline:majority",
        "mock",
        "--resamples",
        "100",
        "--limit",
        "4",
    )
    assert {record["model"] for record in rows} == {
        "mock",
        "baseline:uniform",
        "baseline:majority",
    }
    assert {record["task"] for record in rows} == {
        "core-color",
        "core-size",
        "core-space",
        "core-parts",
    }
    keys = [(r["model"], r["task"], r["metric"], r["template"], r["slice"]) for r in rows]
    assert len(set(keys)) == len(keys)


def test_the_uniform_baseline_scores_chance(tmp_path: Path) -> None:
    probe(tmp_path, "baseline:uniform", *FEW, "--quiet")
    (folder,) = (path.parent for path in tmp_path.rglob(store.MANIFEST))
    figures = [figure for figure in store.read_run(folder).figures if figure.chance is not None]
    assert {figure.metric for figure in figures} >= {"relaxed_accuracy", "true_confidence"}
    for figure in figures:
        assert figure.value == pytest.approx(figure.chance)


def test_a_finished_run_is_not_asked_again(tmp_path: Path) -> None:
    probe(tmp_path, "mock", *FEW, "--quiet")
    (answers,) = tmp_path.rglob(store.ANSWERS)
    before = answers.stat().st_mtime_ns
    again = probe(tmp_path, "mock", *FEW)
    assert answers.stat().st_mtime_ns == before
    assert "30 of 30" in again.stderr
    assert len(list(tmp_path.rglob(store.ANSWERS))) == 1
    probe(tmp_path, "mock", *FEW, "--length", "mean", "--quiet")
    assert len(list(tmp_path.rglob(store.ANSWERS))) == 2


def test_the_manifest_holds_the_command(tmp_path: Path) -> None:
    probe(tmp_path, "mock:a b", *FEW, "--quiet")
    (path,) = tmp_path.rglob(store.MANIFEST)
    manifest = Manifest.model_validate_json(path.read_text())
    assert manifest.command.startswith(
        "seesay probe 'mock:a b' --resamples 100 --task core-color --limit 5"
    )
    assert manifest.environment["python"]


def test_a_folder_whose_name_is_not_utf8(tmp_path: Path) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    try:
        Path(odd).mkdir()
    except OSError:
        pytest.skip("this file system takes text only")
    assert json.loads(probe(Path(odd), "mock", *FEW, "--json").stdout)
    listed = json.loads(seesay("report", odd, "--output", f"{odd}/page.html", "--json").stdout)
    assert len(listed["runs"]) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["mock", "--task", "core-colour"],
            "Unknown task 'core-colour'. Did you mean 'core-color'",
        ),
        (["mock", "--task", ""], "--task names no task"),
        (["mock", "--task", " , "], "--task names no task"),
        ([""], "is not a model's name"),
        (["\x1b[31m"], "is not a model's name"),
        (["baselin:uniform"], "Unknown model 'baselin:uniform'. Did you mean 'baseline:'"),
        (["baseline:unifrom"], "Did you mean 'uniform'"),
        (["./nowhere"], "'./nowhere' is not a folder"),
        (["nowhere.gguf"], "There is no file 'nowhere.gguf'"),
        (["mock:0:soon"], "milliseconds"),
        (["mock:0:²"], "milliseconds"),
        (["openai:"], "A server needs a model name and an address"),
        (["openai:x"], "A server needs a model name and an address"),
        (["openai:x", "--base-url", "localhost:80"], "is not an address"),
        (["openai:x", "--base-url", "http://[::1"], "is not an address"),
        (["openai:x", "--base-url", "http://127.0.0.1:1/v1"], "gave no answer in 5 tries"),
        (
            ["mock", "--endpoint", "smoke"],
            "Unknown endpoint 'smoke': choose one of completions, chat.",
        ),
        (["mock", "--scope", "all"], "Unknown scope 'all': choose one of sentence, option, rest."),
        (["mock", "--length", "median"], "choose one of sum, mean, char"),
        (["mock", "--batch-size", "0"], "--batch-size is '0'"),
        (["mock", "--batch-size", "²"], "--batch-size is '²'"),
        (["mock", "--batch-size", "-5"], "--batch-size is '-5'"),
        (["mock", "--batch-size", "9" * 40], "--batch-size is '999"),
        (["mock", "--limit", "-1"], "--limit is -1"),
        (["mock", "--limit", "0"], "--limit is 0"),
        (["mock", "--resamples", "1"], "--resamples is 1: give a number from 100"),
        (["mock", "--resamples", "9" * 12], "--resamples is 999"),
        (["mock", "--seed", "-1"], "--seed is -1"),
        (
            ["mock", "--data", "x.csv"],
            "--data goes with one data set, not with those of core-color",
        ),
    ],
)
def test_mistakes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert sentence in error_here(capsys, "probe", *arguments, "--output", tmp_path / "runs")
    assert not list(tmp_path.rglob(store.MANIFEST))


RUBBISH = {
    "binary": bytes(range(256)) * 20,
    "empty": b"",
    "one long line": b"x" * 300_000,
    "half a surrogate": rb'{"descriptor": "a", "item": "\ud800", "label": "red"}',
    "a slot in the data": b'{"descriptor": "a", "item": "[MASK]", "label": "red"}',
    "no colour": b'{"descriptor": "a", "item": "tomato", "label": "fast"}',
    "nesting": b"[" * 60_000,
    "nothing but a header": b"article,object,colors,category\n",
}


@pytest.mark.parametrize("task", ["memory-colors", "core-color"])
@pytest.mark.parametrize("content", RUBBISH.values(), ids=RUBBISH)
def test_data_files_that_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, task: str
) -> None:
    data = tmp_path / "data"
    data.write_bytes(content)
    assert str(data) in error_here(
        capsys, "probe", "mock", "--task", task, "--data", data, "--output", tmp_path / "runs"
    )


def test_data_that_is_a_folder_or_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for data in (tmp_path, tmp_path / "nowhere"):
        for task in ("memory-colors", "core-color"):
            sentence = error_here(
                capsys,
                "probe",
                "mock",
                "--task",
                task,
                "--data",
                data,
                "--output",
                tmp_path / "runs",
            )
            assert str(data) in sentence


@pytest.mark.parametrize(
    ("output", "report", "sentence"),
    [
        ("file", "page.html", "File exists"),
        ("file/runs", "page.html", "Not a directory"),
        ("runs", "file/page.html", "File exists"),
        ("runs", "file/deep/page.html", "Not a directory"),
        ("runs", "folder", "is a folder"),
        ("x" * 300, "page.html", "name too long"),
    ],
)
def test_places_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], output: str, report: str, sentence: str
) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    places = ("--output", tmp_path / output, "--report", tmp_path / report)
    assert sentence in error_here(capsys, "probe", "mock", *FEW, *places)
    assert not list(tmp_path.rglob(store.MANIFEST))


def test_a_folder_that_is_read_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(self: Path, *_: object, **__: object) -> None:  # what root is never told
        raise PermissionError(errno.EACCES, "denied", str(self))

    monkeypatch.setattr(Path, "mkdir", denied)
    sentence = error_here(capsys, "probe", "mock", *FEW, "--output", tmp_path / "runs")
    assert sentence.startswith(f"Cannot read or write '{tmp_path / 'runs'}': Permission denied")


@pytest.mark.parametrize("size", [1_000, 20_000])
def test_a_full_disk_loses_nothing(tmp_path: Path, size: int) -> None:
    """A limit on the size of files stands in for the disk: the same error path, another number."""
    arguments = [
        "probe",
        "mock",
        "--task",
        "core-color",
        "--resamples",
        "100",
        "--output",
        str(tmp_path),
    ]

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    done = subprocess.run(
        [*SEESAY, *arguments], preexec_fn=full, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("seesay: Cannot read or write")
    assert "File too large" in done.stderr
    assert not list(tmp_path.rglob("*.unfinished"))
    probe(tmp_path, "mock", "--task", "core-color", "--resamples", "100", "--quiet")


def test_interrupted_and_resumed(tmp_path: Path) -> None:
    arguments = [
        "probe",
        "mock:0:150",
        "--task",
        "core-color",
        "--resamples",
        "100",
        "--output",
        str(tmp_path),
    ]
    with subprocess.Popen(
        [*SEESAY, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not any(path.stat().st_size for path in tmp_path.rglob(store.JOURNAL)):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert err.splitlines()[-1] == (
        "seesay: Interrupted. What was saved is kept: commands that save their progress resume "
        "when run again."
    )
    (journal,) = tmp_path.rglob(store.JOURNAL)
    assert journal.read_bytes().count(b"\n") >= 64
    probe(tmp_path, *arguments[1:-2], "--quiet")
    assert not journal.exists()


def without(tmp_path: Path, module: str) -> dict[str, str]:
    """An environment in which a module is not installed."""
    folder = tmp_path / "without"
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(f"import sys\nsys.modules[{module!r}] = None\n")
    return {"PYTHONPATH": str(folder)}


@pytest.mark.parametrize(
    ("model", "module", "extra"),
    [
        ("smollm2", "torch", "models"),
        ("some/model", "transformers", "models"),
        ("openai:x", "httpx", "api"),
        ("baseline:frequency", "wordfreq", "models"),
    ],
)
def test_a_missing_extra_is_answered_with_its_install_line(
    tmp_path: Path, model: str, module: str, extra: str
) -> None:
    sentence = error_of(
        "probe",
        model,
        *FEW,
        *("--base-url", "http://127.0.0.1:1/v1"),
        *("--output", tmp_path / "runs"),
        **without(tmp_path, module),
    )
    assert sentence.endswith(f"pip install 'seesay[{extra}]'.")


def test_a_damaged_run_is_one_sentence(tmp_path: Path) -> None:
    probe(tmp_path, "mock", *FEW, "--quiet")
    (answers,) = tmp_path.rglob(store.ANSWERS)
    answers.write_bytes(answers.read_bytes()[:100])
    assert "is damaged" in error_of("probe", "mock", *FEW, "--output", tmp_path)


def test_two_at_once(tmp_path: Path) -> None:
    arguments = [
        "probe",
        "mock:0:500",
        "--task",
        "core-color",
        "--resamples",
        "100",
        "--output",
        str(tmp_path),
    ]
    with subprocess.Popen([*SEESAY, *arguments, "--quiet"]) as first:
        while not list(tmp_path.rglob(store.QUESTIONS)):
            assert first.poll() is None
            time.sleep(0.01)
        assert "Another process is using" in error_of(*arguments)
        first.kill()


def test_one_page_shows_what_is_in_the_folder(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    probe(runs, "mock", *FEW)
    shown = probe(runs, "baseline:majority", *FEW).stdout
    page = (runs / "report.html").read_text()
    # the table is of this call, the page of the folder, with the test between the two
    assert "mock" not in shown
    assert "Compared with baseline:majority, mock is" in page
    both = probe(runs, "mock", "baseline:majority", *FEW).stdout
    assert "Compared with baseline:majority, mock is" in both


def test_rows_that_ask_the_same_are_reported(tmp_path: Path) -> None:
    """Contradictions come first; every row counts all the same."""
    table = tmp_path / "things.csv"
    table.write_text(
        "thing,color\ncoal,black\ncoal,black\nlemon,yellow\nlemon,yellow\nlemon,red\nsky,blue\n"
    )
    task_file = tmp_path / "things.yaml"
    task_file.write_text(
        'version: "1"\nrows: things.csv\nobject: thing\noptions: {answers: color}\ngold: color\n'
        'templates: "The {thing} is [MASK]."\n'
    )
    done = seesay(
        *(
            "probe",
            "baseline:majority",
            "--task",
            task_file,
            "--resamples",
            "100",
            "--output",
            tmp_path,
        )
    )
    lines = done.stderr.splitlines()
    place = lines.index(
        "seesay: things: 2 questions are asked by several rows, and every row counts."
    )
    assert lines[place + 1 : place + 3] == [
        "  the rows 4, 5, 6 ask the same, with different answers (yellow, red)",
        "  the rows 2, 3 ask the same, with the answer 'black'",
    ]
    # what is published is known to be so
    published = seesay(
        *("probe", "baseline:majority", "--task", "core-color", "--limit", "5"),
        *("--resamples", "100", "--output", tmp_path),
    )
    assert "several rows" not in published.stderr


def test_objects_that_seem_to_be_one_are_reported(tmp_path: Path) -> None:
    table = tmp_path / "things.csv"
    table.write_text("thing,color\napple,red\nlemon,yellow\nApple,red\nsky,blue\nSky,blue\n")
    task_file = tmp_path / "things.yaml"
    task_file.write_text(
        'version: "1"\nrows: things.csv\nobject: thing\noptions: {answers: color}\ngold: color\n'
        'templates: "The {thing} is [MASK]."\n'
    )
    done = seesay(
        *(
            "probe",
            "baseline:majority",
            "--task",
            task_file,
            "--resamples",
            "100",
            "--output",
            tmp_path,
        )
    )
    lines = done.stderr.splitlines()
    place = lines.index(
        "seesay: things: the objects 'apple' (row 2) and 'Apple' (row 4) differ only in capitals "
        "or blanks: they count as 2 in intervals."
    )
    assert lines[place + 1] == "  … and 1 more (`seesay tasks check`)"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--chat", "--chat-both"), "leave out --chat"),
        (("--price", "1,2"), "--price and --budget are for models of servers"),
        (("--budget", "100"), "--price and --budget are for models of servers"),
    ],
)
def test_options_without_effect_are_refused(
    options: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = error_here(capsys, "probe", "baseline:majority", "--task", "core-color", *options)
    assert sentence in told
