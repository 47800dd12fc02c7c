"""What a paper's page is made of: runs, reasoners, sweeps and matrices in the folders given, and
published data."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from seesay.errors import UserError
from seesay.folders import data_folder
from seesay.progress import ProgressBars, no_progress
from seesay.quantities import quantity
from seesay.questions import Task
from seesay.reports.groups import TaskRuns, group_runs
from seesay.runs.learning_curve import CURVES as CURVES
from seesay.runs.run import Run
from seesay.runs.store import FIGURES, MANIFEST, find_runs
from seesay.tasks import load_task, task_card

T = TypeVar("T")

log = logging.getLogger(__name__)

MARKS = {
    "run": (MANIFEST,),
    "sweep": ("results.csv",),
    "reasoner": ("training/settings.json",),
    "matrix": ("matrix.parquet", "matrix.csv"),
    "curves": (CURVES,),
    "knowledge": ("colors.parquet", "sizes.parquet", "places.parquet"),
}
"""The file that tells what a folder is."""


@dataclass(frozen=True)
class Material:
    """The folders and files at hand, and what was made of them for several entries.

    `paths` are folders that seesay's commands wrote, or folders of such; `data` is a folder of
    published files in place of the data folder's, either of the paper's own or with a folder for
    each data set. `items` is the number of generated items in a test of scenes; `brief` says that
    only the status of entries matters, not their precision.
    """

    paths: Sequence[Path] = ()
    data: Path | None = None
    items: int = 2_000
    brief: bool = False
    progress: ProgressBars = field(default=no_progress, repr=False)
    _cache: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, key: str, make: Callable[[], T]) -> T:
        """Return what several entries need, made when the first asks for it."""
        if key not in self._cache:
            self._cache[key] = make()
        value: T = self._cache[key]
        return value

    @cached_property
    def folders(self) -> dict[str, list[Path]]:
        """The folders of each kind of `MARKS` at or below the paths, each once."""
        # dictionaries keep their order and hold a folder once, though paths may overlap
        folders: dict[str, dict[Path, None]] = {kind: {} for kind in MARKS}
        for path in self.paths:
            if not path.is_dir():
                raise UserError(f"There is no folder '{path}'.")
            below = [
                (kind, folder)
                for kind, marks in MARKS.items()
                for mark in marks
                for folder in _marked_folders(path, mark)
            ]
            # a mistyped folder must not pass for a paper of which nothing could be shown
            if not below:
                raise UserError(
                    f"'{path}' holds no run, reasoner, sweep, matrix or knowledge that seesay "
                    "wrote."
                )
            for kind, folder in below:
                folders[kind][folder] = None
        return {kind: list(members) for kind, members in folders.items()}

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The finished runs; how many are not finished is logged."""
        folders = self.folders["run"]
        finished = [folder for folder in folders if (folder / FIGURES).is_file()]
        if len(finished) < len(folders):
            unfinished = len(folders) - len(finished)
            log.warning("Left out: %s.", quantity(unfinished, "unfinished run"))
        if not finished:
            return ()
        return tuple(find_runs(finished))

    @cached_property
    def groups(self) -> tuple[TaskRuns, ...]:
        """The runs by task, labelled."""
        return group_runs(self.runs)

    def groups_of(self, *tasks: str) -> list[TaskRuns]:
        """Return the groups of some tasks."""
        return [group for group in self.groups if group.task.name in tasks]

    def data_of(self, dataset: str) -> Path | None:
        """Return where the published files of a data set are, if its folder exists.

        None where they are nowhere, or in the data folder.
        """
        parent = data_folder() if self.data is None else self.data
        for name in (dataset, dataset.replace("-", "_")):
            if (parent / name).is_dir():
                return parent / name
        # a folder that was given may hold the files of this data set alone
        return self.data

    def task_data(self, name: str) -> Path | None:
        """Return where the files of a task are: below the data given; None for the data folder."""
        needs = task_card(name).needs
        # a task without published files, such as an embedded one, has none to look for
        if self.data is not None and needs:
            return self.data_of(needs[0])
        return None

    def task(self, name: str) -> Task:
        """Return a task with its published data."""
        return self.once(f"task {name}", lambda: load_task(name, self.task_data(name)))


def _marked_folders(path: Path, mark: str) -> list[Path]:
    """Return the folders at or below a path that hold the file; it may be in a folder of theirs."""
    depth = mark.count("/")
    return sorted(file.parents[depth] for file in path.rglob(mark))
