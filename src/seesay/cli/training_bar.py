"""The bar of a training: how far it is, the loss and accuracy just now, the rate, the time it still takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seesay.training.loop import Progress as State


@contextmanager
def training_bar(title: str, *, quiet: bool = False) -> Iterator[Callable[[State], None]]:
    """A bar on stderr; what it gives takes what `loop.train` reports."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from seesay.cli.output import err, plain

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.fields[said]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, disable=quiet) as bar:
        task = bar.add_task(plain(title), total=1.0, said="")

        def show(state: State) -> None:
            said = [f"{name} {value:.3f}" for name, value in state.figures.items()]
            said.append(f"{state.steps_a_second:.1f} steps/s")
            said.append(f"{timedelta(seconds=round(state.left))} left")
            bar.update(task, completed=state.done, said=" · ".join(said))

        yield show
