"""The truth of a set of rooms: the facts that mining should find.

Size is frontal area (width times height in square metres), which ViPhy's box area scaled by depth
approximates. Elevation follows ViPhy's rule in three dimensions: an object whose lowest point is
above another's middle is above it; it is below if the reverse holds, else at a similar level. Both
are counted over pairs of objects that are visible in one picture, colours over visible objects.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations
from typing import Any

from seesay.data.knowledge import COLORS, PLACES, SIZES
from seesay.mining.rooms.sampling import RoomObject


class RoomTruth:
    """Counts over pictures; `add` is called once per picture."""

    def __init__(self) -> None:
        self.sizes: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self.places: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
        self.colors: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.subtypes: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, scene: str, visible: Iterable[RoomObject]) -> None:
        """Count the visible objects of one picture, and their pairs (each once, names in
        alphabetical order)."""
        objects = sorted(visible, key=lambda each: each.name)
        for each in objects:
            self.colors[each.name][each.color] += 1
            self.subtypes[each.name][each.subtype] += 1
        for a, b in combinations(objects, 2):
            if a.name != b.name:
                self.sizes[a.name, b.name][larger(a, b)] += 1
                self.places[scene, a.name, b.name][elevation(a, b)] += 1

    def to_json(self) -> dict[str, Any]:
        """The content of `truth.json`."""
        return {
            "size": "frontal area: width x height in square metres",
            "place": "lowest point above the other's centroid, in metres above the floor",
            "sizes": [
                {"a": a, "b": b, "larger": n[">"], "smaller": n["<"]}
                for (a, b), n in sorted(self.sizes.items())
            ],
            "places": [
                {"scene": scene, "a": a, "b": b, "above": n[">"], "level": n["="], "below": n["<"]}
                for (scene, a, b), n in sorted(self.places.items())
            ],
            "colors": {
                name: {c: n[c] for c in COLORS if n[c]} for name, n in sorted(self.colors.items())
            },
            "subtypes": {
                name: dict(sorted(n.items())) for name, n in sorted(self.subtypes.items())
            },
        }


def larger(a: RoomObject, b: RoomObject) -> str:
    """`>` if the first is larger, else `<`."""
    return SIZES[0] if a.frontal_area > b.frontal_area else SIZES[1]


def elevation(a: RoomObject, b: RoomObject) -> str:
    """`>` if the first is above the second, `<` if it is below, `=` at a similar level."""
    if a.lowest > b.centroid:
        return PLACES[0]
    return PLACES[2] if b.lowest > a.centroid else PLACES[1]
