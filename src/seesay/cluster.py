"""Where long work runs: in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from seesay.errors import UserError, first_line, needs_extra

MAX_DEATHS = 3
"""Give up after this many deaths of every worker in a row, none of which has finished a part."""

Part = TypeVar("Part")
Result = TypeVar("Result")
MakeWorker = Callable[[], Callable[[Part], Result]]
MapInPool = Callable[[Iterable[Any]], Iterator[tuple[Any, Any]]]
"""Gives parts with their results, as `map_parts` does."""
Reply = Future[list[Any]]
"""What a process has to give back."""
Deaths = type[BaseException] | tuple[type[BaseException], ...]


class Engine(StrEnum):
    """Where work runs."""

    LOCAL = "local"
    RAY = "ray"

    @classmethod
    def _missing_(cls, value: object) -> None:
        raise UserError(f"Unknown engine '{value}': choose {' or '.join(cls)}.")


def map_parts(
    make_worker: MakeWorker[Part, Result],
    parts: Iterable[Part],
    workers: int = 1,
    **options: str,
) -> Iterator[tuple[Part, Result]]:
    """Each part with its result, in the order in which they are finished.

    Each worker calls `make_worker` once, and what that returns for every part that it is given; a
    single worker on this machine is this process. What a part raises is raised here. The part of a
    worker that was killed is repeated, so doing a part twice must give the same. Parts are taken
    when there is a worker for them, so they may be many and large. `options`: those of
    `WorkerPool`.
    """
    with open_pool(make_worker, workers, **options) as map_in_pool:
        yield from map_in_pool(parts)


@contextmanager
def open_pool(
    make_worker: MakeWorker[Any, Any], workers: int, **options: str
) -> Iterator[MapInPool]:
    """Yield a function like `map_parts`, whose calls share their workers.

    `options`: those of `WorkerPool`.
    """
    if workers == 1 and Engine(options.get("engine", Engine.LOCAL)) == Engine.LOCAL:
        # Where there is nothing to do, no model is loaded.
        make_once = cache(make_worker)
        yield lambda parts: ((part, make_once()(part)) for part in parts)
        return
    pool = WorkerPool(make_worker, workers, **options)
    try:
        yield pool.map
    finally:
        pool.close()


class WorkerPool(Generic[Part, Result]):
    """Processes of this machine or of a cluster, each with a worker that it keeps until `close`.

    `engine`: where they run. `what` and `unit` are for messages: who needs Ray, and what the parts
    are.
    """

    def __init__(
        self,
        make_worker: MakeWorker[Part, Result],
        workers: int,
        *,
        engine: str = Engine.LOCAL,
        what: str = "This",
        unit: str = "parts",
    ) -> None:
        self._make_worker = make_worker
        self._count = workers
        self._ray = start_ray(what, workers) if Engine(engine) == Engine.RAY else None
        self._unit = unit
        self._idle: list[_Process] = []
        self._started: list[_Process] = []

    def map(self, parts: Iterable[Part]) -> Iterator[tuple[Part, Result]]:
        """Each part with its result, as `map_parts` gives them."""
        fresh = iter(parts)
        lost: list[Part] = []
        running: dict[Future[Any], tuple[_Process, list[Part]]] = {}
        finished_count = 0
        deaths = 0
        # One ahead: it is read while the workers are busy.
        upcoming = _take(fresh, lost)
        try:
            while upcoming or any(begun for _, begun in running.values()):
                while upcoming and len(self._started) < self._count:
                    process = self._start()
                    # A cluster may have no room for it yet: it gets no part before it answers.
                    running[process.do([])] = process, []
                while upcoming and self._idle:
                    process = self._idle.pop()
                    running[process.do(upcoming)] = process, upcoming
                    upcoming = _take(fresh, lost)
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    process, begun = running.pop(future)
                    try:
                        results = process.result(future)
                    except process.death as death:
                        self._end(process)
                        lost += begun
                        upcoming = upcoming or _take(fresh, lost)
                        deaths += 1
                        if deaths < MAX_DEATHS * self._count:
                            continue
                        others = sum(len(begun) for _, begun in running.values())
                        unfinished = len(upcoming) + len(lost) + others + sum(1 for _ in fresh)
                        raise UserError(
                            f"{unfinished} of {finished_count + unfinished} {self._unit} could not "
                            f"be finished because workers died ({first_line(death)}). What is "
                            "finished is kept: run the same command again to resume."
                        ) from death
                    # At once: what the caller does with results may take as long as a part.
                    if upcoming:
                        running[process.do(upcoming)] = process, upcoming
                        upcoming = []
                    else:
                        self._idle.append(process)
                    for part, result in zip(begun, results, strict=True):
                        finished_count += 1
                        deaths = 0
                        yield part, result
                    upcoming = upcoming or _take(fresh, lost)
        finally:
            # What still runs when the caller has enough is of no use to the next one.
            for process, _ in running.values():
                self._end(process)

    def close(self) -> None:
        """End the workers."""
        for process in list(self._started):
            self._end(process)

    def _start(self) -> _Process:
        if self._ray is None:
            self._started.append(_LocalProcess(self._make_worker))
        else:
            self._started.append(_RayProcess(self._make_worker, self._ray))
        return self._started[-1]

    def _end(self, process: _Process) -> None:
        self._started.remove(process)
        if process in self._idle:
            self._idle.remove(process)
        process.end()


def _take(fresh: Iterator[Part], lost: list[Part]) -> list[Part]:
    """Return the next part, none at the end. One whose worker died comes after all others, since it
    may be what kills."""
    for part in fresh:
        return [part]
    return [lost.pop(0)] if lost else []


class _Worker:
    """What stands in a process: its worker, which is made where the command was started."""

    def __init__(self, make_worker: MakeWorker[Part, Result], folder: Path) -> None:
        # On Ray, processes are elsewhere, and paths may be relative.
        os.chdir(folder)
        self._make_worker = make_worker
        self._work: Callable[[Any], Any] | None = None

    def do(self, parts: Sequence[Any]) -> list[Any]:
        """Do parts, or none and only make the worker; what that raises reaches the caller."""
        work = self._work = self._work or self._make_worker()
        return [work(part) for part in parts]


_in_this_process: list[_Worker] = []
"""The worker of a process on this machine: a function that is sent there finds it here."""


class _LocalProcess:
    """A process of this machine."""

    def __init__(self, make_worker: MakeWorker[Part, Result]) -> None:
        from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
        from multiprocessing import get_context

        # What a future raises whose process has died.
        self.death: Deaths = BrokenProcessPool
        # A pool of one: when it breaks, it is known which part it was given.
        self._pool = ProcessPoolExecutor(1, get_context("spawn"), _begin, (make_worker, Path.cwd()))

    def do(self, parts: Sequence[Any]) -> Reply:
        """Begin to do parts, as a worker does them."""
        try:
            return self._pool.submit(_do, parts)
        except self.death as death:
            # It died while it was idle.
            future: Reply = Future()
            future.set_exception(death)
            return future

    def result(self, future: Reply) -> list[Any]:
        """Return what a future holds, or raise what was raised there."""
        return future.result()

    def end(self) -> None:
        """End the process."""
        self._pool.shutdown(cancel_futures=True)


def _begin(make_worker: MakeWorker[Part, Result], folder: Path) -> None:
    _die_with_parent()
    _in_this_process.append(_Worker(make_worker, folder))


def _do(parts: Sequence[Any]) -> list[Any]:
    return _in_this_process[0].do(parts)


def _die_with_parent() -> None:
    """A killed parent cannot tell its workers: each watches for it."""
    from multiprocessing import parent_process

    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class _RayProcess:
    """A process of a cluster, with the methods of one of this machine."""

    def __init__(self, make_worker: MakeWorker[Part, Result], ray: Any) -> None:
        errors = ray.exceptions
        # The second is that of a worker which Ray killed because memory ran short.
        self.death: Deaths = (errors.RayActorError, errors.OutOfMemoryError)
        self._ray = ray
        # A core, and a GPU where the cluster has some.
        gpus = min(1, ray.cluster_resources().get("GPU", 0))
        actor = ray.remote(num_cpus=1, num_gpus=gpus)(_Worker)
        self._actor = actor.remote(make_worker, Path.cwd())

    def do(self, parts: Sequence[Any]) -> Reply:
        future: Reply = self._actor.do.remote(parts).future()
        return future

    def result(self, future: Reply) -> list[Any]:
        try:
            return future.result()
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, UserError):
                raise error.cause from None
            raise

    def end(self) -> None:
        self._ray.kill(self._actor)


_Process = _LocalProcess | _RayProcess


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


def share(value: object) -> Any:
    """Return a reference to a value, which is sent to each machine of a Ray cluster at most once;
    a worker gets the value by `fetch`."""
    import ray

    return ray.put(value)


def fetch(reference: Any) -> Any:
    """Return the value that was shared."""
    import ray

    return ray.get(reference)
