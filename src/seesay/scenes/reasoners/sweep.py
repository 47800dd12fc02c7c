"""Many trainings: networks by tasks by configurations by seeds, with a table of results.

A sweep is a folder (`seesay.training.sweeps`): every training in `NETWORK/TASK/CONFIG-seedN`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from math import prod
from pathlib import Path

from seesay.errors import UserError
from seesay.progress import ProgressCallback
from seesay.scenes.defaults import TEST_ITEMS
from seesay.scenes.reasoners import checkpoints, experiment
from seesay.scenes.reasoners.config import ReasonerConfig, preset_config
from seesay.scenes.reasoners.features.extractor import FeatureExtractor
from seesay.scenes.reasoners.networks.registry import network_class
from seesay.scenes.reasoners.sources import ItemSource, scene_source
from seesay.training import loop
from seesay.training.sweeps import RESULTS as RESULTS
from seesay.training.sweeps import ResultTable, run_cells
from seesay.training.sweeps import is_over as is_over

TESTS = ("test", "test_seen", "test_unseen", "pos-hard", "set+pos-hard")
PAPER_GRID = ((5e-5, 3e-4, 5e-4, 5e-3), (0.0, 0.5), (True, False))
"""The paper's 16 configurations: learning rate, dropout, batch norm."""
_COLUMNS = (
    *("network", "task", "config", "seed", "folder", "validation"),
    *TESTS,
    *("minutes", "error", "warning"),
)


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One row of the results: accuracies, or the reason why there are none."""

    network: str
    task: str
    config: str
    """The name of its configuration: preset, or one of the paper's grid."""
    seed: int
    folder: Path
    validation: float
    """Validation accuracy of the best weights."""
    tests: dict[str, float]
    """Accuracy by test."""
    minutes: float
    error: str = ""
    """Why the training failed."""
    warning: str = ""
    """Why its weights are as good as untrained."""

    @property
    def key(self) -> tuple[str, str, str, int]:
        """Return what identifies the training."""
        return self.network, self.task, self.config, self.seed


@dataclass(frozen=True, slots=True)
class SweepTraining:
    """One planned training of a sweep.

    With a curriculum its task has another name, as in set+pos-after-sup1.
    """

    name: str
    config: ReasonerConfig
    source: ItemSource

    @property
    def key(self) -> tuple[str, str, str, int]:
        """Return what identifies the training, as in its row of the results."""
        return (
            self.config.network,
            self.config.training_name(self.source.name),
            self.name,
            self.config.schedule.seed,
        )

    @property
    def folder(self) -> Path:
        """Return the training's place within the sweep's folder."""
        network, task, name, seed = self.key
        return Path(network, task, f"{name}-seed{seed}")


TrainAndTest = Callable[
    [ItemSource, Path, ReasonerConfig, FeatureExtractor], tuple[loop.Result, dict[str, float]]
]
"""Trains in a folder and tests: `experiment.extract_splits` and `experiment.train_and_test`."""


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """What a sweep trains: networks by tasks by configurations by seeds."""

    networks: Sequence[str]
    tasks: Sequence[str]
    seeds: int
    """Trainings of every configuration."""
    grid: str = "preset"
    """paper (16 configurations) or preset (one)."""
    preset: str = "auto"
    items: int | None = None
    """Training items; None: as published."""
    epochs: int | None = None
    """None: those of the preset."""
    features: str | None = None
    """Features of networks over pictures; None: those of the preset."""
    curriculum: Sequence[str] = ()
    """Tasks that are learnt before each task."""
    cells: Collection[tuple[str, str]] | None = None
    """Pairs of network and task that the plan is limited to."""

    def trainings(self, results: Iterable[SweepRow] = ()) -> list[SweepTraining]:
        """Return all trainings, seed by seed: the table is soon complete, then more precise.

        A network without dropout and batch norm has no grid: its preset is trained instead. With
        the paper's grid, compositional is trained with the configuration that is best on SET+POS by
        `results`, as published; until SET+POS is complete, none of it is planned.
        """
        if self.grid not in ("paper", "preset"):
            raise UserError(
                f"--grid is '{self.grid}': choose paper (16 configurations) or preset (one)."
            )
        sources = [scene_source(task, self.items) for task in self.tasks]
        rows = list(results)
        trainings = []
        for seed, source, network in product(range(self.seeds), sources, self.networks):
            if not self.includes(network, source.name):
                continue
            base = self.config(network, source.name, seed)
            if self.grid == "preset" or not network_class(network).has_regularisation:
                trainings.append(SweepTraining("preset", base, source))
                continue
            names = _grid_names(network, source.name, rows, self.seeds)
            with_set = "set+pos" in self.tasks and self.includes(network, "set+pos")
            if names == set() and not with_set:
                raise UserError(
                    "compositional takes the configuration that is best on set+pos: sweep "
                    f"{network}/set+pos too."
                )
            for name, config in _grid_configs(base):
                if names is None or name in names:
                    trainings.append(SweepTraining(name, config, source))
        return trainings

    def includes(self, network: str, task: str) -> bool:
        """Return whether the cells, where there are any, include a network on a task."""
        return self.cells is None or (network, task) in self.cells

    def config(self, network: str, task: str, seed: int) -> ReasonerConfig:
        """Return the preset of a network, with the plan's own settings."""
        config = preset_config(network, self.preset, task)
        config = config.override(sizes={}, epochs=self.epochs, seed=seed)
        first_tasks = tuple(scene_source(first).name for first in self.curriculum)
        config = replace(config, curriculum=first_tasks)
        if self.features is not None and not network_class(network).takes_objects:
            return experiment.with_features(config, self.features)[0]
        return config


def _grid_configs(base: ReasonerConfig) -> Iterator[tuple[str, ReasonerConfig]]:
    """Yield name and config of the paper's 16 configurations (section 5, "Experimental Setup")."""
    for rate, dropout, norm in product(*PAPER_GRID):
        name = f"lr{rate:g}-dropout{dropout:g}-{'norm' if norm else 'plain'}"
        sizes = {"dropout": dropout, "batch_norm": norm}
        yield name, base.override(sizes=sizes, learning_rate=rate)


def parse_cells(names: Iterable[str]) -> list[tuple[str, str]]:
    """Parse pairs of network and task.

    >>> parse_cells(["film/pos", "cnn-lstm/set+pos"])
    [('film', 'pos'), ('cnn-lstm', 'set+pos')]
    """
    cells = []
    for name in names:
        network, _, task = name.partition("/")
        if not task:
            raise UserError(f"'{name}' is not a cell: write NETWORK/TASK, as in film/pos.")
        cells.append((network, task))
    return cells


def _grid_names(
    network: str, task: str, results: Sequence[SweepRow], seeds: int
) -> set[str] | None:
    """Return the configurations of the paper's grid to train.

    None stands for all; for compositional it is the best one on SET+POS, once that is complete.
    """
    if task != "compositional":
        return None
    cell = (network, "set+pos")
    rows = [row for row in results if (row.network, row.task) == cell and row.seed < seeds]
    if len(rows) < seeds * prod(len(values) for values in PAPER_GRID):
        return set()
    return {row.config for row in best(rows).get(cell, [])}


def sweep(
    folder: Path,
    trainings: Sequence[SweepTraining],
    train_and_test: TrainAndTest,
    deadline: float | None = None,
    plan: Sequence[SweepTraining] = (),
    *,
    ray_workers: int = 0,
    progress: ProgressCallback | None = None,
) -> list[SweepRow]:
    """Run what is not done yet, and return the whole table, as `run_cells` does."""
    # before the first one takes its time
    refuse_other_trainings(folder, trainings)
    return run_cells(
        _table(folder),
        trainings,
        lambda training: _run(folder, training, train_and_test),
        lambda training: _finished(folder, training),
        deadline,
        plan,
        ray_workers=ray_workers,
        progress=progress,
    )


def refuse_other_trainings(folder: Path, trainings: Iterable[SweepTraining]) -> None:
    """Refuse a sweep of which a training was begun with other settings."""
    for training in trainings:
        checkpoints.refuse_other_training(
            folder / training.folder, training.config, training.source.settings
        )


def read_results(folder: Path) -> list[SweepRow]:
    """Read the table of a sweep, in the order of its plan."""
    return _table(folder).read()


def results_so_far(folder: Path) -> list[SweepRow]:
    """Read the table of a sweep; it is empty if no training has ended."""
    return _table(folder).so_far()


def _table(folder: Path) -> ResultTable[SweepRow]:
    return ResultTable(folder, _COLUMNS, _cells, _parse, "seesay reasoner sweep")


def test_size(trainings: Iterable[SweepTraining]) -> int:
    """Return the items per test for a diagnosis.

    They are as many as in the sweep's largest test, at most the paper's 2,000.
    """
    largest = 0
    for training in trainings:
        source = training.source
        largest = max([largest, *(source.splits[test] for test in source.tests)])
    return min(TEST_ITEMS, largest)


def best(results: Iterable[SweepRow]) -> dict[tuple[str, str], list[SweepRow]]:
    """Return all seeds of each network's best configuration on each task.

    The best is the one with the highest mean validation accuracy, as published. A configuration
    that failed with one of its seeds is best only where all others failed too.
    """
    groups: dict[tuple[str, str], dict[str, list[SweepRow]]] = {}
    for row in results:
        groups.setdefault((row.network, row.task), {}).setdefault(row.config, []).append(row)
    best_rows = {}
    for key, configs in groups.items():
        # of equals the first, as `max` has it
        rows = [row for row in max(configs.values(), key=_rank) if not row.error]
        if rows:
            best_rows[key] = sorted(rows, key=lambda row: row.seed)
    return best_rows


def _rank(rows: Sequence[SweepRow]) -> tuple[bool, bool, float]:
    """Return the rank of a configuration: ended at all, ended with all seeds, mean accuracy."""
    accuracies = [row.validation for row in rows if not row.error]
    if not accuracies:
        return False, False, 0.0
    return True, len(accuracies) == len(rows), sum(accuracies) / len(accuracies)


def _run(folder: Path, training: SweepTraining, train_and_test: TrainAndTest) -> SweepRow:
    """Run one training; return its row of the results."""
    row = SweepRow(*training.key, folder / training.folder, 0.0, {}, 0.0)
    try:
        config, extractor = experiment.with_features(training.config)
        result, tests = train_and_test(training.source, row.folder, config, extractor)
    except UserError as error:
        return replace(row, error=" ".join(str(error).split()))
    held_out = training.source.splits["val"]
    # a mean of single precision: back to a whole number of right answers
    validation = round(result.best * held_out) / held_out
    minutes = round(result.seconds / 60, 2)
    return replace(
        row,
        validation=validation,
        tests=tests,
        minutes=minutes,
        warning=result.warning,
    )


def _finished(folder: Path, training: SweepTraining) -> bool:
    """Return whether a training has ended well, and all its files are there."""
    for name in (*checkpoints.FILES, experiment.TEST_RESULTS):
        if not (folder / training.folder / name).is_file():
            return False
    return _table(folder).has(training)


def _cells(folder: Path, row: SweepRow) -> dict[str, object]:
    """Return a row as the file stores it, with a folder that moves with the sweep."""
    accuracies = {name: row.tests.get(name) for name in TESTS}
    return {**asdict(row), **accuracies, "folder": row.folder.relative_to(folder).as_posix()}


def _parse(folder: Path, line: Mapping[str, str]) -> SweepRow:
    return SweepRow(
        network=line["network"],
        task=line["task"],
        config=line["config"],
        seed=int(line["seed"]),
        folder=folder / line["folder"],
        validation=float(line["validation"]),
        tests={name: float(line[name]) for name in TESTS if line[name]},
        minutes=float(line["minutes"]),
        error=line["error"],
        warning=line["warning"],
    )
