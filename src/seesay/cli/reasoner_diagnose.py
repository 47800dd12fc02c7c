"""`seesay reasoner diagnose`: the accuracy of trained reasoners in detail, and what they attend to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.cli.options import Json, Quiet
from seesay.cli.training_output import Device, TrainingDevice, stage_bars

if TYPE_CHECKING:
    from rich.table import Table

    from seesay.reasoners.diagnostics import Diagnosis
    from seesay.reasoners.evaluate import SceneTest


def diagnose(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER…", help="Folders of `seesay reasoner train`.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page; charts are written beside it.")],
    items: Annotated[int, typer.Option(min=1, help="Items of every test.")] = 2_000,
    examples: Annotated[int, typer.Option(min=0, help="Pictures per reasoner that show what it attends to.")] = 6,
    task: Annotated[str | None, typer.Option(help="The task of reasoners that were trained with --data.")] = None,
    device: Device = TrainingDevice.auto,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Hard tests, unseen combinations, sentence types, k, distance from the threshold, and attention maps."""
    from seesay.cli.output import out, plain, print_json
    from seesay.reasoners.evaluate import trained_on
    from seesay.reports.pages.reasoners import reasoner_page

    for folder in folders:  # all, before the first takes its time
        trained_on(folder, task)
    diagnose_folder = diagnose_with_bars(items, examples, task=task, device=device, quiet=quiet or as_json)
    diagnoses = [diagnose_folder(folder) for folder in folders]
    written = reasoner_page(output, diagnoses)
    if as_json:
        rows = [diagnosis.to_json() for diagnosis in diagnoses]
        print_json({"reasoners": rows, "written": [str(path) for path in written]})
    elif not quiet:
        out.print(_table(diagnoses))
        out.print(plain(written[0]), soft_wrap=True)


def diagnose_with_bars(
    items: int, examples: int, *, task: str | None = None, device: str = "auto", quiet: bool = False
) -> Callable[[Path], Diagnosis]:
    """Diagnoses the reasoner in a folder, with bars; tests that several share are generated once."""
    from seesay.reasoners.diagnostics import diagnose_folder

    tests: dict[str, SceneTest] = {}

    def diagnose(folder: Path) -> Diagnosis:
        with stage_bars(str(folder), quiet=quiet) as show:
            return diagnose_folder(
                folder, items=items, examples=examples, task=task, device=device, tests=tests, progress=show
            )

    return diagnose


def _table(diagnoses: Sequence[Diagnosis]) -> Table:
    from seesay.cli.output import table
    from seesay.reasoners.diagnostics import REASONER
    from seesay.reasoners.evaluate import CEILING
    from seesay.reports.formatting import interval, number
    from seesay.reports.reasoner_charts import labels, title_of

    rows = []
    for name, diagnosis in zip(labels(diagnoses), diagnoses, strict=True):
        for row in diagnosis.accuracy:
            if row.group == (REASONER,):
                ceiling = diagnosis.of(row.test, CEILING)
                figures = [number(row.accuracy), interval(row.low, row.high)]
                rows.append([name, title_of(row.test), *figures, number(ceiling.accuracy if ceiling else None)])
    return table(["reasoner", "test", ">accuracy", ">95 % interval", ">k = 0.29 (ceiling)"], rows)
