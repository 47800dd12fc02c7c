"""Options, progress bars and summaries shared by the commands that train."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from seesay.progress import ProgressCallback
    from seesay.training.loop import Result, TrainingProgress


TrainingDevice = StrEnum("TrainingDevice", ["cpu", "auto"])
Rate = Annotated[float | None, typer.Option("--learning-rate", help="The highest learning rate.")]
Device = Annotated[TrainingDevice, typer.Option(help="auto: the device that Accelerate finds.")]


def check_rate(learning_rate: float | None) -> None:
    """Reject an impossible learning rate."""
    from seesay.errors import UserError

    if learning_rate is not None and not 0 < learning_rate < 10:
        raise UserError(f"--learning-rate is {learning_rate}: give a number above 0, as in 0.001.")


def show_curve(folder: Path, output: Path | None, *, command: str, quiet: bool, as_json: bool) -> None:
    """Write the learning curve, and print the paths."""
    from seesay.cli.output import out, print_json
    from seesay.reports.pages.training import write_curve

    written = write_curve(folder, output, command=command)
    if as_json:
        print_json({"files": [str(path) for path in written]})
    elif not quiet:
        out.print("\n".join(map(str, written)), soft_wrap=True)


def summary(folder: Path, result: Result) -> str:
    """How a training ended, in one sentence."""
    from seesay.training.checkpoint import best_line

    prefix = "validation_"
    best = best_line(folder / "training", result.best_step)
    held_out = [f"{name.removeprefix(prefix)} {best[name]:.3f}" for name in best if name.startswith(prefix)]
    return (
        f"{folder}: {result.steps:,} steps in {result.seconds / 60:.1f} minutes; "
        f"held out, best at step {result.best_step:,}: {', '.join(held_out)}"
    )


@contextmanager
def training_bar(title: str, *, quiet: bool = False) -> Iterator[Callable[[TrainingProgress], None]]:
    """A bar on stderr for a training, with its losses, its rate and the time left."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from seesay.cli.output import err, plain

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.fields[detail]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, disable=quiet) as bar:
        task = bar.add_task(plain(title), total=1.0, detail="")

        def show(state: TrainingProgress) -> None:
            detail = [f"{name} {value:.3f}" for name, value in state.losses.items()]
            detail.append(f"{state.steps_per_second:.1f} steps/s")
            detail.append(f"{timedelta(seconds=round(state.left))} left")
            bar.update(task, completed=state.done, detail=" · ".join(detail))

        yield show


@contextmanager
def stage_bars(title: str, *, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """One bar after the other, for each stage that reports progress."""
    from seesay.cli.output import progress_bar

    with ExitStack() as stack:
        bars: dict[str, ProgressCallback] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in bars:
                stack.close()
                bars[stage] = stack.enter_context(progress_bar(f"{title}, {stage}", unit="items", quiet=quiet))
            bars[stage](done, total)

        yield show
