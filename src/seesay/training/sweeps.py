"""Many trainings, cell by cell, with a table of results: what every sweep has in common.

A sweep is a folder: every cell in a folder of its own, and `results.csv` with one row per ended
cell. Finished cells are not repeated and interrupted ones are resumed, so a sweep may be stopped at
any time, and several processes, or the workers of a Ray cluster, may share one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from seesay.cluster import Engine, map_parts
from seesay.data.rows import every_row, read_table
from seesay.errors import UserError
from seesay.files import lock_folder, write_csv
from seesay.progress import Kept, ProgressCallback
from seesay.shards import link_files

RESULTS = "results.csv"


class SweepCell(Protocol):
    """One planned training."""

    @property
    def key(self) -> Hashable:
        """Return what identifies it, as in its row of the results."""

    @property
    def folder(self) -> Path:
        """Return its place within the sweep's folder."""


class SweepResult(Protocol):
    """One row of the results: figures, or the reason why there are none."""

    @property
    def key(self) -> Hashable:
        """Return what identifies the training."""

    @property
    def error(self) -> str:
        """Return why the training failed; empty where it did not."""


C = TypeVar("C", bound=SweepCell)
R = TypeVar("R", bound=SweepResult)


@dataclass(frozen=True)
class ResultTable(Generic[R]):
    """The table of a sweep's folder. `cells` and `parse` turn a row into what the file stores, and
    back; `command` is what writes it."""

    folder: Path
    columns: Sequence[str]
    cells: Callable[[Path, R], Mapping[str, object]]
    parse: Callable[[Path, Mapping[str, str]], R]
    command: str

    def read(self) -> list[R]:
        """Read the table, in the order of its plan."""
        path = self.folder / RESULTS
        if not path.is_file():
            raise UserError(
                f"There is no {RESULTS} in '{self.folder}': give a folder that `{self.command}` "
                "made."
            )
        try:
            return [self.parse(self.folder, row.cells) for row in every_row(path, read_table(path))]
        except (UserError, KeyError, ValueError) as error:
            raise UserError(
                f"{path} is damaged ({error}): delete it, and the same sweep writes it again."
            ) from error

    def so_far(self) -> list[R]:
        """Read the table; it is empty if no training has ended."""
        return self.read() if (self.folder / RESULTS).is_file() else []

    def has(self, cell: SweepCell) -> bool:
        """Return whether a cell has ended well."""
        return any(row.key == cell.key and not row.error for row in self.so_far())

    def record(self, row: R, plan: Iterable[SweepCell]) -> None:
        """Write the table with this row in it, in the order of the plan.

        The row replaces one that failed before.
        """
        place = {cell.key: number for number, cell in enumerate(plan)}
        with lock_folder(self.folder, wait=True):
            rows = [other for other in self.so_far() if other.key != row.key]
            rows.append(row)
            # those of other plans first, in the order they are in
            rows.sort(key=lambda row: place.get(row.key, -1))
            write_csv(
                self.folder / RESULTS, self.columns, (self.cells(self.folder, row) for row in rows)
            )


def run_cells(
    table: ResultTable[R],
    cells: Iterable[C],
    run: Callable[[C], R],
    is_finished: Callable[[C], bool],
    deadline: float | None = None,
    plan: Sequence[C] = (),
    *,
    ray_workers: int = 0,
    progress: ProgressCallback | None = None,
) -> list[R]:
    """Run what is not done yet, and return the whole table.

    A training that fails is a row with the reason, which `run` gives. None begins after the
    `deadline` (of `time.time`); `run` may interrupt one that is running then. The table is in the
    order of the `plan`, of which the cells may be a part. With `ray_workers`, so many cells run
    side by side on a Ray cluster, in a folder that all machines see; the cell of a worker that dies
    is resumed from its checkpoint.
    """
    import torch

    cells = list(cells)
    run_one = partial(_run_cell, table, run, is_finished, deadline, plan or cells)
    kept = {cell.key for cell in cells if is_finished(cell)}
    finished_cells = map_parts(
        # digits depend on the number of threads: workers take as many as this process
        partial(_runner, run_one, torch.get_num_threads()),
        cells,
        ray_workers or 1,
        engine=Engine.RAY if ray_workers else Engine.LOCAL,
        what="A sweep on Ray",
        unit="trainings",
    )
    for cell, _ in finished_cells:
        if progress:
            progress(Kept(1) if cell.key in kept else 1, len(cells))
    return table.so_far()


def _runner(run: Callable[[C], None], threads: int) -> Callable[[C], None]:
    """Return what a worker does with its cells."""
    import torch

    torch.set_num_threads(threads)
    return run


def _run_cell(
    table: ResultTable[R],
    run: Callable[[C], R],
    is_finished: Callable[[C], bool],
    deadline: float | None,
    plan: Sequence[C],
    cell: C,
) -> None:
    """Run a cell, unless it is done, the time is up, or another process runs it."""
    if is_over(deadline):
        return
    with ExitStack() as stack:
        try:
            stack.enter_context(lock_folder(table.folder / cell.folder / "training"))
        except UserError:
            # another process that sweeps the same folder is running it
            return
        try:
            if not is_finished(cell):
                table.record(run(cell), plan)
        except KeyboardInterrupt:
            if not is_over(deadline):
                raise


def merge_shares(folders: Sequence[Path], output: Path) -> None:
    """Put the cells and the tables of all shares of a sweep into one folder."""
    tables = []
    for folder in folders:
        for cells in folder.iterdir():
            if cells.is_dir():
                link_files(cells, output / cells.name)
        path = folder / RESULTS
        rows = every_row(path, read_table(path)) if path.is_file() else ()
        tables.append([dict(row.cells) for row in rows])
    # shares take turns in the plan
    in_turns = [row for rows in zip_longest(*tables) for row in rows if row is not None]
    if in_turns:
        write_csv(output / RESULTS, list(in_turns[0]), in_turns)


def deadline_after(minutes: float | None) -> float | None:
    """Return the time at which so many minutes are over; None for no limit."""
    return None if minutes is None else time.time() + 60 * minutes


def is_over(deadline: float | None) -> bool:
    """Return whether the time is up."""
    return deadline is not None and time.time() >= deadline
