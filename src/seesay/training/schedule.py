"""How a network is trained: the learning rate, the optimiser, when to validate and when to stop."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

C = TypeVar("C", bound="DataclassInstance")


@dataclass(frozen=True, slots=True)
class Schedule:
    """How a network is trained. The learning rate rises over `warmup` (a share of the training) and
    then falls as `decay` says, or stays and falls linearly over the share `cooldown` at the end.

    Validation follows each epoch and, with `validate_every`, that many steps; the weights that are
    best by `best_by` are kept. With `patience`, training ends early after that many validations
    without improvement, with `enough` once the best value is at least as good: at once, or with its
    cooldown.
    """

    epochs: int
    learning_rate: float
    warmup: float = 0.0
    decay: str = "none"  # none, linear or cosine
    weight_decay: float = 0.0
    clip: float = 1.0
    validate_every: int | None = None
    patience: int | None = None
    best_by: str = "loss"
    highest: bool = False
    seed: int = 0
    # or adam, whose weight decay is part of the gradient and concerns every weight
    optimizer: str = "adamw"
    cooldown: float = 0.0
    enough: float | None = None

    def settings(self) -> dict[str, Any]:
        """The fields as a training's settings."""
        return asdict(self)

    def changed(self, **fields: Any) -> Schedule:
        """The schedule with other fields; None leaves a field as it is."""
        return changed(self, **fields)

    def is_over(self, best: float | None, waited: int) -> bool:
        """Whether to end early, from the best value so far and the number of validations since."""
        if (
            self.enough is not None
            and best is not None
            and (best >= self.enough if self.highest else best <= self.enough)
        ):
            return True
        return self.patience is not None and waited >= self.patience

    def rate(self, done: float) -> float:
        """The learning rate after a share `done` of the training."""
        if done < self.warmup:
            return self.learning_rate * done / self.warmup
        left = (1 - done) / (1 - self.warmup) if self.warmup < 1 else 1.0
        if self.decay == "linear":
            return self.learning_rate * left
        if self.decay == "cosine":
            return self.learning_rate * (1 - math.cos(math.pi * left)) / 2
        if self.cooldown:
            return self.learning_rate * min(1.0, (1 - done) / self.cooldown)
        return self.learning_rate


def changed(config: C, **fields: Any) -> C:
    """A config with other fields; None leaves a field as it is."""
    return replace(config, **{name: value for name, value in fields.items() if value is not None})
