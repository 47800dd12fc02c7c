"""Where a reasoner looks (Figure 7): attention, the cells that a maximum comes from, objects that are meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from seesay.reasoners.model import Reasoner

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Look:
    """How much every part of a picture counts.

    The parts are the cells of a grid over the whole picture (`weights` is rows x columns) or, with `boxes` (top, left,
    bottom, right in shares of the side), one weight a box.
    """

    name: str
    weights: Floats
    boxes: Floats | None = None

    def plain(self) -> dict[str, Any]:
        """As a program reads it, four decimals."""
        said: dict[str, Any] = {"name": self.name, "weights": self.weights.round(4).tolist()}
        return said if self.boxes is None else {**said, "boxes": self.boxes.round(4).tolist()}


def looks(reasoner: Reasoner, seen: NDArray[Any], sentences: Sequence[str]) -> list[tuple[Look, ...]]:
    """What the eye saw and the sentences (items) to where the network looks, item by item.

    CNN+LSTM takes the picture whole: there is nothing to show of it.
    """
    import torch

    from seesay.reasoners.networks.film import Film
    from seesay.reasoners.networks.object_centred import ObjectCentred
    from seesay.reasoners.networks.stacked_attention import StackedAttention

    network, (given, words) = reasoner.network, reasoner.given(seen, sentences)
    with torch.inference_mode():
        if isinstance(network, Film):
            return [(maxima(maps),) for maps in network.maps(given, words).double().cpu().numpy()]
        if isinstance(network, StackedAttention):
            return [
                tuple(Look(f"attention, round {i}", weights) for i, weights in enumerate(rounds, 1))
                for rounds in network.maps(given, words).double().cpu().numpy()
            ]
        if isinstance(network, ObjectCentred):
            target, among, _ = (part.exp().double().cpu().numpy() for part in network.attend(given, words))
            return [_objects(*row) for row in zip(seen, target, among, strict=True)]
    return [()] * len(seen)


def maxima(maps: Floats) -> Look:
    """How many channels (channels, rows, columns) have their maximum in each cell; cells that tie share it.

    What the maximum over the picture keeps comes from there. A channel that is 0 everywhere comes from nowhere and is
    left out: the cells sum to the number of the others.
    """
    highest = maps.max((1, 2), keepdims=True)
    there = (maps == highest) & (highest > 0)
    shares = there / np.maximum(there.sum((1, 2), keepdims=True), 1)
    return Look("channels' maxima", shares.sum(0))


def _objects(slots: NDArray[Any], target: Floats, among: Floats) -> tuple[Look, ...]:
    """Who is meant, and who it is compared with: each object's box, as far as it is one.

    Only how the objects' membership compares matters to the network, so the one that belongs most stands for 1.
    """
    present = slots[:, 0] > 0
    boxes = slots[present, 2:6].astype(np.float64)
    return Look("target", target[present], boxes), Look(
        "reference set", among[present] / max(among.max(), 1e-30), boxes
    )
