"""The tasks: what is in a scene, the form of its sentence, and which objects may be asked about.

One row per task of Pezzelle & Fernández (2019), its hard tests too, and one for comparatives, which
they left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from seesay.errors import UserError


@dataclass(frozen=True, slots=True)
class TaskKind:
    """One task.

    `single`: all objects of a scene share one shape. `by_set`: the reference set is the objects of
    the target's shape, not the scene. `noun`: what the sentence calls the target at its end (None:
    its shape). `inner_scene`, `inner_set`: the target is neither the largest nor the smallest
    there. `least`: how many objects its reference set must have.
    """

    name: str
    degree: Literal["positive", "superlative", "comparative"]
    single: bool = False
    by_set: bool = False
    noun: str | None = None
    inner_scene: bool = False
    inner_set: bool = False
    least: int = 1

    @property
    def slug(self) -> str:
        """The name as files and seesay tasks carry it."""
        return self.name.replace("+", "-")


TASK_KINDS = {
    kind.name: kind
    for kind in (
        TaskKind("sup1", "superlative", single=True),
        TaskKind("pos1", "positive", single=True),
        TaskKind("pos", "positive", noun="object"),
        TaskKind("set+pos", "positive", by_set=True, inner_scene=True, least=3),
        TaskKind("pos-hard", "positive", noun="object", inner_scene=True),
        TaskKind("set+pos-hard", "positive", by_set=True, inner_set=True, least=3),
        TaskKind("comparative", "comparative"),
    )
}


def task_kind(name: str) -> TaskKind:
    """The task by its name; `set-pos` is `set+pos`."""
    for kind in TASK_KINDS.values():
        if name.lower() in (kind.name, kind.slug):
            return kind
    raise UserError(f"Unknown scene task '{name}': choose one of {', '.join(TASK_KINDS)}.")
