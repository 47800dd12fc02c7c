"""Things that have an icon, with what people know about them: typical colours, and length in
metres."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from seesay.data.core_tables import core_rows


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing with its icon; `colors` are the typical ones, the first of them the most typical, and
    may be missing, as may `metres`. `left_out` says why its color or its size is not asked
    about."""

    name: str
    article: str
    icon: str
    category: str
    colors: tuple[str, ...] = ()
    metres: float | None = None
    left_out: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def phrase(self) -> str:
        """The thing with its article, where it takes one."""
        return f"{self.article} {self.name}".strip()


@cache
def things() -> tuple[Thing, ...]:
    """Every thing of the table of icons. Colours and sizes are those of core-color and core-size
    where they have it."""
    colors = {row["object"]: row for row in core_rows("colors")}
    sizes = {row["object"]: row for row in core_rows("sizes")}
    reasons: dict[str, dict[str, str]] = {}
    for row in core_rows("icons-left-out"):
        reasons.setdefault(row["object"], {})[row["asked"]] = row["reason"]
    joined = []
    for row in core_rows("icons"):
        name = row["object"]
        own = colors.get(name) or (row if row["colors"] else {})
        size = sizes.get(name, {})
        joined.append(
            Thing(
                name=name,
                article=(own or size)["article"],
                icon=row["icon"],
                category=(own or size)["category"],
                colors=tuple(own["colors"].split(";")) if own else (),
                metres=float(size["metres"]) if size else None,
                left_out=reasons.get(name, {}),
            )
        )
    return tuple(joined)


def color_things() -> tuple[Thing, ...]:
    """The things whose colour is asked about."""
    return tuple(thing for thing in things() if thing.colors and "color" not in thing.left_out)


def size_things() -> tuple[Thing, ...]:
    """The things whose size is asked about."""
    return tuple(
        thing for thing in things() if thing.metres is not None and "size" not in thing.left_out
    )


def left_out() -> list[tuple[str, str, str]]:
    """What is not asked about: the thing, its color or its size, and the reason."""
    drawn = {thing.name for thing in things()}
    rows = [
        (row["object"], asked, "no icon shows it")
        for asked, table in (("color", "colors"), ("size", "sizes"))
        for row in core_rows(table)
        if row["object"] not in drawn
    ]
    return rows + [
        (thing.name, asked, reason)
        for thing in things()
        for asked, reason in thing.left_out.items()
    ]
