"""Data sets on disk: any number of workers, killed and resumed, never mixed."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from seesay.errors import NewerVersionError, UserError
from seesay.scenes import dataset_writer
from seesay.scenes.config import SceneConfig
from seesay.scenes.dataset_writer import SceneOutput, write_dataset
from seesay.scenes.plan import make_plan

FORMATS = ("json", "parquet")


def digest(folder: Path) -> dict[str, str]:
    """Every file's content."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


@pytest.mark.seconds
def test_number_of_workers_does_not_change_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, plan = SceneConfig("pos", seed=2), make_plan("pos", 450)
    splits = write_dataset(config, plan, SceneOutput(tmp_path / "one", 128, 32, FORMATS), workers=1)
    write_dataset(config, plan, SceneOutput(tmp_path / "two", 128, 32, FORMATS), workers=2)
    assert splits == {"train": 360, "val": 45, "test": 45}
    digests = digest(tmp_path / "one")
    assert digests == digest(tmp_path / "two")
    assert not any(name.startswith("parts") or name.endswith(".part") for name in digests)
    assert len([name for name in digests if name.endswith(".png")]) == 450


SCRIPT = """
from pathlib import Path
from seesay.scenes.dataset_writer import SceneOutput, write_dataset
from seesay.scenes.plan import make_plan
from seesay.scenes.config import SceneConfig
if __name__ == "__main__":
    output = SceneOutput(Path({folder!r}), 512, 16, ("json", "parquet"))
    write_dataset(SceneConfig("pos", seed=2), make_plan("pos", 2000), output, workers=2)
"""


@pytest.mark.slow
def test_killed_and_resumed_without_loss(tmp_path: Path) -> None:
    """Killed outright in the middle, several times; what comes out is byte for byte what an
    undisturbed run writes."""
    script, folder = tmp_path / "run.py", tmp_path / "killed"
    script.write_text(SCRIPT.format(folder=str(folder)))
    kills = 0
    while not _complete(folder):
        process = subprocess.Popen([sys.executable, str(script)], start_new_session=True)
        before = _parts(folder)
        while process.poll() is None and _parts(folder) < before + 2 and kills < 3:
            time.sleep(0.02)
        if kills < 3 and process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
        time.sleep(0.5)  # orphaned workers notice and leave
    assert kills >= 2
    plan = make_plan("pos", 2000)
    write_dataset(
        SceneConfig("pos", seed=2),
        plan,
        SceneOutput(tmp_path / "whole", 512, 16, FORMATS),
        workers=2,
    )
    assert digest(folder) == digest(tmp_path / "whole")


def _parts(folder: Path) -> int:
    return len(list(folder.glob("parts/*.tsv")))


def _complete(folder: Path) -> bool:
    manifest = folder / dataset_writer.MANIFEST
    return manifest.exists() and bool(json.loads(manifest.read_text())["complete"])


@pytest.mark.seconds
def test_interrupted_chunk_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, plan, output = (
        SceneConfig("sup1"),
        make_plan("sup1", 500),
        SceneOutput(tmp_path / "set", 64, None, FORMATS),
    )
    real, calls = dataset_writer._make_chunk, []

    def failing(job: dataset_writer._Job) -> None:
        calls.append(job)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(job)

    monkeypatch.setattr(dataset_writer, "_make_chunk", failing)
    with pytest.raises(KeyboardInterrupt):
        write_dataset(config, plan, output, workers=1)
    assert _parts(output.folder) == 1
    (output.folder / "parts" / "train-00000200.part").write_text("half a li")
    monkeypatch.setattr(dataset_writer, "_make_chunk", real)
    reports: list[tuple[int, int]] = []
    write_dataset(
        config, plan, output, workers=1, progress=lambda done, total: reports.append((done, total))
    )
    assert reports[0] == (200, 500)
    assert sum(done for done, _ in reports) == 500
    write_dataset(config, plan, SceneOutput(tmp_path / "whole", 64, None, FORMATS), workers=1)
    assert digest(output.folder) == digest(tmp_path / "whole")
    reports.clear()
    write_dataset(
        config, plan, output, workers=1, progress=lambda done, total: reports.append((done, total))
    )
    assert reports == [(500, 500)]


def test_other_settings_are_refused(tmp_path: Path) -> None:
    output = SceneOutput(tmp_path / "set", 64, None, ("json",))
    write_dataset(SceneConfig("pos"), make_plan("pos", 20), output, workers=1)
    before = digest(tmp_path)
    for config, plan, other in (
        (SceneConfig("pos", seed=1), make_plan("pos", 20), output),
        (SceneConfig("pos"), make_plan("pos", 30), output),
        (SceneConfig("pos", adjective="tall"), make_plan("pos", 20), output),
        (
            SceneConfig("pos"),
            make_plan("pos", 20),
            SceneOutput(output.folder, 128, None, ("json",)),
        ),
    ):
        with pytest.raises(UserError, match="other settings"):
            write_dataset(config, plan, other, workers=1)
    assert digest(tmp_path) == before


def test_data_set_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    output = SceneOutput(tmp_path / "set", None, None, ("json",))
    write_dataset(SceneConfig("pos"), make_plan("pos", 20), output, workers=1)
    manifest = output.folder / dataset_writer.MANIFEST
    settings = json.loads(manifest.read_text())
    assert settings["format"] == 1
    manifest.write_text(json.dumps({**settings, "format": 2}))
    with pytest.raises(
        NewerVersionError, match=r"The data set in .* was written by a newer version of seesay"
    ):
        write_dataset(SceneConfig("pos"), make_plan("pos", 20), output, workers=1)


def test_folders_with_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UserError, match="other files"):
        write_dataset(SceneConfig("pos"), make_plan("pos", 20), SceneOutput(tmp_path), workers=1)
    with pytest.raises(UserError, match="is a file"):
        write_dataset(
            SceneConfig("pos"),
            make_plan("pos", 20),
            SceneOutput(tmp_path / "thesis.tex"),
            workers=1,
        )
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / dataset_writer.MANIFEST).write_text("[]")
    with pytest.raises(UserError, match="other settings"):
        write_dataset(
            SceneConfig("pos"), make_plan("pos", 20), SceneOutput(tmp_path / "set"), workers=1
        )
    for output in (
        SceneOutput(tmp_path / "x", 3),
        SceneOutput(tmp_path / "x", array=10**6),
        SceneOutput(tmp_path / "x", formats=("csv",)),
    ):
        with pytest.raises(UserError):
            write_dataset(SceneConfig("pos"), make_plan("pos", 20), output, workers=1)
    assert not (tmp_path / "x").exists()


def test_concurrent_writers_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    config, plan, output = (
        SceneConfig("pos"),
        make_plan("pos", 250),
        SceneOutput(folder, None, None, ("json",)),
    )

    def second(done: int, total: int) -> None:
        if done:  # from another thread: the thread that holds the lock may take it again
            with ThreadPoolExecutor(1) as pool, pytest.raises(UserError, match="Another process"):
                pool.submit(write_dataset, config, plan, output, workers=1).result()

    write_dataset(config, plan, output, workers=1, progress=second)
    assert _complete(folder)
    assert not (folder / "parts").exists()


def test_only_arrays(tmp_path: Path) -> None:
    write_dataset(
        SceneConfig("pos"),
        make_plan("pos", 20),
        SceneOutput(tmp_path / "set", None, 24, ("json",)),
        workers=1,
    )
    assert not (tmp_path / "set" / "images").exists()
    assert np.load(tmp_path / "set" / "arrays" / "train.npy").shape == (16, 24, 24, 3)
