"""What an instrument brings: names, and as text the addresses ("module:attribute") of what stands
behind them.

Every instrument declares in its `plugin.py` one `PLUGIN`. The core reads these declarations and
imports nothing behind them before it is asked for, so that the core knows no instrument by name and
listing everything costs nothing. Our own instruments are found by their folders, beside this file;
other packages name their `PLUGIN` in an entry point:

    [project.entry-points."seesay.plugins"]
    my-package = "my_package.plugin:PLUGIN"
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from seesay.caches import Cache

logger = logging.getLogger("seesay")

T = TypeVar("T")

GROUP = "seesay.plugins"
"""The group of entry points in which other packages name their plug-ins."""

Addresses = Mapping[str, str]
"""Names, and the addresses of what they stand for."""


@dataclass(frozen=True, slots=True)
class TaskCard:
    """A task in one line, without loading it.

    `loader` is the address of a function that takes a file or folder of data (or None) and returns
    the task. `needs` names the data sets that the task reads, which have their own licences; a task
    without any is always available, under `licence`. `anchors` is the share of its objects that
    stay in every edition of a task that can be drawn anew; its loader then takes a `seed`, too.
    `pictures` says that questions come with them.
    """

    loader: str
    title: str
    source: str
    needs: tuple[str, ...] = ()
    licence: str = ""
    anchors: float = 0.0
    pictures: bool = False


@dataclass(frozen=True, slots=True)
class BaselineCard:
    """A baseline in one line. `maker` is the address of a function from the model's full name to
    the model."""

    maker: str
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """Everything that an instrument or another package adds to seesay."""

    tasks: Mapping[str, TaskCard] = field(default_factory=dict)

    task_groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names for several tasks at once; a group of the core's gets these tasks added."""

    metrics: Addresses = field(default_factory=dict)
    """Each a `seesay.metrics.Metric`."""

    models: Addresses = field(default_factory=dict)
    """Loaders by the prefix of a model's name: functions of the rest of the name and a
    `ModelOptions`."""

    model_folders: Mapping[str, str] = field(default_factory=dict)
    """The prefix that loads a folder, by the `model_type` in its config.json."""

    model_files: Mapping[str, str] = field(default_factory=dict)
    """The prefix that loads a file, by the end of its name."""

    baselines: Mapping[str, BaselineCard] = field(default_factory=dict)

    picture_sets: Addresses = field(default_factory=dict)
    """Labelled pictures to train networks on: openers as `seesay.data.picture_sets` describes
    them."""

    commands: Addresses = field(default_factory=dict)
    """Commands of the command line: functions, or applications with commands of their own.

    A `seesay.cli.application.Application` has the help and the options of the core's commands; any
    other `typer.Typer` keeps its own.
    """

    command_group: str = "More"
    """The title under which the help lists these commands."""

    page_sections: Addresses = field(default_factory=dict)
    """Sections of a task on the page of runs: functions of the task's runs and what each run chose,
    which return HTML, empty where they have nothing to show."""

    caches: tuple[Cache, ...] = ()
    """What is kept between runs, for `seesay cache`."""

    papers: Addresses = field(default_factory=dict)
    """Papers that `seesay paper` goes through."""

    mergers: Addresses = field(default_factory=dict)
    """What `seesay merge` does with shares of a kind: each a `seesay.shards.Merger`."""

    functions: Addresses = field(default_factory=dict)
    """What `import seesay` offers beside the core's functions."""


@cache
def instruments() -> tuple[Plugin, ...]:
    """The plug-ins of our own instruments, in the alphabetical order of their folders."""
    folders = sorted(path.parent.name for path in Path(__file__).parent.glob("*/plugin.py"))
    return tuple(import_module(f"seesay.{folder}.plugin").PLUGIN for folder in folders)


@cache
def other_packages() -> tuple[tuple[str, Plugin], ...]:
    """The plug-ins that installed packages name in entry points, each with its package, ordered by
    package.

    A package that cannot be loaded is reported in a warning: what it would bring is missing, all
    else works.
    """
    from importlib.metadata import entry_points

    points = sorted(entry_points(group=GROUP), key=lambda point: (_distribution(point), point.name))
    plugins = []
    for point in points:
        plugin = _load_plugin(point)
        if plugin is not None:
            plugins.append((_distribution(point), plugin))
    return tuple(plugins)


def collect(
    brought: Callable[[Plugin], Mapping[str, T]], core: Mapping[str, T] | None = None
) -> dict[str, T]:
    """Everything of one kind: the core's, our instruments', other packages'. Of two with one name
    the first counts."""
    things = dict(core or {})
    others = [plugin for _, plugin in other_packages()]
    for plugin in (*instruments(), *others):
        for name, thing in brought(plugin).items():
            # a name of ours stays ours: results carry it
            things.setdefault(name, thing)
    return things


def _load_plugin(point: EntryPoint) -> Plugin | None:
    try:
        plugin: object = point.load()
    # whatever another package does on import, its name belongs in the message
    except Exception as error:
        problem = f"could not be loaded ({type(error).__name__}: {error})"
    else:
        if isinstance(plugin, Plugin):
            return plugin
        kind = type(plugin).__name__
        problem = f"names '{point.value}', which is a {kind} and not a seesay.plugins.Plugin"
    logger.warning(
        "The package '%s' adds to seesay but %s. Update that package or uninstall it.",
        _distribution(point),
        problem,
    )
    return None


def _distribution(point: EntryPoint) -> str:
    name = point.dist.metadata["Name"] if point.dist else None
    return str(name or "unknown")
