"""Sizes in pictures, worked by hand, and beside a plain loop over pictures."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from benchmarks.mine import size_relations
from hypothesis import given, settings
from tests.mining.sample_pictures import DepthRegion, picture, pictures, row, sizes, table

from seesay.mining.records import to_batch


def square(name: str, side: float, distance: float = 1.0) -> DepthRegion:
    return DepthRegion(name, (0.0, 0.0, side, side), distance)


# the situation of ViPhy's figure 4: near things look as large as far ones that are far larger
STREET = (
    square("wheel", 10, 2),  # 100 px² x 2 m = 200
    square("man", 20, 2),  # 800
    square("woman", 19, 2.5),  # 902.5
    square("car", 40, 3),  # 4,800
    square("bus", 40, 6),  # 9,600
    square("house", 45, 9),  # 18,225
    square("cat", 10, 1),  # 100
)
"""Classes by natural breaks: 100 200 | 800 902.5 | 4,800 | 9,600 | 18,225, of deviation 5,000 +
5,253; any other division joins things whose difference alone costs more (200 and 800: 180,000)."""


def test_classes_of_a_street_scene() -> None:
    relations = {(a, b): sign for _, a, b, sign in sizes(picture(*STREET))}
    assert ("cat", "wheel") not in relations  # one class: not compared
    assert ("man", "woman") not in relations
    assert relations["car", "man"] == relations["bus", "car"] == ">"
    assert relations["bus", "house"] == relations["cat", "man"] == "<"
    assert len(relations) == 7 * 6 / 2 - 2


def test_depth_decides_between_boxes_of_one_size() -> None:
    boxes = {(a, b): sign for _, a, b, sign in sizes(picture(*STREET), "boxes")}
    assert ("bus", "car") not in boxes  # 40 x 40 pixels both
    # so that five sizes are left
    others = [square(f"x{i}", side, 9) for i, side in enumerate((60, 60, 80, 100))]
    near = (square("cup", 30, 1), square("table", 20, 8), *others)
    assert ("", "cup", "table", ">") in sizes(picture(*near), "boxes")  # 900 px² and 400 px²
    assert ("", "cup", "table", "<") in sizes(picture(*near), "paper")  # 900 and 3,200
    assert ("", "cup", "table", "<") in sizes(picture(*near), "pinhole")  # 900 and 25,600
    # nearness 1 and (1/8 − 1/9) / (8/9) = 0.0156: 900 x 0 and 400 x 0.984
    assert ("", "cup", "table", "<") in sizes(picture(*near), "published")


def test_pictures_with_too_few_regions_are_skipped() -> None:
    assert not sizes(picture(*STREET[:5]))
    assert sizes(picture(*STREET[:6]))


def test_pairs_count_once_per_picture_except_as_published() -> None:
    two_men = picture(*STREET, square("man", 20, 2))
    assert sizes(two_men)["", "house", "man", ">"] == 1
    assert sizes(two_men, "published")["", "house", "man", ">"] == 2


def test_unknown_depth_and_unnamed_regions() -> None:
    no_depth = pa.Table.from_batches([to_batch([])]).schema
    rows = [{k: v for k, v in row(STREET, "1").items() if k in no_depth.names}]
    unknown = pa.Table.from_pylist(rows, schema=no_depth)
    assert not sizes(unknown, "paper")
    assert sizes(unknown, "boxes") == sizes(picture(*STREET), "boxes")
    unnamed = tuple(
        DepthRegion("" if t.name == "house" else t.name, t.box, t.distance) for t in STREET
    )
    without = Counter({key: n for key, n in sizes(picture(*STREET)).items() if "house" not in key})
    assert sizes(picture(*unnamed)) == without  # it still has a part in the classes


@settings(deadline=None)
@given(pictures())
def test_agrees_with_a_plain_loop(batch: pa.Table) -> None:
    plain: Counter[tuple[str, str, str, str]] = Counter()
    for record in batch.to_pylist():
        plain.update(set(size_relations(record)))
    assert sizes(batch) == plain


def test_pictures_without_regions() -> None:
    assert sizes(table([row((), "0"), row(STREET, "1"), row((), "2")])) == sizes(picture(*STREET))
