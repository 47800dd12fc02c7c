"""A sweep on a Ray cluster: one training per worker, in a folder that all machines see.

A worker runs one training as `sweep` does here, so its row and its files are the same. When it dies, Ray starts the
training again elsewhere, and it resumes from its checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seesay.cluster import MAX_RESTARTS, start_ray, worker_resources
from seesay.errors import UserError
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
    """`sweep` with trainings side by side, on the cluster of RAY_ADDRESS or on one of `workers` started here.

    Digits depend on the number of threads: workers take as many as this process.
    """
    import torch

    absolute = folder.resolve()
    refuse_other_trainings(folder, trainings)
    ray = start_ray("A sweep on Ray", workers)

    def work(training: SweepTraining, threads: int) -> None:
        torch.set_num_threads(threads)
        sweep(absolute, [training], train_and_test, deadline, trainings)

    remote = ray.remote(**worker_resources(ray), max_retries=MAX_RESTARTS)(work)
    running = {remote.remote(training, torch.get_num_threads()): training for training in trainings}
    lost = []
    while running:
        (done,), _ = ray.wait(list(running), num_returns=1)
        training = running.pop(done)
        try:
            ray.get(done)
        except ray.exceptions.WorkerCrashedError:
            lost.append(training)
        if progress:
            progress(1, len(trainings))
    if lost:
        raise UserError(
            f"{len(lost)} of {len(trainings)} trainings could not be finished because their workers died, the first "
            f"{lost[0].folder}. What they have learnt is kept: run the same command again to resume."
        )
    return results_so_far(folder)
