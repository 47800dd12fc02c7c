"""What commands print: people get tables, programs get one JSON document.

`out` and `err` are rich consoles on stdout and stderr, created on first use so that `--help` does not wait for them.
They print text verbatim: names from files cannot style the terminal.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from seesay.data.captions import CorpusSummary
    from seesay.progress import ProgressBars

    out: Console
    err: Console


def __getattr__(name: str) -> Any:
    if name not in ("out", "err"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rich.console import Console

    console = Console(stderr=name == "err", markup=False, highlight=False, emoji=False)
    globals()[name] = console
    return console


def print_json(obj: object) -> None:
    """One JSON document on stdout, and nothing else."""
    narrow = "utf" not in (sys.stdout.encoding or "").lower()
    print(json.dumps(obj, ensure_ascii=narrow, indent=2, allow_nan=False))


def plain(text: object) -> str:
    """A text that is safe to show: control characters from other people's files become visible marks."""
    return "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in str(text))


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, title: str | None = None) -> Table:
    """A table for `out.print`. A column name that starts with ">" is aligned to the right."""
    from rich import box
    from rich.table import Table

    rich_table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        rich_table.add_column(
            column.removeprefix(">"), justify="right" if column.startswith(">") else "left", overflow="fold"
        )
    for row in rows:
        rich_table.add_row(*(plain(cell) for cell in row))
    return rich_table


def sources_table(sources: Sequence[CorpusSummary]) -> Table:
    """How much of each corpus was read."""
    rows = [
        (source.source, source.form, f"{source.captions:,}", f"{source.blank:,}", f"{source.left_out:,}")
        for source in sources
    ]
    return table(("source", "form", ">texts", ">blank", ">left out"), rows)


class _TerminalHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Print the message on stderr, warnings with the program's name in front."""
        prefix = "seesay: " if record.levelno >= logging.WARNING else ""
        print(f"{prefix}{plain(record.getMessage())}", file=sys.stderr)


_TERMINAL = _TerminalHandler()


@contextmanager
def log_to_terminal() -> Iterator[None]:
    """Show what seesay logs on stderr."""
    logger = logging.getLogger("seesay")
    level = logger.level
    logger.addHandler(_TERMINAL)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(_TERMINAL)
        logger.setLevel(level)
        set_quiet(False)


def set_quiet(quiet: bool) -> None:
    """Show errors only, or everything that is logged."""
    _TERMINAL.setLevel(logging.ERROR if quiet else logging.NOTSET)


def progress_bars(*, quiet: bool = False) -> ProgressBars:
    """A progress bar for each title and unit, as `seesay.api` takes it."""
    return lambda title, unit: progress_bar(title, unit=unit, quiet=quiet)


class Advance(Protocol):
    """A `ProgressCallback` that takes a text to show beside the bar, too."""

    def __call__(self, done: int, total: int, detail: str = "") -> None: ...


@contextmanager
def progress_bar(title: str, *, unit: str, quiet: bool = False) -> Iterator[Advance]:
    """A bar on stderr with a rate and an end time. It yields a function of how many are newly done, and of how many."""
    from rich import progress

    name, detail = (
        progress.TextColumn(f"{{task.{field}}}", markup=False) for field in ("description", "fields[detail]")
    )
    times = (progress.TimeElapsedColumn(), progress.TimeRemainingColumn())
    columns = (name, progress.BarColumn(), progress.MofNCompleteColumn(), detail, *times)
    with progress.Progress(*columns, console=__getattr__("err"), disable=quiet) as bar:
        task = bar.add_task(plain(title), total=None, detail="")

        def advance(done: int, total: int, detail: str = "") -> None:
            bar.update(task, advance=done, total=total)
            speed = bar.tasks[0].speed
            rate = f"{speed:.{0 if speed >= 10 else 1}f} {unit}/s" if speed else ""
            bar.update(task, detail=" · ".join(filter(None, (detail, rate))))

        yield advance
