"""Writes the knowledge tables of mined counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from seesay.data import knowledge
from seesay.data.knowledge import COLORS, FILES, ColorFact, PlaceFact, SizeFact
from seesay.mining.aggregate import RelationCounts
from seesay.mining.colors import color_facts
from seesay.mining.count_relations import MinedCounts
from seesay.mining.facts import Thresholds, place_facts, size_facts, transitive_sizes, without_subtypes


def write_facts(
    folder: Path,
    counts: MinedCounts,
    thresholds: Thresholds,
    subtypes: Mapping[str, Sequence[str]] | None = None,
    subtypes_by_ending: Collection[str] = (),
    *,
    transitive: bool = False,
) -> tuple[dict[str, int], Counter[str]]:
    """Write the knowledge tables; returns the number of facts in each, and how many were left out, by reason.

    `subtypes`: those of each name, itself included; `subtypes_by_ending`: the names that are subtypes by their ending.
    """
    all_sizes = size_facts(counts.sizes, thresholds.size, strict=thresholds.strict)
    sizes = without_subtypes(all_sizes, subtypes_by_ending)
    unused = Counter({"the size of a subtype, which its parent's size stands for": (len(all_sizes) - len(sizes)) // 2})
    places = place_facts(counts.places, thresholds.place, thresholds.relation, strict=thresholds.strict)
    knowledge.write(folder, sizes, SizeFact)
    knowledge.write(folder, places, PlaceFact)
    written = {"sizes": len(sizes), "places": len(places)}
    written["places with a scene"] = sum(bool(fact.scene) for fact in places)
    if len(counts.colors.keys):
        colors = _color_facts(counts.colors, subtypes or {}, thresholds)
        knowledge.write(folder, colors, ColorFact)
        written["colors"] = len(colors)
    (folder / "transitive" / FILES[SizeFact]).unlink(missing_ok=True)  # of an earlier run
    if transitive:
        inferred = transitive_sizes(sizes)
        knowledge.write(folder / "transitive", inferred, SizeFact)
        written["transitive sizes"] = len(inferred)
    return written, +unused


def _color_facts(
    counts: RelationCounts, subtypes: Mapping[str, Sequence[str]], thresholds: Thresholds
) -> list[ColorFact]:
    color_counts: dict[str, list[int]] = {}
    answers: dict[str, int] = {}
    examples: dict[str, list[str]] = {}
    _, names, _, labels = counts.fields()
    rows = zip(names.tolist(), labels.tolist(), counts.counts.tolist(), strict=True)
    for i, (name_index, label, count) in enumerate(rows):
        name = counts.names[name_index]
        row = color_counts.setdefault(name, [0] * len(COLORS))
        if label == len(COLORS):
            answers[name] = count
            examples[name] = counts.examples[counts.starts[i] : counts.starts[i + 1]].to_pylist()
        else:
            row[label] = count
    return color_facts(
        color_counts, answers, subtypes, examples, min_answers=thresholds.color, strict=thresholds.strict
    )
