"""Names of regions as names of things: "Trees" is a tree, and "red car" says a colour, so it names no thing.

Annotators write what they like; the names in captions are singular, of three words at most and without colour words
(`seesay.mine.caption_nouns`), and so regions' must be, for both to meet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from seesay.mine.regions import flat_offsets, whole

LONGEST = 3


@dataclass(frozen=True, slots=True)
class Naming:
    """What workers are told: names to be changed ("" drops one), and things' subtypes, for selection."""

    renamed: Mapping[str, str] = field(default_factory=dict)
    subtypes: Mapping[str, Sequence[str]] = field(default_factory=dict)


def clean_names(parts: Sequence[Path]) -> tuple[dict[str, str], Counter[str]]:
    """The names of regions that must be changed, and how many regions lose theirs, by reason."""
    from seesay.mine.caption_nouns import COLOR_WORDS, singular_word

    renamed: dict[str, str] = {}
    bad: Counter[str] = Counter()
    for name, count in sorted(_region_names(parts).items()):
        words = name.lower().split()
        clean = " ".join(map(singular_word, words))
        if len(words) > LONGEST:
            clean = ""
            bad[f"a region's name has more than {LONGEST} words"] += count
        elif not COLOR_WORDS.isdisjoint(words):
            clean = ""
            bad["a region's name holds a colour word"] += count
        if clean != name:
            renamed[name] = clean
    return renamed, bad


def rename(table: pa.Table, renamed: Mapping[str, str]) -> pa.Table:
    """A batch of pictures with the names of its regions changed."""
    if not renamed:
        return table
    listed = whole(table.column("regions"))
    regions = listed.flatten()
    coded = pc.fill_null(regions.field("name"), "").dictionary_encode()
    words = [renamed.get(word, word) for word in coded.dictionary.to_pylist()]
    columns = [regions.field(part.name) for part in regions.type]
    columns[regions.type.get_field_index("name")] = pa.array(words, pa.string()).take(coded.indices)
    changed = pa.ListArray.from_arrays(
        pa.array(flat_offsets(listed).astype("int32")), pa.StructArray.from_arrays(columns, fields=list(regions.type))
    )
    return table.set_column(table.column_names.index("regions"), table.schema.field("regions"), changed)


def _region_names(parts: Sequence[Path]) -> Counter[str]:
    total: Counter[str] = Counter()
    for path in parts:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=["regions.list.element.name"]):
                names = batch.column(0).flatten().field("name")
                counted = pc.value_counts(pc.fill_null(names, ""))
                total.update(dict(zip(*(column.to_pylist() for column in counted.flatten()), strict=True)))
    return total
