"""The parts of a picture that a network attends to (Pezzelle & Fernández 2019, Figure 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AttentionMap:
    """Weights of the parts of a picture.

    The parts are the cells of a grid over the whole picture (`weights` is rows x columns) or, with
    `boxes` (top, left, bottom, right as shares of the picture's size), objects with one weight
    each.
    """

    name: str
    weights: Floats
    boxes: Floats | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain lists, rounded to four decimals."""
        fields: dict[str, Any] = {"name": self.name, "weights": self.weights.round(4).tolist()}
        if self.boxes is None:
            return fields
        return {**fields, "boxes": self.boxes.round(4).tolist()}


def channel_maxima(maps: Floats) -> AttentionMap:
    """Count the channels that have their maximum in each cell of maps (channels, rows, columns).

    Cells that tie share a channel. A maximum over the picture keeps only those cells. A channel
    that is 0 everywhere is left out, so the cells sum to the number of the other channels.
    """
    highest = maps.max((1, 2), keepdims=True)
    # a channel that is 0 everywhere has no place of its own
    at_maximum = (maps == highest) & (highest > 0)
    shares = at_maximum / np.maximum(at_maximum.sum((1, 2), keepdims=True), 1)
    return AttentionMap("channels' maxima", shares.sum(0))
