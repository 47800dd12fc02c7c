"""The command line. Heavy imports happen inside commands, so that `--help` answers at once."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from seesay import __version__
from seesay.cli.application import Application, Group
from seesay.cli.output import log_to_terminal, plain
from seesay.command_line import typed_command, typed_words
from seesay.errors import UserError, name_missing_extra
from seesay.plugins import collect, instruments, other_packages
from seesay.processors import share_processors
from seesay.registry import did_you_mean, load_address


class _Stopped(Exception):  # noqa: N818 - not an error
    """An interrupt or a closed pipe, under a name that typer does not handle itself."""


CORE_GROUPS = {
    "Ask models": {
        "probe": "seesay.cli.probe:app",
    },
    "Results": {
        "merge": "seesay.cli.merge:merge",
        "compare": "seesay.cli.compare:compare",
        "report": "seesay.cli.report:report",
        "site": "seesay.cli.site:site",
    },
    "What there is": {
        "tasks": "seesay.cli.task_files:app",
        "models": "seesay.cli.models:models",
        "data": "seesay.cli.data:app",
        "cache": "seesay.cli.cache:app",
    },
}
"""The core's commands under the titles by which the help lists them."""

CORE_COMMANDS = {
    name: address for commands in CORE_GROUPS.values() for name, address in commands.items()
}


def command_groups() -> dict[str, list[str]]:
    """The names of all commands by the title under which the help lists them."""
    groups = {title: list(names) for title, names in CORE_GROUPS.items()}
    # a name that two packages bring is the first one's
    listed = set(CORE_COMMANDS)
    for plugin in (*instruments(), *(plugin for _, plugin in other_packages())):
        names = [name for name in plugin.commands if name not in listed]
        listed.update(names)
        if names:
            groups.setdefault(plugin.command_group, []).extend(names)
    return groups


@cache
def command_addresses() -> dict[str, str]:
    """Every command by its name: the core's, then those that plug-ins bring."""
    return collect(lambda plugin: plugin.commands, core=CORE_COMMANDS)


def load_command(name: str) -> Any:
    """Import a command, so that a call pays for the one that it names and no other."""
    # the core's commands are found without reading the plug-ins, which takes longer than they do
    address = CORE_COMMANDS.get(name) or command_addresses()[name]
    application = load_address(address)
    if not isinstance(application, typer.Typer):
        function = application
        application = Application()
        application.command(name)(function)
    command = get_command(application)
    command.name = name
    return command


class _Group(Group):
    def list_commands(self, ctx: Any) -> list[str]:
        return list(command_addresses())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        is_known = cmd_name in CORE_COMMANDS or cmd_name in command_addresses()
        return load_command(cmd_name) if is_known else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command; where there is none, say which one looks like it."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            ctx.fail(f"No such command '{name}'{did_you_mean(name, self.list_commands(ctx))}.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under the titles of their groups."""
        for title, names in command_groups().items():
            commands = {name: self.get_command(ctx, name) for name in names}
            limit = formatter.width - 6 - max(map(len, commands))
            rows = []
            for name, command in commands.items():
                rows.append((name, command.get_short_help_str(limit)))
            with formatter.section(title):
                formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        # Typer would end with its own code and message for these
        except (KeyboardInterrupt, BrokenPipeError) as error:
            raise _Stopped from error


app = Application(
    name="seesay",
    cls=_Group,
    add_completion=True,
    help="How much of the visible world does a language model know?",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
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
    """Run the command line.

    A user's mistake is one sentence and exit code 2; an interrupt is 130.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # names may hold what the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    share_processors()
    words = typed_words() if arguments is None else list(arguments)
    try:
        try:
            with log_to_terminal(), typed_command(), name_missing_extra():
                app(words)
        finally:
            sys.stdout.flush()
    except UserError as error:
        _fail(str(error))
    except _Stopped as stopped:
        # as when `head` has read its line: no mistake, and nobody left to tell
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
        # an error of a library that only looks like one of the system is a bug, and keeps its
        # traceback
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
