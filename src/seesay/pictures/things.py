"""Things that have an icon, with what people know about them: typical colours, and length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from seesay.data.core_tables import core_rows


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing with its icon."""

    name: str
    article: str
    icon: str
    category: str
    colors: tuple[str, ...] = ()
    """The typical ones, the most typical first; empty where they are not known."""
    everyday_colors: tuple[str, ...] = ()
    """Those that are not typical, and that nobody would wonder at."""
    metres: float | None = None
    """Its length; None where it is not known."""
    left_out: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Why its color or its size is not asked about, by attribute."""

    @property
    def familiar_colors(self) -> tuple[str, ...]:
        """Return the colours in which no picture of it is counterfactual."""
        return self.colors + self.everyday_colors

    @property
    def phrase(self) -> str:
        """Return the thing with its article, where it takes one."""
        return f"{self.article} {self.name}".strip()


@cache
def things() -> tuple[Thing, ...]:
    """Return every thing of the table of icons.

    Colours and sizes are those of core-color and core-size where these have the thing.
    """
    colors = {row["object"]: row for row in core_rows("colors")}
    sizes = {row["object"]: row for row in core_rows("sizes")}
    # a thing may be left out of one task and be in the other
    reasons: dict[str, dict[str, str]] = {}
    for row in core_rows("icons-left-out"):
        reasons.setdefault(row["object"], {})[row["attribute"]] = row["reason"]
    result = []
    for row in core_rows("icons"):
        name = row["object"]
        # some icons have colours of their own in their table
        color = colors.get(name) or (row if row["colors"] else {})
        size = sizes.get(name, {})
        thing = Thing(
            name=name,
            article=(color or size)["article"],
            icon=row["icon"],
            category=(color or size)["category"],
            colors=tuple(color["colors"].split(";")) if color else (),
            everyday_colors=tuple(filter(None, row["everyday"].split(";"))),
            metres=float(size["metres"]) if size else None,
            left_out=reasons.get(name, {}),
        )
        result.append(thing)
    return tuple(result)


def color_things() -> tuple[Thing, ...]:
    """Return the things whose colour is asked about."""
    return tuple(thing for thing in things() if thing.colors and "color" not in thing.left_out)


def size_things() -> tuple[Thing, ...]:
    """Return the things whose size is asked about."""
    measured = [thing for thing in things() if thing.metres is not None]
    return tuple(thing for thing in measured if "size" not in thing.left_out)


def left_out() -> list[tuple[str, str, str]]:
    """Return what is not asked about: the thing, its attribute (color or size), and the reason."""
    names = {thing.name for thing in things()}
    rows = []
    for attribute in ("color", "size"):
        for row in core_rows(f"{attribute}s"):
            if row["object"] not in names:
                rows.append((row["object"], attribute, "no icon shows it"))
    for thing in things():
        rows += [(thing.name, attribute, reason) for attribute, reason in thing.left_out.items()]
    return rows
