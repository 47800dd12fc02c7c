"""Many trainings: networks by tasks by configurations by seeds, with a table of results that can be
resumed.

A sweep is a folder: every training in `NETWORK/TASK/CONFIG-seedN`, and `results.csv` with one row
per ended training. Finished trainings are not repeated and interrupted ones are resumed, so a sweep
may be stopped at any time, and several processes may share one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from itertools import product
from math import prod
from pathlib import Path

from seesay.data.rows import every_row, read_table
from seesay.errors import UserError
from seesay.files import lock_folder, write_csv
from seesay.scenes.defaults import TEST_ITEMS
from seesay.scenes.reasoners import checkpoints, experiment
from seesay.scenes.reasoners.config import ReasonerConfig, preset_config
from seesay.scenes.reasoners.features.extractor import FeatureExtractor
from seesay.scenes.reasoners.networks.registry import network_class
from seesay.scenes.reasoners.sources import ItemSource, scene_source
from seesay.training import loop

RESULTS = "results.csv"
TESTS = ("test", "test_seen", "test_unseen", "pos-hard", "set+pos-hard")
PAPER_GRID = ((5e-5, 3e-4, 5e-4, 5e-3), (0.0, 0.5), (True, False))
"""The paper's 16 configurations: learning rate, dropout, batch norm."""
_COLUMNS = ("network", "task", "config", "seed", "folder", "validation", *TESTS, "minutes", "error")


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One row of the results: accuracies, or the reason why there are none."""

    network: str
    task: str
    config: str
    seed: int
    folder: Path
    validation: float
    tests: dict[str, float]
    minutes: float
    error: str = ""

    @property
    def key(self) -> tuple[str, str, str, int]:
        return self.network, self.task, self.config, self.seed


@dataclass(frozen=True, slots=True)
class SweepTraining:
    """One planned training of a sweep. With a curriculum its task has another name, as in
    set+pos-after-sup1."""

    name: str
    config: ReasonerConfig
    source: ItemSource

    @property
    def key(self) -> tuple[str, str, str, int]:
        return (
            self.config.network,
            self.config.named(self.source.name),
            self.name,
            self.config.schedule.seed,
        )

    @property
    def folder(self) -> Path:
        """Its place within the sweep's folder."""
        network, task, name, seed = self.key
        return Path(network, task, f"{name}-seed{seed}")


TrainAndTest = Callable[
    [ItemSource, Path, ReasonerConfig, FeatureExtractor], tuple[loop.Result, dict[str, float]]
]
"""Trains in a folder and tests: `experiment.extract_splits` and `experiment.train_and_test`."""


def plan_trainings(
    networks: Sequence[str],
    tasks: Sequence[str],
    seeds: int,
    grid: str = "preset",
    *,
    preset: str = "auto",
    items: int | None = None,
    epochs: int | None = None,
    features: str | None = None,
    curriculum: Sequence[str] = (),
    cells: Collection[tuple[str, str]] | None = None,
    results: Iterable[SweepRow] = (),
) -> list[SweepTraining]:
    """All trainings, seed by seed: the table is soon complete and then gets more precise. `cells`
    keeps only these pairs of network and task.

    A network without dropout and batch norm has no grid: its preset is trained instead. With the
    paper's grid, compositional is trained with the configuration that is best on SET+POS by
    `results`, as published; until SET+POS is complete, none of it is planned.
    """
    if grid not in ("paper", "preset"):
        raise UserError(f"--grid is '{grid}': choose paper (16 configurations) or preset (one).")
    sources = [scene_source(task, items) for task in tasks]
    rows = list(results)
    trainings = []
    for seed, source, network in product(range(seeds), sources, networks):
        task = source.name
        if cells is not None and (network, task) not in cells:
            continue
        base = preset_config(network, preset, task).changed(sizes={}, epochs=epochs, seed=seed)
        base = replace(base, curriculum=tuple(scene_source(first).name for first in curriculum))
        if features is not None and not network_class(network).takes_objects:
            base = experiment.with_features(base, features)[0]
        if grid == "preset" or not network_class(network).has_regularisation:
            trainings.append(SweepTraining("preset", base, source))
            continue
        names = _grid_names(network, task, rows, seeds)
        with_set = "set+pos" in tasks and (cells is None or (network, "set+pos") in cells)
        if names == set() and not with_set:
            raise UserError(
                "compositional takes the configuration that is best on set+pos: sweep "
                f"{network}/set+pos too."
            )
        for rate, dropout, norm in product(*PAPER_GRID):
            name = f"lr{rate:g}-dropout{dropout:g}-{'norm' if norm else 'plain'}"
            if names is None or name in names:
                config = base.changed(
                    sizes={"dropout": dropout, "batch_norm": norm}, learning_rate=rate
                )
                trainings.append(SweepTraining(name, config, source))
    return trainings


def parse_cells(names: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of network and task.

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
    """The configurations of the paper's grid to train: all (None), or for compositional the best on
    SET+POS."""
    if task != "compositional":
        return None
    rows = [
        row
        for row in results
        if (row.network, row.task) == (network, "set+pos") and row.seed < seeds
    ]
    if len(rows) >= seeds * prod(len(values) for values in PAPER_GRID):
        chosen = best(rows)
    else:
        chosen = {}
    return {row.config for configs in chosen.values() for row in configs}


def sweep(
    folder: Path,
    trainings: Sequence[SweepTraining],
    train_and_test: TrainAndTest,
    deadline: float | None = None,
    plan: Sequence[SweepTraining] = (),
) -> list[SweepRow]:
    """Run what is not done yet, and return the whole table. A training that fails is a row with the
    reason.

    No training begins after the `deadline` (of `time.time`); `train_and_test` may interrupt one
    that is running then. The table is in the order of the `plan`, of which the trainings may be a
    part.
    """
    refuse_other_trainings(folder, trainings)  # before the first one takes its time
    for training in trainings:
        if is_over(deadline):
            break
        with ExitStack() as stack:
            try:
                stack.enter_context(lock_folder(folder / training.folder / "training"))
            except UserError:
                continue  # another process that sweeps the same folder is running it
            try:
                if not _finished(folder, training):
                    _record(folder, _run(folder, training, train_and_test), plan or trainings)
            except KeyboardInterrupt:
                if not is_over(deadline):
                    raise
    return results_so_far(folder)


def is_over(deadline: float | None) -> bool:
    """Whether the time is up."""
    return deadline is not None and time.time() >= deadline


def refuse_other_trainings(folder: Path, trainings: Iterable[SweepTraining]) -> None:
    """Refuse a sweep of which a training was begun with other settings."""
    for training in trainings:
        checkpoints.refuse_other_training(
            folder / training.folder, training.config, training.source.settings
        )


def read_results(folder: Path) -> list[SweepRow]:
    """The table of a sweep, in the order in which its trainings ended."""
    path = folder / RESULTS
    if not path.is_file():
        raise UserError(
            f"There is no {RESULTS} in '{folder}': give a folder that `seesay reasoner sweep` made."
        )
    try:
        return [_parse(folder, row.cells) for row in every_row(path, read_table(path))]
    except (UserError, KeyError, ValueError) as error:
        raise UserError(
            f"{path} is damaged ({error}): delete it, and the same sweep writes it again."
        ) from error


def test_size(trainings: Iterable[SweepTraining]) -> int:
    """Items per test for a diagnosis: as in the sweep's largest test, at most the paper's 2,000."""
    sources = [training.source for training in trainings]
    return min(TEST_ITEMS, max(source.splits[test] for source in sources for test in source.tests))


def best(results: Iterable[SweepRow]) -> dict[tuple[str, str], list[SweepRow]]:
    """All seeds of each network's best configuration on each task, by mean validation accuracy.

    A configuration that failed with one of its seeds is best only where all others failed too.
    """
    groups: dict[tuple[str, str], dict[str, list[SweepRow]]] = {}
    for row in results:
        groups.setdefault((row.network, row.task), {}).setdefault(row.config, []).append(row)
    chosen = {}
    for key, configs in groups.items():
        ranks = {}
        for config, rows in configs.items():
            good = [row for row in rows if not row.error]
            if good:
                ranks[config] = (
                    len(good) == len(rows),
                    sum(row.validation for row in good) / len(good),
                )
        if ranks:
            best_rows = configs[max(ranks, key=lambda config: ranks[config])]
            chosen[key] = sorted(
                (row for row in best_rows if not row.error), key=lambda row: row.seed
            )
    return chosen


def _run(folder: Path, training: SweepTraining, train_and_test: TrainAndTest) -> SweepRow:
    row = SweepRow(*training.key, folder / training.folder, 0.0, {}, 0.0)
    try:
        config, extractor = experiment.with_features(training.config)
        result, tests = train_and_test(training.source, row.folder, config, extractor)
    except UserError as error:
        return replace(row, error=" ".join(str(error).split()))
    held_out = training.source.splits["val"]
    validation = round(result.best * held_out) / held_out  # a mean of single precision
    return replace(row, validation=validation, tests=tests, minutes=round(result.seconds / 60, 2))


def _finished(folder: Path, training: SweepTraining) -> bool:
    files = (*checkpoints.FILES, experiment.TEST_RESULTS)
    complete = all((folder / training.folder / name).is_file() for name in files)
    return complete and any(
        row.key == training.key and not row.error for row in results_so_far(folder)
    )


def results_so_far(folder: Path) -> list[SweepRow]:
    """The table of a sweep, empty if no training has ended."""
    return read_results(folder) if (folder / RESULTS).is_file() else []


def _record(folder: Path, row: SweepRow, plan: Sequence[SweepTraining]) -> None:
    """Write the table with this row in it, in the order of the plan; it replaces a row that failed
    before."""
    place = {training.key: number for number, training in enumerate(plan)}
    with lock_folder(folder, wait=True):
        rows = [*(other for other in results_so_far(folder) if other.key != row.key), row]
        rows.sort(key=lambda row: place.get(row.key, -1))  # those of other plans first, as they are
        write_csv(folder / RESULTS, _COLUMNS, (_cells(folder, row) for row in rows))


def _cells(folder: Path, row: SweepRow) -> dict[str, object]:
    accuracies = {name: row.tests.get(name) for name in TESTS}
    return {**asdict(row), **accuracies, "folder": row.folder.relative_to(folder).as_posix()}


def _parse(folder: Path, line: Mapping[str, str]) -> SweepRow:
    return SweepRow(
        line["network"],
        line["task"],
        line["config"],
        int(line["seed"]),
        folder / line["folder"],
        float(line["validation"]),
        {name: float(line[name]) for name in TESTS if line[name]},
        float(line["minutes"]),
        line["error"],
    )
