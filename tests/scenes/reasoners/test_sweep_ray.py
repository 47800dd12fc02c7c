"""A sweep on Ray: two workers, killed within a training and at random, and the table of a sweep
without Ray."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import torch
from tests.random_kills import RandomKiller

from seesay.scenes.reasoners import experiment, sweep
from seesay.scenes.reasoners.config import ReasonerConfig
from seesay.scenes.reasoners.features.extractor import FeatureExtractor
from seesay.scenes.reasoners.sources import ItemSource
from seesay.training import loop

ray = pytest.importorskip("ray", reason="Ray is not installed")


def plan() -> list[sweep.SweepTraining]:
    """Three small trainings of three epochs."""
    plan = sweep.SweepPlan(["object-centred"], ["set+pos"], 3, preset="cpu", items=80, epochs=3)
    return plan.trainings()


def train_and_test(
    source: ItemSource, folder: Path, config: ReasonerConfig, extractor: FeatureExtractor
) -> tuple[loop.Result, dict[str, float]]:
    """Seed 1 is killed in its third epoch, the first time."""

    def kill_once(now: loop.TrainingProgress) -> None:
        killed = folder.parent / "killed"
        if folder.name == "preset-seed1" and now.done > 0.7 and not killed.exists():
            assert (folder / "training" / "checkpoint.safetensors").is_file()
            killed.write_text("")
            os.kill(os.getpid(), signal.SIGKILL)

    splits = experiment.extract_splits(source, extractor)
    return experiment.train_and_test(
        source, splits, folder, config, device="cpu", progress=kill_once
    )


def digits(
    rows: list[sweep.SweepRow], folder: Path
) -> dict[str, tuple[float, dict[str, float], bytes]]:
    return {
        row.folder.relative_to(folder).as_posix(): (
            row.validation,
            row.tests,
            (row.folder / "model.safetensors").read_bytes(),
        )
        for row in rows
    }


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_trainings_of_killed_workers_resume_with_the_same_table(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    # 15 by default: on a busy machine they would hardly run
    monkeypatch.setenv("RAY_worker_niceness", "0")
    torch.set_num_threads(1)
    here = tmp_path / "here"
    (here / "object-centred" / "set+pos").mkdir(parents=True)
    (here / "object-centred" / "set+pos" / "killed").write_text("")  # nobody is killed here
    plain = sweep.sweep(here, plan(), train_and_test)
    shown: list[tuple[int, int]] = []
    killer = RandomKiller(seed)

    def show_and_kill(done: int, total: int) -> None:
        shown.append((done, total))
        killer(done, total)

    try:
        on_ray = sweep.sweep(
            tmp_path / "ray",
            plan(),
            train_and_test,
            ray_workers=2,
            progress=show_and_kill,
        )
    finally:
        ray.shutdown()
    assert (tmp_path / "ray" / "object-centred" / "set+pos" / "killed").exists()
    assert killer.killed
    assert shown == [(1, 3)] * 3
    assert [row.error for row in on_ray] == ["", "", ""]
    assert [row.key for row in on_ray] == [row.key for row in plain]
    assert digits(on_ray, tmp_path / "ray") == digits(plain, here)
