"""Places in pictures, worked by hand, and beside a plain loop over pictures. y grows downwards."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from benchmarks.mine import space_relations
from hypothesis import given, settings
from tests.mining.sample_pictures import DepthRegion, picture, pictures, places


def upright(
    name: str, top: float, bottom: float, distance: float = 1.0, polygon: tuple[float, ...] = ()
) -> DepthRegion:
    return DepthRegion(name, (10.0, top, 20.0, bottom - top), distance, polygon)


def signs(relations: Counter[tuple[str, str, str, str]]) -> dict[tuple[str, str], str]:
    return {(a, b): sign for _, a, b, sign in relations}


def test_the_lowest_point_and_the_centroid() -> None:
    lamp, shelf, table = (
        upright("lamp", 0, 59),
        upright("shelf", 20, 100),
        upright("table", 61, 140),
    )
    # lamp ends at 59, above the shelf's middle (60); shelf ends at 100, above the table's (100.5);
    # so does the lamp
    assert signs(places(picture(lamp, shelf, table))) == {
        ("lamp", "shelf"): ">",
        ("shelf", "table"): ">",
        ("lamp", "table"): ">",
    }
    # one pixel lower and neither is clear of the other
    assert signs(places(picture(upright("lamp", 0, 60), shelf)))["lamp", "shelf"] == "="
    assert signs(places(picture(upright("zebra", 0, 59), shelf)))["shelf", "zebra"] == "<"


def test_polygon_takes_precedence_over_box() -> None:
    # a triangle with its point downwards, 0 to 90: its centroid is at 30, its box's middle at 45
    pennant = (0.0, 0.0, 60.0, 0.0, 30.0, 90.0)
    kite = upright("kite", 0, 40)
    assert (
        signs(places(picture(kite, upright("pennant", 0, 90, 1, pennant))))["kite", "pennant"]
        == "="
    )
    assert signs(places(picture(kite, upright("pennant", 0, 90))))["kite", "pennant"] == ">"
    # and its lowest point before the box's bottom
    short = (0.0, 0.0, 60.0, 0.0, 30.0, 40.0)
    low = upright("low", 60, 140)  # middle 100
    assert signs(places(picture(upright("flag", 0, 120, 1, short), low)))["flag", "low"] == ">"
    assert signs(places(picture(upright("flag", 0, 120), low)))["flag", "low"] == "="


def test_partitions() -> None:
    """Distances 1 to 9 in three partitions that share half: [1, 5), [3, 7), [5, 9]."""
    high = upright("high", 0, 10, 2.9)  # the first alone
    for distance, is_compared in ((4.9, True), (5.0, False)):
        relations = signs(places(picture(high, upright("low", 100, 110, distance))))
        assert (("high", "low") in relations) == is_compared
    # without overlap: [1, 3.67), [3.67, 6.33), [6.33, 9]
    for distance, is_compared in ((3.6, True), (3.7, False)):
        relations = signs(places(picture(high, upright("low", 100, 110, distance)), "apart"))
        assert (("high", "low") in relations) == is_compared


def test_overlap_relates_objects_across_depths() -> None:
    """The situation of ViPhy's figure 7: seen from above, a far rug lies higher in the picture than
    a near table."""
    rug, table = upright("rug", 200, 210, 8.5), upright("table", 220, 300, 2)
    # the rug ends at 210, above the table's middle (260)
    assert signs(places(picture(rug, table), "boxes"))["rug", "table"] == ">"
    assert not places(picture(rug, table))  # too far apart to tell
    # at 4 and 6 metres stand a chair and a cupboard, in two partitions each: the rug is level with
    # the cupboard (140–270: 205 against 270, 205 against 210), the cupboard with the chair
    # (160–280), the chair with the table
    cupboard, chair = upright("cupboard", 140, 270, 6), upright("chair", 160, 280, 4)
    relations = signs(places(picture(rug, table, cupboard, chair)))
    assert (
        relations["cupboard", "rug"]
        == relations["chair", "cupboard"]
        == relations["chair", "table"]
        == "="
    )
    assert relations["rug", "table"] == "="
    assert relations["chair", "rug"] == "="  # through the cupboard


def test_above_is_transitive_unless_contradicted() -> None:
    lamp, floor = upright("lamp", 0, 20, 5.5), upright("floor", 200, 210, 2)
    shelf = upright("shelf", 80, 120, 4)  # in the first two partitions, the lamp in the last two
    assert signs(places(picture(lamp, shelf, floor)))["floor", "lamp"] == "<"
    assert ("floor", "lamp") not in signs(places(picture(lamp, floor)))
    assert ("floor", "lamp") not in signs(places(picture(lamp, shelf, floor), "apart"))
    # a thing above one bridge and level with another, both level with the lower thing: above and
    # level, so nothing
    a, b = upright("a", 0, 100, 5.5), upright("b", 90, 300, 2)
    above_it, level_with_it = upright("k", 100, 260, 4), upright("m", 0, 196, 4)
    assert signs(places(picture(a, b, above_it)))["a", "b"] == ">"
    assert signs(places(picture(a, b, level_with_it)))["a", "b"] == "="
    assert ("a", "b") not in signs(places(picture(a, b, above_it, level_with_it)))


def test_published_bins_and_points() -> None:
    """Nearness of 1 to 9 m: 2 m has (1/2 − 1/9) / (8/9) = 0.4375, 111 of 255; 1.8 m has 0.5,
    127."""
    high, low = upright("high", 0, 10, 2), upright("low", 100, 110, 9)
    # bin [0, 127) both
    assert signs(places(picture(high, low), "published")) == {("high", "low"): ">"}
    near = upright("near", 100, 110, 1.79)
    assert not places(picture(high, near), "published")
    assert places(picture(high, near, scene="bathroom"), "published")  # one bin
    # the highest point decides: the tall thing begins above the other's middle, so they are level
    # middle 19.5; its lowest point, 39, is above the tall thing's middle
    small = upright("small", 0, 39, 2)
    for top, sign in ((20, ">"), (19, "=")):
        both = picture(upright("tall", top, 200, 2), small)
        assert signs(places(both))["small", "tall"] == ">"
        assert signs(places(both, "published"))["small", "tall"] == sign


def test_counts_are_by_scene() -> None:
    relations = places(picture(upright("a", 0, 10), upright("b", 50, 60), scene="office"))
    assert relations == Counter({("office", "a", "b", ">"): 1})


@settings(deadline=None)
@given(pictures())
def test_agrees_with_a_plain_loop(batch: pa.Table) -> None:
    plain: Counter[tuple[str, str, str, str]] = Counter()
    for row in batch.to_pylist():
        plain.update(set(space_relations(row)))
    assert places(batch) == plain


@pytest.mark.parametrize("many", [64, 65, 130])
def test_crowded_pictures_agree_with_a_plain_loop(many: int) -> None:
    things = [
        upright(f"n{i:03d}", i * 37 % 211, i * 37 % 211 + 5 + i * 13 % 90, 1 + i * 7 % 80 / 10)
        for i in range(many)
    ]
    batch = picture(*things)
    assert places(batch) == Counter(set(space_relations(batch.to_pylist()[0])))
