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
    """How a network is trained.

    The learning rate rises over the warmup and then falls as `decay` says, or stays and falls
    linearly over the cooldown at the end. The best weights of all validations are kept.
    """

    epochs: int
    learning_rate: float
    warmup: float = 0.0
    """A share of the training."""
    decay: str = "none"
    """none, linear or cosine."""
    weight_decay: float = 0.0
    clip: float = 1.0
    """The highest norm of a gradient."""
    validate_every: int | None = None
    """Steps between further validations."""
    validate_epochs: bool = True
    """Whether a validation follows each epoch; one follows the last step in any case."""
    validate_untrained: bool = True
    """Whether a validation comes before the first step, whose weights are then a candidate."""
    patience: int | None = None
    """Validations without improvement after which training ends: at once, or with its cooldown."""
    best_by: str = "loss"
    """The measurement that decides which weights are best."""
    highest: bool = False
    """Whether the highest value is the best, not the lowest."""
    seed: int = 0
    optimizer: str = "adamw"
    """adamw, or adam, whose weight decay is part of the gradient and concerns every weight."""
    cooldown: float = 0.0
    """A share of the training."""
    enough: float | None = None
    """A value at which training ends early, as with patience."""

    def settings(self) -> dict[str, Any]:
        """Return the fields as a training's settings."""
        return asdict(self)

    def override(self, **fields: Any) -> Schedule:
        """Return the schedule with other fields; None leaves a field as it is."""
        return override(self, **fields)

    def is_over(self, best: float | None, waited: int) -> bool:
        """Return whether to end early.

        It depends on the best value so far, and on the number of validations since.
        """
        if self.enough is not None and best is not None:
            reached = best >= self.enough if self.highest else best <= self.enough
            if reached:
                return True
        return self.patience is not None and waited >= self.patience

    def rate(self, done: float) -> float:
        """Return the learning rate after a share `done` of the training."""
        if done < self.warmup:
            return self.learning_rate * done / self.warmup
        remaining = 1.0
        # a warmup of 1 fills the training, and leaves nothing to divide by
        if self.warmup < 1:
            remaining = (1 - done) / (1 - self.warmup)
        if self.decay == "linear":
            return self.learning_rate * remaining
        if self.decay == "cosine":
            # half a period, from the full rate down to 0
            return self.learning_rate * (1 - math.cos(math.pi * remaining)) / 2
        if self.cooldown:
            return self.learning_rate * min(1.0, (1 - done) / self.cooldown)
        return self.learning_rate


def override(config: C, **fields: Any) -> C:
    """Return a config with other fields; None leaves a field as it is."""
    changes = {name: value for name, value in fields.items() if value is not None}
    return replace(config, **changes)
