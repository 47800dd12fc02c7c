"""The embedded tables of things that everybody knows, dedicated to the public domain (see LICENSE): the battery's four,
and which icon shows which thing."""

from __future__ import annotations

from pathlib import Path

from seesay.data.rows import parse_table

COLUMNS = {
    "colors": ("article", "object", "colors", "category"),
    "sizes": ("article", "object", "metres", "category"),
    "spaces": ("scene", "a", "b", "relation"),
    "parts": ("article", "concept", "relation", "answers"),
    "icons": ("object", "icon", "article", "colors", "category"),
    "icons-left-out": ("object", "asked", "reason"),
}


def path(name: str) -> Path:
    """Where an embedded table lies."""
    return Path(__file__).with_name(f"{name}.csv")


def rows(name: str) -> list[dict[str, str]]:
    """An embedded table, row by row as it stands in the file."""
    good, bad = parse_table(path(name), COLUMNS[name], dict)
    if bad:
        raise ValueError(f"{name}.csv, row {bad[0].row}: {bad[0].reason}")
    return list(good.values())
