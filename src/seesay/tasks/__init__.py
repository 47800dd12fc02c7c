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

from seesay.errors import UserError
from seesay.plugins import TaskCard, collect
from seesay.questions import Task
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
"""What lists say of these tasks, taken from the files by `make index`: lists need not parse
them."""
_FILE_SUFFIXES = (".yaml", ".yml", ".csv", ".tsv", ".jsonl", ".json", ".parquet")

Loader = Callable[[Path | None], Task]


def _card_of_file(name: str, head: Mapping[str, str]) -> TaskCard:
    """The card of a task that is a file: the attribute of `from_file.builtin` is the file's
    name."""
    loader = f"seesay.tasks.from_file.builtin:{name}"
    needs = (head["dataset"],) if "dataset" in head else ()
    return TaskCard(loader, head["title"], head["source"], needs, head.get("licence", ""))


def _file_cards() -> dict[str, TaskCard]:
    heads = json.loads(INDEX.read_text(encoding="utf-8"))
    return {name: _card_of_file(name, head) for name, head in heads.items()}


def _viphy(loader: str, title: str) -> TaskCard:
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
    "viphy-space": _viphy("space:load", "What is above what in a scene"),
    "prost": TaskCard(
        "seesay.tasks.prost:load",
        "What breaks, rolls, bounces, weighs most? Ten physical concepts",
        "Aroca-Ouellette et al. 2021",
        ("prost",),
    ),
}
_LISTED_FIRST = {
    name: card for name, card in _FILES.items() if name.startswith(("core-", "memory-colors"))
}
_CORE_CARDS: dict[str, TaskCard] = {**_LISTED_FIRST, **_PYTHON_TASKS, **_FILES}


def _loaders(cards: Mapping[str, TaskCard]) -> dict[str, str]:
    return {name: card.loader for name, card in cards.items()}


TASKS: Registry[Loader] = Registry(
    kind="task",
    core=_loaders(_CORE_CARDS),
    brought=lambda plugin: _loaders(plugin.tasks),
    listing="seesay tasks",
)

_SOURCES = ("core", "viphy", "verb-physics", "vsr", "spatial-commonsense", "imagenetvc")
_CORE_GROUPS = {
    **{
        group: tuple(name for name in _CORE_CARDS if name.startswith(f"{group}-"))
        for group in _SOURCES
    },
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
    """The names that stand for several tasks."""
    return collect(lambda plugin: plugin.task_groups, core=_CORE_GROUPS)


def task_card(name: str) -> TaskCard:
    """A task in one line, without loading it."""
    cards = collect(lambda plugin: plugin.tasks, core=_CORE_CARDS)
    if name in cards:
        return cards[name]
    if is_task_file(name):
        return TaskCard("", f"The task file {name}", name)
    raise _unknown_task(name)


def _unknown_task(name: str) -> UserError:
    return unknown("task", name, [*TASKS.names(), *task_groups(), "all"], TASKS.listing)


def expand(names: Sequence[str]) -> list[str]:
    """Task names from what a user typed: comma lists split, groups expanded, duplicates removed,
    order kept."""
    expanded: dict[str, None] = {}
    parts = [part for typed in names for part in ([typed] if _exists(typed) else typed.split(","))]
    for name in map(str.strip, parts):
        if not name:
            continue
        if is_task_file(name):
            expanded[name] = None
            continue
        for member in TASKS.names() if name == "all" else task_groups().get(name, (name,)):
            if member not in TASKS:
                raise _unknown_task(member)
            expanded[member] = None
    return list(expanded)


def is_task_file(name: str) -> bool:
    """Whether a name is the path of a task file, of a folder with one, or of a table."""
    if not name or name == "all" or name in task_groups() or name in TASKS:
        return False
    return (
        name.lower().endswith(_FILE_SUFFIXES)
        or "/" in name
        or os.sep in name
        or (_exists(name) and Path(name).is_dir())
    )


def _exists(name: str) -> bool:
    """Whether this is a path; a list of names may be too long for one."""
    try:
        return Path(name).exists()
    except OSError:
        return False


def load_task(name: str, data: Path | None = None) -> Task:
    """Build a task by name or from a task file. `data` is a file or folder of rows to read in place
    of its own."""
    if is_task_file(name):
        from seesay.tasks.from_file.load import load as load_file

        return load_file(Path(name).expanduser(), data)
    task = TASKS.load(name)(data)
    if not isinstance(task, Task):
        raise UserError(
            f"The task '{name}' of the package '{TASKS.package(name)}' is a {type(task).__name__}, "
            "not a seesay Task: "
            "update that package or uninstall it."
        )
    card = task_card(name)
    task = replace(task, title=task.title or card.title, licence=task.licence or card.licence)
    # else it records itself what it read
    if not task.data and (data is not None or name in TASKS.ours):
        task = with_provenance(task, data, card.needs)
    if data is None or task.as_published:
        return task
    return own_data(task, data)


def own_data(task: Task, data: Path) -> Task:
    """The task about rows that the user gave: the licence of ours or of the published ones is not
    theirs."""
    citation = "" if task.name in task_groups()["core"] else task.citation
    return replace(
        task, title=f"{task.title} (from {data.name or data})", licence="yours", citation=citation
    )


def with_provenance(task: Task, data: Path | None, needs: Sequence[str]) -> Task:
    """The task with a record of the files it was built from.

    Published figures are shown beside answers to the published questions only.
    """
    from seesay.data import store

    files = [
        (file, store.find_file(need, file.name, data))
        for need in needs
        for file in store.get_dataset(need).files
    ]
    expected = {path: file.sha256 for file, path in files if path is not None}
    if data is not None and data.is_file():
        digest = store.checksum(data)
        expected = {
            data: digest if any(file.sha256 == digest for file, _ in files) else None
        } | expected
    sources = [store.data_source(path, path.name, sha256) for path, sha256 in expected.items()]
    as_published = all(source.as_published for source in sources)
    return replace(
        task,
        data=tuple(sources),
        as_published=as_published,
        published=task.published if as_published else (),
    )
