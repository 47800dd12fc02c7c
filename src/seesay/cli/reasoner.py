"""`seesay reasoner train | curve | sweep`: networks that look at a scene, read a sentence, and say yes or no."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.cli.training_output import (
    Device,
    Json,
    Quiet,
    Rate,
    best_line,
    check,
    looking_bar,
    summary,
    write_curve,
)

if TYPE_CHECKING:
    from seesay.reasoners.source import Source

app = typer.Typer(help="Train networks to look at a scene and judge a sentence.", no_args_is_help=True)

Preset = Annotated[
    str, typer.Option(help="cpu, paper (as published), or auto: paper where there is a GPU to run it on.")
]
Items = Annotated[
    int | None,
    typer.Option(min=16, help="Training items; validation and tests have an eighth each. Default: as published."),
]
Epochs = Annotated[int | None, typer.Option(min=1, help="Times through the items.")]


@app.command()
def train(
    network: Annotated[str, typer.Argument(help="film, stacked-attention, cnn-lstm or object-centred.")],
    task: Annotated[
        str | None,
        typer.Option(
            "--task",
            "-t",
            help="sup1, pos1, pos, set+pos, comparative, compositional, mixture-64 … mixture-4000. Default: set+pos.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder of the model, new or begun before. Default: reasoners/NETWORK-TASK-SEED."
        ),
    ] = None,
    preset: Preset = "auto",
    data: Annotated[
        Path | None, typer.Option(help="Learn from this data set in MALeViC's layout, not from scenes made for it.")
    ] = None,
    items: Items = None,
    eye: Annotated[
        str | None, typer.Option(help="Look with this: pixels, or a network whose features are taken.")
    ] = None,
    side: Annotated[int | None, typer.Option(min=16, max=1024, help="Pixels a side of the pictures.")] = None,
    epochs: Epochs = None,
    learning_rate: Rate = None,
    dropout: Annotated[float | None, typer.Option(min=0, max=0.95, help="Share dropped before the answer.")] = None,
    batch_norm: Annotated[bool | None, typer.Option("--batch-norm/--no-batch-norm", help="Batch norm or none.")] = None,
    batch: Annotated[int | None, typer.Option(min=1, help="Items a batch.")] = None,
    patience: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many epochs without a better one. Default: never.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights and order; the scenes are always the same.")] = 0,
    device: Device = "auto",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a reasoner and test it. Interrupted, the same command goes on where it stopped."""
    from dataclasses import asdict

    from seesay.cli.output import out, print_json
    from seesay.cli.training_bar import training_bar
    from seesay.reasoners import learning
    from seesay.reasoners.networks import recipe as preset_of

    recipe = preset_of(network, preset)
    check(learning_rate, device)
    source, name = _source(task, data, items)
    recipe = learning.changed(
        recipe,
        batch=batch,
        sizes={"dropout": dropout, "batch_norm": batch_norm},
        epochs=epochs,
        learning_rate=learning_rate,
        patience=patience,
        seed=seed,
    )
    recipe, opened = learning.look_with(recipe, eye, side)
    folder = output or Path("reasoners") / f"{network}-{name}-{seed}"
    silent = quiet or as_json
    with looking_bar(name, quiet=silent) as looking:
        sets = learning.look(source, opened, looking)
    with training_bar(f"{network} → {folder}", quiet=silent) as show:
        result, tests = learning.learn(source, sets, folder, recipe, device=device, progress=show)
    write_curve(folder, of="reasoner")
    if as_json:
        ended = {**asdict(result), "validation": best_line(folder, result), "tests": tests}
        print_json({"folder": str(folder), "network": network, "task": name, "items": source.splits, **ended})
    elif not quiet:
        said = "".join(f"; {split} {value:.3f}" for split, value in tests.items())
        out.print(summary(folder, result) + said, soft_wrap=True)


@app.command()
def curve(
    folder: Annotated[Path, typer.Argument(help="A reasoner, finished or still at it.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The page. Default: training/curve.html in the folder.")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Draw the learning curve: a page, and each chart beside it as SVG. Works while the training runs."""
    from seesay.cli.output import out, print_json

    written = write_curve(folder, output, of="reasoner")
    if as_json:
        print_json({"files": [str(path) for path in written]})
    elif not quiet:
        out.print("\n".join(map(str, written)), soft_wrap=True)


def _source(task: str | None, data: Path | None, items: int | None) -> tuple[Source, str]:
    """What to learn from, and its name."""
    from seesay.questions import UserError
    from seesay.reasoners.source import folder, scenes

    if data is None:
        made = scenes(task or "set+pos", items)
        return made, made.plan.name
    if items is not None:
        raise UserError("--items is for scenes made on the fly: with --data, all items of the data set are taken.")
    return folder(data), task or data.resolve().name
