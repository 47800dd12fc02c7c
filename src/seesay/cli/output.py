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
from typing import TYPE_CHECKING, Any, Literal

from seesay.progress import AtMost, Kept, bar, duration, from_before, rate

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from seesay.data.captions import CorpusSummary
    from seesay.progress import Advance, ProgressBars

    out: Console
    err: Console

_LONGEST_NAME = 60
_SECONDS_BETWEEN_LINES = 10.0

_silent = False


def __getattr__(name: str) -> Any:
    if name not in ("out", "err"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rich.console import Console

    class PlainConsole(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            plain_objects = [plain(item) if isinstance(item, str) else item for item in objects]
            super().print(*plain_objects, **options)

    console = PlainConsole(
        stderr=name == "err",
        quiet=name == "out" and is_silent(),
        markup=False,
        highlight=False,
        emoji=False,
        # without a width of its own, a table is as wide as its names need; nothing is cut
        soft_wrap=True,
    )
    globals()[name] = console
    return console


def print_json(obj: object) -> None:
    """Print one JSON document on stdout, and nothing else."""
    narrow = "utf" not in (sys.stdout.encoding or "").lower()
    print(json.dumps(obj, ensure_ascii=narrow, indent=2, allow_nan=False))


def tell_share(folder: Path, done: str, *, as_json: bool, quiet: bool) -> None:
    """Print what a share has done, and what comes next."""
    from seesay.cli.output import out

    if as_json:
        print_json({"folder": str(folder), "done": done})
    elif not quiet:
        out.print(f"{folder}: {done}; `seesay merge` puts all shares together.")


def plain(text: object) -> str:
    """Return a text that is safe to show.

    Control characters, which may come from other people's files, become visible marks.
    """
    return "".join(
        char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}"
        for char in str(text)
    )


def table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], *, title: str | None = None
) -> Table:
    """Return a table for `out.print`.

    A column whose name starts with ">" is aligned to the right.
    """
    from rich import box
    from rich.table import Table

    # names from files may stand in titles as well
    heading = None if title is None else plain(title)
    rich_table = Table(title=heading, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(columns):
        words = [word for row in rows for word in str(row[place]).split()]
        longest = max(map(len, words), default=0)
        justify: Literal["left", "right"] = "left"
        if column.startswith(">"):
            justify = "right"
        rich_table.add_column(
            plain(column.removeprefix(">")),
            justify=justify,
            # a name is never broken: lines break between words
            min_width=min(longest, _LONGEST_NAME),
        )
    for row in rows:
        rich_table.add_row(*map(plain, row))
    return rich_table


def sources_table(sources: Sequence[CorpusSummary]) -> Table:
    """Return a table of how much of each corpus was read."""
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
    # what a library logs is not for people: only seesay's own messages are shown
    logger.addHandler(_TERMINAL)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(_TERMINAL)
        logger.setLevel(level)


def set_quiet(quiet: bool) -> None:
    """Show figures and errors only, or everything."""
    _TERMINAL.setLevel(logging.ERROR if quiet or _silent else logging.NOTSET)


def is_quiet() -> bool:
    """Return whether only figures and errors are printed, or errors alone."""
    return _TERMINAL.level >= logging.ERROR


def set_silent(silent: bool) -> None:
    """Print nothing but errors, or everything again."""
    global _silent
    _silent = silent
    set_quiet(silent)
    # the next use creates a console that prints, or does not
    globals().pop("out", None)


def is_silent() -> bool:
    """Return whether errors alone are printed."""
    return _silent


def remark(text: object) -> None:
    """Print a line that is not a figure: --quiet leaves it out."""
    if not is_quiet():
        __getattr__("out").print(str(text))


def progress_bars(*, quiet: bool = False) -> ProgressBars:
    """Return what opens a progress bar for a title and a unit, as `seesay.api` takes it."""
    return lambda title, unit: progress_bar(title, unit=unit, quiet=quiet)


@contextmanager
def progress_bar(title: str, *, unit: str, quiet: bool = False) -> Iterator[Advance]:
    """Show a bar on stderr with a rate and an end time.

    Yields a function of how many are newly done, and of how many.
    """
    console = __getattr__("err")
    if not quiet and not console.is_terminal:
        yield _plain_progress(plain(title), unit)
        return
    with bar(console, plain(title), unit, hidden=quiet) as advance:
        yield advance


def _plain_progress(title: str, unit: str) -> Advance:
    """Return a function that prints progress in lines, for a file or a pipe.

    There is one line at the start, one every few seconds, and one at the end.
    """
    print(f"{title} …", file=sys.stderr, flush=True)
    began = last = time.monotonic()
    count = 0
    kept = 0

    def advance(done: int, total: int, detail: str = "") -> None:
        nonlocal count, kept, last
        count += done
        kept += done if isinstance(done, Kept) else 0
        now = time.monotonic()
        # the end is announced once: a call with nothing newly done may come after it
        is_end = count >= total and done != 0
        if now - last < _SECONDS_BETWEEN_LINES and not is_end:
            return
        last = now
        elapsed = now - began
        speed = (count - kept) / max(elapsed, 0.001)
        bound = "at most " if isinstance(total, AtMost) else ""
        if speed and count < total:
            time_text = f"{bound}{duration((total - count) / speed)} left"
        else:
            time_text = duration(elapsed)
        shown_rate = rate(speed, unit) if speed else ""
        parts = (
            f"{count:,} of {bound}{total:,}",
            from_before(kept),
            detail,
            shown_rate,
            time_text,
        )
        print(f"{title}: {' · '.join(filter(None, parts))}", file=sys.stderr, flush=True)

    return advance
