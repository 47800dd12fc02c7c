"""The method of ViPhy, drawn: what mining does with one generated room.

Every function returns a text and a chart. What is drawn is computed by the rules that `seesay mine`
applies to annotated pictures; nothing is read or downloaded. The room is the same everywhere, so
that its examples are named here, and a test holds what is said of them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from seesay.data.knowledge import PLACES, SIZES
from seesay.data.pictures import png_address
from seesay.metrics.base import FloatArray
from seesay.mining import places, sizes
from seesay.mining.choices import SizeRule, SpaceRule
from seesay.mining.colors import colors_by_pixels
from seesay.mining.depth_maps import region_depths
from seesay.mining.observations import Observations
from seesay.mining.records import to_batch
from seesay.mining.regions import RegionArrays, flatten
from seesay.mining.rooms import Snapshot, snapshot, snapshots
from seesay.mining.selection import select
from seesay.mining.subtypes import subtypes
from seesay.reports.charts.kernel import (
    LINE,
    WIDTH,
    chart,
    coordinate,
    element,
    group,
    horizontal_line,
    series_class,
    text,
    tooltip,
    vertical_line,
)

Drawing = tuple[str, Markup]
Relations = Mapping[tuple[str, str], str]
"""The signs of pairs of names: > is larger, or above."""

ROOM = 22
"""The room that is drawn: a kitchen with a table, two chairs and what stands on the table."""
SIZE_PAIR = ("chair", "cup")
PLACE_PAIR = ("chair", "clock")
CHAIN = ("cabinet", "refrigerator", "table")
"""Each is above the next. The outer two share no partition of the depth, the second belongs to
those of both."""
OUTLINED_PAIRS = (("refrigerator", "table"), ("table", "chair 2"))
"""One of which the first is above the second, and one of which neither is."""
PANEL = 212.0
"""The width of a picture of which two stand side by side."""
RIGHT = PANEL + 14
"""Where the second of them begins."""
SMALL = 16.0
"""A frame that is not wider has no room for a name."""
MANY = 5
"""Frames among which names would lie on one another."""
CAPTIONED_ROOMS = 30
"""Rooms whose captions give the candidates of subtypes."""
PLOT = 190.0
"""The height of a plot of elevation over depth."""
PLOT_LEFT = 40.0
PLOT_RIGHT = WIDTH - 8
SIZE_WORDS = {">": "larger", "<": "smaller"}
PLACE_WORDS = {">": "above", "=": "at a similar level", "<": "below"}
STAND_IN = (
    "Similarities are those of a stand-in that needs no weights: the cosine between the words of a "
    "name and those of the captions, of the whole picture in the first stage, of the region in the "
    "second. `seesay mine --select MODEL` asks a dual encoder about the pixels, as the paper does."
)


@dataclass(frozen=True)
class Candidate:
    """A name that a region may have, and its similarity to the picture and to the region."""

    name: str
    to_picture: float
    to_region: float


@dataclass(frozen=True)
class MinedRoom:
    """The room, and what mining finds in it."""

    shot: Snapshot
    indices: Mapping[str, int]
    """Of the regions, by their names, each of which is unique."""
    arrays: RegionArrays
    colors: Mapping[str, Sequence[str]]
    sizes: Relations
    places: Relations
    candidates: Sequence[Sequence[Candidate]]
    """Of each region, the bare name first."""
    selected: Sequence[str]
    """The name that the two stages select for each region."""

    @property
    def scale(self) -> float:
        """From pixels to a panel."""
        return PANEL / self.shot.picture.width

    @property
    def height(self) -> float:
        """Of the picture in its panel."""
        return self.scale * self.shot.picture.height

    def outline(self, name: str) -> FloatArray:
        """Return the corners of a region in a panel."""
        polygon = self.shot.picture.regions[self.indices[name]].polygon
        return np.array(polygon).reshape(-1, 2) * self.scale


@cache
def mined_room() -> MinedRoom:
    """Return the room, every region with a name of its own: a second chair is "chair 2"."""
    shot = snapshot(ROOM)
    counts: Counter[str] = Counter()
    regions = []
    for region in shot.picture.regions:
        counts[region.name] += 1
        number = counts[region.name]
        name = region.name if number == 1 else f"{region.name} {number}"
        regions.append(replace(region, name=name))
    picture = replace(shot.picture, regions=tuple(regions))
    depths = region_depths(shot.view.depth, picture.width, picture.height, regions)
    arrays = replace(
        flatten(to_batch([picture])),
        distance=np.array(depths.distances),
        nearness=np.array(depths.nearness),
        nearest=np.array([depths.nearest]),
        farthest=np.array([depths.farthest]),
    )
    names = [region.name for region in regions]
    candidates = _candidates(shot)
    return MinedRoom(
        shot=replace(shot, picture=picture),
        indices={name: index for index, name in enumerate(names)},
        arrays=arrays,
        colors=dict(zip(names, colors_by_pixels(shot.view.rgb, regions), strict=True)),
        sizes=_relations(sizes.compare(arrays, sizes.RULES[SizeRule.PAPER]), arrays, SIZES),
        places=_relations(places.compare(arrays, places.RULES[SpaceRule.PAPER]), arrays, PLACES),
        candidates=candidates,
        selected=[_select(rows) for rows in candidates],
    )


def _relations(
    observations: Iterable[Observations], arrays: RegionArrays, signs: Sequence[str]
) -> Relations:
    words = arrays.vocabulary
    relations = {}
    for part in observations:
        for a, b, label in zip(part.a, part.b, part.label, strict=True):
            relations[words[a], words[b]] = signs[label]
    return relations


def _candidates(shot: Snapshot) -> list[list[Candidate]]:
    """Return the names that each region may have: subtypes in the captions of rooms, as mining
    collects them."""
    counts: Counter[str] = Counter()
    for other in snapshots(CAPTIONED_ROOMS):
        for item in other.objects:
            counts.update({item.name, item.subtype})
    subtypes_of = subtypes(counts, min_parent_count=2, min_count=2)
    about_picture = _words(shot.picture.captions)
    rows = []
    for index, item in enumerate(shot.objects):
        about_region = _words([shot.picture.scene, *_captions(shot, index)])
        # a name without an entry has no subtypes, and one with an entry is among them
        names = dict.fromkeys([item.name, *subtypes_of.get(item.name, ())])
        words_of = {name: _words([name]) for name in names}
        rows.append(
            [
                Candidate(name, _cosine(words, about_picture), _cosine(words, about_region))
                for name, words in words_of.items()
            ]
        )
    return rows


def _captions(shot: Snapshot, index: int) -> list[str]:
    """Return the captions that describe a region."""
    return [line for described, line in shot.phrases if described == index]


def _words(texts: Iterable[str]) -> Counter[str]:
    """Return how often words are used; a plural is its singular."""
    return Counter(word.removesuffix("s") for line in texts for word in re.findall("[a-z]+", line))


def _cosine(a: Counter[str], b: Counter[str]) -> float:
    norm = math.hypot(*a.values()) * math.hypot(*b.values())
    return sum(n * b[word] for word, n in a.items()) / norm if norm else 0.0


def _select(rows: Sequence[Candidate]) -> str:
    return select(
        [row.name for row in rows],
        [row.to_picture for row in rows],
        [row.to_region for row in rows],
    )


def _chart(height: float, title: str, parts: Iterable[Markup]) -> Markup:
    return chart("method", WIDTH, height, title, parts)


def _image(x: float, y: float, framed: Sequence[str], pixels: NDArray[np.uint8]) -> Markup:
    """Draw a picture in a panel; the regions in frames have their names beside them."""
    from PIL import Image

    room = mined_room()
    href = png_address(Image.fromarray(pixels))
    parts = [element("image", href=href, width=PANEL, height=room.height)]
    for number, name in enumerate(framed):
        box = room.shot.picture.regions[room.indices[name]].box
        left, top, width, height = (room.scale * value for value in box)
        frame = element(
            "rect", tooltip(name), x=left, y=top, width=width, height=height, class_="curve"
        )
        marks = [frame]
        # of neighbours that are smaller than their names only the frames are drawn
        if width > SMALL or len(framed) < MANY:
            marks.append(_name(left + 2, top, name))
        parts.append(group(marks, series_class(number)))
    place = f"translate({coordinate(x)} {coordinate(y)})"
    return element("g", Markup("").join(parts), transform=place)


def _photo(y: float, framed: Sequence[str]) -> Markup:
    """Draw the room at the left."""
    return _image(0, y, framed, mined_room().shot.view.rgb)


def _name(x: float, top: float, name: str) -> Markup:
    """Write a name above what it names, at the top of the picture inside."""
    return text(x, max(top - 3, 10), name, "series")


def _lines(rows: Iterable[str], x: float, y: float, room: float = PANEL) -> list[Markup]:
    """Return texts below one another."""
    return [text(x, y + LINE * i, row, "small", room) for i, row in enumerate(rows)]


def three_questions() -> Drawing:
    """Figure 1: what is asked of one picture, along three dimensions."""
    room = mined_room()
    size = SIZE_WORDS[room.sizes[SIZE_PAIR]]
    place = PLACE_WORDS[room.places[PLACE_PAIR]]
    rows = [
        "colour",
        f"  the cup is {' and '.join(room.colors['cup'])}",
        "size",
        f"  the {SIZE_PAIR[0]} is {size} than the {SIZE_PAIR[1]}",
        "space",
        f"  the {PLACE_PAIR[0]} is {place} the {PLACE_PAIR[1]}",
    ]
    framed = list(dict.fromkeys(SIZE_PAIR + PLACE_PAIR))
    parts = [_photo(0, framed), *_lines(rows, RIGHT, 20, WIDTH)]
    about = (
        "A generated kitchen, and what mining says about it: the colour by the region's pixels, "
        "the size by natural breaks, the place by depth and height. Nobody has to be told these "
        "to see them; models are asked without the picture."
    )
    return about, _chart(room.height, "Three dimensions of one picture", parts)


def two_stages() -> Drawing:
    """Figure 2: the candidates of a region, those that fit the picture, and the selected one."""
    room = mined_room()
    index = room.indices["chair"]
    anchor = room.candidates[index][0]
    selected = room.selected[index]
    parts = [_photo(0, ["chair"])]
    parts += _lines(["candidates C_o", "1: sim(c, I)", "2: sim(o_v, c)"], RIGHT, 12)
    y = 12 + LINE * 3.6
    for row in room.candidates[index]:
        fits = row is anchor or row.to_picture > anchor.to_picture
        sign = ">" if fits else "≤"
        first = "anchor" if row is anchor else f"{sign} anchor"
        second = f"2: {row.to_region:.2f}" if fits else "left out"
        mark = "  ← s_o" if row.name == selected else ""
        parts.append(text(RIGHT, y, f"{row.name}{mark}", "small"))
        note = f"1: {row.to_picture:.2f} ({first}), {second}"
        parts.append(text(RIGHT + 10, y + LINE, note, "note"))
        y += 2.2 * LINE
    about = (
        "A region annotated as chair. Its candidates are the subtypes in the captions of "
        f"{CAPTIONED_ROOMS} rooms. First, those remain that are more similar to the whole picture "
        "than the bare name is, which is the anchor; then the one most similar to the region is "
        f"selected: {selected}. {STAND_IN}"
    )
    return about, _chart(max(room.height, y), "Subtype selection in two stages", parts)


def pipeline() -> Drawing:
    """Figure 3: picture, depth map, names, and the three kinds of knowledge."""
    room = mined_room()
    depth = room.shot.view.depth
    grey = np.interp(depth, [depth.min(), depth.max()], [255, 0]).astype(np.uint8)
    framed = ["table", "chair", "clock"]
    parts = [
        _photo(LINE, framed),
        _image(RIGHT, LINE, [], np.stack([grey] * 3, axis=-1)),
        text(0, 10, "1  regions, with selected subtypes", "note"),
        text(RIGHT, 10, "2  depth map (near is bright)", "note"),
    ]
    selected = {name: room.selected[room.indices[name]] for name in framed}
    renamed = [f"{name} → {new}" for name, new in selected.items() if new != name]
    y = room.height + 2.2 * LINE
    parts += _lines(renamed, 0, y)
    y += LINE * max(len(renamed), 1) + 10
    columns = {
        "3  colour": [
            f"{name}: {', '.join(room.colors[name])}" for name in ("table", "chair", "cup")
        ],
        "4  size": _examples(room.sizes),
        "5  space": _examples(room.places),
    }
    step = WIDTH / len(columns)
    for number, (title, rows) in enumerate(columns.items()):
        parts.append(text(step * number, y, title, "note"))
        parts += _lines(rows, step * number, y + LINE, step)
    about = (
        "From a picture to knowledge: its regions get the subtype that fits best, and a depth map "
        "is computed (here the true one of the generated room); colour, size and space are derived "
        "independently of one another and counted over all pictures. > is larger, or above."
    )
    return about, _chart(y + LINE * 4, "The pipeline on one room", parts)


def _examples(relations: Relations) -> list[str]:
    """Return three relations of different first names."""
    by_name: dict[str, str] = {}
    for (a, b), sign in relations.items():
        by_name.setdefault(a, f"{a} {sign} {b}")
    return list(by_name.values())[:3]


def partitions() -> Drawing:
    """Figure 4: a relation between two objects of different partitions, through one of both."""
    room = mined_room()
    arrays = room.arrays
    width = PLOT_RIGHT - PLOT_LEFT
    parts = []
    for number, (start, end) in enumerate(places.partition_ranges(places.RULES[SpaceRule.PAPER])):
        x = PLOT_LEFT + width * start
        band = element(
            "rect",
            x=x,
            y=6.0 * number,
            width=width * (end - start),
            height=PLOT - 12.0 * number,
            class_="band",
        )
        label = text(x + 4, PLOT - 6.0 * number - 6, f"partition {number + 1}", "series")
        parts.append(group([band, label], series_class(number)))
    parts += [
        horizontal_line(PLOT_LEFT, PLOT_RIGHT, PLOT, "base"),
        vertical_line(PLOT_LEFT, 0, PLOT, "base"),
        text((PLOT_LEFT + PLOT_RIGHT) / 2, PLOT + 16, "z: depth, near to far", "note middle"),
        text(0, 10, "y", "note"),
    ]
    share = (arrays.distance - arrays.nearest) / (arrays.farthest - arrays.nearest)
    x_of_regions = PLOT_LEFT + width * share
    y_of_regions = PLOT * arrays.centroid / room.shot.picture.height
    at = dict(zip(room.indices, zip(x_of_regions, y_of_regions, strict=True), strict=True))
    for name, (x, y) in at.items():
        parts.append(element("circle", tooltip(name), cx=x, cy=y, r=3, class_="spot"))
    for first, second in pairwise(CHAIN):
        x1, y1 = at[first]
        x2, y2 = at[second]
        arrow = element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="average")
        parts.append(group([arrow], series_class(4)))
    for name in CHAIN:
        x, y = at[name]
        parts.append(text(min(x + 6, PLOT_RIGHT - 60), y - 5, name, "small"))
    a, bridge, b = CHAIN
    about = (
        "Heights are compared inside a partition of the depth only. The three partitions share "
        f"half with the next, and the {bridge} belongs to two. The {a} is above the {bridge}, and "
        f"the {bridge} above the {b}; so the {a} is above the {b}, with which it shares "
        "no partition. Every dot is a region of the room, at its mean depth and the height of its "
        "centroid."
    )
    return about, _chart(PLOT + 24, "A transitive relation across partitions", parts)


def relations() -> Drawing:
    """Figure 7: when one object is above another, and when both are at a similar level."""
    parts = []
    for number, pair in enumerate(OUTLINED_PAIRS):
        parts += _compared(number * RIGHT, *pair)
    about = (
        "Two pairs of the room, by their outlines. The dashed line is the height of the second "
        "object's centroid, the dot the lowest point of the first. If the dot is above the line, "
        "the first is above the second; if neither is above the other, both are at a similar level."
    )
    return about, _chart(mined_room().height + 2 * LINE, "From outlines to relations", parts)


def _compared(x: float, first: str, second: str) -> list[Markup]:
    """Draw the outlines of a pair, the lowest point of the first and the centroid of the second."""
    room = mined_room()
    parts = []
    for number, name in enumerate((first, second)):
        points = room.outline(name) + np.array([x, 0])
        corners = " ".join(f"{coordinate(px)},{coordinate(py)}" for px, py in points)
        shape = element("polygon", tooltip(name), points=corners, class_="band")
        left, top = points.min(axis=0)
        parts.append(group([shape, _name(left, top, name)], series_class(number)))
    line_y = room.scale * room.arrays.centroid[room.indices[second]]
    line = horizontal_line(x, x + PANEL, line_y, "average")
    parts.append(group([line], series_class(1)))
    points = room.outline(first)
    dot_x, dot_y = points[points[:, 1].argmax()]
    dot = element("circle", cx=x + dot_x, cy=dot_y, r=4, class_="spot")
    parts.append(group([dot], series_class(0)))
    label = "above" if dot_y < line_y else "similar level"
    parts.append(text(x, room.height + LINE, f"{first}, {second}: {label}", "small", PANEL))
    return parts


def names() -> Drawing:
    """Figure 12: one picture, how its captions call the regions, and the selected names."""
    room = mined_room()
    shot = room.shot
    captions = {}
    selected = {}
    right = 0
    omitted = 0
    for name, index in room.indices.items():
        item = shot.objects[index]
        lines = _captions(shot, index)
        # a region without subtypes has nothing to select, one without a caption nothing to show
        if item.subtype == item.name or not lines:
            continue
        captions[name] = lines[0]
        selected[name] = room.selected[index]
        right += selected[name] == item.subtype
        omitted += item.subtype not in lines[0]
    count = len(captions)
    parts = [_photo(0, list(captions)), text(RIGHT, 10, "annotated → selected", "note")]
    parts += _lines([f"{name} → {new}" for name, new in selected.items()], RIGHT, 10 + LINE)
    y = max(room.height, 10 + LINE * count) + 1.5 * LINE
    parts.append(text(0, y, "captions", "note"))
    parts += _lines([f"{name}: {line}" for name, line in captions.items()], 0, y + LINE, WIDTH)
    about = (
        f"Captions leave out what the picture shows anyway: {omitted} of these {count} do not "
        f"name the subtype. The selection gets {right} of {count} right, which is known of a "
        f"generated room. {STAND_IN}"
    )
    height = y + LINE * (count + 1) + 8
    return about, _chart(height, "Names before and after the selection", parts)
