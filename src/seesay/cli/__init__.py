"""The command line. Heavy imports happen inside commands, so that `--help` answers at once."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer

from seesay import __version__
from seesay.cli.compare import compare
from seesay.cli.data import app as data_app
from seesay.cli.models import models
from seesay.cli.probe import probe
from seesay.cli.report import report
from seesay.cli.tasks import tasks
from seesay.questions import UserError

app = typer.Typer(
    name="seesay",
    help="How much of the visible world does a language model know?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(probe)
app.command()(compare)
app.command()(report)
app.command()(tasks)
app.command()(models)
app.add_typer(data_app, name="data")


def _version(asked: bool) -> None:
    if asked:
        print(f"seesay {__version__}")
        raise typer.Exit


@app.callback()
def _seesay(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. A user's mistake is one sentence and exit code 2; an interrupt is 130."""
    warnings.showwarning = _warn
    try:
        app(arguments)
    except UserError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        _fail("Interrupted. What was answered is kept: the same command goes on from there.", 130)
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(141) from None
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EPERM):
            raise
        place = f" '{error.filename}'" if error.filename else ""
        _fail(
            f"Cannot write{place}: {os.strerror(error.errno or 0)}. Mend that and run it again: it goes on from there."
        )


def _fail(sentence: str, code: int = 2) -> None:
    print(f"seesay: {sentence}", file=sys.stderr)
    raise SystemExit(code)


def _warn(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    if issubclass(category, UserWarning):
        print(f"seesay: {message}", file=sys.stderr)
