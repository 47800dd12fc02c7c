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
    """One task (Pezzelle & Fernández 2019, section 3; constraints on targets, section 4)."""

    name: str
    degree: Literal["positive", "superlative", "comparative"]
    single: bool = False
    """Whether all objects of a scene share one shape."""
    by_set: bool = False
    """Whether the reference set is the objects of the target's shape, not the whole scene."""
    noun: str | None = None
    """What the sentence calls the target at its end; None: its shape."""
    inner_scene: bool = False
    """Whether the target must be neither the largest nor the smallest of the scene."""
    inner_set: bool = False
    """Whether the target must be neither the largest nor the smallest of its reference set."""
    least: int = 1
    """How many objects its reference set must have."""

    @property
    def slug(self) -> str:
        """Return the name as files and seesay tasks carry it."""
        return self.name.replace("+", "-")


TASK_KINDS = {
    kind.name: kind
    for kind in (
        # the four tasks of section 3
        TaskKind("sup1", "superlative", single=True),
        TaskKind("pos1", "positive", single=True),
        TaskKind("pos", "positive", noun="object"),
        TaskKind("set+pos", "positive", by_set=True, inner_scene=True, least=3),
        # the hard tests of Table 2: the target is no extreme of its scene, or of its set
        TaskKind("pos-hard", "positive", noun="object", inner_scene=True),
        TaskKind("set+pos-hard", "positive", by_set=True, inner_set=True, least=3),
        # ours
        TaskKind("comparative", "comparative"),
        TaskKind("comparative1", "comparative", single=True),
    )
}


def task_kind(name: str) -> TaskKind:
    """Return the task of this name; `set-pos` is `set+pos`."""
    for kind in TASK_KINDS.values():
        if name.lower() in (kind.name, kind.slug):
            return kind
    raise UserError(f"Unknown scene task '{name}': choose one of {', '.join(TASK_KINDS)}.")
