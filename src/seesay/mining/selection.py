"""Which subtype of its name a region shows, by a dual encoder in two stages (ViPhy, section 2.1).

A picture of a kitchen chair is annotated "chair". First, the candidates are the name itself and the
subtypes that are more similar to the whole picture than the bare name is; then the one most similar
to the region is selected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from seesay.mining.masks import corners
from seesay.mining.records import Region
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

    def choose(self, picture: Image, regions: Sequence[Region]) -> list[str]:
        """Return for each region the subtype it shows, or its own name."""
        names = [region.name for region in regions]
        # Regions without subtypes need no pass through the encoder.
        ambiguous = [i for i, name in enumerate(names) if self._subtypes.get(name)]
        if not ambiguous:
            return names
        picture_vector = self._encoder.pictures([picture])[0]
        crops = [picture.crop(corners(regions[i].box, *picture.size)) for i in ambiguous]
        crop_vectors = self._encoder.pictures(crops)
        for i, crop_vector in zip(ambiguous, crop_vectors, strict=True):
            candidates, vectors = self._candidates(names[i])
            names[i] = select(candidates, vectors @ picture_vector, vectors @ crop_vector)
        return names

    def _candidates(self, name: str) -> tuple[list[str], Vectors]:
        """Return a name and its subtypes, the bare name first, and their vectors."""
        names = [name, *(subtype for subtype in self._subtypes[name] if subtype != name)]
        if name not in self._vectors:
            texts = [TEMPLATE.format(candidate) for candidate in names]
            self._vectors[name] = self._encoder.texts(texts)
        return names, self._vectors[name]


def select(
    names: Sequence[str],
    to_picture: Sequence[float] | Vectors,
    to_region: Sequence[float] | Vectors,
) -> str:
    """Return the name that the two stages select, from similarities.

    The bare name is the first of `names`.

    >>> select(["chair", "kitchen chair", "office chair"], [0.5, 0.6, 0.4], [0.3, 0.4, 0.9])
    'kitchen chair'
    """
    # C = {c ∈ C_o | sim(c, I) > sim(o, I)} ∪ {o}
    fits_picture = [i for i in range(1, len(names)) if to_picture[i] > to_picture[0]]
    # s_o = argmax sim(o_v, c) over C; of equally similar ones the first
    best = max([0, *fits_picture], key=lambda i: (to_region[i], -i))
    return names[best]
