"""`seesay pictures make | show`: icons of things in many colours and sizes.

They become a data set or a contact sheet.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from seesay.cli.application import Application
from seesay.cli.options import Json, Quiet
from seesay.errors import UserError

app = Application(
    help="Pictures of things whose colour and size are controlled.", no_args_is_help=True
)

PictureTask = StrEnum(
    "PictureTask", {"color": "prior-color", "size": "prior-size", "kind": "kind-size"}
)
TaskName = Annotated[
    PictureTask,
    typer.Option("--task", "-t", help="Colours, pairs of sizes, or two kinds."),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed: the same seed gives the same bytes.")]


@app.command()
def make(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Folder of the data set: new, or of an interrupted run."
        ),
    ],
    task: TaskName = PictureTask.color,
    seed: Seed = 0,
    size: Annotated[int, typer.Option(min=16, max=2048, help="Pixels per side of the PNGs.")] = 224,
    arrays: Annotated[
        int, typer.Option(min=0, max=2048, help="Pixels per side of RGB arrays; 0 for none.")
    ] = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Draw every picture of a task: PNGs, annotation, and questions as JSON and Parquet.

    Examples:
        seesay pictures make --task prior-color -o pictures
    """
    import time

    from seesay.cli.output import out, print_json, progress_bar
    from seesay.export.datasets_target import write
    from seesay.files import lock_folder
    from seesay.pictures.dataset_writer import write_arrays, write_pictures, write_questions
    from seesay.tasks import load_task

    if output.is_file():
        raise UserError(f"'{output}' is a file: choose a folder.")
    began = time.perf_counter()
    with lock_folder(output, hint="choose another folder"):
        with progress_bar(f"{task} → {output}", unit="pictures", quiet=quiet or as_json) as advance:
            pictures = write_pictures(
                task,
                output,
                seed=seed,
                size=size,
                progress=advance,
            )
        seconds = round(time.perf_counter() - began, 3)
        # the questions of the task itself: what is written is what is asked
        loaded = load_task(task, output)
        write_questions(output, loaded.questions)
        write(loaded, output)
        if arrays:
            write_arrays(output, pictures, arrays)
    if as_json:
        print_json(
            {
                "folder": str(output),
                "task": task,
                "seed": seed,
                "pictures": len(pictures),
                "questions": len(loaded.questions),
                "seconds": seconds,
            }
        )
    elif not quiet:
        out.print(f"{output}: {len(pictures):,} pictures, {len(loaded.questions):,} questions")


@app.command()
def show(
    output: Annotated[Path, typer.Option("--output", "-o", help="The contact sheet.")] = Path(
        "pictures.png"
    ),
    task: TaskName = PictureTask.color,
    seed: Seed = 0,
    condition: Annotated[
        str | None,
        typer.Option(help="One condition only, such as typical, counterfactual or reversed."),
    ] = None,
    size: Annotated[
        int, typer.Option(min=32, max=512, help="Pixels per side of each picture.")
    ] = 96,
    columns: Annotated[int, typer.Option(min=1, max=60, help="Pictures per row.")] = 12,
    left_out: Annotated[
        bool, typer.Option("--left-out", help="List what is not drawn and why, and draw nothing.")
    ] = (False),
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Draw a contact sheet of every picture of a task.

    Examples:
        seesay pictures show --task prior-color --condition counterfactual -o sheet.png
    """
    from seesay.cli.output import out, print_json, table
    from seesay.files import atomic_write
    from seesay.pictures.contact_sheet import contact_sheet
    from seesay.pictures.dataset_writer import plan
    from seesay.pictures.things import left_out as reasons

    if left_out:
        columns_left_out = ["thing", "attribute", "reason"]
        attribute = task.rpartition("-")[2]
        rows = [row for row in reasons() if row[1] == attribute]
        if as_json:
            print_json([dict(zip(columns_left_out, row, strict=True)) for row in rows])
        else:
            out.print(table(columns_left_out, rows))
        return
    pictures = plan(task, seed)
    conditions = dict.fromkeys(picture.condition for picture in pictures)
    pictures = [picture for picture in pictures if condition in (None, picture.condition)]
    if not pictures:
        names = ", ".join(conditions)
        raise UserError(f"--condition is '{condition}': choose {names}.")
    sheet = contact_sheet(pictures, columns=columns, size=size)
    with atomic_write(output) as unfinished:
        unfinished.write_bytes(sheet)
    if as_json:
        print_json({"file": str(output), "pictures": [picture.name for picture in pictures]})
    elif not quiet:
        out.print(f"{output}: {len(pictures):,} pictures")
