"""The knowledge tables of mined counts, written into a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from seesay.data import knowledge
from seesay.data.knowledge import COLORS, FILES, ColorFact, PlaceFact, SizeFact, SubtypeFact
from seesay.mine import subtypes
from seesay.mine.aggregate import Counts
from seesay.mine.count_relations import Mined
from seesay.mine.facts import Thresholds, closure, place_facts, size_facts, without_subtypes


def write_facts(
    folder: Path,
    mined: Mined,
    thresholds: Thresholds,
    kinds: Mapping[str, Sequence[str]] | None = None,
    endings: Collection[str] = (),
    *,
    closed: bool = False,
) -> tuple[dict[str, int], Counter[str]]:
    """Write the knowledge tables; how many facts each holds, and how many were left out.

    `kinds`: a thing's subtypes, itself among them; `endings`: the names that are subtypes by their ending.
    """
    every = size_facts(mined.sizes, thresholds.size)
    sizes = without_subtypes(every, endings)
    unused = Counter({"a size of a subtype, which its thing's name stands for": (len(every) - len(sizes)) // 2})
    places = place_facts(mined.places, thresholds.place, thresholds.relation)
    colors = _color_facts(mined.colors, kinds or {}, thresholds.color)
    knowledge.write(folder, sizes, SizeFact)
    knowledge.write(folder, places, PlaceFact)
    written = {"sizes": len(sizes), "places": len(places)}
    written["places with a scene"] = sum(bool(fact.scene) for fact in places)
    if len(mined.colors.keys):
        knowledge.write(folder, colors, ColorFact)
        written["colors"] = len(colors)
    (folder / "transitive" / FILES[SizeFact]).unlink(missing_ok=True)  # of an earlier run
    if closed:
        more = closure(sizes)
        knowledge.write(folder / "transitive", more, SizeFact)
        written["transitive sizes"] = len(more)
    return written, +unused


def write_subtypes(folder: Path, kinds: Mapping[str, Mapping[str, int]]) -> int:
    """Write the subtypes; how many there are."""
    facts = subtypes.facts(kinds)
    knowledge.write(folder, facts, SubtypeFact)
    return len(facts)


def _color_facts(counts: Counts, subtypes: Mapping[str, Sequence[str]], enough: int) -> list[ColorFact]:
    from seesay.mine.colors import color_facts

    shown: dict[str, list[int]] = {}
    asked: dict[str, int] = {}
    examples: dict[str, list[str]] = {}
    _, name, _, label = counts.fields()
    for i, (number, color, many) in enumerate(zip(name.tolist(), label.tolist(), counts.counts.tolist(), strict=True)):
        thing = counts.names[number]
        if color == len(COLORS):
            asked[thing] = many
            examples[thing] = counts.examples[counts.starts[i] : counts.starts[i + 1]].to_pylist()
            shown.setdefault(thing, [0] * len(COLORS))
        else:
            shown.setdefault(thing, [0] * len(COLORS))[color] = many
    return color_facts(shown, asked, subtypes, examples, enough=enough)
