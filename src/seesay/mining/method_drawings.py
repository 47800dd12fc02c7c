"""The method of ViPhy, drawn: what mining does with one generated room.

Every function returns a text and a chart. What is drawn is computed by the rules that `seesay mine`
applies to annotated pictures; nothing is read or downloaded.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
from markupsafe import Markup
from numpy.typing import NDArray

from seesay.data.knowledge import PLACES, SIZES
from seesay.data.pictures import png_address
from seesay.mining import places, sizes
from seesay.mining.choices import SizeRule, SpaceRule
from seesay.mining.colors import colors_by_pixels
from seesay.mining.depth_maps import RegionDepths, region_depths
from seesay.mining.observations import Observations
from seesay.mining.records import Region, to_batch
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

ROOM = 22
"""The room that is drawn: a kitchen with a table, two chairs and what stands on the table."""
PANEL = 212.0
"""The width of a picture of which two stand side by side."""
SMALL = 16.0
"""A frame that is not wider has no room for a name."""
MANY = 5
"""Frames among which names would lie on one another."""
CAPTIONED_ROOMS = 30
"""Rooms whose captions give the candidates of subtypes."""
PLOT = 190.0
"""The height of a plot of elevation over depth."""
PLACE_PAIRS = (("chair", "clock"), ("clock", "table"))
ABOVE = PLACES.index(">")
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


@cache
def _shot() -> Snapshot:
    """The room, every region with a name of its own: a second chair is "chair 2"."""
    shot = snapshot(ROOM)
    counts: Counter[str] = Counter()
    regions = []
    for region in shot.picture.regions:
        counts[region.name] += 1
        number = counts[region.name]
        name = region.name if number == 1 else f"{region.name} {number}"
        regions.append(replace(region, name=name))
    return replace(shot, picture=replace(shot.picture, regions=tuple(regions)))


@cache
def _depths() -> RegionDepths:
    picture = _shot().picture
    return region_depths(_shot().view.depth, picture.width, picture.height, picture.regions)


@cache
def _arrays() -> RegionArrays:
    """The regions with their depths, as mining compares them."""
    depths = _depths()
    table = pa.Table.from_batches([to_batch([_shot().picture])])
    columns = {
        "distances": [depths.distances],
        "nearness": [depths.nearness],
        "nearest": [depths.nearest],
        "farthest": [depths.farthest],
    }
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    return flatten(table)


def _relations(observations: Iterable[Observations]) -> dict[tuple[str, str], int]:
    """Return labels by pairs of names."""
    words = _arrays().vocabulary
    relations = {}
    for some in observations:
        for a, b, label in zip(some.a, some.b, some.label, strict=True):
            relations[words[a], words[b]] = int(label)
    return relations


@cache
def _places() -> dict[tuple[str, str], int]:
    return _relations(places.compare(_arrays(), places.RULES[SpaceRule.PAPER]))


@cache
def _sizes() -> dict[tuple[str, str], int]:
    return _relations(sizes.compare(_arrays(), sizes.RULES[SizeRule.PAPER]))


@cache
def _colors() -> dict[str, tuple[str, ...]]:
    regions = _shot().picture.regions
    colors = colors_by_pixels(_shot().view.rgb, regions)
    return {region.name: color for region, color in zip(regions, colors, strict=True)}


def _region(name: str) -> Region:
    return next(region for region in _shot().picture.regions if region.name == name)


def _image(
    pixels: NDArray[np.uint8],
    x: float,
    y: float,
    framed: Sequence[str] = (),
) -> Markup:
    """Draw a picture in a panel; the regions in frames have their names beside them."""
    from PIL import Image

    height, width = pixels.shape[:2]
    scale = PANEL / width
    parts = [
        element(
            "image",
            href=png_address(Image.fromarray(pixels)),
            width=PANEL,
            height=height * scale,
        )
    ]
    for number, name in enumerate(framed):
        left, top, box_width, box_height = (scale * value for value in _region(name).box)
        frame = element(
            "rect",
            tooltip(name),
            x=left,
            y=top,
            width=box_width,
            height=box_height,
            class_="curve",
        )
        marks = [frame]
        # of neighbours that are smaller than their names only the frames are drawn
        if box_width > SMALL or len(framed) < MANY:
            # a frame at the top of the picture has its name inside
            marks.append(text(left + 2, max(top - 3, 10), name, "series"))
        parts.append(group(marks, series_class(number)))
    place = f"translate({coordinate(x)} {coordinate(y)})"
    return element("g", Markup("").join(parts), transform=place)


def _height() -> float:
    """The height of a picture in its panel."""
    picture = _shot().picture
    return PANEL * picture.height / picture.width


def _lines(rows: Sequence[str], x: float, y: float, room: float = PANEL) -> list[Markup]:
    """Return texts below one another."""
    return [
        text(
            x,
            y + LINE * index,
            row,
            "small",
            room,
        )
        for index, row in enumerate(rows)
    ]


def three_questions() -> Drawing:
    """Figure 1: what is asked of one picture, along three dimensions."""
    size_pair = "chair", "cup"
    place_pair = next(
        pair for pair in [("chair", "clock"), ("clock", "table")] if pair in _places()
    )
    size = "larger" if SIZES[_sizes()[size_pair]] == ">" else "smaller"
    place = _place_word(PLACES[_places()[place_pair]])
    rows = [
        "colour",
        f"  the cup is {' and '.join(_colors()['cup'])}",
        "size",
        f"  the {size_pair[0]} is {size} than the {size_pair[1]}",
        "space",
        f"  the {place_pair[0]} is {place} the {place_pair[1]}",
    ]
    framed = list(dict.fromkeys([*size_pair, *place_pair]))
    parts = [_image(_shot().view.rgb, 0, 0, framed), *_lines(rows, PANEL + 14, 20, WIDTH)]
    about = (
        "A generated kitchen, and what mining says about it: the colour by the region's pixels, "
        "the size by natural breaks, the place by depth and height. Nobody has to be told these "
        "to see them; models are asked without the picture."
    )
    return about, chart("method", WIDTH, _height(), "Three dimensions of one picture", parts)


def _place_word(label: str) -> str:
    words = {">": "above", "=": "at a similar level", "<": "below"}
    return words[label]


@cache
def _candidate_names() -> dict[str, list[str]]:
    """The subtypes of names in the captions of rooms, as mining collects them."""
    names: Counter[str] = Counter()
    for shot in snapshots(CAPTIONED_ROOMS):
        for item in shot.objects:
            names.update({item.name, item.subtype})
    found = subtypes(names, min_parent_count=2, min_count=2)
    return {name: [other for other in others if other != name] for name, others in found.items()}


def _words(texts: Iterable[str]) -> Counter[str]:
    """Return how often words are used; a plural is its singular."""
    return Counter(word.removesuffix("s") for line in texts for word in re.findall("[a-z]+", line))


def _cosine(a: Counter[str], b: Counter[str]) -> float:
    norm = math.sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values()))
    return sum(n * b[word] for word, n in a.items()) / norm if norm else 0.0


def _candidates(place: int) -> list[Candidate]:
    """Return the names that a region may have, the bare name first, with their similarities."""
    shot = _shot()
    bare = shot.objects[place].name
    about_picture = _words(shot.picture.captions)
    about_region = _words([shot.picture.scene, *(line for i, line in shot.phrases if i == place)])
    rows = []
    for name in [bare, *_candidate_names().get(bare, [])]:
        words = _words([name])
        rows.append(Candidate(name, _cosine(words, about_picture), _cosine(words, about_region)))
    return rows


def _selected(place: int) -> str:
    """Return the name that the two stages select for a region."""
    rows = _candidates(place)
    return select(
        [row.name for row in rows],
        [row.to_picture for row in rows],
        [row.to_region for row in rows],
    )


def two_stages() -> Drawing:
    """Figure 2: the candidates of a region, those that fit the picture, and the selected one."""
    place = next(i for i, item in enumerate(_shot().objects) if item.name == "chair")
    name = _shot().picture.regions[place].name
    rows = _candidates(place)
    selected = _selected(place)
    parts = [_image(_shot().view.rgb, 0, 0, [name])]
    x = PANEL + 14
    parts += _lines(["candidates C_o", "1: sim(c, I)", "2: sim(o_v, c)"], x, 12)
    y = 12 + LINE * 3.6
    for row in rows:
        is_bare = row is rows[0]
        fits = is_bare or row.to_picture > rows[0].to_picture
        second = f"2: {row.to_region:.2f}" if fits else "left out"
        mark = "  ← s_o" if row.name == selected else ""
        first = "anchor" if is_bare else f"{'>' if fits else '≤'} anchor"
        parts.append(text(x, y, f"{row.name}{mark}", "small"))
        note = f"1: {row.to_picture:.2f} ({first}), {second}"
        parts.append(text(x + 10, y + LINE, note, "note"))
        y += 2.2 * LINE
    about = (
        "A region annotated as chair. Its candidates are the subtypes in the captions of "
        f"{CAPTIONED_ROOMS} rooms. First, those remain that are more similar to the whole picture "
        "than the bare name is, which is the anchor; then the one most similar to the region is "
        f"selected: {selected}. {STAND_IN}"
    )
    title = "Subtype selection in two stages"
    return about, chart("method", WIDTH, max(_height(), y), title, parts)


def pipeline() -> Drawing:
    """Figure 3: picture, depth map, names, and the three kinds of knowledge."""
    depth = _shot().view.depth
    near = float(depth.min())
    far = float(depth.max())
    grey = (255 * (far - depth) / (far - near)).astype(np.uint8)
    height = _height()
    x = PANEL + 14
    framed = ["table", "chair", "clock"]
    parts = [
        _image(_shot().view.rgb, 0, LINE, framed),
        _image(np.stack([grey] * 3, axis=-1), x, LINE),
        text(0, 10, "1  regions, with selected subtypes", "note"),
        text(x, 10, "2  depth map (near is bright)", "note"),
    ]
    renamed = []
    for place, region in enumerate(_shot().picture.regions):
        if region.name in framed and _selected(place) != region.name:
            renamed.append(f"{region.name} → {_selected(place)}")
    y = height + 2.2 * LINE
    parts += _lines(renamed, 0, y)
    y += LINE * max(len(renamed), 1) + 10
    columns = {
        "3  colour": [
            f"{name}: {', '.join(_colors()[name])}" for name in ("table", "chair", "cup")
        ],
        "4  size": [_relation(pair, SIZES[label]) for pair, label in _first(_sizes())],
        "5  space": [_relation(pair, PLACES[label]) for pair, label in _first(_places())],
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
    return about, chart("method", WIDTH, y + LINE * 4, "The pipeline on one room", parts)


def _first(relations: dict[tuple[str, str], int]) -> list[tuple[tuple[str, str], int]]:
    """Return three relations of different first names."""
    by_name: dict[str, tuple[tuple[str, str], int]] = {}
    for pair, label in relations.items():
        by_name.setdefault(pair[0], (pair, label))
    return list(by_name.values())[:3]


def _relation(pair: tuple[str, str], sign: str) -> str:
    return f"{pair[0]} {sign} {pair[1]}"


def partitions() -> Drawing:
    """Figure 4: a relation between two objects of different partitions, through one of both."""
    depths = _depths()
    span = depths.farthest - depths.nearest
    ranges = places.partition_ranges(places.RULES[SpaceRule.PAPER])
    arrays = _arrays()
    regions = _shot().picture.regions
    share = {}
    elevation = {}
    for place, region in enumerate(regions):
        share[region.name] = (depths.distances[place] - depths.nearest) / span
        elevation[region.name] = _shot().picture.height - float(arrays.centroid[place])
    members = {}
    for name, value in share.items():
        members[name] = {i for i, (start, end) in enumerate(ranges) if start <= value <= end}
    chain = _chain(members)
    left = 40.0
    right = WIDTH - 8

    def at(name: str) -> tuple[float, float]:
        y = PLOT * (1 - elevation[name] / _shot().picture.height)
        return left + (right - left) * share[name], y

    parts = []
    for number, (start, end) in enumerate(ranges):
        band = element(
            "rect",
            x=left + (right - left) * start,
            y=6.0 * number,
            width=(right - left) * (end - start),
            height=PLOT - 12.0 * number,
            class_="band",
        )
        label = text(
            left + (right - left) * start + 4,
            PLOT - 6.0 * number - 6,
            f"partition {number + 1}",
            "series",
        )
        parts.append(group([band, label], series_class(number)))
    parts += [horizontal_line(left, right, PLOT, "base"), vertical_line(left, 0, PLOT, "base")]
    parts.append(text((left + right) / 2, PLOT + 16, "z: depth, near to far", "note middle"))
    parts.append(text(0, 10, "y", "note"))
    for name in share:
        x, y = at(name)
        parts.append(element("circle", tooltip(name), cx=x, cy=y, r=3, class_="spot"))
    for first, second in pairwise(chain):
        x1, y1 = at(first)
        x2, y2 = at(second)
        arrow = element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="average")
        parts.append(group([arrow], series_class(4)))
    for name in chain:
        x, y = at(name)
        parts.append(text(min(x + 6, right - 60), y - 5, name, "small"))
    a, bridge, b = chain
    about = (
        "Heights are compared inside a partition of the depth only. The three partitions share "
        f"half with the next, and the {bridge} belongs to two. The {a} is above the {bridge}, and "
        f"the {bridge} above the {b}; so the {a} is above the {b}, with which it shares "
        "no partition. Every dot is a region of the room, at its mean depth and the height of its "
        "centroid."
    )
    return about, chart(
        "method", WIDTH, PLOT + 24, "A transitive relation across partitions", parts
    )


def _label(a: str, b: str) -> int:
    """Return the label of two names in this order."""
    relations = _places()
    if (a, b) in relations:
        return relations[a, b]
    return len(PLACES) - 1 - relations[b, a]


def _chain(members: dict[str, set[int]]) -> tuple[str, str, str]:
    """Return two objects that share no partition and one of both through which the first is above
    the second."""
    bridges = [name for name, parts in members.items() if len(parts) > 1]
    pairs = [*_places(), *((b, a) for a, b in _places())]
    for first, last in pairs:
        if members[first] & members[last] or _label(first, last) != ABOVE:
            continue
        for bridge in bridges:
            is_between = members[bridge] & members[first] and members[bridge] & members[last]
            if is_between and _label(first, bridge) == _label(bridge, last) == ABOVE:
                return first, bridge, last
    raise ValueError(f"room {ROOM} has no relation across partitions")


def relations() -> Drawing:
    """Figure 7: when one object is above another, and when both are at a similar level."""
    arrays = _arrays()
    names = [region.name for region in _shot().picture.regions]
    lowest = dict(zip(names, arrays.lowest.tolist(), strict=True))
    centroid = dict(zip(names, arrays.centroid.tolist(), strict=True))
    pairs = {
        "above": _pair(lowest, centroid, is_above=True),
        "similar level": _pair(lowest, centroid, is_above=False),
    }
    parts = []
    for number, (label, pair) in enumerate(pairs.items()):
        parts += _compared(number * (PANEL + 14), label, pair, lowest, centroid)
    about = (
        "Two pairs of the room, by their outlines. The dashed line is the height of the second "
        "object's centroid, the dot the lowest point of the first. If the dot is above the line, "
        "the first is above the second; if neither is above the other, both are at a similar level."
    )
    return about, chart("method", WIDTH, _height() + 2 * LINE, "From outlines to relations", parts)


def _pair(
    lowest: dict[str, float], centroid: dict[str, float], *, is_above: bool
) -> tuple[str, str]:
    """Return a pair of large regions of which the first is above the second, or neither is."""
    large = sorted(lowest, key=lambda name: -math.prod(_region(name).box[2:]))
    for a in large:
        for b in large:
            up = lowest[a] < centroid[b]
            down = lowest[b] < centroid[a]
            if a != b and up == is_above and not down:
                return a, b
    raise ValueError(f"room {ROOM} has no such pair")


def _compared(
    x: float,
    label: str,
    pair: tuple[str, str],
    lowest: dict[str, float],
    centroid: dict[str, float],
) -> list[Markup]:
    """Draw the outlines of a pair, the lowest point of the first and the centroid of the second."""
    scale = PANEL / _shot().picture.width
    parts = []
    for number, name in enumerate(pair):
        points = np.array(_region(name).polygon).reshape(-1, 2) * scale
        corners = " ".join(f"{coordinate(px + x)},{coordinate(py)}" for px, py in points.tolist())
        shape = element("polygon", tooltip(name), points=corners, class_="band")
        left, top = points.min(axis=0).tolist()
        words = text(x + left, max(top - 3, 10), name, "series")
        parts.append(group([shape, words], series_class(number)))
    first, second = pair
    line = element(
        "line",
        x1=x,
        x2=x + PANEL,
        y1=scale * centroid[second],
        y2=scale * centroid[second],
        class_="average",
    )
    parts.append(group([line], series_class(1)))
    outline = np.array(_region(first).polygon).reshape(-1, 2) * scale
    dot_x = float(outline[outline[:, 1].argmax(), 0])
    dot = element("circle", cx=x + dot_x, cy=scale * lowest[first], r=4, class_="spot")
    parts.append(group([dot], series_class(0)))
    sentence = f"{first}, {second}: {label}"
    parts.append(text(x, _height() + LINE, sentence, "small", PANEL))
    return parts


def names() -> Drawing:
    """Figure 12: one picture, how its captions call the regions, and the selected names."""
    shot = _shot()
    framed = []
    rows = []
    for place, region in enumerate(shot.picture.regions):
        truth = shot.objects[place].subtype
        captions = [line for i, line in shot.phrases if i == place]
        # a region without subtypes has nothing to select, one without a caption nothing to show
        if truth == shot.objects[place].name or not captions:
            continue
        framed.append(region.name)
        rows.append((region.name, captions[0], _selected(place), truth))
    parts = [_image(shot.view.rgb, 0, 0, framed)]
    x = PANEL + 14
    parts.append(text(x, 10, "annotated → selected", "note"))
    parts += _lines([f"{name} → {selected}" for name, _, selected, _ in rows], x, 10 + LINE)
    y = max(_height(), 10 + LINE * len(rows)) + 1.5 * LINE
    parts.append(text(0, y, "captions", "note"))
    parts += _lines([f"{name}: {caption}" for name, caption, _, _ in rows], 0, y + LINE, WIDTH)
    y += LINE * (len(rows) + 1)
    right = sum(selected == truth for _, _, selected, truth in rows)
    omitted = sum(truth not in caption for _, caption, _, truth in rows)
    about = (
        f"Captions leave out what the picture shows anyway: {omitted} of these {len(rows)} do not "
        f"name the subtype. The selection gets {right} of {len(rows)} right, which is known of a "
        f"generated room. {STAND_IN}"
    )
    title = "Names before and after the selection"
    return about, chart("method", WIDTH, y + 8, title, parts)
