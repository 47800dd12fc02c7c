"""Names of regions, normalised like the names in captions.

"Trees" is a tree, and "red car" is dropped for its colour. Annotators write what they like; names
from captions are singular, of at most three words and without colour words
(`seesay.mining.caption_nouns`), so names of regions must be too, or the two would not match.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from seesay.mining.records import read_batches
from seesay.mining.regions import flat_offsets, single_chunk

MAX_WORDS = 3


@dataclass(frozen=True, slots=True)
class NameRules:
    """What workers need to know about names."""

    new_names: Mapping[str, str] = field(default_factory=dict)
    """New names by old name; "" drops a name."""
    subtypes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The subtypes of names, for selection."""


def normalize_names(parts: Sequence[Path]) -> tuple[dict[str, str], Counter[str]]:
    """Return new names for the names of regions that need one.

    Also returns how many regions lose their name, by reason.
    """
    from seesay.mining.caption_nouns import names_color, singular_word

    new_names: dict[str, str] = {}
    bad: Counter[str] = Counter()
    for name, count in sorted(_count_region_names(parts).items()):
        words = name.lower().split()
        normalized = " ".join(map(singular_word, words))
        if len(words) > MAX_WORDS:
            normalized = ""
            bad[f"a region's name has more than {MAX_WORDS} words"] += count
        elif words and names_color(words):
            normalized = ""
            bad["a region's name holds a colour word"] += count
        if normalized != name:
            new_names[name] = normalized
    return new_names, bad


def rename_regions(table: pa.Table, new_names: Mapping[str, str]) -> pa.Table:
    """Return a batch of pictures with the names of its regions replaced."""
    if not new_names:
        return table
    region_lists = single_chunk(table.column("regions"))
    regions = region_lists.flatten()
    # A batch has far fewer names than regions: each is looked up once.
    encoded = regions.field("name").dictionary_encode()
    words = [new_names.get(word, word) for word in encoded.dictionary.to_pylist()]
    names = pa.array(words, pa.string()).take(encoded.indices)
    columns = [names if part.name == "name" else regions.field(part.name) for part in regions.type]
    new_lists = pa.ListArray.from_arrays(
        pa.array(flat_offsets(region_lists).astype("int32")),
        pa.StructArray.from_arrays(columns, fields=list(regions.type)),
    )
    return table.set_column(
        table.column_names.index("regions"),
        table.schema.field("regions"),
        new_lists,
    )


def _count_region_names(parts: Sequence[Path]) -> Counter[str]:
    """Return how many regions have each name."""
    total: Counter[str] = Counter()
    for path in parts:
        for batch in read_batches(path, ["regions.list.element.name"], rows=1 << 16):
            names = batch.column(0).flatten().field("name")
            for row in pc.value_counts(names).to_pylist():
                total[row["values"]] += row["counts"]
    return total
