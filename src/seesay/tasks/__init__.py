"""The tasks by name: their summaries for listing, groups of them, and loading one.

Nothing here imports a task before it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from seesay.errors import UserError
from seesay.plugins import TaskCard, collect
from seesay.questions import Task
from seesay.registry import Registry, unknown

__all__ = ["TASKS", "TASK_FILES", "expand", "is_task_file", "load_task", "task_card", "task_groups"]

TASK_FILES = Path(__file__).parents[1] / "data" / "tasks"
"""The folder of the tasks that are files: `NAME.yaml` for each."""
_FILE_SUFFIXES = (".yaml", ".yml", ".csv", ".tsv", ".jsonl", ".json", ".parquet")

Loader = Callable[[Path | None], Task]


def _core(name: str, title: str) -> dict[str, TaskCard]:
    module = name.replace("-", "_")
    return {name: TaskCard(f"seesay.tasks.{module}:load", title, "seesay", licence="CC0-1.0")}


def _viphy(name: str, loader: str, title: str) -> dict[str, TaskCard]:
    return {name: TaskCard(f"seesay.tasks.viphy.{loader}", title, "Singh, Qasemi & Chen 2023", ("viphy",))}


def _file(name: str, title: str, source: str, dataset: str = "") -> dict[str, TaskCard]:
    """A task that is a file: the attribute of `from_file.builtin` is the file's name."""
    loader = f"seesay.tasks.from_file.builtin:{name}"
    if dataset:
        return {name: TaskCard(loader, title, source, (dataset,))}
    return {name: TaskCard(loader, title, source, licence="CC0-1.0")}


_FORBES = "Forbes & Choi 2017"
_LIU_EMERSON = "Liu et al. 2023"
_LIU_YIN = "Liu et al. 2022"
_XIA = "Xia et al. 2023"

_CORE_CARDS: dict[str, TaskCard] = {
    **_core("core-color", "The colours of everyday things"),
    **_core("core-size", "Which of two things is larger"),
    **_core("core-space", "What stands above what in a scene"),
    **_core("core-parts", "What things have and what they are made of"),
    "memory-colors": TaskCard(
        "seesay.tasks.memory_colors:load",
        "The one colour that people remember a thing by",
        "Norlund et al. 2021",
        ("memory-colors",),
    ),
    "property-norms": TaskCard(
        "seesay.tasks.property_norms:load",
        "What people say about how things look",
        "Hagström & Johansson 2022",
        ("cslb-norms", "property-norms"),
    ),
    "coda": TaskCard(
        "seesay.tasks.coda:load", "How people spread eleven colours over a thing", "Paik et al. 2021", ("coda",)
    ),
    **_viphy("viphy-color", "color:load", "The colours that things typically have"),
    **_viphy("viphy-size", "size:load", "Which of two things is typically the larger one"),
    **_viphy("viphy-size-subtype", "size:load_subtype", "Which of two subtypes is the larger one"),
    **_viphy("viphy-size-transitive", "size:load_transitive", "Which is larger, of two things never seen together"),
    **_viphy("viphy-space", "space:load", "What is above what in a scene"),
    "prost": TaskCard(
        "seesay.tasks.prost:load",
        "What breaks, rolls, bounces, weighs most? Ten physical concepts",
        "Aroca-Ouellette et al. 2021",
        ("prost",),
    ),
    **_file("things-size", "Which of two things is larger, and how sure are people?", "Hebart et al. 2023"),
    **_file("verb-physics-size", "Which of two things is larger", _FORBES, "verb-physics"),
    **_file("verb-physics-weight", "Which of two things is heavier", _FORBES, "verb-physics"),
    **_file("verb-physics-strength", "Which of two things is stronger", _FORBES, "verb-physics"),
    **_file("verb-physics-rigidness", "Which of two things is more rigid", _FORBES, "verb-physics"),
    **_file("verb-physics-speed", "Which of two things is faster", _FORBES, "verb-physics"),
    **_file("numersense", "How many legs, days, wheels? A number word in a sentence", "Lin et al. 2020", "numersense"),
    **_file("vsr-random", "Is the sentence true of the picture?", _LIU_EMERSON, "vsr"),
    **_file("vsr-zeroshot", "Is the sentence true of the picture? Things that training lacks", _LIU_EMERSON, "vsr"),
    **_file("spatial-commonsense-size", "Is one thing larger than another?", _LIU_YIN, "spatial-commonsense"),
    **_file("spatial-commonsense-height", "Is one thing taller than another?", _LIU_YIN, "spatial-commonsense"),
    **_file("spatial-commonsense-posrel", "Inside, above, below or beside?", _LIU_YIN, "spatial-commonsense"),
    **_file("imagenetvc-color", "What colour is it, or a part of it?", _XIA, "imagenetvc"),
    **_file("imagenetvc-shape", "What shape is it, or a part of it?", _XIA, "imagenetvc"),
    **_file("imagenetvc-material", "What is it made of?", _XIA, "imagenetvc"),
    **_file("imagenetvc-component", "Does it have scales, wings, wheels?", _XIA, "imagenetvc"),
    **_file("imagenetvc-others", "How many, how long, where?", _XIA, "imagenetvc"),
}


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
    **{group: tuple(name for name in _CORE_CARDS if name.startswith(f"{group}-")) for group in _SOURCES},
    "color": ("core-color", "memory-colors", "coda", "viphy-color", "imagenetvc-color"),
    "size": ("core-size", "viphy-size", "things-size", "verb-physics-size", "spatial-commonsense-size"),
    "space": ("core-space", "viphy-space", "spatial-commonsense-posrel", "vsr-random", "vsr-zeroshot"),
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
    """Task names from what a user typed: comma lists split, groups expanded, duplicates removed, order kept."""
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
    """Build a task by name or from a task file. `data` is a file or folder of rows to read in place of its own."""
    if is_task_file(name):
        from seesay.tasks.from_file.load import load as load_file

        return load_file(Path(name).expanduser(), data)
    task = TASKS.load(name)(data)
    if not isinstance(task, Task):
        raise UserError(
            f"The task '{name}' of the package '{TASKS.package(name)}' is a {type(task).__name__}, not a seesay Task: "
            "update that package or uninstall it."
        )
    card = task_card(name)
    task = replace(task, title=task.title or card.title, licence=task.licence or card.licence)
    if not task.data and (data is not None or name in TASKS.ours):  # else it records itself what it read
        task = with_provenance(task, data, card.needs)
    return task if data is None or task.as_published else own_data(task, data)


def own_data(task: Task, data: Path) -> Task:
    """The task about rows that the user gave: the licence of ours or of the published ones is not theirs."""
    citation = "" if task.name in task_groups()["core"] else task.citation
    return replace(task, title=f"{task.title} (from {data.name or data})", licence="yours", citation=citation)


def with_provenance(task: Task, data: Path | None, needs: Sequence[str]) -> Task:
    """The task with a record of the files it was built from.

    Published figures are shown beside answers to the published questions only.
    """
    from seesay.data import store

    files = [(file, store.find_file(need, file.name, data)) for need in needs for file in store.get_dataset(need).files]
    expected = {path: file.sha256 for file, path in files if path is not None}
    if data is not None and data.is_file():
        digest = store.checksum(data)
        expected = {data: digest if any(file.sha256 == digest for file, _ in files) else None} | expected
    sources = [store.data_source(path, path.name, sha256) for path, sha256 in expected.items()]
    as_published = all(source.as_published for source in sources)
    return replace(
        task, data=tuple(sources), as_published=as_published, published=task.published if as_published else ()
    )
