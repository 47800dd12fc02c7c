"""Options, progress bars and summaries shared by the commands that train."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.cli.options import Json, Quiet
from seesay.cluster import Engine
from seesay.errors import UserError

if TYPE_CHECKING:
    from seesay.progress import ProgressCallback
    from seesay.training.loop import Result, TrainingProgress


TrainingDevice = StrEnum("TrainingDevice", ["cpu", "auto"])


def _possible(learning_rate: float | None) -> float | None:
    if learning_rate is not None and not 0 < learning_rate < 10:
        raise UserError(f"--learning-rate is {learning_rate}: give a number above 0, as in 0.001.")
    return learning_rate


Rate = Annotated[
    float | None,
    typer.Option("--learning-rate", callback=_possible, help="The highest learning rate."),
]
Minutes = Annotated[
    float | None, typer.Option(min=0, help="Stop after this time; the same command resumes.")
]
SweepEngine = Annotated[
    Engine, typer.Option(help="ray: the cluster of RAY_ADDRESS, or one that is started here.")
]
Workers = Annotated[int, typer.Option(min=1, help="Trainings side by side, with --engine ray.")]
Device = Annotated[TrainingDevice, typer.Option(help="auto: the device that Accelerate finds.")]


def curve(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Folder of the model, finished or in training.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The page. Default: training/curve.html in the folder."
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Draw the learning curve: a page, and each chart beside it as SVG. Works while the training
    runs."""
    from seesay.cli.output import out, print_json
    from seesay.reports.pages.training import write_curve

    # two commands share this one: their trainings have other figures and advice
    command = context.parent and context.parent.info_name
    paths = write_curve(folder, output, command=command or "pretrain")
    if as_json:
        print_json({"files": [str(path) for path in paths]})
    elif not quiet:
        out.print("\n".join(map(str, paths)))


def summary(folder: Path, result: Result, tests: str = "") -> str:
    """How a training ended, in one sentence, and a second one where it learnt nothing."""
    from seesay.training.checkpoint import best_line

    prefix = "validation_"
    # of the weights that were kept, which need not be the last
    best = best_line(folder / "training", result.best_step)
    held_out = [
        f"{name.removeprefix(prefix)} {best[name]:.3f}" for name in best if name.startswith(prefix)
    ]
    sentence = (
        f"{folder}: {result.steps:,} steps in {result.seconds / 60:.1f} minutes; held out, best at "
        f"step {result.best_step:,}: {', '.join(held_out)}{tests}"
    )
    return f"{sentence}\n{result.warning}" if result.warning else sentence


@contextmanager
def training_bar(
    title: str, *, quiet: bool = False
) -> Iterator[Callable[[TrainingProgress], None]]:
    """A bar on stderr for a training, with its losses."""
    from seesay.cli.output import progress_bar
    from seesay.progress import Kept

    with progress_bar(title, unit="steps", quiet=quiet) as advance:
        last_step = 0

        def show(state: TrainingProgress) -> None:
            nonlocal last_step
            losses = " · ".join(f"{name} {value:.3f}" for name, value in state.losses.items())
            # the share that is done is known, the number of steps follows from it
            total = round(state.step / state.done)
            if state.resumed_at > last_step:
                last_step = state.resumed_at
                advance(Kept(last_step), total)
            advance(state.step - last_step, total, losses)
            last_step = state.step

        yield show


@contextmanager
def stage_bars(
    title: str, *, unit: str = "items", quiet: bool = False
) -> Iterator[Callable[[str, int, int], None]]:
    """One bar after the other, for each stage that reports progress."""
    from seesay.cli.output import progress_bar

    with ExitStack() as stack:
        bars: dict[str, ProgressCallback] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in bars:
                # the bar of the previous stage ends where the next one begins
                stack.close()
                bars[stage] = stack.enter_context(
                    progress_bar(f"{title}, {stage}", unit=unit, quiet=quiet)
                )
            bars[stage](done, total)

        yield show
