"""`seesay reasoner diagnose`: what trained reasoners get right, and where and why they go wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.cli.training_output import Device, Json, Quiet, check

if TYPE_CHECKING:
    from rich.table import Table

    from seesay.reasoners.diagnostics import Diagnosis


def diagnose(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER…", help="Folders of `seesay reasoner train`.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page; figures are written beside it.")],
    items: Annotated[int, typer.Option(min=1, help="Items of every test.")] = 2_000,
    examples: Annotated[int, typer.Option(min=0, help="Pictures a reasoner that show where it looks.")] = 6,
    task: Annotated[
        str | None, typer.Option(help="The task, for reasoners that learnt it from a folder of data.")
    ] = None,
    device: Device = "auto",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Hard tests, unseen combinations, sentence types, k, distance from the threshold, and where the networks look."""
    from seesay.cli.output import out, plain, print_json
    from seesay.reasoners.evaluate import trained_on
    from seesay.report.pages.reasoners import reasoner_page

    check(None, device)
    for folder in folders:  # all, before the first takes its time
        trained_on(folder, task)
    ask = asking(items, examples, task=task, device=device, quiet=quiet or as_json)
    found = [ask(folder) for folder in folders]
    written = reasoner_page(output, found)
    if as_json:
        print_json({"reasoners": [one.plain() for one in found], "written": [str(path) for path in written]})
    elif not quiet:
        out.print(_table(found))
        out.print(plain(written[0]), soft_wrap=True)


def asking(
    items: int, examples: int, *, task: str | None = None, device: str = "auto", quiet: bool = False
) -> Callable[[Path], Diagnosis]:
    """Diagnoses the reasoner of a folder; tests that several share are made once."""
    from seesay.cli.output import progress_bar
    from seesay.models import load_model
    from seesay.models.options import ModelOptions
    from seesay.reasoners import diagnostics, evaluate
    from seesay.reasoners.model import Reasoner

    tests: dict[str, evaluate.Test] = {}

    def ask(folder: Path) -> Diagnosis:
        network, learnt = evaluate.trained_on(folder, task)
        reasoner = load_model(f"reasoner:{folder}", ModelOptions(device=device))
        assert isinstance(reasoner, Reasoner)
        asked = evaluate.tests_of(learnt)
        for name in asked:
            if name not in tests:
                with progress_bar(f"{name}: scenes", unit="items", quiet=quiet) as advance:
                    tests[name] = evaluate.Test(name, items, advance)
        with progress_bar(f"{folder}: answers", unit="items", quiet=quiet) as advance:
            return diagnostics.diagnose(
                reasoner, network, learnt, [tests[name] for name in asked], examples=examples, progress=advance
            )

    return ask


def _table(found: Sequence[Diagnosis]) -> Table:
    from seesay.cli.output import table
    from seesay.reasoners.diagnostics import REASONER
    from seesay.reasoners.evaluate import CEILING
    from seesay.report.formatting import interval, number
    from seesay.report.reasoner_figures import labels, title_of

    rows = []
    for name, one in zip(labels(found), found, strict=True):
        for row in one.accuracy:
            if row.group == (REASONER,):
                ceiling = one.of(row.test, CEILING)
                figures = [number(row.accuracy), interval(row.low, row.high)]
                rows.append([name, title_of(row.test), *figures, number(ceiling.accuracy if ceiling else None)])
    return table(["reasoner", "test", ">accuracy", ">95 % interval", ">k = 0.29 (ceiling)"], rows)
