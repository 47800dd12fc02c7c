"""A sweep on a Ray cluster: one training per worker, in a folder that all machines see.

A worker runs one training as `sweep` does here, so its row and its files are the same. When it
dies, the training is started again elsewhere, and it resumes from its checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from seesay.cluster import Engine, map_parts
from seesay.progress import ProgressCallback
from seesay.scenes.reasoners.sweep import (
    SweepRow,
    SweepTraining,
    TrainAndTest,
    refuse_other_trainings,
    results_so_far,
    sweep,
)


def sweep_on_ray(
    folder: Path,
    trainings: Sequence[SweepTraining],
    train_and_test: TrainAndTest,
    *,
    workers: int = 1,
    deadline: float | None = None,
    progress: ProgressCallback | None = None,
) -> list[SweepRow]:
    """Run a sweep with trainings side by side, on a Ray cluster.

    It is the cluster of RAY_ADDRESS, or one of `workers` started here.
    """
    import torch

    refuse_other_trainings(folder, trainings)
    # digits depend on the number of threads: workers take as many as this process
    make_trainer = partial(
        _trainer,
        folder.resolve(),
        trainings,
        train_and_test,
        deadline,
        threads=torch.get_num_threads(),
    )
    finished = map_parts(
        make_trainer,
        trainings,
        workers,
        engine=Engine.RAY,
        what="A sweep on Ray",
        unit="trainings",
    )
    for _ in finished:
        if progress:
            progress(1, len(trainings))
    return results_so_far(folder)


def _trainer(
    folder: Path,
    trainings: Sequence[SweepTraining],
    train_and_test: TrainAndTest,
    deadline: float | None,
    *,
    threads: int,
) -> Callable[[SweepTraining], None]:
    """Return what a worker does with its trainings."""
    import torch

    torch.set_num_threads(threads)

    def train(training: SweepTraining) -> None:
        # the whole plan sets the order of the table
        sweep(folder, [training], train_and_test, deadline, trainings)

    return train
