"""The best of several trained reasoners, by validation accuracy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from seesay.errors import UserError
from seesay.files import read_state
from seesay.scenes.reasoners import checkpoints
from seesay.scenes.reasoners.evaluate import read_network_and_task
from seesay.training.checkpoint import RESULT
from seesay.training.loop import Result


@dataclass(frozen=True, slots=True)
class TrainedReasoner:
    """A finished training: its folder, and the validation accuracy of its best weights."""

    folder: Path
    network: str
    task: str
    validation: float


def trained_reasoners(folders: Iterable[Path]) -> list[TrainedReasoner]:
    """Return the finished reasoners over scenes among some folders.

    Other models and unfinished trainings are skipped.
    """
    reasoners = []
    for folder in folders:
        # the result is there once a training has ended, the model's own files right after it
        result = folder / "training" / RESULT
        if not result.is_file() or not all((folder / name).is_file() for name in checkpoints.FILES):
            continue
        try:
            network, task = read_network_and_task(folder)
        except UserError:
            # a language model, or a reasoner over other pictures
            continue
        ended = read_state(result, Result, "train the reasoner again")
        reasoners.append(TrainedReasoner(folder, network, task, ended.best))
    return reasoners


def best_reasoners(reasoners: Iterable[TrainedReasoner]) -> dict[tuple[str, str], TrainedReasoner]:
    """Return the best reasoner of each network on each task; of equals the first."""
    best: dict[tuple[str, str], TrainedReasoner] = {}
    for reasoner in reasoners:
        key = reasoner.network, reasoner.task
        if key not in best or reasoner.validation > best[key].validation:
            best[key] = reasoner
    return best
