"""The command line. Heavy imports happen inside commands, so that `--help` answers at once."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperGroup
from typer.main import get_command

from seesay import __version__
from seesay.captions.commands import app as score_app
from seesay.cli.cache import app as cache_app
from seesay.cli.compare import compare
from seesay.cli.data import app as data_app
from seesay.cli.models import models
from seesay.cli.options import Quiet
from seesay.cli.output import is_silent, log_to_terminal, plain, set_quiet, set_silent
from seesay.cli.perplexity import perplexity
from seesay.cli.probe import ProbeCommand, probe
from seesay.cli.report import report
from seesay.cli.site import site
from seesay.cli.task_files import app as tasks_app
from seesay.command_line import typed_words
from seesay.errors import UserError
from seesay.judge.commands.judge import app as judge_app
from seesay.language.commands.pretrain import app as pretrain_app
from seesay.language.commands.relations import app as relations_app
from seesay.mining.commands.mine import mine
from seesay.mining.commands.rooms import rooms
from seesay.papers.command import paper
from seesay.pictures.commands import app as pictures_app
from seesay.scenes.commands.reasoner import app as reasoner_app
from seesay.scenes.commands.scenes import app as scenes_app


class _Stopped(Exception):  # noqa: N818 - not an error
    """An interrupt or a closed pipe, under a name that typer does not handle itself."""


_VALUES = {"pathlib.Path": "PATH", "int": "NUMBER", "float": "NUMBER", "str": "TEXT"}


class _Group(TyperGroup):
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            adapt(command)
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, BrokenPipeError) as error:
            raise _Stopped from error


def adapt(command: Any) -> None:
    """Let help call a value PATH, NUMBER or TEXT, not by its type in Python, and let every command take --quiet."""
    subcommands = getattr(command, "commands", {}).values()
    for subcommand in subcommands:
        adapt(subcommand)
    if not subcommands and all(parameter.name != "quiet" for parameter in command.params):
        command.params.append(_quiet_option())
    hints = get_type_hints(command.callback) if command.callback else {}
    for parameter in command.params:
        kind = str(hints.get(parameter.name))
        word = next((word for mark, word in _VALUES.items() if mark in kind), None)
        if word and parameter.metavar is None:
            parameter.metavar = word
        elif word and hasattr(parameter, "display_type"):  # newer typer shows the type beside an argument's name
            parameter.display_type = lambda _: ""
        if parameter.name == "quiet":
            parameter.default = parameter.default or is_silent()
            parameter.callback = _log_errors_only


def _quiet_option() -> Any:
    """--quiet for a command that has nothing of its own to leave out."""

    def command(quiet: Quiet = False) -> None: ...

    single = typer.Typer(add_completion=False)
    single.command()(command)
    option = next(parameter for parameter in get_command(single).params if parameter.name == "quiet")
    option.expose_value = False
    return option


def _log_errors_only(context: Any, parameter: Any, quiet: bool) -> bool:
    set_quiet(quiet)
    return quiet


app = typer.Typer(
    name="seesay",
    cls=_Group,
    help="How much of the visible world does a language model know?",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command(cls=ProbeCommand)(probe)
app.command()(compare)
app.command()(report)
app.command()(site)
app.command()(paper)
app.add_typer(tasks_app, name="tasks")
app.command()(models)
app.add_typer(data_app, name="data")
app.add_typer(cache_app, name="cache")
app.add_typer(scenes_app, name="scenes")
app.add_typer(pictures_app, name="pictures")
app.add_typer(score_app, name="score")
app.add_typer(judge_app, name="judge")
app.command()(mine)
app.command()(rooms)
app.command()(perplexity)
app.add_typer(relations_app, name="relations")
app.add_typer(pretrain_app, name="pretrain")
app.add_typer(reasoner_app, name="reasoner")


def _version(requested: bool) -> None:
    if requested:
        print(f"seesay {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _seesay(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. A user's mistake is one sentence and exit code 2; an interrupt is 130."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names may hold what the terminal cannot show
    words = typed_words() if arguments is None else list(arguments)
    set_silent("--silent" in words)
    try:
        try:
            with log_to_terminal():
                app([word for word in words if word != "--silent"])
        finally:
            sys.stdout.flush()
    except UserError as error:
        _fail(str(error))
    except _Stopped as stopped:
        if isinstance(stopped.__cause__, BrokenPipeError):
            _closed_pipe()
        _fail("Interrupted. What was saved is kept: commands that save their progress resume when run again.", 130)
    except BrokenPipeError:
        _closed_pipe()
    except OSError as error:
        if error.errno is None:
            raise
        _silence()
        place = f" '{error.filename}'" if error.filename else ""
        _fail(f"Cannot read or write{place}: {os.strerror(error.errno)}. Fix this, then run the same command again.")


def _fail(sentence: str, code: int = 2) -> None:
    print(f"seesay: {plain(sentence)}", file=sys.stderr)
    raise SystemExit(code)


def _closed_pipe() -> None:
    _silence()
    raise SystemExit(141)


def _silence() -> None:
    """Discard what is still to be printed: nobody reads it, or there is no room for it."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
