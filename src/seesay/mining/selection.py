"""Which subtype of its name a region shows, by a dual encoder in two stages (Singh, Qasemi & Chen
2023).

A picture of a kitchen chair is annotated "chair". First, the subtypes that are more similar to the
whole picture than the bare name is are kept, with the name itself; then the one most similar to the
region is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from seesay.mining.masks import corners
from seesay.mining.records import Box
from seesay.models.vision.dual_encoder import DualEncoder, Vectors

if TYPE_CHECKING:
    from PIL.Image import Image

TEMPLATE = "a photo of a {}"


class SubtypeSelector:
    """Selects subtypes; the vectors of names are computed once."""

    def __init__(self, encoder: DualEncoder, subtypes: Mapping[str, Sequence[str]]) -> None:
        self._encoder = encoder
        self._subtypes = subtypes
        self._vectors: dict[str, Vectors] = {}

    def choose(self, picture: Image, regions: Sequence[tuple[str, Box]]) -> list[str]:
        """For each named region the subtype it shows, or its own name."""
        with_subtypes = [i for i, (name, _) in enumerate(regions) if self._subtypes.get(name)]
        chosen = [name for name, _ in regions]
        if not with_subtypes:
            return chosen
        whole = self._encoder.pictures([picture])[0]
        crops = self._encoder.pictures(
            [picture.crop(corners(regions[i][1], *picture.size)) for i in with_subtypes]
        )
        for i, crop in zip(with_subtypes, crops, strict=True):
            name = regions[i][0]
            names, vectors = self._candidates(name)
            chosen[i] = select(names, vectors @ whole, vectors @ crop)
        return chosen

    def _candidates(self, name: str) -> tuple[list[str], Vectors]:
        names = [name, *(subtype for subtype in self._subtypes[name] if subtype != name)]
        if name not in self._vectors:
            self._vectors[name] = self._encoder.texts(
                [TEMPLATE.format(candidate) for candidate in names]
            )
        return names, self._vectors[name]


def select(
    names: Sequence[str],
    to_picture: Sequence[float] | Vectors,
    to_region: Sequence[float] | Vectors,
) -> str:
    """The two stages, from similarities; the bare name is the first of `names`.

    >>> select(["chair", "kitchen chair", "office chair"], [0.5, 0.6, 0.4], [0.3, 0.4, 0.9])
    'kitchen chair'
    """
    candidates = [0, *(i for i in range(1, len(names)) if to_picture[i] > to_picture[0])]
    return names[max(candidates, key=lambda i: (to_region[i], -i))]
