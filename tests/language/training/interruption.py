"""Trainings that are interrupted and resumed, and the weights that they end with."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from seesay.training import loop
from seesay.training.checkpoint import CHECKPOINT


def interrupt_and_resume(
    train: Callable[..., object], folder: Path, monkeypatch: pytest.MonkeyPatch, *, step: int = 3
) -> None:
    """Press Ctrl-C after so many steps of a training in the folder, then train to the end.

    `train` takes the `progress` that a training reports to.
    """

    def press(now: loop.TrainingProgress) -> None:
        if now.step == step:
            signal.raise_signal(signal.SIGINT)

    # every step is reported
    monkeypatch.setattr(loop, "_REPORT_EVERY", 0.0)
    with pytest.raises(KeyboardInterrupt):
        train(progress=press)
    # there is something to resume from, but half a model is none
    assert (folder / "training" / CHECKPOINT).is_file()
    assert not (folder / "config.json").exists()
    steps: list[int] = []
    train(progress=lambda now: steps.append(now.step))
    assert steps[0] == step + 1


def weights(folder: Path) -> dict[str, torch.Tensor]:
    """Return the weights that a training has saved."""
    return load_file(folder / "model.safetensors")


def have_same_weights(first: Path, second: Path) -> bool:
    """Return whether two folders hold the same weights, to the last bit."""
    before = weights(first)
    after = weights(second)
    same_names = before.keys() == after.keys()
    return same_names and all(torch.equal(before[name], after[name]) for name in before)
