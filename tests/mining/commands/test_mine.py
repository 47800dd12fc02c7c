"""`seesay mine` as a user runs it."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.cli.program import error_here, error_of

from seesay.cli import main
from seesay.data import knowledge
from seesay.data.knowledge import SubtypeFact
from seesay.mining import rooms


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> str:
    world = rooms.write_rooms(tmp_path_factory.mktemp("rooms"), 12, width=160, height=120)
    return f"plain:{world / 'annotations.parquet'}"


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    main_arguments = [
        "mine",
        *map(str, arguments),
        "--min-seen",
        "3",
        "--min-relation",
        "1",
        "--workers",
        "1",
    ]
    with pytest.raises(SystemExit) as ended:
        main(main_arguments)
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_tables_json_and_quiet(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = run(capsys, "-a", spec, "-o", tmp_path)
    assert "12 pictures" in printed
    assert f"Next: seesay probe --task viphy-size --data {tmp_path}" in "".join(
        printed.splitlines()
    )
    summary = json.loads(run(capsys, "-a", spec, "-o", tmp_path, "--json", "--transitive"))
    assert summary["facts"]["sizes"] > 0
    assert {"annotations", "bad", "folder", "pictures", "pictures_per_second", "seconds"} <= set(
        summary
    )
    assert (tmp_path / "transitive/sizes.parquet").is_file()
    quiet = run(capsys, "-a", spec, "-o", tmp_path, "--quiet")
    assert ("sizes" in quiet, "Next:" in quiet) == (True, False)
    assert run(capsys, "-a", spec, "-o", tmp_path, "--silent") == ""


def test_captions_without_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["a man with a kitchen table", "a table and a kitchen table"] * 100
    (tmp_path / "captions.txt").write_text("\n".join(lines))
    summary = json.loads(
        run(capsys, "-a", f"captions:{tmp_path / 'captions.txt'}", "-o", tmp_path / "k", "--json")
    )
    assert summary["facts"] == {"subtypes": 4}
    counts = {
        (fact.object, fact.subtype): fact.count
        for fact in knowledge.read(tmp_path / "k", SubtypeFact)
    }
    assert counts == {
        ("table", "table"): 100,
        ("table", "kitchen table"): 200,
        ("kitchen table", "kitchen table"): 200,
        ("man", "man"): 100,
    }
    assert not (tmp_path / "k/sizes.parquet").exists()
    (source,) = summary["sources"]
    assert (source["form"], source["captions"]) == ("plain text", 200)
    command = ("-a", f"captions:{tmp_path / 'captions.txt'}", "-o", tmp_path / "k")
    # also when nothing is read again
    assert json.loads(run(capsys, *command, "--json"))["sources"] == [source]
    assert "plain text" in run(capsys, *command)


def test_mistakes(spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = ("-o", tmp_path)
    assert "names no format" in error_here(capsys, "mine", "-a", "x", *output)
    for option in ("--space-rule", "--size-rule", "--subtype-rule", "--lexicon", "--engine"):
        with pytest.raises(SystemExit) as ended:
            main(["mine", "-a", spec, "-o", str(tmp_path), option, "x"])
        assert ended.value.code == 2
        message = capsys.readouterr().err
        assert f"'{option}'" in message
        assert "'x' is not one of" in message


@pytest.mark.parametrize(
    ("command", "module"),
    [("mine", "PIL"), ("mine", "duckdb"), ("mine", "spacy"), ("rooms", "PIL")],
)
def test_missing_extra_names_its_install_line(
    spec: str, tmp_path: Path, command: str, module: str
) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without/sitecustomize.py").write_text(
        f"import sys\nsys.modules[{module!r}] = None\n"
    )
    path = os.pathsep.join([str(tmp_path / "without"), os.environ.get("PYTHONPATH", "")])
    arguments = ["-a", spec] if command == "mine" else ["-n", "1"]
    sentence = error_of(command, *arguments, "-o", tmp_path / "new", "-q", PYTHONPATH=path)
    assert sentence.endswith("pip install 'seesay[mine]'.")


def mine_apart(
    spec: str, folder: Path, largest: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Mine in a process of its own with two workers, for all of which no file may be larger."""

    def limit_files() -> None:
        if largest is not None:
            # write() then fails with an error of the system, as on a full disk
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

    command = [sys.executable, "-m", "seesay", "mine", "-a", spec, "-o", str(folder)]
    settings = ["--rows", "4", "--workers", "2", "--min-seen", "3", "--min-relation", "1"]
    return subprocess.run(
        [*command, *settings, "--colors", "none", "--quiet"],
        capture_output=True,
        text=True,
        preexec_fn=limit_files,
        check=False,
    )


@pytest.mark.slow
def test_full_disk_with_two_workers(spec: str, tmp_path: Path) -> None:
    """In the process or in a worker, at any file: one sentence, and the same tables afterwards."""
    undisturbed = mine_apart(spec, tmp_path / "whole")
    assert undisturbed.returncode == 0, undisturbed.stderr
    sizes = [path.stat().st_size for path in (tmp_path / "whole").rglob("*") if path.is_file()]
    codes = []
    for largest in (16, sorted(sizes)[len(sizes) // 2], max(sizes) - 1):
        done = mine_apart(spec, tmp_path / "full", largest)
        codes.append(done.returncode)
        assert "Traceback" not in done.stderr, (largest, done.stderr)
        if done.returncode:
            assert done.stderr.startswith("seesay: ")
            assert len(done.stderr.strip().splitlines()) <= 3
    assert codes[0] == 2
    resumed = mine_apart(spec, tmp_path / "full")
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout == undisturbed.stdout
    for name in ("sizes", "places", "subtypes"):
        tables = [pq.read_table(tmp_path / run / f"{name}.parquet") for run in ("whole", "full")]
        assert tables[0].equals(tables[1])
