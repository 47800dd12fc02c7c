"""`seesay reasoner import`: a checkpoint of the published networks as a reasoner."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seesay.cli.options import Json
from seesay.cli.training_output import Device, TrainingDevice
from seesay.scenes.commands.reasoner_training import Features


def import_checkpoint(
    checkpoint: Annotated[
        Path, typer.Argument(help="A .pt file of the published CNN+LSTM, CNN+LSTM+SA or FiLM.")
    ],
    task: Annotated[
        str,
        typer.Option(
            "--task", "-t", help="What it was trained on: sup1, pos1, pos, set+pos, compositional."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="A new folder for the reasoner.")],
    features: Features = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Test it on this data set in MALeViC's layout."),
    ] = None,
    device: Device = TrainingDevice.auto,
    as_json: Json = False,
) -> None:
    """Turn a checkpoint of MALeViC's authors into a reasoner, and test it."""
    from seesay.cli.output import out, print_json
    from seesay.models.files import file_digest
    from seesay.models.libraries import require_models
    from seesay.scenes.reasoners.experiment import accuracies
    from seesay.scenes.reasoners.features.extractor import open_extractor
    from seesay.scenes.reasoners.features.stored import PREFIX
    from seesay.scenes.reasoners.published_checkpoints import read_checkpoint, write_reasoner
    from seesay.scenes.reasoners.sources import folder_source, scene_source

    require_models()
    name = scene_source(task).name
    published = read_checkpoint(checkpoint)
    extractor = open_extractor(features or published.config.features, published.config.image_size)
    source = None
    # a mistyped folder is refused before anything is written
    if data is not None:
        is_stored = extractor.name.startswith(PREFIX)
        source = folder_source(data, has_pictures=not is_stored, required=())
    write_reasoner(published, output, name, extractor, file_digest([checkpoint]))
    tests = {}
    if source is not None:
        splits = {split: source.load(split, extractor) for split in source.tests}
        tests = accuracies(output, splits, device)
    fields = {
        "folder": str(output),
        "network": published.config.network,
        "task": name,
        "validation": published.validation,
        "step": published.step,
        "tests": tests,
    }
    if as_json:
        print_json(fields)
        return
    shown = [f"{published.validation:.3f} on the authors' validation items"]
    shown += [f"{value:.3f} on {split}" for split, value in tests.items()]
    out.print(f"{output}: {published.config.network}, {name}: {', '.join(shown)}")
