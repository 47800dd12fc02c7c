"""Parts of a mining, of which each is read, then counted: a note beside it says that it is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from seesay.files import read_state, write_json
from seesay.mining.records import DELETE_WORK


@dataclass(frozen=True, slots=True)
class PartNote:
    """`PART.done.json`: what was done."""

    pictures: int
    bad: dict[str, int]
    """How often something could not be used, by reason."""


def has_note(folder: Path, part: Path) -> bool:
    """Return whether a part was done in this folder."""
    return _note_path(folder, part).is_file()


def read_note(folder: Path, part: Path) -> PartNote:
    """Return what was done with a part in this folder."""
    return read_state(_note_path(folder, part), PartNote, DELETE_WORK)


def write_note(folder: Path, part: Path, pictures: int, bad: Mapping[str, int]) -> None:
    """Mark a part as done, after everything else."""
    write_json(_note_path(folder, part), {"pictures": pictures, "bad": bad})


def _note_path(folder: Path, part: Path) -> Path:
    return folder / f"{part.stem}.done.json"
