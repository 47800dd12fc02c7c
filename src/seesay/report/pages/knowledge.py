"""A page to look through mined knowledge: an object's colours, a pair's sizes, a scene's ladder, and the pictures."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from markupsafe import Markup

from seesay.data.knowledge import COLORS, ColorFact, PlaceFact, SizeFact
from seesay.files import write_text
from seesay.report.charts.ladder import ladder
from seesay.report.layout import render_page

MOST_FACTS = 5_000
"""Of each kind, the best attested ones; a page that holds more opens slowly."""
MOST_PICTURES = 300
RUNGS = 30
SIDE = 120

F = TypeVar("F", ColorFact, SizeFact, PlaceFact)

Open = Callable[[str], bytes | None]
"""A small JPEG of an example by its name, or None where there is no picture."""


def write(
    path: Path,
    colors: Sequence[ColorFact],
    sizes: Sequence[SizeFact],
    places: Sequence[PlaceFact],
    thumbnail: Open = lambda _: None,
) -> Path:
    """The page as one file that opens offline."""
    shown_colors = _best(colors, lambda fact: fact.seen)
    shown_sizes = _best(_one_way(sizes), lambda fact: fact.larger + fact.smaller)
    shown_places = _best(places, lambda fact: fact.above + fact.level + fact.below)
    pictures = _thumbnails((*shown_colors, *shown_sizes, *shown_places), thumbnail)
    place = {name: index for index, name in enumerate(pictures)}

    def looks(fact: ColorFact | SizeFact | PlaceFact) -> list[int]:
        return [place[name] for name in fact.examples if name in place]

    payload: dict[str, Any] = {
        "names": COLORS,
        "colors": [[f.object, f.seen, [round(1000 * s) for s in f.shares], looks(f)] for f in shown_colors],
        "sizes": [[f.a, f.b, f.larger, f.smaller, looks(f)] for f in shown_sizes],
        "places": [[f.scene, f.a, f.b, f.above, f.level, f.below, looks(f)] for f in shown_places],
        "pictures": [[name, source] for name, source in pictures.items()],
    }
    text = render_page(
        "knowledge.html",
        script="knowledge.js",
        payload=payload,
        ladders=ladders(places),
        held={"things": len(colors), "pairs": len(_one_way(sizes)), "places": len(places)},
        shown={"things": len(shown_colors), "pairs": len(shown_sizes), "places": len(shown_places)},
    )
    write_text(path, text.encode("utf-8", "replace").decode())
    return path


def ladders(places: Iterable[PlaceFact]) -> list[Markup]:
    """One ladder a scene, of its best attested things."""
    scenes: dict[str, list[PlaceFact]] = {}
    for fact in places:
        scenes.setdefault(fact.scene, []).append(fact)
    drawn = []
    for scene, facts in sorted(scenes.items()):
        counts: dict[str, int] = {}
        for fact in facts:
            for name in (fact.a, fact.b):
                counts[name] = counts.get(name, 0) + fact.above + fact.level + fact.below
        kept = set(sorted(counts, key=lambda name: (-counts[name], name))[:RUNGS])
        pairs = [
            (fact.a, fact.b, (fact.above - fact.below) / (fact.above + fact.level + fact.below))
            for fact in facts
            if fact.a in kept and fact.b in kept
        ]
        drawn.append(ladder(pairs, title=scene.replace("_", " ") or "all scenes"))
    return drawn


def small_jpeg(path: Path) -> bytes | None:
    """A thumbnail of a picture, or None where it cannot be opened."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            picture.draft("RGB", (SIDE, SIDE))
            small = picture.convert("RGB")
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError):
        return None
    small.thumbnail((SIDE, SIDE))
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=80)
    return buffer.getvalue()


def _one_way(sizes: Sequence[SizeFact]) -> list[SizeFact]:
    """Each pair once, the larger thing first: its mirror image says the same."""
    return [fact for fact in sizes if (fact.larger, fact.b) > (fact.smaller, fact.a)]


def _best(facts: Sequence[F], count: Callable[[F], int]) -> list[F]:
    return sorted(facts, key=lambda fact: -count(fact))[:MOST_FACTS]


def _thumbnails(facts: Iterable[ColorFact | SizeFact | PlaceFact], thumbnail: Open) -> Mapping[str, str]:
    """The facts' examples as data addresses, as many as a page can hold."""
    found: dict[str, str] = {}
    for fact in facts:
        for name in fact.examples:
            if len(found) == MOST_PICTURES:
                return found
            if name not in found and (small := thumbnail(name)):
                found[name] = f"data:image/jpeg;base64,{base64.b64encode(small).decode()}"
    return found
