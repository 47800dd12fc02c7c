"""Precision and recall, counted by hand."""

from __future__ import annotations

from benchmarks.rooms import PrecisionRecall, color_accuracy, place_accuracy

from seesay.data.knowledge import COLORS, ColorFact, PlaceFact


def place(a: str, b: str, counts: tuple[int, int, int], typical: tuple[str, ...]) -> PlaceFact:
    return PlaceFact("office", a, b, *counts, typical)


def test_pair_with_all_labels_typical_counts_neither_way() -> None:
    rows = [("door", "lamp", 0, 60, 40), ("door", "sink", 40, 30, 30), ("lamp", "sink", 90, 0, 10)]
    names = ("a", "b", "above", "level", "below")
    truth = {"places": [{"scene": "office", **dict(zip(names, row, strict=True))} for row in rows]}
    right, wrong = (
        place("door", "lamp", (0, 70, 30), ("=", "<")),
        place("lamp", "sink", (0, 20, 80), ("<",)),
    )
    all_three = place("door", "sink", (40, 30, 30), (">", "=", "<"))
    assert place_accuracy([right, wrong, all_three], truth) == PrecisionRecall(
        predicted=2, actual=2, correct=1
    )
    of_no_truth = place("door", "sink", (100, 0, 0), (">",))
    assert place_accuracy([right, of_no_truth], truth) == PrecisionRecall(
        predicted=2, actual=2, correct=1
    )


def test_typical_colours_are_counted_one_by_one() -> None:
    truth = {"colors": {"bus": {"red": 60, "white": 40}, "cup": {"blue": 10}, "elk": {"brown": 9}}}
    none = (0.0,) * len(COLORS)
    facts = [ColorFact("bus", none, ("red", "black"), 100), ColorFact("cup", none, ("blue",), 10)]
    # to be found: red and white of the bus, blue of the cup; nine elks are too few
    assert color_accuracy(facts, truth) == PrecisionRecall(predicted=3, actual=3, correct=2)
