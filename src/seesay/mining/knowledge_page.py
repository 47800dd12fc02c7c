"""A page to browse mined knowledge: colours of objects, sizes of pairs, a ladder per scene, and
example pictures."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from markupsafe import Markup

from seesay.data import knowledge
from seesay.data.knowledge import COLORS, FILES, ColorFact, PlaceFact, SizeFact
from seesay.data.pictures import check_pixels
from seesay.files import write_text
from seesay.reports.charts.ladder import ladder
from seesay.reports.layout import render_page

MAX_FACTS = 5_000
"""The most frequent facts of each table; a page with more opens slowly."""
MAX_PICTURES = 300
MAX_RUNGS = 30
THUMBNAIL_SIZE = 120

F = TypeVar("F", ColorFact, SizeFact, PlaceFact)

Thumbnails = Callable[[str], bytes | None]
"""A small JPEG of an example by its id, or None if there is no picture."""
Boxes = Mapping[str, Sequence[tuple[str, float, float, float, float]]]
"""The regions of a picture by its id: name, left, top, width and height as shares of it."""


def write_folder(folder: Path) -> Path:
    """The page of a knowledge folder, from the tables that it has, with thumbnails if the pictures
    are there."""
    from seesay.mining.pipeline import picture_boxes, picture_files

    def facts(table: type[F]) -> list[F]:
        if (folder / FILES[table]).is_file():
            return knowledge.read(folder, table)
        return []

    colors = facts(ColorFact)
    sizes = facts(SizeFact)
    places = facts(PlaceFact)
    all_facts: list[ColorFact | SizeFact | PlaceFact] = [*colors, *sizes, *places]
    examples = {example for fact in all_facts for example in fact.examples}
    paths = picture_files(folder, examples)
    boxes = picture_boxes(folder, examples)

    def thumbnail(name: str) -> bytes | None:
        return small_jpeg(Path(paths[name])) if name in paths else None

    return write(folder / "page.html", colors, sizes, places, thumbnail, boxes)


def write(
    path: Path,
    colors: Sequence[ColorFact],
    sizes: Sequence[SizeFact],
    places: Sequence[PlaceFact],
    thumbnail: Thumbnails = lambda _: None,
    boxes: Boxes = MappingProxyType({}),
) -> Path:
    """Write the page as one file that opens offline."""
    shown_colors = _most_frequent(colors, lambda fact: fact.seen)
    shown_sizes = _most_frequent(_one_direction(sizes), lambda fact: fact.larger + fact.smaller)
    shown_places = _most_frequent(places, _place_count)
    pictures = _thumbnails((*shown_colors, *shown_sizes, *shown_places), thumbnail)
    index = {name: i for i, name in enumerate(pictures)}

    def examples(fact: ColorFact | SizeFact | PlaceFact) -> list[int]:
        return [index[name] for name in fact.examples if name in index]

    payload: dict[str, Any] = {
        "names": COLORS,
        "colors": [
            [f.object, f.seen, [round(1000 * s) for s in f.shares], examples(f)]
            for f in shown_colors
        ],
        "sizes": [[f.a, f.b, f.larger, f.smaller, examples(f)] for f in shown_sizes],
        "places": [
            [f.scene, f.a, f.b, f.above, f.level, f.below, examples(f)] for f in shown_places
        ],
        "pictures": [
            [name, source, _per_mille(boxes.get(name, ()))] for name, source in pictures.items()
        ],
    }
    text = render_page(
        "knowledge.html",
        script="knowledge.js",
        package="seesay.mining",
        payload=payload,
        ladders=ladders(places),
        held={"objects": len(colors), "pairs": len(_one_direction(sizes)), "places": len(places)},
        shown={
            "objects": len(shown_colors),
            "pairs": len(shown_sizes),
            "places": len(shown_places),
        },
    )
    write_text(path, text)
    return path


def ladders(places: Iterable[PlaceFact]) -> list[Markup]:
    """One ladder per scene, of its most frequent objects."""
    scenes: dict[str, list[PlaceFact]] = {}
    for fact in places:
        scenes.setdefault(fact.scene, []).append(fact)
    charts = []
    for scene, facts in sorted(scenes.items()):
        counts: Counter[str] = Counter()
        for fact in facts:
            for name in (fact.a, fact.b):
                counts[name] += _place_count(fact)
        frequent = set(sorted(counts, key=lambda name: (-counts[name], name))[:MAX_RUNGS])
        pairs = [
            (fact.a, fact.b, (fact.above - fact.below) / _place_count(fact))
            for fact in facts
            if fact.a in frequent and fact.b in frequent and _place_count(fact)
        ]
        charts.append(ladder(pairs, title=scene.replace("_", " ") or "all scenes"))
    return charts


def small_jpeg(path: Path) -> bytes | None:
    """A thumbnail of a picture, or None if it cannot be opened."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            check_pixels(picture).draft("RGB", (THUMBNAIL_SIZE, THUMBNAIL_SIZE))
            small = picture.convert("RGB")
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError):
        return None
    small.thumbnail((THUMBNAIL_SIZE, THUMBNAIL_SIZE))
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=80)
    return buffer.getvalue()


def _per_mille(boxes: Iterable[tuple[str, float, float, float, float]]) -> list[list[str | int]]:
    return [[region, *(round(1000 * side) for side in sides)] for region, *sides in boxes]


def _one_direction(sizes: Sequence[SizeFact]) -> list[SizeFact]:
    """Each pair once, the larger object first: the other direction says the same."""
    return [fact for fact in sizes if (fact.larger, fact.b) > (fact.smaller, fact.a)]


def _place_count(fact: PlaceFact) -> int:
    return fact.above + fact.level + fact.below


def _most_frequent(facts: Sequence[F], count: Callable[[F], int]) -> list[F]:
    return sorted(facts, key=lambda fact: -count(fact))[:MAX_FACTS]


def _thumbnails(
    facts: Iterable[ColorFact | SizeFact | PlaceFact], thumbnail: Thumbnails
) -> Mapping[str, str]:
    """The facts' examples as data URLs, as many as the page may hold."""
    urls: dict[str, str] = {}
    for fact in facts:
        for name in fact.examples:
            if len(urls) == MAX_PICTURES:
                return urls
            if name not in urls and (small := thumbnail(name)):
                urls[name] = f"data:image/jpeg;base64,{base64.b64encode(small).decode()}"
    return urls
