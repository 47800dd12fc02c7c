"""The eleven basic color terms (Berlin & Kay 1969), in alphabetical order.

A task may have an order or a spelling of its own.
"""

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
