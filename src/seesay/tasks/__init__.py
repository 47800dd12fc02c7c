"""The tasks by name: their summaries for listing, groups of them, and loading one.

Nothing here imports a task before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from seesay.errors import UserError
from seesay.questions import DataSource, Task
from seesay.registry import Registry, unknown

__all__ = ["GROUPS", "TASKS", "Summary", "expand", "load_task", "summary"]

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


TASKS: Registry[Loader] = Registry(
    kind="task",
    builtin={
        "core-color": "seesay.tasks.core_color:load",
        "core-size": "seesay.tasks.core_size:load",
        "core-space": "seesay.tasks.core_space:load",
        "core-parts": "seesay.tasks.core_parts:load",
        "memory-colors": "seesay.tasks.memory_colors:load",
        "property-norms": "seesay.tasks.property_norms:load",
        "coda": "seesay.tasks.coda:load",
        "viphy-color": "seesay.tasks.viphy.color:load",
        "viphy-size": "seesay.tasks.viphy.size:load",
        "viphy-size-subtype": "seesay.tasks.viphy.size:load_subtype",
        "viphy-size-transitive": "seesay.tasks.viphy.size:load_transitive",
        "viphy-space": "seesay.tasks.viphy.space:load",
        "malevic-sup1": "seesay.tasks.malevic:load_sup1",
        "malevic-pos1": "seesay.tasks.malevic:load_pos1",
        "malevic-pos": "seesay.tasks.malevic:load_pos",
        "malevic-set-pos": "seesay.tasks.malevic:load_set_pos",
        "malevic-pos-hard": "seesay.tasks.malevic:load_pos_hard",
        "malevic-set-pos-hard": "seesay.tasks.malevic:load_set_pos_hard",
        "malevic-compositional-seen": "seesay.tasks.malevic:load_compositional_seen",
        "malevic-compositional-unseen": "seesay.tasks.malevic:load_compositional_unseen",
        "malevic-comparative": "seesay.tasks.malevic:load_comparative",
        "easy-vqa": "seesay.tasks.easy_vqa:load",
    },
    group="seesay.tasks",
    listing="seesay tasks",
)

GROUPS: dict[str, tuple[str, ...]] = {
    "core": ("core-color", "core-size", "core-space", "core-parts"),
    "viphy": ("viphy-color", "viphy-size", "viphy-size-subtype", "viphy-size-transitive", "viphy-space"),
    "malevic": tuple(name for name in TASKS.builtin if name.startswith("malevic-")),
}

_SUMMARIES = {
    "core-color": Summary("The colours of everyday things", "seesay", licence="CC0-1.0"),
    "core-size": Summary("Which of two things is larger", "seesay", licence="CC0-1.0"),
    "core-space": Summary("What stands above what in a scene", "seesay", licence="CC0-1.0"),
    "core-parts": Summary("What things have and what they are made of", "seesay", licence="CC0-1.0"),
    "memory-colors": Summary(
        "The one colour that people remember a thing by",
        "Norlund et al. 2021",
        ("memory-colors",),
    ),
    "property-norms": Summary(
        "What people say about how things look", "Hagström & Johansson 2022", ("cslb-norms", "property-norms")
    ),
    **{
        f"malevic-{kind}": Summary(title, "Pezzelle & Fernández 2019")
        for kind, title in (
            ("sup1", "Is it the biggest? Shapes of one kind"),
            ("pos1", "Is it big? Shapes of one kind"),
            ("pos", "Is it a big object? Among shapes of many kinds"),
            ("set-pos", "Is it a big square? Among the squares of a scene"),
            ("pos-hard", "malevic-pos without the scene's extremes"),
            ("set-pos-hard", "malevic-set-pos without the set's extremes"),
            ("compositional-seen", "Adjective and shape in combinations that training has"),
            ("compositional-unseen", "Adjective and shape in combinations that training lacks"),
            ("comparative", "Is one thing bigger than another?"),
        )
    },
    **{
        f"viphy-{kind}": Summary(title, "Singh, Qasemi & Chen 2023", ("viphy",))
        for kind, title in (
            ("color", "The colours that things typically have"),
            ("size", "Which of two things is typically the larger one"),
            ("size-subtype", "Which of two subtypes is the larger one"),
            ("size-transitive", "Which is larger, of two things never seen together"),
            ("space", "What is above what in a scene"),
        )
    },
    "easy-vqa": Summary("What shape, what colour, is there one? A picture of one shape", "Zhou 2019", licence="MIT"),
    "coda": Summary("How people spread eleven colours over a thing", "Paik et al. 2021", ("coda",)),
}


def summary(name: str) -> Summary:
    """A task in one line, without loading it."""
    if name in _SUMMARIES:
        return _SUMMARIES[name]
    if name not in TASKS.names():
        raise unknown("task", name, [*TASKS.names(), *GROUPS, "all"], TASKS.listing)
    return Summary(f"A task of the package '{TASKS.package(name)}'", TASKS.package(name))


def expand(names: Sequence[str]) -> list[str]:
    """Task names from what a user typed: comma lists split, groups expanded, duplicates removed, order kept."""
    expanded: dict[str, None] = {}
    for name in (part.strip() for typed in names for part in typed.split(",")):
        if not name:
            continue
        for member in TASKS.names() if name == "all" else GROUPS.get(name, (name,)):
            if member not in TASKS.names():
                raise unknown("task", member, [*TASKS.names(), *GROUPS, "all"], TASKS.listing)
            expanded[member] = None
    return list(expanded)


def load_task(name: str, data: Path | None = None) -> Task:
    """Build a task. `data` is a file or folder to read in place of the data folder's."""
    task = TASKS.load(name)(data)
    if not isinstance(task, Task):
        raise UserError(
            f"The task '{name}' of the package '{TASKS.package(name)}' is a {type(task).__name__}, not a seesay Task: "
            "update that package or uninstall it."
        )
    task = replace(task, title=task.title or summary(name).title)
    if task.data or (data is None and name not in _SUMMARIES):  # a task that records itself what it read
        return task
    task = with_provenance(task, data, summary(name).needs)
    return replace(task, citation="") if data is not None and name in GROUPS["core"] else task


def with_provenance(task: Task, data: Path | None, needs: Sequence[str]) -> Task:
    """The task with a record of the files it was built from.

    Published figures are shown beside answers to the published questions only.
    """
    from seesay.data import store

    files = [(file, store.find_file(need, file.name, data)) for need in needs for file in store.get_dataset(need).files]
    expected = {path: file.sha256 for file, path in files if path is not None}
    if data is not None and data.is_file():
        published = next((file.sha256 for file, _ in files if file.sha256 == store.checksum(data)), None)
        expected = {data: published} | expected
    sources = []
    for path, sha256 in expected.items():
        digest = store.checksum(path)
        sources.append(DataSource(path.name, digest[:16], digest == sha256))
    as_published = all(source.as_published for source in sources)
    return replace(
        task, data=tuple(sources), as_published=as_published, published=task.published if as_published else ()
    )
