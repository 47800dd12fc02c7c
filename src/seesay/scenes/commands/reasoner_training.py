"""Options and progress shared by the commands that train reasoners."""

from __future__ import annotations

import signal
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.cli.training_output import stage_bars, training_bar

if TYPE_CHECKING:
    from seesay.scenes.reasoners.config import ReasonerConfig
    from seesay.scenes.reasoners.features.extractor import FeatureExtractor
    from seesay.scenes.reasoners.sources import ItemSource
    from seesay.training.loop import Result, TrainingProgress

ReasonerPreset = StrEnum("ReasonerPreset", ["cpu", "paper", "auto"])

Preset = Annotated[
    ReasonerPreset,
    typer.Option(help="paper: as published; auto: paper where there is a GPU to run it on."),
]
Items = Annotated[
    int | None,
    typer.Option(
        min=16,
        help="Training items; validation and tests of scenes have an eighth each. "
        "Default: as published.",
    ),
]
Epochs = Annotated[int | None, typer.Option(min=1, help="Passes through the items.")]
ImageSize = Annotated[
    int | None, typer.Option(min=16, max=1024, help="Pixels per side of the pictures.")
]
Features = Annotated[
    str | None,
    typer.Option(
        help="pixels, objects, a pretrained network, as in resnet101, or h5:FOLDER with the "
        "published features of --data."
    ),
]
Curriculum = Annotated[
    str | None,
    typer.Option(
        help="Tasks to learn first, in this order and by the same settings, as in sup1,pos1."
    ),
]

ShowProgress = Callable[["TrainingProgress"], None]


def train_with_bars(
    source: ItemSource,
    folder: Path,
    config: ReasonerConfig,
    extractor: FeatureExtractor,
    *,
    title: str,
    device: str,
    quiet: bool,
    start: Path | None = None,
    deadline: float | None = None,
) -> tuple[Result, dict[str, float]]:
    """Train with bars: one per split while features are extracted, then one with loss and accuracy.

    The trainings of the curriculum come first. At the `deadline` a training is interrupted as by
    Ctrl-C, and so leaves a checkpoint.
    """
    from seesay.reports.pages.training import write_curve
    from seesay.scenes.reasoners import experiment
    from seesay.scenes.reasoners.sweep import is_over

    for stage_source, stage_folder, stage in experiment.stages(source, folder, config):
        name = title
        if stage_folder != folder:
            name += f", first {stage_folder.name}"
        with stage_bars(name, quiet=quiet) as show_stage:
            splits = experiment.extract_splits(stage_source, extractor, show_stage)
        with training_bar(f"{config.network}, {name}", quiet=quiet) as show:
            # `show` is bound now: the next stage has another bar
            def show_until_deadline(state: TrainingProgress, show: ShowProgress = show) -> None:
                show(state)
                if is_over(deadline):
                    # the loop turns the signal into a checkpoint after the current step
                    signal.raise_signal(signal.SIGINT)

            ended = experiment.train_and_test(
                stage_source,
                splits,
                stage_folder,
                stage,
                start=start,
                device=device,
                progress=show_until_deadline,
            )
        write_curve(stage_folder, command="reasoner")
        # the next stage begins with these weights
        start = stage_folder
    return ended
