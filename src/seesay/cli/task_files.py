"""`seesay tasks`: list and show tasks; check, start and export task files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from seesay.cli.options import Json, Quiet
from seesay.cli.tasks import gold_text, print_slices, tasks
from seesay.errors import UserError
from seesay.quantities import quantity

if TYPE_CHECKING:
    from seesay.tasks.from_file.load import Examination

_SHOWN_PROBLEMS = 40
_SHOWN_QUESTIONS = 3


class _ShowByDefault(TyperGroup):
    """`seesay tasks core-color` shows that task: what is not a command is what `show` takes."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ("-h", "--help")):
            args = ["show", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_ShowByDefault, help="List and show tasks; check, start and export task files."
)
app.command("show")(tasks)

TaskArgument = Annotated[
    str, typer.Argument(metavar="TASK", help="A task's name, a task file, its folder, or a table.")
]
DataOption = Annotated[
    Path | None, typer.Option(help="A file or folder of rows to read instead of the task's own.")
]


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A task file, a folder with one, or a table.")],
    data: DataOption = None,
    as_json: Json = False,
) -> None:
    """Say everything that is wrong with a task file, and show what models would see; exit with 1 if
    anything is."""
    from seesay.cli.output import out, print_json
    from seesay.tasks.from_file.check import check as check_file

    examination = check_file(file, data)
    if as_json:
        print_json(_as_json(examination))
    else:
        for problem in examination.problems[:_SHOWN_PROBLEMS]:
            out.print(f"{'hint: ' if problem.hint else ''}{problem}")
        if len(examination.problems) > _SHOWN_PROBLEMS:
            out.print(
                f"… and {len(examination.problems) - _SHOWN_PROBLEMS:,} more (`--json` lists them "
                "all)"
            )
        if examination.task is not None:
            _show_task(examination)
        errors = len(examination.errors)
        if errors:
            out.print(f"{quantity(errors, 'problem')}.")
        else:
            out.print("Nothing is wrong.")
    if examination.errors:
        raise typer.Exit(1)


def _as_json(examination: Examination) -> dict[str, Any]:
    from seesay.probes.previews import previews
    from seesay.tasks.from_file.check import slices

    task = examination.task
    return {
        "file": str(examination.declaration.path),
        "problems": [asdict(problem) | {"text": str(problem)} for problem in examination.problems],
        "task": task and task.name,
        "questions": 0 if task is None else len(task.questions),
        "slices": {} if task is None else slices(task),
        "examples": [
            dict(previews(task, question)) for question in task.questions[:_SHOWN_QUESTIONS]
        ]
        if task
        else [],
    }


def _show_task(examination: Examination) -> None:
    from seesay.cli.output import out
    from seesay.probes.previews import previews
    from seesay.tasks.from_file.check import slices

    task = examination.task
    if task is None:
        return
    out.print(
        f"{task.name}: {len(task.questions):,} questions about "
        f"{len({q.object for q in task.questions}):,} objects."
    )
    for note in task.data_notes:
        out.print(f"{note}.")
    for question in task.questions[:_SHOWN_QUESTIONS]:
        out.print(f"\nQuestion {question.id}; gold: {gold_text(question.gold)}")
        for kind, text in previews(task, question):
            out.print(f"  {kind + ':':<17}{text}")
    out.print()
    print_slices(slices(task))


@app.command()
def new(
    table: Annotated[
        Path, typer.Argument(help="A table of rows: CSV, TSV, JSON lines, JSON or Parquet.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The task file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    quiet: Quiet = False,
) -> None:
    """Look at the columns of a table and write a first task file for it, with comments."""
    from seesay.cli.output import out
    from seesay.files import write_text
    from seesay.tasks.from_file.draft import draft_file

    if output.suffix.lower() not in (".yaml", ".yml"):
        raise UserError(f"'{output}' is not the name of a task file: let it end in .yaml.")
    if output.exists() and not force:
        raise UserError(f"'{output}' exists: give another name, or --force to replace it.")
    draft = draft_file(table, output.parent)
    write_text(output, draft.text)
    if not quiet:
        for doubt in draft.doubts:
            out.print(f"Look at this first: {doubt}.")
        out.print(f"Wrote {output}.")
        out.print(f"Next: seesay tasks check {output}")


@app.command()
def schema() -> None:
    """Print the JSON schema of task files, for editors."""
    from seesay.cli.output import print_json
    from seesay.data.task_files.schema import json_schema

    print_json(json_schema())


@app.command()
def export(
    task: TaskArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="A new folder.")],
    to: Annotated[
        str, typer.Option(help="seesay (a task file), lm-eval, inspect or datasets.")
    ] = "seesay",
    data: DataOption = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="At most this many questions.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of --limit, as for probe.")] = 0,
    quiet: Quiet = False,
) -> None:
    """Write a task for another program, or as a task file with its rows."""
    from seesay.api import load_tasks
    from seesay.cli.output import out
    from seesay.export import export as export_task
    from seesay.runs.ask import limited

    loaded, _ = load_tasks([task], data)
    if len(loaded) != 1:
        raise UserError(f"'{task}' stands for several tasks: export them one by one.")
    chosen = loaded[0] if limit is None else limited(loaded[0], limit, seed)
    files = export_task(chosen, output, to)
    if not quiet:
        out.print(
            f"Wrote {len(chosen.questions):,} questions of {chosen.name}: {len(files)} files in "
            f"{output}."
        )
