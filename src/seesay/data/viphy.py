"""ViPhy's published files as knowledge (Singh, Qasemi & Chen 2023).

The facts are those that `seesay mine` writes. Tables are CSV with or without an index column, the
annotated examples TSV with CRLF ends; colours and subtypes are JSON. A row that cannot be used is
reported, never a reason to stop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

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

T = TypeVar("T")
WithBad = tuple[T, list[BadRow]]
"""What was read of a file, and its rows that could not be used."""

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
"""The largest count that is believed: it fits into a column of 64-bit integers."""


def read(path: Path, kind: type[Fact]) -> WithBad[list[Fact]]:
    """Read every fact of a published file, in its order, and the rows that could not be used."""
    readers: dict[type, Callable[[Path], WithBad[list[Any]]]] = {
        ColorFact: _read_colors,
        SizeFact: _read_sizes,
        PlaceFact: _read_places,
        SubtypeFact: _read_subtypes,
    }
    return readers[kind](path)


def categories(path: Path) -> WithBad[dict[str, str]]:
    """Read the published category of each object (the paper's Table 8).

    The members that name none come as bad rows.
    """

    def parse(name: str, value: object) -> tuple[str, str]:
        if not isinstance(value, str):
            raise BadValueError("its category is not a text")
        return name, prompt_text(value, "category")

    rows, bad = _read_objects(path, parse)
    return dict(rows), [replace(row, file=path.name) for row in bad]


def counts(path: Path) -> WithBad[dict[str, int]]:
    """Read how many answers about colour each object's row rests on, and the rows without one."""

    def parse(cells: Cells) -> tuple[str, int]:
        return cells["object"], _count(cells, "total")

    rows, bad = parse_table(path, ("object", "total"), parse)
    return dict(rows.values()), [replace(row, file=path.name) for row in bad]


def check_pair(a: str, b: str) -> tuple[str, str]:
    """Return two things that can be compared, or raise BadValueError.

    They differ, and neither holds the mark that joins their names in a question's id.
    """
    if a == b:
        raise BadValueError(f"compares '{a}' with itself")
    if "|" in a + b:
        raise BadValueError("a name holds '|'")
    return a, b


def _read_colors(path: Path) -> WithBad[list[ColorFact]]:
    """Read `results/colors.json`: the shares of the colours of each object."""
    # The shares come without their numbers of answers, which the table beside them has.
    counts_path = path.with_name(Path(COLOR_COUNTS).name)
    answer_counts: dict[str, int] = {}
    uncounted: list[BadRow] = []
    if counts_path.is_file():
        answer_counts, uncounted = counts(counts_path)

    def parse(name: str, value: object) -> ColorFact:
        if not isinstance(value, dict) or not value:
            raise BadValueError("no colours with their shares")
        for color, share in value.items():
            one_of(color, COLORS, "colour")
            _check_share(color, share)
        return ColorFact(
            name,
            shares=tuple(float(value.get(color, 0.0)) for color in COLORS),
            typical=tuple(color for color in COLORS if color in value),
            seen=answer_counts.get(name, 0),
        )

    facts, bad = _read_objects(path, parse)
    return facts, [*bad, *uncounted]


def _check_share(color: str, share: Any) -> None:
    """Refuse what is not a share of a colour that was seen."""
    # JSON's true is an int to Python: it would pass for a share of 1.
    is_number = isinstance(share, int | float) and not isinstance(share, bool)
    if not is_number or not 0 < share <= 1:
        raise BadValueError(f"the share of '{color}' is {share!r}, not a number from 0 to 1")


def _read_subtypes(path: Path) -> WithBad[list[SubtypeFact]]:
    """Read `data/object_subtypes_o100_s10.json`: each object's subtypes with their counts."""

    def parse(name: str, value: object) -> list[SubtypeFact]:
        if not isinstance(value, dict):
            raise BadValueError("no subtypes with their counts")
        for count in value.values():
            if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST:
                raise BadValueError(f"{count!r} is not a count")
        return [
            SubtypeFact(name, prompt_text(subtype, "subtype"), count)
            for subtype, count in value.items()
        ]

    groups, bad = _read_objects(path, parse)
    return [fact for group in groups for fact in group], bad


def _read_sizes(path: Path) -> WithBad[list[SizeFact]]:
    """Read a table of pairs with the typical one of `>` and `<`."""
    header = column_names(path)

    def parse(cells: Cells) -> SizeFact:
        a, b = _pair_of(cells)
        larger, smaller = _counts(cells, SIZES)
        label = one_of(cells["typical"], SIZES, "typical")
        return SizeFact(a, b, larger, smaller, typical=(label,))

    count_columns = [label for label in SIZES if label in header]
    columns = ("o1", "o2", "typical", *count_columns)
    facts, bad = parse_table(path, columns, parse, key=lambda fact: (fact.a, fact.b))
    return list(facts.values()), bad


def _read_places(path: Path) -> WithBad[list[PlaceFact]]:
    """Read a table of pairs in scenes with their typical relations, joined by commas."""
    header = column_names(path)
    # The annotated examples name the column of labels otherwise than the tables do.
    label_column = "annot" if "annot" in header else "typical"

    def parse(cells: Cells) -> PlaceFact:
        a, b = _pair_of(cells)
        scene = prompt_text(cells["scene"], "scene")
        above, level, below = _counts(cells, PLACES)
        names = [name.strip() for name in cells[label_column].split(",")]
        labels = [one_of(name, PLACES, label_column) for name in names]
        return PlaceFact(
            scene,
            a,
            b,
            above,
            level,
            below,
            typical=tuple(label for label in PLACES if label in labels),
        )

    count_columns = [label for label in PLACES if label in header]
    columns = ("scene", "o1", "o2", label_column, *count_columns)
    facts, bad = parse_table(path, columns, parse, key=lambda fact: (fact.scene, fact.a, fact.b))
    return list(facts.values()), bad


def _pair_of(cells: Cells) -> tuple[str, str]:
    """Return the two things of a row, which can be compared."""
    return check_pair(prompt_text(cells["o1"], "o1"), prompt_text(cells["o2"], "o2"))


def _counts(cells: Cells, labels: tuple[str, ...]) -> list[int]:
    """Return the counts of the labels; 0 where the table has none, as the annotated examples."""
    return [_count(cells, label) if label in cells else 0 for label in labels]


def _count(cells: Cells, column: str) -> int:
    """Return a cell that holds a count."""
    text = cells[column]
    # `int` is quadratic in its digits; here there are few, since a cell has 100 characters at most.
    if not (text.isascii() and text.isdecimal() and int(text) <= MOST):
        raise BadValueError(f"'{column}' is {text!r}, not a count")
    return int(text)


def _read_objects(
    path: Path,
    parse: Callable[[str, object], Any],
) -> WithBad[list[Any]]:
    """Read the members of one JSON object through `parse`.

    A bad member is numbered by its place in the file.
    """
    document = load_json(path, LARGEST)
    if not isinstance(document, dict):
        raise UserError(f"{path} is not a JSON object with one member per object.")
    members = enumerate(document.items(), start=1)
    rows = [Row(number, {name: value}) for number, (name, value) in members]

    def parse_member(cells: Cells) -> Any:
        ((name, value),) = cells.items()
        try:
            return parse(prompt_text(name, "object"), value)
        except BadValueError as error:
            raise BadValueError(f"'{name[:40]}': {error}") from None

    good, bad = parse_rows(path, rows, parse_member)
    return list(good.values()), bad
