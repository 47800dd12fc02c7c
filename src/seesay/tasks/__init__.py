"""The tasks by name: their summaries for listing, groups of them, and loading one.

Nothing here imports a task before it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from seesay.errors import UserError
from seesay.questions import DataSource, Task
from seesay.registry import Registry, unknown

__all__ = ["GROUPS", "TASKS", "TASK_FILES", "Summary", "expand", "is_task_file", "load_task", "summary"]

TASK_FILES = Path(__file__).parents[1] / "data" / "tasks"
"""The folder of the tasks that are files: `NAME.yaml` for each."""
_FILE_SUFFIXES = (".yaml", ".yml", ".csv", ".tsv", ".jsonl", ".json", ".parquet")

Loader = Callable[[Path | None], Task]


@dataclass(frozen=True, slots=True)
class Summary:
    """A task in one line. `needs` names the data sets it reads, which have their own licences; a task without any is
    always available, under `licence`.
    """

    title: str
    source: str
    needs: tuple[str, ...] = ()
    licence: str = ""


def _core(title: str) -> Summary:
    return Summary(title, "seesay", licence="CC0-1.0")


def _malevic(title: str) -> Summary:
    return Summary(title, "Pezzelle & Fernández 2019")


def _viphy(title: str) -> Summary:
    return Summary(title, "Singh, Qasemi & Chen 2023", ("viphy",))


def _file(name: str, title: str, source: str, dataset: str = "") -> dict[str, tuple[str, Summary]]:
    """A task that is a file: the attribute of `from_file.builtin` is the file's name."""
    about = Summary(title, source, (dataset,)) if dataset else Summary(title, source, licence="CC0-1.0")
    return {name: (f"from_file.builtin:{name}", about)}


_FORBES, _LIU_EMERSON, _LIU_YIN, _XIA = "Forbes & Choi 2017", "Liu et al. 2023", "Liu et al. 2022", "Xia et al. 2023"


_BUILTIN: dict[str, tuple[str, Summary]] = {
    "core-color": ("core_color:load", _core("The colours of everyday things")),
    "core-size": ("core_size:load", _core("Which of two things is larger")),
    "core-space": ("core_space:load", _core("What stands above what in a scene")),
    "core-parts": ("core_parts:load", _core("What things have and what they are made of")),
    "memory-colors": (
        "memory_colors:load",
        Summary("The one colour that people remember a thing by", "Norlund et al. 2021", ("memory-colors",)),
    ),
    "property-norms": (
        "property_norms:load",
        Summary("What people say about how things look", "Hagström & Johansson 2022", ("cslb-norms", "property-norms")),
    ),
    "coda": ("coda:load", Summary("How people spread eleven colours over a thing", "Paik et al. 2021", ("coda",))),
    "viphy-color": ("viphy.color:load", _viphy("The colours that things typically have")),
    "viphy-size": ("viphy.size:load", _viphy("Which of two things is typically the larger one")),
    "viphy-size-subtype": ("viphy.size:load_subtype", _viphy("Which of two subtypes is the larger one")),
    "viphy-size-transitive": (
        "viphy.size:load_transitive",
        _viphy("Which is larger, of two things never seen together"),
    ),
    "viphy-space": ("viphy.space:load", _viphy("What is above what in a scene")),
    "malevic-sup1": ("malevic:load_sup1", _malevic("Is it the biggest? Shapes of one kind")),
    "malevic-pos1": ("malevic:load_pos1", _malevic("Is it big? Shapes of one kind")),
    "malevic-pos": ("malevic:load_pos", _malevic("Is it a big object? Among shapes of many kinds")),
    "malevic-set-pos": ("malevic:load_set_pos", _malevic("Is it a big square? Among the squares of a scene")),
    "malevic-pos-hard": ("malevic:load_pos_hard", _malevic("malevic-pos without the scene's extremes")),
    "malevic-set-pos-hard": ("malevic:load_set_pos_hard", _malevic("malevic-set-pos without the set's extremes")),
    "malevic-compositional-seen": (
        "malevic:load_compositional_seen",
        _malevic("Adjective and shape in combinations that training has"),
    ),
    "malevic-compositional-unseen": (
        "malevic:load_compositional_unseen",
        _malevic("Adjective and shape in combinations that training lacks"),
    ),
    "malevic-comparative": ("malevic:load_comparative", _malevic("Is one thing bigger than another?")),
    "easy-vqa": (
        "easy_vqa:load",
        Summary("What shape, what colour, is there one? A picture of one shape", "Zhou 2019", licence="MIT"),
    ),
    "prior-color": ("prior_color:load", _core("What colour is it here, and what colour is it usually?")),
    "prior-size": ("prior_size:load", _core("Which is larger here, and which is larger in the world?")),
    "prost": (
        "prost:load",
        Summary(
            "What breaks, rolls, bounces, weighs most? Ten physical concepts", "Aroca-Ouellette et al. 2021", ("prost",)
        ),
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

TASKS: Registry[Loader] = Registry(
    kind="task",
    builtin={name: f"seesay.tasks.{address}" for name, (address, _) in _BUILTIN.items()},
    group="seesay.tasks",
    listing="seesay tasks",
)

_SOURCES = ("core", "prior", "viphy", "malevic", "verb-physics", "vsr", "spatial-commonsense", "imagenetvc")
GROUPS = {
    **{group: tuple(name for name in _BUILTIN if name.startswith(f"{group}-")) for group in _SOURCES},
    "color": ("core-color", "memory-colors", "coda", "viphy-color", "imagenetvc-color"),
    "size": ("core-size", "viphy-size", "things-size", "verb-physics-size", "spatial-commonsense-size"),
    "space": ("core-space", "viphy-space", "spatial-commonsense-posrel", "vsr-random", "vsr-zeroshot"),
}


def summary(name: str) -> Summary:
    """A task in one line, without loading it."""
    if name in _BUILTIN:
        return _BUILTIN[name][1]
    if is_task_file(name):
        return Summary(f"The task file {name}", name)
    if name not in TASKS.names():
        raise unknown("task", name, [*TASKS.names(), *GROUPS, "all"], TASKS.listing)
    return Summary(f"A task of the package '{TASKS.package(name)}'", TASKS.package(name))


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
        for member in TASKS.names() if name == "all" else GROUPS.get(name, (name,)):
            if member not in TASKS.names():
                raise unknown("task", member, [*TASKS.names(), *GROUPS, "all"], TASKS.listing)
            expanded[member] = None
    return list(expanded)


def is_task_file(name: str) -> bool:
    """Whether a name is the path of a task file, of a folder with one, or of a table."""
    if not name or name == "all" or name in GROUPS or name in TASKS.names():
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
    task = replace(task, title=task.title or summary(name).title, licence=task.licence or summary(name).licence)
    if not task.data and (data is not None or name in _BUILTIN):  # else it records itself what it read
        task = with_provenance(task, data, summary(name).needs)
    return task if data is None or task.as_published else own_data(task, data)


def own_data(task: Task, data: Path) -> Task:
    """The task about rows that the user gave: the licence of ours or of the published ones is not theirs."""
    citation = "" if task.name in GROUPS["core"] else task.citation
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
    sources = []
    for path, sha256 in expected.items():
        digest = store.checksum(path)
        sources.append(DataSource(path.name, digest[:16], digest == sha256))
    as_published = all(source.as_published for source in sources)
    return replace(
        task, data=tuple(sources), as_published=as_published, published=task.published if as_published else ()
    )
