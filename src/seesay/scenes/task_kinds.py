"""The tasks: what a scene holds, what is said of it, and which things may be asked about.

One row a task of Pezzelle & Fernández (2019, §3 and §5.3), and one for comparatives, which they left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from seesay.errors import UserError


@dataclass(frozen=True, slots=True)
class Kind:
    """One task.

    `single`: all things of a scene share one shape. `by_set`: the reference set is the things of the target's shape,
    not the scene. `noun`: what the sentence calls the target at its end (None: its shape). `inner_scene`, `inner_set`:
    the target is neither the largest nor the smallest there. `least`: how many things its reference set must have.
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


KINDS = {
    kind.name: kind
    for kind in (
        Kind("sup1", "superlative", single=True),
        Kind("pos1", "positive", single=True),
        Kind("pos", "positive", noun="object"),
        Kind("set+pos", "positive", by_set=True, inner_scene=True, least=3),
        Kind("pos-hard", "positive", noun="object", inner_scene=True),
        Kind("set+pos-hard", "positive", by_set=True, inner_set=True, least=3),
        Kind("comparative", "comparative"),
    )
}


def kind(name: str) -> Kind:
    """The task by its name; `set-pos` is `set+pos`."""
    for one in KINDS.values():
        if name.lower() in (one.name, one.slug):
            return one
    raise UserError(f"No scene task '{name}': choose {', '.join(KINDS)}.")
