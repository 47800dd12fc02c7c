"""`seesay reasoner diagnose`: the accuracy of reasoners in detail, and what they attend to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seesay.cli.options import Json, Quiet
from seesay.cli.training_output import Device, TrainingDevice, stage_bars
from seesay.scenes.defaults import EXAMPLES, TEST_ITEMS

if TYPE_CHECKING:
    from rich.table import Table

    from seesay.scenes.reasoners.diagnostics import Diagnosis


def diagnose(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER", help="Folders of `seesay reasoner train`.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The page; charts are written beside it.")
    ],
    items: Annotated[int, typer.Option(min=1, help="Items of every test.")] = TEST_ITEMS,
    examples: Annotated[
        int, typer.Option(min=0, help="Pictures per reasoner that show what it attends to.")
    ] = EXAMPLES,
    task: Annotated[
        str | None, typer.Option(help="The task of reasoners that were trained with --data.")
    ] = None,
    device: Device = TrainingDevice.auto,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Diagnose reasoners: hard tests, unseen combinations, sentence types, k, attention maps."""
    from seesay.cli.output import out, print_json
    from seesay.scenes.reasoners.evaluate import read_network_and_task
    from seesay.scenes.reports.reasoner_page import reasoner_page

    # refuse a wrong folder before the first takes its time
    for folder in folders:
        read_network_and_task(folder, task)
    # tests that several share are generated once
    tests: dict[str, Any] = {}
    options = {"items": items, "examples": examples, "task": task, "device": device, "tests": tests}
    diagnoses = [
        diagnose_with_bars(folder, quiet=quiet or as_json, **options) for folder in folders
    ]
    written = reasoner_page(output, diagnoses)
    if as_json:
        rows = [diagnosis.to_json() for diagnosis in diagnoses]
        print_json({"reasoners": rows, "written": [str(path) for path in written]})
    else:
        out.print(_table(diagnoses))
        if not quiet:
            out.print(str(written[0]))


def diagnose_with_bars(folder: Path, *, quiet: bool, **options: Any) -> Diagnosis:
    """Diagnose the reasoner in a folder, with bars; `options` are those of `diagnose_folder`."""
    from seesay.scenes.reasoners.diagnostics import diagnose_folder

    with stage_bars(str(folder), quiet=quiet) as show:
        return diagnose_folder(folder, **options, progress=show)


def _table(diagnoses: Sequence[Diagnosis]) -> Table:
    from seesay.cli.output import table
    from seesay.reports.formatting import interval, number
    from seesay.scenes.reasoners.diagnostics import REASONER
    from seesay.scenes.reasoners.evaluate import CEILING
    from seesay.scenes.reports.reasoner_charts import labels, title_of

    rows = []
    for name, diagnosis in zip(labels(diagnoses), diagnoses, strict=True):
        for row in diagnosis.accuracy:
            if row.group == (REASONER,):
                ceiling = diagnosis.of(row.test, CEILING)
                rows.append(
                    [
                        name,
                        title_of(row.test),
                        number(row.accuracy),
                        interval(row.low, row.high),
                        number(ceiling.accuracy if ceiling else None),
                    ]
                )
    return table(["reasoner", "test", ">accuracy", ">95 % interval", ">k = 0.29 (ceiling)"], rows)
