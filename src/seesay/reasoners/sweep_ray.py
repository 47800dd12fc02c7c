"""A sweep on a Ray cluster: one training per worker, in a folder that all machines see.

A worker runs one training as `sweep` does here, so its row and its files are the same. When it dies, Ray starts the
training again elsewhere, and it resumes from its checkpoint.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seesay.errors import UserError, missing_extra
from seesay.progress import ProgressCallback
from seesay.reasoners.sweep import SweepRow, SweepTraining, TrainAndTest, refuse_other_trainings, results_so_far, sweep

MAX_RETRIES = 5
"""How often the training of a worker that died is started again."""


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
    try:
        import ray
    except ImportError as error:
        raise missing_extra("A sweep on Ray", "mine", error) from error
    import torch

    folder = folder.resolve()
    refuse_other_trainings(folder, trainings)
    if not ray.is_initialized():
        is_local = not os.environ.get("RAY_ADDRESS")
        local: dict[str, Any] = {"num_cpus": workers, "include_dashboard": False} if is_local else {}
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **local)

    def work(training: SweepTraining, threads: int) -> None:
        torch.set_num_threads(threads)
        sweep(folder, [training], train_and_test, deadline)

    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    remote = ray.remote(num_cpus=1, num_gpus=min(1, resources.get("GPU", 0)), max_retries=MAX_RETRIES)(work)
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
