"""`seesay tasks`: list and show tasks; check, start and export task files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seesay.cli.application import Application, Group
from seesay.cli.completion import complete_tasks
from seesay.cli.options import Json, Quiet
from seesay.cli.tasks import gold_text, print_slices, tasks
from seesay.errors import UserError
from seesay.quantities import quantity

if TYPE_CHECKING:
    from seesay.tasks.from_file.load import Examination

_SHOWN_PROBLEMS = 40
_SHOWN_QUESTIONS = 3
_SHOWN_ITEMS = 20


class _ShowByDefault(Group):
    """`seesay tasks core-color` shows that task: what is not a command is what `show` takes."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Take the words for those of `show` where they do not begin with a command."""
        if args[0] not in self.commands:
            args = ["show", *args]
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Offer what `show` takes beside the commands."""
        items = super().shell_complete(ctx, incomplete)
        for parameter in self.commands["show"].params:
            if parameter.name == "name":
                items += parameter.shell_complete(ctx, incomplete)
        return items


app = Application(
    cls=_ShowByDefault,
    help="List and show tasks; check, start and export task files.",
    # an option that this group does not have is one of `show`, as in `seesay tasks --json`
    context_settings={"ignore_unknown_options": True},
)
app.command("show")(tasks)


@app.callback(invoke_without_command=True)
def list_tasks(context: typer.Context) -> None:
    """List all tasks where nothing else is typed."""
    if not context.invoked_subcommand:
        tasks()


TaskArgument = Annotated[
    str,
    typer.Argument(
        metavar="TASK",
        autocompletion=complete_tasks,
        help="A task's name, a task file, its folder, or a table.",
    ),
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
    anything is.

    Examples:
        seesay tasks check fruit.yaml
    """
    from seesay.cli.output import out, print_json
    from seesay.tasks.from_file.check import check as check_file

    examination = check_file(file, data)
    if as_json:
        print_json(_as_json(examination))
    else:
        for problem in examination.problems[:_SHOWN_PROBLEMS]:
            out.print(f"hint: {problem}" if problem.hint else str(problem))
        more = len(examination.problems) - _SHOWN_PROBLEMS
        if more > 0:
            out.print(f"… and {more:,} more (`--json` lists them all)")
        # a file with problems may still make a task, of the rows that can be read
        if examination.task is not None:
            _show_task(examination)
        errors = len(examination.errors)
        hints = len(examination.problems) - errors
        verdict = quantity(errors, "problem") if errors else "Nothing is wrong"
        if hints:
            verdict += f"; {quantity(hints, 'hint')} above, worth a look"
        out.print(f"{verdict}.")
    if examination.errors:
        raise typer.Exit(1)


def _as_json(examination: Examination) -> dict[str, Any]:
    """Return an examination as plain values; where no task could be made, nothing of one."""
    from seesay.probes.previews import previews
    from seesay.tasks.from_file.check import slices

    task = examination.task
    document: dict[str, Any] = {
        "file": str(examination.declaration.path),
        "problems": [asdict(problem) | {"text": str(problem)} for problem in examination.problems],
        "task": None,
        "questions": 0,
        "slices": {},
        "examples": [],
    }
    if task is not None:
        examples = task.questions[:_SHOWN_QUESTIONS]
        document["task"] = task.name
        document["questions"] = len(task.questions)
        document["slices"] = slices(task)
        document["examples"] = [dict(previews(task, question)) for question in examples]
    return document


def _show_task(examination: Examination) -> None:
    """Print the first questions in every form that models see them in, and the slices."""
    from seesay.cli.output import out
    from seesay.probes.previews import previews
    from seesay.tasks.from_file.check import slices

    task = examination.task
    if task is None:
        return
    objects = {question.object for question in task.questions}
    out.print(f"{task.name}: {len(task.questions):,} questions about {len(objects):,} objects.")
    for note in task.provenance.notes:
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
    gold: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of right answers. Default: guessed."),
    ] = None,
    thing: Annotated[
        str | None,
        typer.Option(
            "--object",
            metavar="COLUMN",
            help="The column of what questions are about. Default: guessed.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    quiet: Quiet = False,
) -> None:
    """Look at the columns of a table and write a first task file for it, with comments.

    Examples:
        seesay tasks new fruit.csv -o fruit.yaml
        seesay tasks new fruit.csv -o fruit.yaml --gold hue --object fruit
    """
    from seesay.cli.output import out
    from seesay.files import write_text
    from seesay.quantities import quantity
    from seesay.tasks.from_file.draft import draft_file

    if output.suffix.lower() not in (".yaml", ".yml"):
        raise UserError(f"'{output}' is not the name of a task file: let it end in .yaml.")
    # the draft is edited by hand afterwards, and must not be lost by typing the command again
    if output.exists() and not force:
        raise UserError(f"'{output}' exists: give another name, or --force to replace it.")
    draft = draft_file(table, output.parent, gold=gold, thing=thing)
    write_text(output, draft.text)
    if not quiet:
        if draft.bad_rows:
            count = quantity(len(draft.bad_rows), "row")
            out.print(f"Look at this first: {count} cannot be read ({draft.bad_rows[0]}).")
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


RunsArgument = Annotated[
    list[Path], typer.Argument(metavar="RUNS", help="Folders of runs that asked the task.")
]


@app.command()
def items(
    task: TaskArgument,
    runs: RunsArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the list as a page (.html), too.")
    ] = None,
    data: DataOption = None,
    as_json: Json = False,
) -> None:
    """Fit an item-response model to the answers of many models, keep it in the data folder for
    every later `probe --adaptive`, and list the questions whose gold answer is most likely wrong
    first.

    Examples:
        seesay tasks items core-color runs -o items.html
    """
    from seesay.api import load_task
    from seesay.cli.output import out, print_json, remark, table
    from seesay.runs.items import fit_item_model, write_items
    from seesay.runs.store import find_runs

    if output is not None and output.suffix.lower() != ".html":
        raise UserError(f"'{output}' is not the name of a page: let it end in .html.")
    loaded_task = load_task(task, data)
    model = fit_item_model(loaded_task, find_runs(runs))
    storage_note = write_items(model)
    if output is not None:
        # pages need Jinja, which takes a while to load
        from seesay.reports.pages.items import write_item_page

        write_item_page(output, loaded_task, model)
    if as_json:
        print_json(model.model_dump(mode="json"))
        return
    rows = [
        (
            item.question,
            ", ".join(item.gold),
            item.rival,
            f"{item.rival_share:.2f}",
            f"{item.rival_usual:.2f}",
            f"{item.discrimination:.2f}",
            f"{item.credit:.2f}",
            "" if item.people is None else f"{item.people:.2f}",
        )
        for item in model.items[:_SHOWN_ITEMS]
    ]
    columns = ["question", "gold", "good models say", ">how often", ">usually", ">discrimination"]
    out.print(table([*columns, ">credit", ">people disagree"], rows))
    remark(storage_note)


@app.command()
def lite(
    task: TaskArgument,
    runs: RunsArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="A new folder.")],
    count: Annotated[
        int | None,
        typer.Option(
            "-n",
            min=1,
            help="Questions of the short form. Default: the fewest that keep the order of the "
            "models, Kendall's tau being 0.9 or more.",
        ),
    ] = None,
    data: DataOption = None,
    as_json: Json = False,
) -> None:
    """Write a short form of a task, chosen by the answers of many models, and say how far its
    figure is off for models that had no part in the choice.

    Examples:
        seesay tasks lite core-color runs -o core-color-lite
    """
    from seesay.api import load_task
    from seesay.cli.output import out, print_json
    from seesay.export import export as export_task
    from seesay.runs.items import make_short_form
    from seesay.runs.store import find_runs

    form = make_short_form(load_task(task, data), find_runs(runs), count)
    export_task(form.task, output, "seesay")
    questions = len(form.task.questions)
    if as_json:
        figures = form._asdict() | {"task": form.task.name, "questions": questions}
        print_json(figures)
        return
    out.print(
        f"Wrote {quantity(questions, 'question')} to {output}. For each of {form.models} models "
        f"({form.lowest:.3f} to {form.highest:.3f} on the whole task), left out in turn, its "
        f"figure is off by {form.mean_error:.3f} on average, and the order of the models is that "
        f"of the whole task with Kendall's tau {form.kendall:.2f}."
    )
    if form.in_order is not None:
        out.print(
            f"Of {quantity(form.differing, 'pair')} that differ significantly on the whole task, "
            f"both left out, {form.in_order:.0%} keep their order."
        )
    if form.enough is None:
        out.print("Only the whole task keeps the order of all models (tau 0.9).")
    elif count is not None and count < form.enough:
        out.print(
            f"The order of all models (tau 0.9) is kept from {form.enough} questions on: leave out "
            "-n for so many."
        )


@app.command()
def export(
    task: TaskArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="A new folder.")],
    to: Annotated[
        str,
        typer.Option(
            help="seesay (a task file), lm-eval, inspect, datasets, lmms-eval or vlmevalkit."
        ),
    ] = "seesay",
    data: DataOption = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="At most this many questions.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of --limit, as for probe.")] = 0,
    quiet: Quiet = False,
) -> None:
    """Write a task for another program, or as a task file with its rows.

    Examples:
        seesay tasks export core-color --to lm-eval -o for-lm-eval
        seesay tasks export fruit.yaml -n 100 -o sample
    """
    from seesay.api import load_tasks
    from seesay.cli.output import out
    from seesay.export import export as export_task
    from seesay.runs.ask import limit_questions

    all_tasks, _ = load_tasks([task], data)
    if len(all_tasks) != 1:
        raise UserError(f"'{task}' stands for several tasks: export them one by one.")
    exported = all_tasks[0]
    # the same questions as `seesay probe --limit` asks, so that programs can be compared
    if limit is not None:
        exported = limit_questions(exported, limit, seed)
    files = export_task(exported, output, to)
    if not quiet:
        questions = f"{len(exported.questions):,} questions of {exported.name}"
        out.print(f"Wrote {questions}: {len(files)} files in {output}.")
