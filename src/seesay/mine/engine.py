"""Runs a piece of work over many parts: on this machine, or unchanged on a Ray cluster, both by Daft.

A part is a row of a Daft data frame and the work a Daft class, so each worker builds it (and loads its models) once.
What a part yields goes to files that are written whole; only its name travels back. A part whose files are there is
done: a killed worker, or a killed program, costs the parts that were under way.
"""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from seesay.errors import UserError

ENGINES = ("local", "ray")
BARREN = 2
"""Workers may die. So many attempts in a row that finish no part are the end."""
_MISTAKE, _FAULT = "mistake: ", "fault: "

Work = Callable[[str], None]
"""Does one part, named by a text. Doing it twice gives the same files."""


def run(
    parts: Sequence[str],
    make: Callable[[], Work],
    done: Callable[[str], bool],
    *,
    engine: str = "local",
    workers: int = 1,
    finished: Callable[[str], None] = lambda part: None,
) -> None:
    """Do every part that is not `done`; `make` builds the work, once a worker. `finished` hears of each part."""
    _start(engine, workers)
    left = [part for part in parts if not done(part)]
    barren = 0
    while left:
        problem: Exception | None = None
        try:
            _run(left, make, workers, in_process=engine == "local" and workers == 1, finished=finished)
        except WorkerDiedError as error:
            problem = error
        before, left = len(left), [part for part in left if not done(part)]
        barren = barren + 1 if len(left) == before else 0
        if left and barren == BARREN:
            raise UserError(
                f"{len(left)} of {len(parts)} parts could not be finished, since workers died "
                f"({_first_line(problem)}). What is done is kept: the same command goes on from there."
            ) from problem


class WorkerDiedError(RuntimeError):
    """Daft or Ray broke off, under whatever name: a worker died, and to begin again may help."""


class WorkFaultError(RuntimeError):
    """The work itself failed; to begin it again would not help."""


def _run(
    parts: Sequence[str], make: Callable[[], Work], workers: int, *, in_process: bool, finished: Callable[[str], None]
) -> None:
    import daft

    class Worker:
        def __init__(self) -> None:
            self._work: Work | str
            self._work = _caught(make)

        def do(self, part: str) -> str:
            if isinstance(self._work, str):
                return self._work
            work = self._work
            said = _caught(lambda: work(part))
            return said if isinstance(said, str) else part

    worker: Any = daft.cls(use_process=not in_process, max_concurrency=workers)(
        _with_method(Worker, daft.method(return_dtype=daft.DataType.string()))
    )()
    rows = daft.from_pydict({"part": list(parts)}).into_batches(1)
    for said in _answers(rows.select(worker.do(rows["part"]).alias("said"))):
        if said.startswith(_MISTAKE):
            raise UserError(said.removeprefix(_MISTAKE))
        if said.startswith(_FAULT):
            raise WorkFaultError(said.removeprefix(_FAULT))
        finished(said)


def _answers(frame: Any) -> Iterator[str]:
    """What workers say, as they say it. Only Daft runs in here, so whatever is raised is a worker's end."""
    try:
        for row in frame.iter_rows(results_buffer_size=1):
            yield str(row["said"])
    except Exception as error:  # Daft and Ray have many names for it
        raise WorkerDiedError(_first_line(error)) from error


def _with_method(kind: type, decorate: Callable[[Any], Any]) -> type:
    """The class with `do` marked as what Daft calls; Daft is imported only when needed, so no decorator in the code."""
    kind.do = decorate(kind.do)  # type: ignore[attr-defined]
    return kind


def _caught(step: Callable[[], Any]) -> Any:
    """What a step gives; a text where it fails: exceptions change their type on their way between processes."""
    try:
        return step()
    except UserError as error:
        return _MISTAKE + str(error)
    except Exception:
        return _FAULT + traceback.format_exc()


def check(engine: str) -> None:
    """Refuse an engine that there is not."""
    if engine not in ENGINES:
        raise UserError(f"Unknown engine '{engine}'. There are: {', '.join(ENGINES)}.")


def _start(engine: str, workers: int) -> None:
    check(engine)
    os.environ.setdefault("DAFT_PROGRESS_BAR", "0")
    os.environ.setdefault("DO_NOT_TRACK", "true")
    try:
        import daft
    except ImportError as error:
        raise UserError("Mining needs an extra that is not installed: pip install 'seesay[mine]'") from error
    if engine == "local":
        return
    try:
        import ray
    except ImportError as error:
        raise UserError("--engine ray needs Ray: pip install 'seesay[mine]'") from error
    if not ray.is_initialized():
        local: dict[str, Any] = (
            {} if os.environ.get("RAY_ADDRESS") else {"num_cpus": workers, "include_dashboard": False}
        )
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **local)
    daft.set_runner_ray(noop_if_initialized=True)


def _first_line(error: Exception | None) -> str:
    if error is None:
        return "no part came back"
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
