"""Write down trainings of reasoners, and render the paper's Tables 1 to 3 from what is written.

    python benchmarks/reasoner_trainings.py [FOLDER …] [--commit COMMIT] [--table FILE] [--missing]

Adds every finished training below the folders (of `seesay reasoner sweep` or `train`) to the table,
docs/results/reasoner-trainings.csv: its network, task, seed, preset and features; the epochs that
were planned; items; the steps done, and the step of the best weights; whether it learnt anything;
its accuracies; the commit of the code that trained it, which --commit names; the date. A training
that is there already is replaced. Then prints as Markdown the cells of the `cpu` preset, over all
seeds. Every cell has the same budget of epochs (compositional, with half the items, twice as many);
where no training with this budget has ended yet, what there is from before has a mark. --missing
prints the commands of the seeds that are not there.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from seesay.files import read_json, write_csv
from seesay.reports.formatting import NONE, number
from seesay.scenes.reasoners import checkpoints, experiment
from seesay.scenes.reasoners.config import PRESETS, preset_config
from seesay.scenes.reasoners.networks.registry import NAMES
from seesay.scenes.reasoners.paper_tables import TABLES, TableCell, printed, summary
from seesay.scenes.reasoners.sweep import SweepRow
from seesay.training.checkpoint import RESULT

TABLE = Path(__file__).parents[1] / "docs/results/reasoner-trainings.csv"
PRESET = "cpu"
SEEDS = 3
OLDER = "°"
"""Marks trainings with another budget of epochs, or from before the table was kept."""
NETWORKS = ("film", "stacked-attention", "cnn-lstm")
TASKS = ("sup1", "pos1", "pos", "set+pos", "compositional")
_KEY = ("network", "task", "seed", "preset", "features", "items", "epochs")
_FIRST = (*_KEY, "steps", "best_step", "learnt", "validation")
_LAST = ("commit", "date")
_VARIES = {"epochs", "seed", "features", "image_size"}

Row = dict[str, str]


def training_row(folder: Path, commit: str) -> Row | None:
    """Return the row of a finished training, or None where its settings are of no preset."""
    settings = checkpoints.read_settings(folder)
    preset = preset_name(settings)
    if preset is None:
        return None
    path = folder / "training" / RESULT
    result = read_json(path)
    # a folder would be one of this machine
    kind, _, weights = settings["features"].partition(":")
    features = f"{kind}:{Path(weights).name}" if weights else kind
    row = {
        "network": settings["network"],
        "task": settings["task"],
        "seed": settings["seed"],
        "preset": preset,
        "features": features,
        "items": settings["items"],
        "epochs": settings["epochs"],
        "steps": result["steps"],
        "best_step": result["best_step"],
        "learnt": "yes" if result["learnt"] else "no",
        "validation": round(result["best"], 4),
        **read_json(folder / experiment.TEST_RESULTS)["accuracy"],
        "commit": commit,
        "date": datetime.fromtimestamp(path.stat().st_mtime, UTC).date(),
    }
    return {name: str(value) for name, value in row.items()}


def preset_name(settings: dict[str, Any]) -> str | None:
    """Return the preset that a training had, whatever its epochs, seed and features."""
    for preset in reversed(PRESETS):
        config = preset_config(settings["network"], preset, settings["task"])
        fields = config.schedule.settings() | checkpoints.training_settings(config, {})
        # as the file has them: lists for tuples
        expected = json.loads(json.dumps(fields))
        if all(settings.get(name) == expected[name] for name in expected.keys() - _VARIES):
            return preset
    return None


def finished_trainings(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the folders of trainings that have ended and been tested."""
    for folder in folders:
        for result in sorted(folder.rglob(f"training/{RESULT}")):
            training = result.parents[1]
            if (training / experiment.TEST_RESULTS).is_file():
                yield training


def read_rows(path: Path) -> list[Row]:
    """Read the table; it is empty where there is no file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: cell for name, cell in row.items() if cell} for row in csv.DictReader(file)]


def merge_rows(rows: Iterable[Row], new_rows: Iterable[Row]) -> list[Row]:
    """Return all rows in order; a new one replaces that of the same training."""
    by_key = {tuple(row[name] for name in _KEY): row for row in [*rows, *new_rows]}
    return [by_key[key] for key in sorted(by_key)]


def test_names(rows: Iterable[Row]) -> list[str]:
    """Return the names of all tests."""
    return sorted({name for row in rows for name in row} - {*_FIRST, *_LAST})


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write the table."""
    write_csv(path, (*_FIRST, *test_names(rows), *_LAST), rows)


def budget(task: str) -> int:
    """Return the epochs of the preset for a task, which are the same for all networks."""
    return preset_config(NETWORKS[0], PRESET, task).schedule.epochs


@dataclass(frozen=True)
class Cell:
    """All seeds of a network on a task."""

    rows: list[Row]
    is_newer: bool
    """Whether they have the one budget of epochs, and a commit."""

    @property
    def sweep_rows(self) -> list[SweepRow]:
        """Return what the paper's tables are made of."""
        tests = test_names(self.rows)
        return [
            SweepRow(
                network=row["network"],
                task=row["task"],
                config=PRESET,
                seed=int(row["seed"]),
                folder=Path(),
                validation=float(row["validation"]),
                tests={name: float(row[name]) for name in tests if name in row},
                minutes=0.0,
            )
            for row in self.rows
        ]


def is_newer(row: Row) -> bool:
    """Return whether a training has the one budget and was written down with its commit."""
    return int(row["epochs"]) == budget(row["task"]) and "commit" in row


def table_cells(rows: Sequence[Row]) -> dict[tuple[str, str], Cell]:
    """Return the cells of the paper's tables; other budgets only where there is nothing else."""
    cells = {}
    for network in NETWORKS:
        for task in TASKS:
            fields = (network, task, PRESET, "pixels")
            of_cell = [
                row
                for row in rows
                if (row["network"], row["task"], row["preset"], row["features"]) == fields
            ]
            newer = [row for row in of_cell if is_newer(row)]
            if of_cell:
                cells[network, task] = Cell(newer or of_cell, bool(newer))
    return cells


def accuracy_text(cell: TableCell | None, newer: bool) -> str:
    """Return mean and deviation; fewer seeds than three are counted, older trainings marked."""
    if cell is None:
        return NONE
    text = number(cell.mean)
    if cell.sd is not None:
        text += f" ± {number(cell.sd)}"
    if cell.seeds < SEEDS:
        text += f" ({cell.seeds})"
    return text if newer else f"{text}{OLDER}"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]], texts: int) -> str:
    """Return a table whose first columns are texts and whose others are numbers."""
    rule = "---|" * texts + "---:|" * (len(header) - texts)
    head, *body = [f"| {' | '.join(line)} |" for line in (header, *rows)]
    return "\n".join([head, f"|{rule}", *body])


def accuracy_table(cells: dict[tuple[str, str], Cell]) -> str:
    """Return the paper's three tables as one, our figures below the published ones."""
    columns = {column: place for table in TABLES.values() for column, place in table.items()}
    all_rows = [row for cell in cells.values() for row in cell.sweep_rows]
    by_place = {(cell.network, cell.column): cell for cell in summary(all_rows)}
    body = []
    for network in NETWORKS:
        name = NAMES[network]
        body.append([f"{name}, published", *(printed(column, name) for column in columns)])
        texts = []
        for column, (task, _) in columns.items():
            figures = by_place.get((network, column))
            newer = figures is not None and cells[network, task].is_newer
            texts.append(accuracy_text(figures, newer))
        body.append([f"{name}, ours", *texts])
    return markdown(["", *columns], body, 1)


def training_table(cells: dict[tuple[str, str], Cell]) -> str:
    """Return how the trainings of each cell ended."""
    header = ["network", "task", "seeds", "learnt", "epochs", "steps", "best step", "validation"]
    body = []
    for (network, task), cell in cells.items():
        values = [float(row["validation"]) for row in cell.rows]
        validation = number(fmean(values))
        if len(values) > 1:
            validation += f" ± {number(stdev(values))}"
        answers = [row["learnt"] for row in cell.rows if "learnt" in row]
        learnt = f"{answers.count('yes')}" if answers else NONE
        epochs = ", ".join(sorted({row["epochs"] for row in cell.rows}))
        steps, best_steps = (
            ", ".join(f"{int(row[name]):,}" for row in cell.rows) for name in ("steps", "best_step")
        )
        seeds = [f"{len(values)}", learnt]
        mark = "" if cell.is_newer else OLDER
        body.append(
            [NAMES[network], f"{task}{mark}", *seeds, epochs, steps, best_steps, validation]
        )
    return markdown(header, body, 2)


def missing_commands(cells: dict[tuple[str, str], Cell]) -> Iterator[str]:
    """Yield the command of every training that the tables lack."""
    for task in TASKS:
        for network in NETWORKS:
            cell = cells.get((network, task))
            rows = cell.rows if cell is not None and cell.is_newer else []
            seeds = {int(row["seed"]) for row in rows}
            for seed in sorted(set(range(SEEDS)) - seeds):
                folder = f"sweep/{network}/{task}/preset-seed{seed}"
                yield (
                    f"seesay reasoner train {network} --task {task} --preset {PRESET} "
                    f"--seed {seed} -o {folder}"
                )


def main() -> None:
    """Write down what has ended, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    parser.add_argument("--commit", help="of the code that trained")
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--missing", action="store_true", help="print the commands of what lacks")
    given = parser.parse_args()
    if given.folders and not given.commit:
        parser.error("name the code that trained: --commit COMMIT")
    rows = read_rows(given.table)
    new_rows = []
    for folder in finished_trainings(given.folders):
        row = training_row(folder, given.commit)
        if row is None:
            print(f"{folder} is of no preset and is left out", file=sys.stderr)
        else:
            new_rows.append(row)
    if new_rows:
        rows = merge_rows(rows, new_rows)
        write_rows(given.table, rows)
    cells = table_cells(rows)
    if given.missing:
        print("\n".join(missing_commands(cells)))
        return
    print(accuracy_table(cells), training_table(cells), sep="\n\n")


if __name__ == "__main__":
    main()
