"""Many trainings: networks by tasks by configurations by seeds, with a table of results that grows and resumes.

A sweep is a folder: every training in `NETWORK/TASK/CONFIG-seedN`, and `results.csv`, which gets a row when one ends.
What is finished is not trained again and what was interrupted goes on, so a sweep may be stopped at any time, and
several processes may share one.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from filelock import FileLock

from seesay.errors import UserError
from seesay.reasoners import checkpoints, experiment
from seesay.reasoners.features.extractor import Eye
from seesay.reasoners.networks.registry import Recipe, recipe
from seesay.reasoners.sources import Scenes, scenes
from seesay.training import checkpoint, loop

RESULTS = "results.csv"
TESTS = ("test", "test_seen", "test_unseen", "pos-hard", "set+pos-hard")
_COLUMNS = ("network", "task", "config", "seed", "folder", "validation", *TESTS, "minutes", "error")


@dataclass(frozen=True, slots=True)
class Trained:
    """One row of the results: accuracies, or why there are none."""

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
class Training:
    """One training of a sweep."""

    config: str
    recipe: Recipe
    source: Scenes

    @property
    def key(self) -> tuple[str, str, str, int]:
        return self.recipe.network, self.source.plan.name, self.config, self.recipe.schedule.seed

    @property
    def folder(self) -> Path:
        """Where it is within the sweep's folder."""
        network, task, config, seed = self.key
        return Path(network, task, f"{config}-seed{seed}")


Learn = Callable[[Scenes, Path, Recipe, Eye], tuple[loop.Result, dict[str, float]]]
"""Trains in a folder and tests: `learning.look` and `learning.learn`, with what is shown meanwhile."""


def paper_grid() -> dict[str, dict[str, Any]]:
    """The paper's 16 configurations by name (section 4.2): learning rate, dropout, batch norm."""
    return {
        f"lr{rate:g}-dropout{dropout:g}-{'norm' if norm else 'plain'}": {
            "learning_rate": rate, "dropout": dropout, "batch_norm": norm,
        }
        for rate, dropout, norm in product((5e-5, 3e-4, 5e-4, 5e-3), (0.0, 0.5), (True, False))
    }  # fmt: skip


def trainings(
    networks: Sequence[str],
    tasks: Sequence[str],
    seeds: int,
    grid: str = "preset",
    *,
    preset: str = "auto",
    items: int | None = None,
    epochs: int | None = None,
) -> list[Training]:
    """All of them, one seed after the other: the table is soon whole and then gets surer.

    The object-centred reasoner has no dropout and no batch norm: its preset stands for the grid.
    """
    if grid not in ("paper", "preset"):
        raise UserError(f"--grid is '{grid}': choose paper (16 configurations) or preset (one).")
    sources = [scenes(task, items) for task in tasks]
    found = []
    for seed, network, source in product(range(seeds), networks, sources):
        base = experiment.changed(recipe(network, preset), sizes={}, epochs=epochs, seed=seed)
        if grid == "preset" or network == "object-centred":
            found.append(Training("preset", base, source))
            continue
        for name, values in paper_grid().items():
            rate, *sizes = values.items()
            found.append(Training(name, experiment.changed(base, sizes=dict(sizes), **dict([rate])), source))
    return found


def sweep(folder: Path, wanted: Sequence[Training], learn: Learn) -> list[Trained]:
    """Carry out what is not done yet, and give the whole table. A training that fails is a row with the reason."""
    for one in wanted:
        _same_settings(folder / one.folder / "training", one)
    for one in wanted:
        with ExitStack() as held:
            try:
                held.enter_context(checkpoint.alone(folder / one.folder / "training"))
            except UserError:
                continue  # another process that sweeps the same folder is at it
            if not _finished(folder, one):
                _keep(folder, _carry_out(folder, one, learn))
    return _known(folder)


def read_results(folder: Path) -> list[Trained]:
    """The table of a sweep's folder, in the order in which trainings ended."""
    path = folder / RESULTS
    if not path.is_file():
        raise UserError(f"There is no {RESULTS} in '{folder}': give a folder that `seesay reasoner sweep` made.")
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [_trained(folder, row) for row in csv.DictReader(file)]
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is damaged ({error}): delete it, and the same sweep writes it anew.") from error


def best(results: Iterable[Trained]) -> dict[tuple[str, str], list[Trained]]:
    """All seeds of each network's best configuration on each task, by mean validation accuracy.

    A configuration that failed with one of its seeds is best only where all others failed too.
    """
    groups: dict[tuple[str, str], dict[str, list[Trained]]] = {}
    for row in results:
        groups.setdefault((row.network, row.task), {}).setdefault(row.config, []).append(row)
    found = {}
    for key, configs in groups.items():
        ranks = {}
        for config, rows in configs.items():
            good = [row for row in rows if not row.error]
            if good:
                ranks[config] = (len(good) == len(rows), sum(row.validation for row in good) / len(good))
        if ranks:
            chosen = configs[max(ranks, key=lambda config: ranks[config])]
            found[key] = sorted((row for row in chosen if not row.error), key=lambda row: row.seed)
    return found


def _carry_out(folder: Path, one: Training, learn: Learn) -> Trained:
    network, task, config, seed = one.key
    row = Trained(network, task, config, seed, folder / one.folder, 0.0, {}, 0.0)
    try:
        looking, eye = experiment.look_with(one.recipe)
        result, tests = learn(one.source, folder / one.folder, looking, eye)
    except UserError as error:
        return replace(row, error=" ".join(str(error).split()))
    held_out = one.source.splits["val"]
    validation = round(result.best * held_out) / held_out  # a mean of single precision
    return replace(row, validation=validation, tests=tests, minutes=round(result.seconds / 60, 2))


def _finished(folder: Path, one: Training) -> bool:
    made = all((folder / one.folder / name).is_file() for name in (*checkpoints.FILES, experiment.TESTED))
    return made and any(row.key == one.key and not row.error for row in _known(folder))


def _same_settings(training: Path, one: Training) -> None:
    """Refuse before anything is trained, not at the hundredth training, what was begun with other settings."""
    if (training / checkpoint.SETTINGS).is_file():
        shaping = asdict(one.recipe)
        checkpoint.same_settings(training, shaping.pop("schedule") | shaping | one.source.settings)


def _known(folder: Path) -> list[Trained]:
    return read_results(folder) if (folder / RESULTS).is_file() else []


def _keep(folder: Path, row: Trained) -> None:
    """Write the table with this row in it, in place of one that failed before."""
    with FileLock(folder / f".{RESULTS}.lock"):
        rows = [known for known in _known(folder) if known.key != row.key]
        text = io.StringIO()
        table = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
        table.writeheader()
        for one in [*rows, row]:
            table.writerow(_line(folder, one))
        checkpoint.write_whole(folder / RESULTS, text.getvalue().encode())


def _line(folder: Path, row: Trained) -> dict[str, object]:
    plain = asdict(row)
    del plain["tests"]
    return plain | {name: row.tests.get(name) for name in TESTS} | {"folder": row.folder.relative_to(folder).as_posix()}


def _trained(folder: Path, line: Mapping[str, str]) -> Trained:
    return Trained(
        line["network"], line["task"], line["config"], int(line["seed"]), folder / line["folder"],
        float(line["validation"]), {name: float(line[name]) for name in TESTS if line[name]},
        float(line["minutes"]), line["error"],
    )  # fmt: skip
