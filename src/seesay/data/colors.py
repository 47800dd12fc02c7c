"""The eleven basic color terms (Berlin & Kay 1969), listed once; a task derives its own order or
spelling."""

from __future__ import annotations

COLORS = (
    "black",
    "blue",
    "brown",
    "gray",
    "green",
    "orange",
    "pink",
    "purple",
    "red",
    "white",
    "yellow",
)
