"""`seesay reasoner diagnose`: what trained reasoners get right, and where and why they go wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Folders = Annotated[list[Path], typer.Argument(metavar="FOLDER…", help="Folders that `seesay reasoner train` made.")]


def diagnose(
    folders: Folders,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page; figures are written beside it.")],
    items: Annotated[int, typer.Option(min=20, help="Items of every test.")] = 2_000,
    examples: Annotated[int, typer.Option(min=0, help="Pictures a reasoner that show where it looks.")] = 6,
    device: Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Silent but for errors.")] = False,
) -> None:
    """Hard tests, unseen combinations, sentence types, k, distance from the threshold, and where the networks look."""
    from seesay.cli.output import out, plain, print_json, progress_bar, table
    from seesay.models import load_model
    from seesay.models.loading import Options
    from seesay.reasoners import diagnostics, judging
    from seesay.reasoners.model import Reasoner
    from seesay.report.reasoner_figures import labels, title_of
    from seesay.report.reasoner_page import reasoner_page

    known = [judging.trained_on(folder) for folder in folders]
    silent = quiet or as_json
    tests: dict[str, judging.Test] = {}
    found = []
    for folder, (network, task) in zip(folders, known, strict=True):
        for name in judging.tests_of(task):
            if name not in tests:
                with progress_bar(f"{name}: scenes", unit="items", quiet=silent) as advance:
                    tests[name] = judging.Test(name, items, advance)
        reasoner = load_model(str(folder), Options(device=device))
        assert isinstance(reasoner, Reasoner)
        asked = [tests[name] for name in judging.tests_of(task)]
        with progress_bar(f"{folder}: answers", unit="items", quiet=silent) as advance:
            found.append(diagnostics.diagnose(reasoner, network, task, asked, examples=examples, progress=advance))
    written = reasoner_page(output, found)
    if as_json:
        print_json({"reasoners": [one.plain() for one in found], "written": [str(path) for path in written]})
    elif not quiet:
        rows = []
        for name, one in zip(labels(found), found, strict=True):
            for row in one.accuracy:
                if row.group == (diagnostics.REASONER,):
                    ceiling = one.of(row.test, judging.CEILING)
                    figures = [f"{row.accuracy:.3f}", f"{row.low:.3f}–{row.high:.3f}"]
                    rows.append([name, title_of(row.test), *figures, f"{ceiling.accuracy:.3f}" if ceiling else ""])
        out.print(table(["reasoner", "test", ">accuracy", ">95 % interval", ">k = 0.29"], rows))
        out.print(plain(written[0]), soft_wrap=True)
