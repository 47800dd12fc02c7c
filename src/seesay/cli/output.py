"""What commands print: people get tables, programs get one JSON document.

`out` and `err` are rich consoles on stdout and stderr, created on first use so that `--help` does
not wait for them. They print text as it is: names from files cannot style the terminal, and their
control characters are not sent to it.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, Protocol

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

    class PlainConsole(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            super().print(
                *(plain(each) if isinstance(each, str) else each for each in objects), **options
            )

    # without a width of its own, a table is as wide as its names need; nothing is cut
    settings: dict[str, Any] = {
        "markup": False,
        "highlight": False,
        "emoji": False,
        "soft_wrap": True,
    }
    console = PlainConsole(stderr=name == "err", quiet=name == "out" and is_silent(), **settings)
    globals()[name] = console
    return console


def print_json(obj: object) -> None:
    """One JSON document on stdout, and nothing else."""
    narrow = "utf" not in (sys.stdout.encoding or "").lower()
    print(json.dumps(obj, ensure_ascii=narrow, indent=2, allow_nan=False))


def plain(text: object) -> str:
    """A text that is safe to show: control characters from other people's files become visible
    marks."""
    return "".join(
        char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}"
        for char in str(text)
    )


def table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], *, title: str | None = None
) -> Table:
    """A table for `out.print`. A column name that starts with ">" is aligned to the right."""
    from rich import box
    from rich.table import Table

    heading = None if title is None else plain(title)
    rich_table = Table(title=heading, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(columns):
        longest = max((len(word) for row in rows for word in str(row[place]).split()), default=0)
        if column.startswith(">"):
            justify: Literal["left", "right"] = "right"
        else:
            justify = "left"
        # a name is never broken: lines break between words
        rich_table.add_column(
            plain(column.removeprefix(">")), justify=justify, min_width=min(longest, _LONGEST_NAME)
        )
    for row in rows:
        rich_table.add_row(*(plain(cell) for cell in row))
    return rich_table


def sources_table(sources: Sequence[CorpusSummary]) -> Table:
    """How much of each corpus was read."""
    rows = [
        (
            source.source,
            source.form,
            f"{source.captions:,}",
            f"{source.blank:,}",
            f"{source.left_out:,}",
        )
        for source in sources
    ]
    return table(("source", "form", ">texts", ">blank", ">left out"), rows)


_LONGEST_NAME = 60
_silent = False


def set_silent(silent: bool) -> None:
    """Print nothing but errors, or everything again."""
    global _silent
    _silent = silent
    globals().pop("out", None)


def is_silent() -> bool:
    """Whether errors alone are printed."""
    return _silent


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
    set_quiet(False)
    try:
        yield
    finally:
        logger.removeHandler(_TERMINAL)
        logger.setLevel(level)
        set_quiet(False)


def set_quiet(quiet: bool) -> None:
    """Show figures and errors only, or everything."""
    _TERMINAL.setLevel(logging.ERROR if quiet or _silent else logging.NOTSET)


def remark(text: object) -> None:
    """Print a line that is not a figure: --quiet leaves it out."""
    if _TERMINAL.level < logging.ERROR:
        __getattr__("out").print(str(text))


def progress_bars(*, quiet: bool = False) -> ProgressBars:
    """A progress bar for each title and unit, as `seesay.api` takes it."""
    return lambda title, unit: progress_bar(title, unit=unit, quiet=quiet)


class Advance(Protocol):
    """A `ProgressCallback` that takes a text to show beside the bar, too."""

    def __call__(self, done: int, total: int, detail: str = "") -> None: ...


@contextmanager
def progress_bar(title: str, *, unit: str, quiet: bool = False) -> Iterator[Advance]:
    """A bar on stderr with a rate and an end time. It yields a function of how many are newly done,
    and of how many."""
    console = __getattr__("err")
    if not quiet and not console.is_terminal:
        yield _plain_progress(plain(title), unit)
        return
    from rich import progress

    name, detail = (
        progress.TextColumn(f"{{task.{field}}}", markup=False)
        for field in ("description", "fields[detail]")
    )
    times = (progress.TimeElapsedColumn(), progress.TimeRemainingColumn())
    columns = (name, progress.BarColumn(), progress.MofNCompleteColumn(), detail, *times)
    with progress.Progress(*columns, console=console, disable=quiet) as bar:
        task = bar.add_task(plain(title), total=None, detail="")

        def advance(done: int, total: int, detail: str = "") -> None:
            bar.update(task, advance=done, total=total)
            speed = bar.tasks[0].speed
            if speed:
                rate = f"{speed:.{0 if speed >= 10 else 1}f} {unit}/s"
            else:
                rate = ""
            bar.update(task, detail=" · ".join(filter(None, (detail, rate))))

        yield advance


_SECONDS_BETWEEN_LINES = 10.0


def _plain_progress(title: str, unit: str) -> Advance:
    """Progress in lines, for a file or a pipe: one at the start, one every few seconds, and one at
    the end."""
    print(f"{title} …", file=sys.stderr, flush=True)
    began = last = time.monotonic()
    count = 0

    def advance(done: int, total: int, detail: str = "") -> None:
        nonlocal count, last
        count += done
        now = time.monotonic()
        if now - last < _SECONDS_BETWEEN_LINES and (count < total or not done):
            return
        last = now
        rate = count / max(now - began, 0.001)
        if rate and count < total:
            remaining = f"{(total - count) / rate:,.0f} s left"
        else:
            remaining = f"{now - began:,.0f} s"
        speed = f"{rate:,.{0 if rate >= 10 else 1}f} {unit}/s"
        parts = (f"{count:,} of {total:,}", detail, speed, remaining)
        print(f"{title}: {' · '.join(filter(None, parts))}", file=sys.stderr, flush=True)

    return advance
