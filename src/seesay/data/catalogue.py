"""The published data sets that tasks read, from `catalogue.json`.

It says what they are, where they come from, and what may be done with them.
None of the files is part of seesay. An address names one commit, so that it and the checksum stay
true together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file.

    Without an address it cannot be fetched; without a checksum any file of that name is taken. A
    file `for_papers` is read by a paper's page alone, and no task needs it.
    """

    name: str
    address: str | None = None
    sha256: str | None = None
    size: int | None = None
    for_papers: bool = False


@dataclass(frozen=True, slots=True)
class DataSet:
    """A published data set. `request` says how to get one that is given out only on request."""

    name: str
    title: str
    files: tuple[DataFile, ...]
    licence: str
    citation: str
    home: str
    task: str
    request: str = ""

    @property
    def fetchable(self) -> bool:
        """Whether every file has an address."""
        return all(file.address for file in self.files)


def _data_file(entry: Mapping[str, Any], folder: str | None) -> DataFile:
    """Return a file of the catalogue.

    `folder` is the address that its path (by default its name) is below, unless it has one of its
    own.
    """
    name = entry["name"]
    # Data sets given out on request have no address.
    address = entry.get("address")
    if folder and address is None:
        address = f"{folder}/{entry.get('path', name)}"
    return DataFile(
        name,
        address,
        entry.get("sha256"),
        entry.get("size"),
        for_papers=entry.get("for_papers", False),
    )


def _data_set(name: str, entry: Mapping[str, Any]) -> DataSet:
    """Return a data set of the catalogue, with the full citation of the works it names."""
    return DataSet(
        name=name,
        title=entry["title"],
        files=tuple(_data_file(file, entry.get("address")) for file in entry["files"]),
        licence=entry["licence"],
        citation=" ".join(WORKS[work] for work in entry["cites"]),
        home=entry["home"],
        task=entry["task"],
        request=entry.get("request", ""),
    )


_CONTENT: Mapping[str, Mapping[str, Any]] = json.loads(
    Path(__file__).with_name("catalogue.json").read_text(encoding="utf-8")
)
WORKS: Mapping[str, str] = _CONTENT["works"]
"""What to cite: the works that published the data sets, by authors and year."""
CATALOGUE: dict[str, DataSet] = {
    name: _data_set(name, entry) for name, entry in _CONTENT["data_sets"].items()
}
