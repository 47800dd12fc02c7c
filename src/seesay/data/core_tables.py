"""The embedded tables of things that everybody knows, dedicated to the public domain (see the
LICENSE beside them): those of the core battery, and which icon shows which thing."""

from __future__ import annotations

import csv
from pathlib import Path

FOLDER = Path(__file__).parent / "tasks" / "core"


def core_rows(name: str) -> list[dict[str, str]]:
    """An embedded table, row by row."""
    # These tables are our own, and need none of the checks that other people's do.
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
