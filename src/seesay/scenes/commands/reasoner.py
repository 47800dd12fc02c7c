"""`seesay reasoner train | curve | sweep | diagnose | import`: networks that judge a sentence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from seesay.cli.application import Application
from seesay.cli.options import Json, Quiet, names_of
from seesay.cli.training_output import Device, Rate, TrainingDevice, curve, summary
from seesay.defaults import LARGEST_SEED
from seesay.errors import require_packages
from seesay.scenes.commands.reasoner_diagnose import diagnose
from seesay.scenes.commands.reasoner_import import import_checkpoint
from seesay.scenes.commands.reasoner_sweep import sweep
from seesay.scenes.commands.reasoner_training import (
    Curriculum,
    Epochs,
    Features,
    ImageSize,
    Items,
    Preset,
    ReasonerPreset,
    train_with_bars,
)

app = Application(help="Train networks to judge sentences about scenes.", no_args_is_help=True)
app.command()(curve)
app.command()(diagnose)
app.command()(sweep)
app.command("import")(import_checkpoint)


@app.command()
def train(
    network: Annotated[
        str, typer.Argument(help="film, stacked-attention, cnn-lstm or object-centred.")
    ],
    task: Annotated[
        str | None,
        typer.Option(
            "--task",
            "-t",
            help="sup1, pos1, pos, set+pos, comparative, compositional, mixture-64 … 4000, "
            "prior-color-0 … 100, easy-vqa, or several scene tasks at once, as in sup1,pos. "
            "Default: set+pos.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder of the model, new, or of an interrupted run. "
            "Default: reasoners/NETWORK-TASK-SEED.",
        ),
    ] = None,
    preset: Preset = ReasonerPreset.auto,
    start: Annotated[
        Path | None,
        typer.Option(
            "--from", help="Start from the weights of this trained reasoner of the same network."
        ),
    ] = None,
    curriculum: Curriculum = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Train on this data set in MALeViC's layout instead of generated scenes."
        ),
    ] = None,
    items: Items = None,
    features: Features = None,
    image_size: ImageSize = None,
    epochs: Epochs = None,
    learning_rate: Rate = None,
    dropout: Annotated[
        float | None, typer.Option(min=0, max=0.95, help="Dropout of the classifier.")
    ] = None,
    batch_norm: Annotated[
        bool | None,
        typer.Option("--batch-norm/--no-batch-norm", help="Batch norm of the classifier."),
    ] = None,
    batch: Annotated[int | None, typer.Option(min=1, help="Items per batch.")] = None,
    patience: Annotated[
        int | None,
        typer.Option(
            min=1, help="Stop after this many epochs without improvement. Default: never."
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            max=LARGEST_SEED,
            help="Seed of weights and order; the scenes are always the same.",
        ),
    ] = 0,
    device: Device = TrainingDevice.auto,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a reasoner and test it. If interrupted, the same command resumes.

    Examples:
        seesay reasoner train film --task set+pos
        seesay reasoner train object-centred --task sup1 --items 2000 --epochs 5
    """
    from seesay.cli.output import out, print_json
    from seesay.scenes.reasoners.config import preset_config
    from seesay.scenes.reasoners.experiment import with_features
    from seesay.scenes.reasoners.sources import open_source, scene_source
    from seesay.training.checkpoint import best_line

    require_packages("Training a reasoner", "reasoners", "torch")
    source = open_source(task, data, items, features)
    config = preset_config(network, preset, source.name)
    sizes = {"dropout": dropout, "batch_norm": batch_norm}
    schedule = {
        "epochs": epochs,
        "learning_rate": learning_rate,
        "patience": patience,
        "seed": seed,
    }
    config = config.override(batch_size=batch, sizes=sizes, **schedule)
    # the names that tasks have in data sets: set-pos is set+pos
    first_tasks = [scene_source(first).name for first in names_of([curriculum or ""])]
    config = replace(config, curriculum=tuple(first_tasks))
    config, extractor = with_features(config, features, image_size)
    name = config.training_name(source.name)
    folder = output or Path("reasoners") / f"{network}-{name}-{seed}"
    result, tests = train_with_bars(
        source,
        folder,
        config,
        extractor,
        title=name,
        device=device,
        quiet=quiet or as_json,
        start=start,
    )
    if as_json:
        print_json(
            {
                "folder": str(folder),
                "network": network,
                "task": name,
                "items": source.splits,
                **result.as_json(),
                "validation": best_line(folder / "training", result.best_step),
                "tests": tests,
            }
        )
    else:
        accuracy = "".join(f"; {split} {value:.3f}" for split, value in tests.items())
        out.print(summary(folder, result, accuracy))
