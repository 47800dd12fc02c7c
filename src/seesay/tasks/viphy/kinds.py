"""The ViPhy tasks together: their splits, wordings and published figures by the task's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from seesay.data.splits import sample
from seesay.questions import Published, Task, Template
from seesay.registry import unknown
from seesay.tasks.viphy import color, size, space

Split = Callable[[str, Path | None], Task]
Test = Callable[[Path | None], Task]


@dataclass(frozen=True, slots=True)
class Kind:
    """How a task is loaded, asked by choice, and put to a linear probe, with the probe's published figures."""

    split: Split
    test: Test
    choice: tuple[Template, ...]
    linear_text: str
    linear_published: Mapping[str, tuple[Published, ...]]


def _size(test: Test, published: Mapping[str, tuple[Published, ...]]) -> Kind:
    return Kind(size.load_split, test, size.CHOICE, size.LINEAR_TEXT, published)


KINDS = {
    "viphy-color": Kind(
        color.load_split,
        color.load,
        color.CHOICE,
        color.LINEAR_TEXT,
        color.LINEAR_PUBLISHED,
    ),
    "viphy-size": _size(size.load, size.LINEAR_PUBLISHED),
    "viphy-size-subtype": _size(size.load_subtype, size.LINEAR_PUBLISHED_SUBTYPE),
    "viphy-size-transitive": _size(size.load_transitive, size.LINEAR_PUBLISHED_TRANSITIVE),
    "viphy-space": Kind(
        space.load_split,
        space.load,
        space.CHOICE,
        space.LINEAR_TEXT,
        space.LINEAR_PUBLISHED,
    ),
}


def kind(name: str) -> Kind:
    """What belongs to a ViPhy task."""
    if name not in KINDS:
        raise unknown("ViPhy task", name, KINDS, "seesay tasks viphy")
    return KINDS[name]


def training(name: str, data: Path | None = None) -> dict[str, Task]:
    """A task's questions to learn from and to choose by.

    The derived sizes have no training questions: a probe that answers them learnt the standard pairs.
    """
    return {part: kind(name).split(part, data) for part in ("train", "val")}


def splits(name: str, data: Path | None = None) -> dict[str, Task]:
    """A task's questions to learn from, to choose by and to be asked."""
    return {**training(name, data), "test": kind(name).test(data)}


def few_shot(task: Task, fraction: float, seed: int) -> Task:
    """A fraction of a task's questions; with one seed, a larger fraction holds all of a smaller one."""
    return replace(task, questions=tuple(sample(task.questions, fraction, seed)), published=())
