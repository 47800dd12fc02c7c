"""The command line. Heavy imports happen inside commands, so that `--help` answers at once."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperGroup
from typer.main import get_command

from seesay import __version__
from seesay.cli.options import Quiet
from seesay.cli.output import is_silent, log_to_terminal, plain, set_quiet, set_silent
from seesay.command_line import typed_words
from seesay.errors import UserError
from seesay.plugins import collect
from seesay.registry import load_address


class _Stopped(Exception):  # noqa: N818 - not an error
    """An interrupt or a closed pipe, under a name that typer does not handle itself."""


_VALUES = {"pathlib.Path": "PATH", "int": "NUMBER", "float": "NUMBER", "str": "TEXT"}


CORE_COMMANDS = {
    "probe": "seesay.cli.probe:app",
    "compare": "seesay.cli.compare:compare",
    "report": "seesay.cli.report:report",
    "site": "seesay.cli.site:site",
    "tasks": "seesay.cli.task_files:app",
    "models": "seesay.cli.models:models",
    "data": "seesay.cli.data:app",
    "cache": "seesay.cli.cache:app",
}


@cache
def command_addresses() -> dict[str, str]:
    """Every command by its name: the core's, then those that plug-ins bring."""
    return collect(lambda plugin: plugin.commands, core=CORE_COMMANDS)


def load_command(name: str) -> Any:
    """Import a command, so that a call pays for the one that it names and no other."""
    address = CORE_COMMANDS.get(name) or command_addresses()[name]
    loaded = load_address(address)
    application = loaded
    if not isinstance(loaded, typer.Typer):
        application = typer.Typer()
        application.command()(loaded)
    # seesay itself has it, and a group's help is as plain as its own
    application._add_completion = False
    application.rich_markup_mode = None
    command = get_command(application)
    command.name = name
    adapt(command)
    return command


class _Group(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        return list(command_addresses())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        is_known = cmd_name in CORE_COMMANDS or cmd_name in command_addresses()
        return load_command(cmd_name) if is_known else None

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, BrokenPipeError) as error:
            raise _Stopped from error


def adapt(command: Any) -> None:
    """Let help call a value PATH, NUMBER or TEXT, not by its type in Python, and let every command
    take --quiet."""
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
        # newer typer shows the type beside an argument's name
        elif word and hasattr(parameter, "display_type"):
            parameter.display_type = lambda _: ""
        if parameter.name == "quiet":
            parameter.default = parameter.default or is_silent()
            parameter.callback = _log_errors_only


def _quiet_option() -> Any:
    """--quiet for a command that has nothing of its own to leave out."""

    def command(quiet: Quiet = False) -> None: ...

    single = typer.Typer(add_completion=False)
    single.command()(command)
    option = next(
        parameter for parameter in get_command(single).params if parameter.name == "quiet"
    )
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


def _version(requested: bool) -> None:
    if requested:
        print(f"seesay {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _seesay(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. A user's mistake is one sentence and exit code 2; an interrupt is
    130."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # names may hold what the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
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
        _fail(
            "Interrupted. What was saved is kept: commands that save their progress resume when "
            "run again.",
            130,
        )
    except BrokenPipeError:
        _closed_pipe()
    except OSError as error:
        if error.errno is None:
            raise
        _silence()
        place = f" '{error.filename}'" if error.filename else ""
        _fail(
            f"Cannot read or write{place}: {os.strerror(error.errno)}. Fix this, then run the same "
            "command again."
        )


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
