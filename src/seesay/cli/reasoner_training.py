"""Options and progress shared by the commands that train reasoners."""

from __future__ import annotations

import signal
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.cli.training_output import stage_bars, training_bar

if TYPE_CHECKING:
    from seesay.reasoners.config import ReasonerConfig
    from seesay.reasoners.features.extractor import FeatureExtractor
    from seesay.reasoners.sources import ItemSource
    from seesay.training.loop import Result, TrainingProgress

ReasonerPreset = StrEnum("ReasonerPreset", ["cpu", "paper", "auto"])

Preset = Annotated[
    ReasonerPreset, typer.Option(help="paper: as published; auto: paper where there is a GPU to run it on.")
]
Items = Annotated[
    int | None,
    typer.Option(
        min=16, help="Training items; validation and tests of scenes have an eighth each. Default: as published."
    ),
]
Epochs = Annotated[int | None, typer.Option(min=1, help="Passes through the items.")]
ImageSize = Annotated[int | None, typer.Option(min=16, max=1024, help="Pixels per side of the pictures.")]
Features = Annotated[str | None, typer.Option(help="pixels, objects, or a pretrained network, as in resnet101.")]
OldFeatures = Annotated[str | None, typer.Option("--eye", hidden=True)]
OldImageSize = Annotated[int | None, typer.Option("--side", min=16, max=1024, hidden=True)]


def train_with_bars(
    source: ItemSource, folder: Path, config: ReasonerConfig, extractor: FeatureExtractor,
    *, title: str, device: str, quiet: bool, start: Path | None = None, deadline: float | None = None,
) -> tuple[Result, dict[str, float]]:  # fmt: skip
    """A training with bars: one per split while features are extracted, then one with loss and accuracy. At the
    `deadline` it is interrupted as by Ctrl-C, and so leaves a checkpoint."""
    from seesay.reasoners import experiment
    from seesay.reports.pages.training import write_curve

    if deadline is not None and time.monotonic() >= deadline:
        raise KeyboardInterrupt
    with stage_bars(title, quiet=quiet) as show_stage:
        splits = experiment.extract_splits(source, extractor, show_stage)
    with training_bar(f"{config.network}, {title}", quiet=quiet) as show:

        def show_until_deadline(state: TrainingProgress) -> None:
            show(state)
            if deadline is not None and time.monotonic() >= deadline:
                signal.raise_signal(signal.SIGINT)

        ended = experiment.train_and_test(
            source, splits, folder, config, start=start, device=device, progress=show_until_deadline
        )
    write_curve(folder, command="reasoner")
    return ended
