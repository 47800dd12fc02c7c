"""Runs a task over many parts, on this machine or on a Ray cluster, both through Daft; here with one worker without it.

A part is a row of a Daft data frame and the task a Daft class, so that each worker creates it (and loads its models)
once. Results are written to files atomically; only the part's name is sent back. A part whose files exist is done: a
killed worker, or a killed program, loses only the parts that were running.
"""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from seesay.cluster import Engine, start_ray
from seesay.errors import UserError, first_line, missing_extra

log = logging.getLogger(__name__)

MAX_FAILED_ATTEMPTS = 2
"""Give up after this many attempts in a row that finish no part because workers die."""
_USER_ERROR, _FAILURE = "user error: ", "failure: "

PartTask = Callable[[str], None]
"""Processes one part, given by its name. Doing it twice gives the same files."""


def run(
    parts: Sequence[str], create_task: Callable[[], PartTask], is_done: Callable[[str], bool], *,
    engine: str = Engine.LOCAL, workers: int = 1, finished: Callable[[str], None] = lambda part: None,
) -> None:  # fmt: skip
    """Process every part that is not done. Each worker calls `create_task` once; `finished` is called for each part."""
    in_process = not _start(Engine(engine), workers)
    left = [part for part in parts if not is_done(part)]
    failed_attempts = 0
    while left:
        problem: Exception | None = None
        try:
            _run(left, create_task, workers, in_process=in_process, finished=finished)
        except WorkerDiedError as error:
            problem = error
        before, left = len(left), [part for part in left if not is_done(part)]
        failed_attempts = failed_attempts + 1 if len(left) == before else 0
        if left and failed_attempts == MAX_FAILED_ATTEMPTS:
            reason = first_line(problem) if problem else "no part came back"
            raise UserError(
                f"{len(left)} of {len(parts)} parts could not be finished because workers died ({reason}). Finished "
                "parts are kept: run the same command again to resume."
            ) from problem


class WorkerDiedError(RuntimeError):
    """Daft or Ray stopped, by whatever exception: a worker died, and another attempt may help."""


class PartFailedError(RuntimeError):
    """The task itself failed; another attempt would not help."""


def _run(
    parts: Sequence[str], create_task: Callable[[], PartTask], workers: int, *,
    in_process: bool, finished: Callable[[str], None],
) -> None:  # fmt: skip
    here = Path.cwd()

    class Worker:
        def __init__(self) -> None:
            os.chdir(here)  # on Ray, workers are elsewhere, and paths may be relative
            self._task, self._error = _catch(create_task)

        def do(self, part: str) -> str:
            if self._task is None:
                return self._error
            task: PartTask = self._task
            return _catch(lambda: task(part))[1] or part

    for reply in map(Worker().do, parts) if in_process else _replies(_frame(parts, Worker, workers)):
        if reply.startswith(_USER_ERROR):
            raise UserError(reply.removeprefix(_USER_ERROR))
        if reply.startswith(_FAILURE):
            raise PartFailedError(reply.removeprefix(_FAILURE))
        finished(reply)


def _frame(parts: Sequence[str], worker_class: type[Any], workers: int) -> Any:
    import daft

    worker_class.do = daft.method(return_dtype=daft.DataType.string())(worker_class.do)
    worker: Any = daft.cls(use_process=True, max_concurrency=workers)(worker_class)()
    rows = daft.from_pydict({"part": list(parts)}).into_batches(1)
    return rows.select(worker.do(rows["part"]).alias("reply"))


def _replies(frame: Any) -> Iterator[str]:
    """The workers' replies as they arrive. Only Daft runs in here, so any exception means that a worker died."""
    try:
        for row in frame.iter_rows(results_buffer_size=1):
            yield str(row["reply"])
    except Exception as error:  # Daft and Ray have many exceptions for it
        raise WorkerDiedError(first_line(error)) from error


def _catch(step: Callable[[], Any]) -> tuple[Any, str]:
    """What a step returns, and its error as a text: exceptions change their type on their way between processes."""
    try:
        return step(), ""
    except UserError as error:
        return None, _USER_ERROR + str(error)
    except Exception:
        return None, _FAILURE + traceback.format_exc()


def _start(engine: Engine, workers: int) -> bool:
    """Prepare Daft; False where the work is done without it, in this process. Daft cannot change its engine."""
    os.environ.setdefault("DAFT_PROGRESS_BAR", "0")
    os.environ.setdefault("DO_NOT_TRACK", "true")
    try:
        import daft
    except ImportError as error:
        raise missing_extra("Mining", "mine", error) from error
    if engine == Engine.LOCAL:
        if workers == 1:
            return False
        with suppress(ValueError):  # set before; else Daft would take a Ray that this process uses for something else
            daft.set_runner_native()
        if on_ray := daft.get_or_infer_runner_type() != "native":
            log.warning("This process has mined on Ray before: it now mines without other workers.")
        return not on_ray
    start_ray("Mining", workers)
    daft.set_runner_ray(noop_if_initialized=True)
    if daft.get_or_infer_runner_type() != "ray":
        raise UserError("This process has mined without Ray before, and Daft cannot change: start another process.")
    return True
