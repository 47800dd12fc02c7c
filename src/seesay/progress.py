"""How long work reports its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console

ProgressCallback = Callable[[int, int], None]
"""Called with how many units are newly done, and how many there are in all."""


class Kept(int):
    """How many units an earlier run has done: they count, but say nothing about the rate."""


class AtMost(int):
    """How many units there are at most: work may be done before all of them are."""


StageProgress = Callable[[str, int, int], None]
"""Called, for work in stages, with the name of the stage, how many of its units are newly done, and
how many there are in all."""

ProgressBars = Callable[[str, str], AbstractContextManager[ProgressCallback]]
"""Given a title and a unit, a context in which progress is shown."""


def no_progress(title: str, unit: str) -> AbstractContextManager[ProgressCallback]:
    """Progress that nobody watches."""
    return nullcontext(lambda done, total: None)


class Advance(Protocol):
    """A `ProgressCallback` that takes a text to show beside the bar, too."""

    def __call__(self, done: int, total: int, detail: str = "") -> None: ...


@contextmanager
def progress_where_seen(title: str, unit: str) -> Iterator[ProgressCallback]:
    """Show a bar in a notebook or a terminal; in a script that writes to a file, nothing.

    What the command line shows there are lines, which are its own to write.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_jupyter:
        # a notebook shows what a terminal does; rich would show nothing there without ipywidgets
        console = Console(stderr=True, force_jupyter=False, force_terminal=True, width=100)
    elif not console.is_terminal:
        yield lambda done, total: None
        return
    # names come from other people's files
    printable = "".join(
        char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in title
    )
    with bar(console, printable, unit) as advance:
        yield advance


@contextmanager
def bar(
    console: Console,
    title: str,
    unit: str,
    *,
    hidden: bool = False,
) -> Iterator[Advance]:
    """Show a bar on a console with a rate and an end time."""
    from rich import progress

    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[detail]}", markup=False),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.fields[bound]}"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console, disable=hidden) as bars:
        task = bars.add_task(title, total=None, detail="", bound="")
        kept = 0

        def advance(done: int, total: int, detail: str = "") -> None:
            nonlocal kept
            if isinstance(done, Kept):
                kept += done
                # the rate and the time that is left are measured from here
                bars.reset(task, total=total, completed=int(bars.tasks[0].completed) + done)
            else:
                bars.update(task, advance=done, total=total)
            speed = bars.tasks[0].speed
            shown_rate = rate(speed, unit) if speed else ""
            # said of the count and of the time that is left
            bound = "at most" if isinstance(total, AtMost) else ""
            parts = filter(None, (bound, from_before(kept), detail, shown_rate))
            bars.update(task, detail=" · ".join(parts), bound=bound)

        yield advance


def from_before(kept: int) -> str:
    """Return how much an earlier run has done, or nothing.

    >>> from_before(1280), from_before(0)
    ('1,280 from before', '')
    """
    return f"{kept:,} from before" if kept else ""


def rate(speed: float, unit: str) -> str:
    """Return units per second; a slow rate needs a decimal place to be more than 0.

    >>> rate(1234.5, "prompts"), rate(0.25, "probes")
    ('1,234 prompts/s', '0.2 probes/s')
    """
    decimals = 0 if speed >= 10 else 1
    return f"{speed:,.{decimals}f} {unit}/s"


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(12.3), duration(150), duration(8000)
    ('12 s', '2 min 30 s', '2 h 13 min')
    """
    minutes, seconds_left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    if minutes:
        return f"{minutes} min {seconds_left} s"
    return f"{seconds_left} s"
