"""A page to browse mined knowledge.

It shows colours of objects, sizes of pairs, a ladder per scene, and example pictures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from seesay.data import knowledge
from seesay.data.knowledge import COLORS, FILES, ColorFact, Fact, PlaceFact, SizeFact
from seesay.data.pictures import open_thumbnail
from seesay.files import write_text
from seesay.grouping import group_by
from seesay.reports.charts.ladder import ladder
from seesay.reports.layout import render_page

MAX_FACTS = 5_000
"""The most frequent facts of each table; a page with more opens slowly."""
MAX_PICTURES = 300
MAX_RUNGS = 30
COUNTS: dict[type, tuple[str, ...]] = {
    ColorFact: ("seen",),
    SizeFact: ("larger", "smaller"),
    PlaceFact: ("above", "level", "below"),
}
"""The fields of facts that say how often something was observed."""

Annotations = Callable[[Collection[str]], Iterable[dict[str, Any]]]
"""The annotation of pictures by their ids, as rows of `records.SCHEMA`; of some there is none."""


def write_folder(folder: Path) -> Path:
    """Write the page of a knowledge folder, from the tables that it has.

    Examples have thumbnails if the pictures are still there.
    """
    from seesay.mining.pipeline import annotated_pictures

    def facts(table: type[Fact]) -> list[Fact]:
        if (folder / FILES[table]).is_file():
            return knowledge.read(folder, table)
        return []

    return write(
        folder / "page.html",
        facts(ColorFact),
        facts(SizeFact),
        facts(PlaceFact),
        lambda ids: annotated_pictures(folder, ids),
    )


def write(
    path: Path,
    colors: Sequence[ColorFact],
    sizes: Sequence[SizeFact],
    places: Sequence[PlaceFact],
    annotations: Annotations = lambda _: (),
) -> Path:
    """Write the page as one file that opens offline."""
    # Each pair once, the larger object first: the other direction says the same.
    pairs = [fact for fact in sizes if (fact.larger, fact.b) > (fact.smaller, fact.a)]
    facts: dict[str, Sequence[Any]] = {"objects": colors, "pairs": pairs, "places": places}
    shown = {}
    for kind, rows in facts.items():
        shown[kind] = sorted(rows, key=lambda fact: -_count(fact))[:MAX_FACTS]
    ids = dict.fromkeys(name for rows in shown.values() for fact in rows for name in fact.examples)
    pictures = _pictures(list(ids), annotations)
    index = {name: i for i, (name, _, _) in enumerate(pictures)}

    def row(fact: Any, *names: str) -> list[Any]:
        examples = [index[name] for name in fact.examples if name in index]
        counts = [getattr(fact, name) for name in COUNTS[type(fact)]]
        return [*(getattr(fact, name) for name in names), *counts, examples]

    payload: dict[str, Any] = {
        "names": COLORS,
        "colors": [[_per_mille(fact.shares), *row(fact, "object")] for fact in shown["objects"]],
        "sizes": [row(fact, "a", "b") for fact in shown["pairs"]],
        "places": [row(fact, "scene", "a", "b") for fact in shown["places"]],
        "pictures": pictures,
    }
    text = render_page(
        "knowledge.html",
        script="knowledge.js",
        package="seesay.mining",
        payload=payload,
        ladders=ladders(places),
        held={kind: len(rows) for kind, rows in facts.items()},
        shown={kind: len(rows) for kind, rows in shown.items()},
    )
    write_text(path, text)
    return path


def ladders(places: Iterable[PlaceFact]) -> list[Markup]:
    """Return one ladder per scene, of its most frequent objects."""
    charts = []
    for scene, facts in sorted(group_by(places, lambda fact: fact.scene).items()):
        counts: Counter[str] = Counter()
        for fact in facts:
            counts.update(dict.fromkeys((fact.a, fact.b), _count(fact)))
        # By name where counts are equal, so that the page is the same every time.
        by_count = sorted(counts, key=lambda name: (-counts[name], name))
        frequent = set(by_count[:MAX_RUNGS])
        pairs = []
        for fact in facts:
            total = _count(fact)
            if total and {fact.a, fact.b} <= frequent:
                height = (fact.above - fact.below) / total
                pairs.append((fact.a, fact.b, height))
        charts.append(ladder(pairs, title=scene.replace("_", " ") or "all scenes"))
    return charts


def _count(fact: ColorFact | SizeFact | PlaceFact) -> int:
    return sum(getattr(fact, name) for name in COUNTS[type(fact)])


# Rows without keys and whole thousandths keep a page of thousands of facts small.
def _per_mille(shares: Iterable[float]) -> list[int]:
    return [round(1000 * share) for share in shares]


def _pictures(ids: Sequence[str], annotations: Annotations) -> list[tuple[str, str, list[Any]]]:
    """Return pictures that can be opened, as many as the page may hold, in the order of the ids:
    their ids, thumbnails, and the names of their regions with boxes in thousandths of the
    picture."""
    rows = {row["id"]: row for row in annotations(ids)}
    pictures: list[tuple[str, str, list[Any]]] = []
    for name in ids:
        row = rows.get(name)
        thumbnail = open_thumbnail(row["path"]) if row and row["path"] else None
        if row is None or thumbnail is None:
            continue
        sides = 2 * (row["width"], row["height"])
        boxes = []
        for region in row["regions"] or ():
            shares = (value / side for value, side in zip(region["box"], sides, strict=True))
            boxes.append([region["name"], *_per_mille(shares)])
        pictures.append((name, thumbnail, boxes))
        if len(pictures) == MAX_PICTURES:
            break
    return pictures
