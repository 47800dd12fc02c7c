"""ViPhy's published files as knowledge (Singh, Qasemi & Chen 2023): the same facts that `seesay
mine` writes.

Tables are CSV with or without an index column, the annotated examples TSV with CRLF ends; colours
and subtypes are JSON. A row that cannot be used is reported, never a reason to stop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from seesay.data.cells import BadValueError, Cells, one_of, prompt_text
from seesay.data.knowledge import (
    COLORS,
    PLACES,
    SIZES,
    ColorFact,
    Fact,
    PlaceFact,
    SizeFact,
    SubtypeFact,
)
from seesay.data.rows import Row, column_names, load_json, parse_rows, parse_table
from seesay.errors import UserError
from seesay.questions import BadRow

FILES: dict[type, str] = {
    ColorFact: "results/colors.json",
    SizeFact: "results/size.csv",
    PlaceFact: "results/spatial.csv",
    SubtypeFact: "data/object_subtypes_o100_s10.json",
}
SIZE_SUBTYPE = "dataset/size_sub/test.csv"
SIZE_TRANSITIVE = "dataset/size_trans/test.csv"
CATEGORIES = "extra/obj2cat.json"
COLOR_COUNTS = "results/col_meta.csv"

LARGEST = 64 << 20
MOST = 10**12


def read(path: Path, kind: type[Fact]) -> tuple[list[Fact], list[BadRow]]:
    """Every fact of a published file, in its order, and the rows that could not be used."""
    readers: dict[type, Callable[[Path], tuple[list[Any], list[BadRow]]]]
    readers = {ColorFact: _colors, SizeFact: _sizes, PlaceFact: _places, SubtypeFact: _subtypes}
    return readers[kind](path)


def categories(path: Path) -> tuple[dict[str, str], list[BadRow]]:
    """The published category of each object (the paper's Table 8), and the members that name
    none."""

    def named(name: str, value: object) -> tuple[str, str]:
        if not isinstance(value, str):
            raise BadValueError("its category is not a text")
        return name, prompt_text(value, "category")

    rows, bad = _objects(path, named)
    return dict(rows), [replace(row, file=path.name) for row in bad]


def counts(path: Path) -> tuple[dict[str, int], list[BadRow]]:
    """How many answers about colour each object's row rests on, and the rows that do not say so."""
    rows, bad = parse_table(
        path, ("object", "total"), lambda cells: (cells["object"], _count(cells, "total"))
    )
    return dict(rows.values()), [replace(row, file=path.name) for row in bad]


def check_pair(a: str, b: str) -> tuple[str, str]:
    """Two things that can be compared: not the same, and without the mark that joins their
    names."""
    if a == b:
        raise BadValueError(f"compares '{a}' with itself")
    if "|" in a + b:
        raise BadValueError("a name holds '|'")
    return a, b


def _colors(path: Path) -> tuple[list[ColorFact], list[BadRow]]:
    beside = path.with_name(Path(COLOR_COUNTS).name)
    seen, uncounted = counts(beside) if beside.is_file() else ({}, [])

    def fact(name: str, value: object) -> ColorFact:
        if not isinstance(value, dict) or not value:
            raise BadValueError("no colours with their shares")
        for color, share in value.items():
            one_of(color, COLORS, "colour")
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
                raise BadValueError(
                    f"the share of '{color}' is {share!r}, not a number from 0 to 1"
                )
        shares = tuple(float(value.get(color, 0.0)) for color in COLORS)
        typical = tuple(color for color in COLORS if color in value)
        return ColorFact(name, shares=shares, typical=typical, seen=seen.get(name, 0))

    facts, bad = _objects(path, fact)
    return facts, [*bad, *uncounted]


def _subtypes(path: Path) -> tuple[list[SubtypeFact], list[BadRow]]:
    def facts(name: str, value: object) -> list[SubtypeFact]:
        if not isinstance(value, dict):
            raise BadValueError("no subtypes with their counts")
        for count in value.values():
            if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST:
                raise BadValueError(f"{count!r} is not a count")
        return [
            SubtypeFact(name, prompt_text(subtype, "subtype"), count)
            for subtype, count in value.items()
        ]

    rows, bad = _objects(path, facts)
    return [fact for group in rows for fact in group], bad


def _sizes(path: Path) -> tuple[list[SizeFact], list[BadRow]]:
    columns = column_names(path)

    def parse(cells: Cells) -> SizeFact:
        a, b = check_pair(prompt_text(cells["o1"], "o1"), prompt_text(cells["o2"], "o2"))
        larger, smaller = _counts(cells, SIZES)
        return SizeFact(a, b, larger, smaller, (one_of(cells["typical"], SIZES, "typical"),))

    needed = ("o1", "o2", "typical", *(label for label in SIZES if label in columns))
    facts, bad = parse_table(path, needed, parse, key=lambda fact: (fact.a, fact.b))
    return list(facts.values()), bad


def _places(path: Path) -> tuple[list[PlaceFact], list[BadRow]]:
    columns = column_names(path)
    # the annotated examples name the column otherwise
    labelled = "annot" if "annot" in columns else "typical"

    def parse(cells: Cells) -> PlaceFact:
        a, b = check_pair(prompt_text(cells["o1"], "o1"), prompt_text(cells["o2"], "o2"))
        scene = prompt_text(cells["scene"], "scene")
        above, level, below = _counts(cells, PLACES)
        labels = [one_of(label.strip(), PLACES, labelled) for label in cells[labelled].split(",")]
        return PlaceFact(
            scene, a, b, above, level, below, tuple(label for label in PLACES if label in labels)
        )

    needed = ("scene", "o1", "o2", labelled, *(label for label in PLACES if label in columns))
    facts, bad = parse_table(path, needed, parse, key=lambda fact: (fact.scene, fact.a, fact.b))
    return list(facts.values()), bad


def _counts(cells: Cells, labels: tuple[str, ...]) -> list[int]:
    """The counts of the labels; 0 where the table has none, as the annotated examples."""
    return [_count(cells, label) if label in cells else 0 for label in labels]


def _count(cells: Cells, column: str) -> int:
    text = cells[column]
    # a cell has 100 characters at most
    if not (text.isascii() and text.isdecimal() and int(text) <= MOST):
        raise BadValueError(f"'{column}' is {text!r}, not a count")
    return int(text)


def _objects(path: Path, parse: Callable[[str, object], Any]) -> tuple[list[Any], list[BadRow]]:
    """The members of one JSON object through `parse`; a bad one is named by its place in the
    file."""
    document = load_json(path, LARGEST)
    if not isinstance(document, dict):
        raise UserError(f"{path} is not a JSON object with one member per object.")
    rows = [
        Row(number, {name: value}) for number, (name, value) in enumerate(document.items(), start=1)
    ]

    def parse_member(cells: Cells) -> Any:
        ((name, value),) = cells.items()
        try:
            return parse(prompt_text(name, "object"), value)
        except BadValueError as error:
            raise BadValueError(f"'{name[:40]}': {error}") from None

    good, bad = parse_rows(path, rows, parse_member)
    return list(good.values()), bad
