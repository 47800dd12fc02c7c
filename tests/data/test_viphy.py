"""Readers of ViPhy's files: the nine published splits, and rows that cannot be used."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.shared_data import shared

from seesay.data import viphy
from seesay.data.knowledge import COLORS, ColorFact, PlaceFact, SizeFact, SubtypeFact
from seesay.data.splits import split
from seesay.errors import UserError


def rows(path: str) -> list[dict[str, str]]:
    with shared(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("part", ["train", "val", "test"])
def test_published_color_splits_come_out_row_for_row(part: str) -> None:
    facts, bad = viphy.read(shared("viphy/results/colors.json"), ColorFact)
    assert (len(facts), bad) == (13_250, [])
    facts_of_part = [
        (
            fact.object,
            {color: share for color, share in zip(COLORS, fact.shares, strict=True) if share},
        )
        for fact in split(facts)[part]
    ]
    published = json.loads(shared(f"viphy/dataset/color/{part}.json").read_text())
    assert facts_of_part == list(published.items())
    assert len(facts_of_part) == {"train": 2_650, "val": 1_325, "test": 9_275}[part]


@pytest.mark.parametrize("part", ["train", "val", "test"])
def test_published_size_splits_come_out_row_for_row(part: str) -> None:
    facts, bad = viphy.read(shared("viphy/results/size.csv"), SizeFact)
    assert (len(facts), bad) == (43_096, [])
    facts_of_part = [
        (f.a, f.b, str(f.larger), str(f.smaller), ",".join(f.typical)) for f in split(facts)[part]
    ]
    published = [
        (r["o1"], r["o2"], r[">"], r["<"], r["typical"])
        for r in rows(f"viphy/dataset/size/{part}.csv")
    ]
    assert facts_of_part == published
    assert len(facts_of_part) == {"train": 8_619, "val": 4_309, "test": 30_167}[part]


@pytest.mark.parametrize("part", ["train", "val", "test"])
def test_published_space_splits_come_out_row_for_row(part: str) -> None:
    facts, bad = viphy.read(shared("viphy/results/spatial.csv"), PlaceFact)
    assert (len(facts), bad) == (6_570, [])
    facts_of_part = [
        (f.scene, f.a, f.b, *map(str, (f.above, f.level, f.below)), ",".join(f.typical))
        for f in split(facts)[part]
    ]
    columns = ("scene", "o1", "o2", ">", "=", "<", "typical")
    assert facts_of_part == [
        tuple(r[c] for c in columns) for r in rows(f"viphy/dataset/spatial/{part}.csv")
    ]
    assert len(facts_of_part) == {"train": 1_314, "val": 657, "test": 4_599}[part]


def test_published_subtypes_categories_and_counts() -> None:
    subtypes, bad = viphy.read(shared("viphy/data/object_subtypes_o100_s10.json"), SubtypeFact)
    assert bad == []
    assert len({fact.object for fact in subtypes}) == 14_353
    assert SubtypeFact("person", "adult person", 20) in subtypes
    categories, nameless = viphy.categories(shared("viphy/extra/obj2cat.json"))
    assert nameless == []
    assert len(categories) == 13_250
    assert len(set(categories.values())) == 17
    colors, _ = viphy.read(shared("viphy/results/colors.json"), ColorFact)
    assert min(fact.seen for fact in colors) >= 10  # the paper's minimum


def test_the_annotated_examples_are_read_and_the_dash_is_reported() -> None:
    sizes, bad = viphy.read(shared("viphy/examples/size_examples.tsv"), SizeFact)
    assert len(sizes) == 99
    assert [(row.row, row.reason) for row in bad] == [(42, "'typical' is '-', not one of '>', '<'")]
    assert sizes[0] == SizeFact("belt", "window", 0, 0, ("<",))
    places, bad = viphy.read(shared("viphy/examples/spatial_examples.tsv"), PlaceFact)
    assert (len(places), bad) == (100, [])
    assert places[0] == PlaceFact(
        "living_room", "table lamp column", "floor lamp", 0, 0, 0, ("=", "<")
    )


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("cup,bus,1,2,-", "'typical' is '-'"),
        ('cup,bus,1,2,"<,>"', "'typical' is '<,>'"),
        ("cup,bus,one,2,<", "'>' is 'one', not a count"),
        ("cup,bus,1,-2,<", "'<' is '-2', not a count"),
        ("cup,bus,1,²,<", "not a count"),
        ("cup,cup,1,2,<", "compares 'cup' with itself"),
        ("cup,,1,2,<", "'o2' is empty"),
        ("cup,[MASK],1,2,<", r"holds \[MASK\]"),
        ("a|b,c,1,2,<", "a name holds '|'"),
        ("key,car,9,1,>", "repeats row 2"),
        ("cup,bus", "has 2 cells"),
    ],
)
def test_a_bad_size_row_is_skipped_and_reported(tmp_path: Path, row: str, reason: str) -> None:
    path = tmp_path / "size.csv"
    path.write_text(f"o1,o2,>,<,typical\nkey,car,1,9,<\n{row}\nbus,cup,8,2,>\n")
    facts, bad = viphy.read(path, SizeFact)
    assert [(f.a, f.b) for f in facts] == [("key", "car"), ("bus", "cup")]
    [found] = bad
    assert found.row == 3
    assert reason.replace("\\", "") in found.reason


def test_a_bad_color_is_skipped_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "colors.json"
    bad_ones = {
        "a": {"teal": 1},
        "b": {},
        "c": ["red"],
        "d": {"red": True},
        "e": {"red": 2},
        "": {"red": 1},
    }
    path.write_text(json.dumps({"crow": {"black": 1}, **bad_ones}))
    facts, bad = viphy.read(path, ColorFact)
    assert facts == [ColorFact("crow", (0.0,) * 10 + (1.0,), ("black",), 0)]
    assert [row.row for row in bad] == [2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("text", "reason"),
    [("[]", "not a JSON object"), ("{", "is not JSON"), ('{"a": 1}', "no row that can be used")],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "colors.json"
    path.write_text(text)
    with pytest.raises(UserError, match=reason):
        viphy.read(path, ColorFact)
