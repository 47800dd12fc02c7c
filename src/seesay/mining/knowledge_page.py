"""A page to browse mined knowledge.

It shows colours of objects, sizes of pairs, a ladder per scene, and example pictures.
"""

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
    """Write the page of a knowledge folder, from the tables that it has.

    Examples have thumbnails if the pictures are still there.
    """
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
    """Write the page as one file that opens offline.

    `thumbnail`: returns a small JPEG of an example.
    `boxes`: the regions of the examples, which are drawn over them.
    """
    pairs = _one_direction(sizes)
    shown_colors = _most_frequent(colors, lambda fact: fact.seen)
    shown_sizes = _most_frequent(pairs, lambda fact: fact.larger + fact.smaller)
    shown_places = _most_frequent(places, _place_count)
    pictures = _thumbnails((*shown_colors, *shown_sizes, *shown_places), thumbnail)
    index = {name: i for i, name in enumerate(pictures)}

    def examples(fact: ColorFact | SizeFact | PlaceFact) -> list[int]:
        return [index[name] for name in fact.examples if name in index]

    # Rows without keys and whole thousandths keep a page of thousands of facts small.
    payload: dict[str, Any] = {
        "names": COLORS,
        "colors": [
            [
                fact.object,
                fact.seen,
                _per_mille(fact.shares),
                examples(fact),
            ]
            for fact in shown_colors
        ],
        "sizes": [
            [
                fact.a,
                fact.b,
                fact.larger,
                fact.smaller,
                examples(fact),
            ]
            for fact in shown_sizes
        ],
        "places": [
            [
                fact.scene,
                fact.a,
                fact.b,
                fact.above,
                fact.level,
                fact.below,
                examples(fact),
            ]
            for fact in shown_places
        ],
        "pictures": [
            [
                name,
                source,
                _box_rows(boxes.get(name, ())),
            ]
            for name, source in pictures.items()
        ],
    }
    text = render_page(
        "knowledge.html",
        script="knowledge.js",
        package="seesay.mining",
        payload=payload,
        ladders=ladders(places),
        held={
            "objects": len(colors),
            "pairs": len(pairs),
            "places": len(places),
        },
        shown={
            "objects": len(shown_colors),
            "pairs": len(shown_sizes),
            "places": len(shown_places),
        },
    )
    write_text(path, text)
    return path


def ladders(places: Iterable[PlaceFact]) -> list[Markup]:
    """Return one ladder per scene, of its most frequent objects."""
    scenes: dict[str, list[PlaceFact]] = {}
    for fact in places:
        scenes.setdefault(fact.scene, []).append(fact)
    charts = []
    for scene, facts in sorted(scenes.items()):
        counts: Counter[str] = Counter()
        for fact in facts:
            counts[fact.a] += _place_count(fact)
            counts[fact.b] += _place_count(fact)
        # By name where counts are equal, so that the page is the same every time.
        by_count = sorted(counts, key=lambda name: (-counts[name], name))
        frequent = set(by_count[:MAX_RUNGS])
        pairs = []
        for fact in facts:
            total = _place_count(fact)
            if total and {fact.a, fact.b} <= frequent:
                height = (fact.above - fact.below) / total
                pairs.append((fact.a, fact.b, height))
        charts.append(ladder(pairs, title=scene.replace("_", " ") or "all scenes"))
    return charts


def small_jpeg(path: Path) -> bytes | None:
    """Return a thumbnail of a picture, or None if it cannot be opened."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            # A JPEG can be decoded at a fraction of its size, without computing all its pixels.
            check_pixels(picture).draft("RGB", (THUMBNAIL_SIZE, THUMBNAIL_SIZE))
            small = picture.convert("RGB")
    except (
        UnidentifiedImageError,
        Image.DecompressionBombError,
        OSError,
        ValueError,
        SyntaxError,
    ):
        return None
    small.thumbnail((THUMBNAIL_SIZE, THUMBNAIL_SIZE))
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=80)
    return buffer.getvalue()


def _per_mille(shares: Iterable[float]) -> list[int]:
    return [round(1000 * share) for share in shares]


def _box_rows(boxes: Iterable[tuple[str, float, float, float, float]]) -> list[list[str | int]]:
    """Return each box as its name and its sides in thousandths of the picture."""
    return [[name, *_per_mille(sides)] for name, *sides in boxes]


def _one_direction(sizes: Sequence[SizeFact]) -> list[SizeFact]:
    """Return each pair once, the larger object first: the other direction says the same."""
    return [fact for fact in sizes if (fact.larger, fact.b) > (fact.smaller, fact.a)]


def _place_count(fact: PlaceFact) -> int:
    return fact.above + fact.level + fact.below


def _most_frequent(facts: Sequence[F], count: Callable[[F], int]) -> list[F]:
    """Return as many facts as the page may hold, those with the greatest counts."""
    return sorted(facts, key=lambda fact: -count(fact))[:MAX_FACTS]


def _thumbnails(
    facts: Iterable[ColorFact | SizeFact | PlaceFact],
    thumbnail: Thumbnails,
) -> Mapping[str, str]:
    """Return the facts' examples as data URLs, as many as the page may hold."""
    urls: dict[str, str] = {}
    for fact in facts:
        for name in fact.examples:
            if len(urls) == MAX_PICTURES:
                return urls
            if name not in urls and (small := thumbnail(name)):
                encoded = base64.b64encode(small).decode()
                urls[name] = f"data:image/jpeg;base64,{encoded}"
    return urls
