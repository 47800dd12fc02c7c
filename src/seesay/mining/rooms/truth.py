"""The truth of a set of rooms: the facts that mining should find.

Size is frontal area (width times height in square metres), which ViPhy's box area scaled by depth
approximates. Elevation follows ViPhy's rule (appendix A.3) in three dimensions: an object whose
lowest point is above another's middle is above it; it is below if the reverse holds, else at a
similar level. Both are counted over pairs of objects that are visible in one picture, colours over
visible objects.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations
from typing import Any

from seesay.data.knowledge import COLORS, PLACES, SIZES
from seesay.mining.rooms.sampling import RoomObject


class RoomTruth:
    """Counts over pictures, by names, of what is true of the objects in them.

    `add` is called once per picture.
    """

    def __init__(self) -> None:
        self.sizes: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self.places: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
        self.colors: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.subtypes: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, scene: str, visible: Iterable[RoomObject]) -> None:
        """Count the visible objects of one picture, and each pair of them once.

        The names of a pair are in alphabetical order, as in the mined counts.
        """
        objects = sorted(visible, key=lambda item: item.name)
        for item in objects:
            self.colors[item.name][item.color] += 1
            self.subtypes[item.name][item.subtype] += 1
        for a, b in combinations(objects, 2):
            if a.name != b.name:
                self.sizes[a.name, b.name][larger(a, b)] += 1
                self.places[scene, a.name, b.name][elevation(a, b)] += 1

    def to_json(self) -> dict[str, Any]:
        """Return the content of `truth.json`."""
        sizes = [
            {"a": a, "b": b, "larger": counts[">"], "smaller": counts["<"]}
            for (a, b), counts in sorted(self.sizes.items())
        ]
        names = ("scene", "a", "b", "above", "level", "below")
        places = [
            dict(zip(names, (*pair, *map(counts.__getitem__, PLACES)), strict=True))
            for pair, counts in sorted(self.places.items())
        ]
        colors = {
            name: {color: counts[color] for color in COLORS if counts[color]}
            for name, counts in sorted(self.colors.items())
        }
        subtypes = {
            name: dict(sorted(counts.items())) for name, counts in sorted(self.subtypes.items())
        }
        return {
            "size": "frontal area: width x height in square metres",
            "place": "lowest point above the other's centroid, in metres above the floor",
            "sizes": sizes,
            "places": places,
            "colors": colors,
            "subtypes": subtypes,
        }


def larger(a: RoomObject, b: RoomObject) -> str:
    """Return `>` if the first is larger, else `<`."""
    return SIZES[0] if a.frontal_area > b.frontal_area else SIZES[1]


def elevation(a: RoomObject, b: RoomObject) -> str:
    """Return `>` if the first is above the second, `<` if it is below, `=` at a similar level."""
    above, level, below = PLACES
    if a.lowest > b.centroid:
        return above
    if b.lowest > a.centroid:
        return below
    return level
