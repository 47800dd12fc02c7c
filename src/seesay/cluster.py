"""Where long work runs: in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from seesay.errors import UserError, first_line, needs_extra

MAX_RESTARTS = 5
"""How often a worker that died is started again on a cluster."""
MAX_FAILED_ATTEMPTS = 3
"""Give up after this many attempts in a row that finish no part because workers die on this
machine."""

_made_here: dict[str, Callable[[Any], Any]] = {}
"""The worker that this process has made for a job, by the job's id."""

Part = TypeVar("Part")
Result = TypeVar("Result")


class Engine(StrEnum):
    """Where work runs."""

    LOCAL = "local"
    RAY = "ray"

    @classmethod
    def _missing_(cls, value: object) -> None:
        raise UserError(f"Unknown engine '{value}': choose {' or '.join(cls)}.")


def map_parts(
    make_worker: Callable[[], Callable[[Part], Result]],
    parts: Sequence[Part],
    workers: int = 1,
    *,
    engine: str = Engine.LOCAL,
    what: str = "This",
    unit: str = "parts",
) -> Iterator[tuple[Part, Result]]:
    """Each part with its result, in the order in which they are finished.

    Each worker calls `make_worker` once, and what that returns for every part that it is given; a
    single worker on this machine is this process. What a part raises is raised here. The part of a
    worker that was killed is repeated, so doing a part twice must give the same. `what` and `unit`
    are for messages: who needs Ray, and what the parts are.
    """
    spread = partial(_on_ray, what=what) if Engine(engine) == Engine.RAY else _here
    remaining_parts = list(parts)
    failed_attempts = 0
    while remaining_parts:
        lost: list[Exception] = []
        before = len(remaining_parts)
        # A part that kills its process takes its neighbours along: after a failure each has a
        # process to itself.
        at_once = 1 if failed_attempts else workers
        for part, result in spread(tuple(remaining_parts), make_worker, workers, at_once, lost):
            remaining_parts.remove(part)
            yield part, result
        failed_attempts = failed_attempts + 1 if len(remaining_parts) == before else 0
        if failed_attempts and at_once == 1:
            remaining_parts = [
                *remaining_parts[1:],
                remaining_parts[0],
            ]  # the first of them is the one that kills
        if remaining_parts and failed_attempts == MAX_FAILED_ATTEMPTS:
            raise UserError(
                f"{len(remaining_parts)} of {len(parts)} {unit} could not be finished because "
                f"workers died ({first_line(lost[-1])}). What is finished is kept: "
                "run the same command again to resume."
            ) from lost[-1]


def _here(
    parts: Sequence[Part],
    make_worker: Callable[[], Callable[[Part], Result]],
    workers: int,
    at_once: int,
    lost: list[Exception],
) -> Iterator[tuple[Part, Result]]:
    """The parts that processes finish before one of them dies, which ends them all."""
    if workers == 1:
        worker = make_worker()
        for part in parts:
            yield part, worker(part)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    work = partial(_work, uuid4().hex, make_worker, Path.cwd())
    pool = ProcessPoolExecutor(
        min(at_once, len(parts)), get_context("spawn"), initializer=_die_with_parent
    )
    try:
        futures = {pool.submit(work, part): part for part in parts}
        for future in as_completed(futures):
            try:
                result = future.result()
            except BrokenProcessPool as error:
                lost.append(error)
            else:
                yield futures[future], result
    finally:
        pool.shutdown(cancel_futures=True)


def _on_ray(
    parts: Sequence[Part],
    make_worker: Callable[[], Callable[[Part], Result]],
    workers: int,
    at_once: int,
    lost: list[Exception],
    what: str,
) -> Iterator[tuple[Part, Result]]:
    """The parts that a cluster finishes, so many at a time; Ray itself repeats those of a killed
    worker a few times."""
    ray = start_ray(what, workers)
    remote = ray.remote(**worker_resources(ray), max_retries=MAX_RESTARTS)(_work)
    job = (uuid4().hex, ray.put(make_worker), Path.cwd())
    waiting = list(reversed(parts))
    running: dict[Any, Part] = {}
    while waiting or running:
        while waiting and len(running) < at_once:
            part = waiting.pop()
            running[remote.remote(*job, part)] = part
        (done,), _ = ray.wait(list(running), num_returns=1)
        part = running.pop(done)
        try:
            result = ray.get(done)
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, UserError):
                raise error.cause from None
            raise
        except ray.exceptions.RayError as error:
            lost.append(error)
        else:
            yield part, result


def _work(
    job: str, make_worker: Callable[[], Callable[[Part], Result]], folder: Path, part: Part
) -> Result:
    """What a process makes of a part, with the worker that it has made for the job."""
    if job not in _made_here:
        os.chdir(folder)  # on Ray, processes are elsewhere, and paths may be relative
        _made_here.clear()
        _made_here[job] = make_worker()
    result: Result = _made_here[job](part)
    return result


def _die_with_parent() -> None:
    """A killed parent cannot tell its workers: each watches for it."""
    from multiprocessing import parent_process

    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def start_ray(what: str, workers: int) -> Any:
    """Ray, connected to the cluster of RAY_ADDRESS, or to one of `workers` cores that is started
    here."""
    with needs_extra(what, "mine"):
        import ray
    if not ray.is_initialized():
        options: dict[str, Any] = {}
        if not os.environ.get("RAY_ADDRESS"):
            # "local": one that somebody started on this machine is not ours to join
            options = {"address": "local", "num_cpus": workers, "include_dashboard": False}
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    return ray


def worker_resources(ray: Any) -> dict[str, float]:
    """What one worker takes: a core, and a GPU where the cluster has some."""
    return {"num_cpus": 1, "num_gpus": min(1, ray.cluster_resources().get("GPU", 0))}
