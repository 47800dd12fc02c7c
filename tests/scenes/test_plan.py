"""Data sets: sizes, splits, balance, and items that do not change with the size of the set."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seesay.errors import UserError
from seesay.scenes.config import seen
from seesay.scenes.plan import MIXTURES, NAMES, default_size, make_plan, test_plan

test_plan.__test__ = False  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["sup1", "pos1", "pos", "set+pos", "comparative"])
def test_published_sizes(name: str) -> None:
    """80 classes x 250, split 200 / 25 / 25."""
    plan = make_plan(name)
    assert plan.splits() == {"train": 16000, "val": 2000, "test": 2000}
    for split, each in (("train", 200), ("val", 25), ("test", 25)):
        counts = Counter(cell for _, cell, _, _ in plan.items(split, 0, 10**6))
        assert set(counts.values()) == {each}
        assert len(counts) == 80


def test_hard_sets_are_tests() -> None:
    for name in ("pos-hard", "set+pos-hard", "set-pos-hard"):
        assert make_plan(name).splits() == {"test": 2000}


def test_compositional() -> None:
    plan = make_plan("compositional")
    assert plan.splits() == {"train": 8000, "val": 1000, "test_seen": 1000, "test_unseen": 1000}
    for split in plan.splits():
        classes = Counter(cell for _, cell, _, _ in plan.items(split, 0, 10**6))
        assert len(classes) == 40
        assert len(set(classes.values())) == 1
        assert all(seen(cell) == (split != "test_unseen") for cell in classes)


@pytest.mark.parametrize("unseen", MIXTURES)
def test_mixtures(unseen: int) -> None:
    """So many unseen combinations among 8,000; each mixture holds the smaller ones' unseen
    items."""
    plan, base = make_plan(f"mixture-{unseen}"), make_plan("compositional")
    train = list(plan.items("train", 0, 8000))
    new = [item for item in train if not seen(item[1])]
    assert (len(train), len(new)) == (8000, unseen)
    assert [item[0] for item in train] == list(range(8000))
    counts = Counter(cell for _, cell, _, _ in train if not seen(cell))
    assert max(counts.values()) - min(counts.values()) <= 1
    answers = Counter(cell.answer for _, cell, _, _ in new)
    assert answers[True] == answers[False]
    kept = {item[1:] for item in base.items("train", 0, 8000)}
    assert all(item[1:] in kept for item in train if seen(item[1]))
    for split in ("val", "test_seen", "test_unseen"):
        assert list(plan.items(split, 0, 1000)) == list(base.items(split, 0, 1000))


@given(
    st.sampled_from([name for name in NAMES if not name.startswith("mixture")]),
    st.integers(1, 3000),
)
def test_any_size_is_balanced(name: str, size: int) -> None:
    plan = make_plan(name, size)
    assert sum(plan.splits().values()) == size
    for split, count in plan.splits().items():
        items = list(plan.items(split, 0, count))
        assert len(items) == count > 0
        classes = Counter(cell for _, cell, _, _ in items)
        if count >= 80:
            assert max(classes.values()) - min(classes.values()) <= 1
        answers = Counter(cell.answer for _, cell, _, _ in items)
        assert abs(answers[True] - answers[False]) <= 4


@given(st.integers(100, 2000), st.integers(0, 3000), st.integers(0, 3000))
def test_a_larger_set_begins_with_the_smaller(size: int, start: int, length: int) -> None:
    small, large = make_plan("pos", size), make_plan("pos", 20000)
    stop = min(start + length, small.splits()["train"])
    assert list(small.items("train", start, stop)) == list(
        large.items("train", start, max(stop, 0))
    )


def test_separate_test_sets_equal_those_of_the_whole_plan() -> None:
    separate = list(test_plan("set-pos", 300).items("test", 0, 300))
    assert separate == list(make_plan("set+pos").items("test", 0, 300))
    for part in ("seen", "unseen"):
        separate = list(test_plan(f"compositional-{part}", 300).items(f"test_{part}", 0, 300))
        assert separate == list(make_plan("compositional").items(f"test_{part}", 0, 300))


@pytest.mark.parametrize(
    ("name", "size"),
    [("pos2", None), ("pos", 0), ("pos", -5), ("pos", 10**9), ("mixture-4000", 500)],
)
def test_impossible_sets_are_refused(name: str, size: int | None) -> None:
    with pytest.raises(UserError):
        make_plan(name, size)
    assert default_size("pos") == 20000
