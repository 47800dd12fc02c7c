"""The tasks by name: their summaries for listing, groups of them, and loading one.

Nothing here imports a task before it is asked for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from seesay.errors import UserError
from seesay.plugins import TaskCard, collect
from seesay.questions import EDITION_MARK, Task, split_edition
from seesay.registry import Registry, unknown

__all__ = [
    "INDEX",
    "TASKS",
    "TASK_FILES",
    "expand",
    "is_task_file",
    "load_task",
    "task_card",
    "task_groups",
]

TASK_FILES = Path(__file__).parents[1] / "data" / "tasks"
"""The folder of the tasks that are files: `NAME.yaml` for each."""
INDEX = TASK_FILES / "index.json"
"""What lists say of these tasks, taken from the files by `make index`: a list parses no YAML."""
_FILE_SUFFIXES = (".yaml", ".yml", ".csv", ".tsv", ".jsonl", ".json", ".parquet")

Loader = Callable[..., Task]
"""A function of a file or folder of data, and of a seed where the task can be drawn anew."""


def _card_of_file(name: str, head: Mapping[str, Any]) -> TaskCard:
    """Return the card of a task that is a file.

    The attribute of `from_file.builtin` that loads it is the file's name.
    """
    return TaskCard(
        loader=f"seesay.tasks.from_file.builtin:{name}",
        title=head["title"],
        source=head["source"],
        needs=(head["dataset"],) if "dataset" in head else (),
        licence=head.get("licence", ""),
        anchors=head.get("anchors", 0.0),
    )


def _file_cards() -> dict[str, TaskCard]:
    """Return the cards of the tasks that are files, from their index."""
    heads = json.loads(INDEX.read_text(encoding="utf-8"))
    return {name: _card_of_file(name, head) for name, head in heads.items()}


def _viphy(loader: str, title: str) -> TaskCard:
    """Return the card of one of ViPhy's tasks, which all need the same data set."""
    return TaskCard(f"seesay.tasks.viphy.{loader}", title, "Singh, Qasemi & Chen 2023", ("viphy",))


_FILES = _file_cards()
_PYTHON_TASKS = {
    "property-norms": TaskCard(
        "seesay.tasks.property_norms:load",
        "What people say about how things look",
        "Hagström & Johansson 2022",
        ("cslb-norms", "property-norms"),
    ),
    "coda": TaskCard(
        "seesay.tasks.coda:load",
        "How people spread eleven colours over a thing",
        "Paik et al. 2021",
        ("coda",),
    ),
    "viphy-color": _viphy("color:load", "The colours that things typically have"),
    "viphy-size": _viphy("size:load", "Which of two things is typically the larger one"),
    "viphy-size-subtype": _viphy("size:load_subtype", "Which of two subtypes is the larger one"),
    "viphy-size-transitive": _viphy(
        "size:load_transitive", "Which is larger, of two things never seen together"
    ),
    "viphy-size-pairs": _viphy("size:load_pairs", "viphy-size, split by pairs"),
    "viphy-size-things": _viphy("size:load_things", "viphy-size, split by things"),
    "viphy-space": _viphy("space:load", "What is above what in a scene"),
    "prost": TaskCard(
        "seesay.tasks.prost:load",
        "What breaks, rolls, bounces, weighs most? Ten physical concepts",
        "Aroca-Ouellette et al. 2021",
        ("prost",),
    ),
}
# The tasks to begin with: the core battery needs no download, and memory-colors is small.
_LISTED_FIRST = {
    name: card for name, card in _FILES.items() if name.startswith(("core-", "memory-colors"))
}
_CORE_CARDS: dict[str, TaskCard] = {
    **_LISTED_FIRST,
    **_PYTHON_TASKS,
    **_FILES,
}


def _loaders(cards: Mapping[str, TaskCard]) -> dict[str, str]:
    """Return the addresses of the functions that load the tasks, by name."""
    return {name: card.loader for name, card in cards.items()}


TASKS: Registry[Loader] = Registry(
    kind="task",
    core=_loaders(_CORE_CARDS),
    brought=lambda plugin: _loaders(plugin.tasks),
    listing="seesay tasks",
)

# Groups by paper or battery come from the names; those by subject are chosen by hand.
_SOURCES = ("core", "viphy", "verb-physics", "vsr", "spatial-commonsense", "imagenetvc")


_SPLITS_OF_OURS = ("viphy-size-pairs", "viphy-size-things")


def _names_of_source(source: str) -> tuple[str, ...]:
    """Return the tasks of one paper or battery, whose names begin with its own.

    The same questions in a split of ours are not among the paper's.
    """
    names = [name for name in _CORE_CARDS if name.startswith(f"{source}-")]
    return tuple(name for name in names if name not in _SPLITS_OF_OURS)


_CORE_GROUPS = {
    **{source: _names_of_source(source) for source in _SOURCES},
    "viphy-size-splits": ("viphy-size", *_SPLITS_OF_OURS),
    "color": ("core-color", "memory-colors", "coda", "viphy-color", "imagenetvc-color"),
    "size": (
        "core-size",
        "viphy-size",
        "things-size",
        "verb-physics-size",
        "spatial-commonsense-size",
    ),
    "space": (
        "core-space",
        "viphy-space",
        "spatial-commonsense-posrel",
        "vsr-random",
        "vsr-zeroshot",
    ),
}


@cache
def task_groups() -> dict[str, tuple[str, ...]]:
    """Return the names that stand for several tasks, with these."""
    return collect(lambda plugin: plugin.task_groups, core=_CORE_GROUPS)


def task_card(name: str) -> TaskCard:
    """Return what is said of a task in one line, without loading it."""
    cards = collect(lambda plugin: plugin.tasks, core=_CORE_CARDS)
    name, _ = split_edition(name)
    if name in cards:
        return cards[name]
    if is_task_file(name):
        return TaskCard("", f"The task file {name}", name)
    raise _unknown_task(name)


def _unknown_task(name: str) -> UserError:
    """Return the error for a name that stands for nothing, with the name that may be meant."""
    return unknown("task", name, [*TASKS.names(), *task_groups(), "all"], TASKS.listing)


def expand(names: Sequence[str]) -> list[str]:
    """Return task names from what a user typed.

    Comma lists are split, groups expanded and duplicates removed; the order stays.
    """
    parts: list[str] = []
    for typed in names:
        # The path of a task file may have commas.
        parts += [typed] if _exists(typed) else typed.split(",")
    task_names: dict[str, None] = {}
    for part in parts:
        name = part.strip()
        if not name:
            continue
        if is_task_file(name):
            task_names[name] = None
            continue
        for member in _members(name):
            if split_edition(member)[0] not in TASKS:
                raise _unknown_task(member)
            task_names[member] = None
    return list(task_names)


def _members(name: str) -> Sequence[str]:
    """Return the tasks that a name stands for: all, those of a group, or itself; of an edition,
    their editions."""
    series, edition = split_edition(name)
    if edition:
        return [f"{member}{EDITION_MARK}{edition}" for member in _members(series)]
    if name == "all":
        return TASKS.names()
    return task_groups().get(name, (name,))


def is_task_file(name: str) -> bool:
    """Return whether a name is the path of a task file, of a folder with one, or of a table.

    The file need not exist: a path that is misspelt should be reported as one, and not as an
    unknown task.
    """
    if not _exists(name):
        name, _ = split_edition(name)
    # A folder that happens to be called like a task must not hide it.
    if not name or name == "all" or name in task_groups() or name in TASKS:
        return False
    return (
        name.lower().endswith(_FILE_SUFFIXES)
        or "/" in name
        or os.sep in name
        or (_exists(name) and Path(name).is_dir())
    )


def _exists(name: str) -> bool:
    """Return whether this is a path; a list of names may be too long for one."""
    try:
        return Path(name).exists()
    except OSError:
        return False


def load_task(name: str, data: Path | None = None, *, seed: int | None = None) -> Task:
    """Load a task or an edition of one, by name or from a task file.

    `data` is a file or folder of rows to read in place of its own; `seed` draws another task of the
    same kind, which an edition is made of.
    """
    series, edition = split_edition(name)
    if edition and not _exists(name):
        from seesay.tasks.editions import load_edition

        if data is not None:
            raise UserError("An edition is drawn from the task's own rows: leave out --data.")
        return load_edition(series, edition)
    draw = {} if seed is None else {"seed": seed}
    if is_task_file(name):
        from seesay.tasks.from_file.load import load as load_file

        return load_file(Path(name).expanduser(), data, **draw)
    task = TASKS.load(name)(data, **draw)
    if not isinstance(task, Task):
        raise UserError(
            f"The task '{name}' of the package '{TASKS.package(name)}' is a {type(task).__name__}, "
            "not a seesay Task: update that package or uninstall it."
        )
    card = task_card(name)
    # What the task says of itself outdoes its card in the list.
    provenance = replace(task.provenance, licence=task.provenance.licence or card.licence)
    task = replace(task, title=task.title or card.title, provenance=provenance)
    # Some tasks record themselves what they read; of a plug-in's, only a user's file is known.
    if not task.provenance.data and (data is not None or name in TASKS.ours):
        task = add_provenance(task, data, card.needs)
    if data is None or task.provenance.as_published:
        return task
    return mark_user_data(task, data)


def mark_user_data(task: Task, data: Path) -> Task:
    """Return the task as one about rows that the user gave.

    The licence of our rows, or of the published ones, is not that of a user's.
    """
    citation = task.provenance.citation
    if task.name in task_groups()["core"]:
        citation = ""
    provenance = replace(task.provenance, licence="yours", citation=citation)
    return replace(task, title=f"{task.title} (from {data.name or data})", provenance=provenance)


def add_provenance(
    task: Task,
    data: Path | None,
    needs: Sequence[str],
) -> Task:
    """Return the task with a record of the files it was built from.

    Published figures are shown beside answers to the published questions only.

    Files that a user gave come first. A task is as published if every file that it read is.
    """
    from seesay.data import store

    checksums: dict[Path, str | None] = {}
    published = [(need, file) for need in needs for file in store.get_dataset(need).files]
    if data is not None and data.is_file():
        # A published file counts as such under whatever name the user has it.
        digest = store.checksum(data)
        is_published = any(file.sha256 == digest for _, file in published)
        checksums[data] = digest if is_published else None
    for need, file in published:
        path = store.find_file(need, file.name, data)
        if path is not None:
            checksums[path] = file.sha256
    sources = [store.data_source(path, path.name, sha256) for path, sha256 in checksums.items()]
    as_published = all(source.as_published for source in sources)
    return replace(
        task,
        provenance=replace(task.provenance, data=tuple(sources), as_published=as_published),
        published=task.published if as_published else (),
    )
