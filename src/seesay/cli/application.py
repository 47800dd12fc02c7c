"""How commands of seesay are declared: Typer applications whose help is plain text.

`Application` stands in for `typer.Typer`. Its commands take --quiet and --silent without declaring
them, and their help calls values PATH, NUMBER or TEXT. Everything is done in the constructors and
documented hooks of Typer's own classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from seesay.cli.options import Quiet, Silent
from seesay.errors import UserError

F = TypeVar("F", bound=Callable[..., Any])

Rows = list[tuple[str, str]]
"""Lines of help: what to type, and what it does."""

_EXAMPLES = "\n\nExamples:\n"
"""What opens the examples at the end of a command's docstring; each is a line."""

_VALUE_NAMES = {"pathlib.Path": "PATH", "int": "NUMBER", "float": "NUMBER", "str": "TEXT"}

_METAVARS = {
    "adjective": "big|tall|bright",
    "base_url": "URL",
    "batch_size": "TOKENS|auto",
    "cells": "NETWORK/TASK,…",
    "colors": "pixels|MODEL|none|auto",
    "completion_code": "CODE",
    "contact": "ADDRESS",
    "curriculum": "TASK,…",
    "database": "postgresql://…",
    "depth": "given|fastdepth|MODEL|auto",
    "device": "cpu|cuda|mps|auto",
    "device_map": "auto|balanced|JSON",
    "dtype": "TYPE",
    "endpoint": "completions|chat",
    "engine": "local|ray",
    "family": "FAMILY",
    "features": "pixels|objects|NETWORK",
    "formats": "h5|parquet|json",
    "host": "ADDRESS",
    "how": "WAY",
    "imagine": "ENCODER",
    "institution": "NAME",
    "languages": "LANGUAGE,…",
    "length": "sum|mean|char",
    "metric": "METRIC",
    "mix": "FILE:WEIGHT",
    "model_name": "NAME",
    "name": "NAME",
    "network": "NETWORK",
    "networks": "NETWORK,…",
    "objects": "FROM-TO",
    "odd_word": "WORD",
    "pair": "WORD,WORD",
    "public_url": "URL",
    "report": "FILE",
    "researcher": "NAME",
    "return_url": "URL",
    "revision": "REVISION",
    "scope": "sentence|option|rest",
    "select": "MODEL",
    "start": "MODEL",
    "style": "qa|infill",
    "task": "TASK",
    "tasks": "TASK,…",
    "template": "TEMPLATE",
    "threshold": "rh-r|rh-n|rh-sd|ah",
    "to": "FORMAT",
    "tokenizer": "MODEL",
    "url": "URL",
    "watch": "TASK",
}
"""What values are called in the help, by the parameter's name: the same in every command."""


class Command(TyperCommand):
    """A command with plain help and the options that every command takes."""

    panels: ClassVar[Mapping[str, Sequence[str]]] = {}
    """The options of each part of the help, by title; those named nowhere follow as "Options"."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        text, _, examples = (settings.get("help") or "").partition(_EXAMPLES)
        self.examples = [line.strip() for line in examples.splitlines()]
        super().__init__(*arguments, **{**settings, "help": text, "rich_markup_mode": None})
        _add_common_options(self)
        _name_values(self)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of the command line. One that is no number is named, where Typer speaks of
        its parser; an address of an object store is no path to write to."""
        try:
            words = super().parse_args(ctx, args)
        except typer.BadParameter as error:
            sentence = _number_mistake(error)
            if sentence is None:
                raise
            raise typer.BadParameter(sentence, ctx=error.ctx, param=error.param) from error
        _refuse_addresses(self, ctx)
        return words

    def help_panels(self, ctx: Any) -> dict[str, Rows]:
        """Return the lines of each part of the help, by title."""
        return _help_panels(self, ctx, self.panels)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write each part of the help under its title, then the examples."""
        _write_panels(self.help_panels(ctx), formatter)
        if self.examples:
            with formatter.section("Examples"):
                # a command is to be copied, so it is never broken
                for example in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{example}\n")


class Group(TyperGroup):
    """A command with subcommands; itself, too, it takes what every command takes."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "rich_markup_mode": None})
        _add_common_options(self)
        _name_values(self)

    def help_panels(self, ctx: Any) -> dict[str, Rows]:
        """Return the lines of each part of the help, by title, without the list of commands."""
        return _help_panels(self, ctx, {})

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, then the commands."""
        _write_panels(self.help_panels(ctx), formatter)
        self.format_commands(ctx, formatter)


class Application(typer.Typer):
    """A Typer application of such commands; seesay itself installs shell completion, for all."""

    def __init__(
        self, *, cls: type[TyperGroup] = Group, add_completion: bool = False, **settings: Any
    ) -> None:
        super().__init__(cls=cls, add_completion=add_completion, rich_markup_mode=None, **settings)

    def command(
        self, name: str | None = None, *, cls: type[TyperCommand] | None = Command, **settings: Any
    ) -> Callable[[F], F]:
        """Register a function as a command, as `typer.Typer.command` does."""
        return super().command(name, cls=cls, **settings)


def _refuse_addresses(command: Any, ctx: Any) -> None:
    """Refuse an address that no callback has put a copy in the place of: it would be taken for a
    path, to which results are written."""
    # after --help, which needs none of it
    from seesay.storage import address_of

    for parameter in command.params:
        value = ctx.params.get(parameter.name)
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, Path) and (address := address_of(path)):
                name = max(parameter.opts, key=len)
                raise UserError(
                    f"{name} is {address}: give a path of this machine, and copy what is "
                    "written there with the store's own tool, such as `aws s3 sync`."
                )


def _number_mistake(error: typer.BadParameter) -> str | None:
    """Say which word is no number, if that is what is wrong."""
    # only a mistake pays for this import, and not every --help
    from pydantic import ValidationError

    cause = error.__cause__
    if not isinstance(cause, ValidationError):
        return None
    detail = cause.errors()[0]
    kinds = {"int": "a whole number", "float": "a number"}
    kind = kinds.get(detail["type"].partition("_")[0])
    if kind is None:
        return None
    return f"'{detail['input']}' is not {kind}."


def _common_options() -> list[Any]:
    """Return --quiet and --silent as Typer makes them from annotations, as of any function."""

    def command(quiet: Quiet = False, silent: Silent = False) -> None: ...

    # classes of options differ between versions of Typer, annotations do not
    carrier = typer.Typer(add_completion=False)
    carrier.command()(command)
    return list(get_command(carrier).params)


def _add_common_options(command: Any) -> None:
    names = {parameter.name for parameter in command.params}
    for option in _common_options():
        if option.name not in names:
            # The function behind the command has no such parameter: the option's callback has
            # already done what there is to do.
            option.expose_value = False
            command.params.append(option)


def _name_values(command: Any) -> None:
    """Call a value by what it is, else PATH, NUMBER or TEXT, not by its type in Python."""
    if command.callback is None:
        return
    hints = get_type_hints(command.callback)
    for parameter in command.params:
        type_text = str(hints.get(parameter.name))
        # enumerations and numbers say more about themselves
        if parameter.metavar is None and ("str" in type_text or "Path" in type_text):
            parameter.metavar = _METAVARS.get(parameter.name)
        if parameter.metavar is None:
            # the first that matches: a list of paths, or None, is a PATH as well
            words = (word for mark, word in _VALUE_NAMES.items() if mark in type_text)
            parameter.metavar = next(words, None)


def _help_panels(command: Any, ctx: Any, panels: Mapping[str, Sequence[str]]) -> dict[str, Rows]:
    arguments: Rows = []
    options: dict[str, tuple[str, str]] = {}
    for parameter in command.get_params(ctx):
        line = parameter.get_help_record(ctx)
        if line is None:
            continue
        if parameter.param_type_name == "argument":
            # newer versions of Typer add the type in Python to an argument's name
            arguments.append((parameter.metavar or line[0], line[1]))
        else:
            longest_name = max(parameter.opts, key=len)
            options[longest_name] = line
    rows = {"Arguments": arguments}
    for title, names in panels.items():
        rows[title] = [options.pop(name) for name in names]
    rows["Options"] = list(options.values())
    return {title: lines for title, lines in rows.items() if lines}


def _write_panels(panels: Mapping[str, Rows], formatter: Any) -> None:
    for title, lines in panels.items():
        with formatter.section(title):
            formatter.write_dl(lines)
