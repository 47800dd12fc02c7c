"""Names of regions, normalised like the names in captions: "Trees" is a tree, and "red car" is
dropped for its colour.

Annotators write what they like; names from captions are singular, of at most three words and
without colour words (`seesay.mining.caption_nouns`), so names of regions must be too, or the two
would not match.
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
    """What workers need to know: new names by old name ("" drops a name), and the subtypes of
    names, for selection."""

    renamed: Mapping[str, str] = field(default_factory=dict)
    subtypes: Mapping[str, Sequence[str]] = field(default_factory=dict)


def normalize_names(parts: Sequence[Path]) -> tuple[dict[str, str], Counter[str]]:
    """New names for the names of regions that need one, and how many regions lose their name, by
    reason."""
    from seesay.mining.caption_nouns import COLOR_WORDS, singular_word

    renamed: dict[str, str] = {}
    bad: Counter[str] = Counter()
    for name, count in sorted(_count_region_names(parts).items()):
        words = name.lower().split()
        normalized = " ".join(map(singular_word, words))
        if len(words) > MAX_WORDS:
            normalized = ""
            bad[f"a region's name has more than {MAX_WORDS} words"] += count
        elif not COLOR_WORDS.isdisjoint(words):
            normalized = ""
            bad["a region's name holds a colour word"] += count
        if normalized != name:
            renamed[name] = normalized
    return renamed, bad


def rename_regions(table: pa.Table, renamed: Mapping[str, str]) -> pa.Table:
    """A batch of pictures with the names of its regions replaced."""
    if not renamed:
        return table
    listed = single_chunk(table.column("regions"))
    regions = listed.flatten()
    encoded = pc.fill_null(regions.field("name"), "").dictionary_encode()
    words = [renamed.get(word, word) for word in encoded.dictionary.to_pylist()]
    columns = [regions.field(part.name) for part in regions.type]
    columns[regions.type.get_field_index("name")] = pa.array(words, pa.string()).take(
        encoded.indices
    )
    changed = pa.ListArray.from_arrays(
        pa.array(flat_offsets(listed).astype("int32")),
        pa.StructArray.from_arrays(columns, fields=list(regions.type)),
    )
    return table.set_column(
        table.column_names.index("regions"), table.schema.field("regions"), changed
    )


def _count_region_names(parts: Sequence[Path]) -> Counter[str]:
    total: Counter[str] = Counter()
    for path in parts:
        for batch in read_batches(path, ["regions.list.element.name"], rows=1 << 16):
            names = batch.column(0).flatten().field("name")
            counts = pc.value_counts(pc.fill_null(names, ""))
            total.update(
                dict(zip(*(column.to_pylist() for column in counts.flatten()), strict=True))
            )
    return total
