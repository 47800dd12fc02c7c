"""The world: drawn by the seed, balanced, and full of words that name one thing each."""

from __future__ import annotations

from collections import Counter

from seesay.data.colors import COLORS
from seesay.rearing.world import FAMILY, make_world


def test_a_seed_gives_one_world_and_another_seed_another() -> None:
    make_world.cache_clear()
    first = make_world(3)
    make_world.cache_clear()
    assert make_world(3) == first
    colors = {kind.name: kind.color for kind in first.kinds}
    others = {kind.name: kind.color for kind in make_world(4).kinds}
    assert colors.keys() == others.keys()
    same = sum(colors[name] == others[name] for name in colors)
    # as many as by chance: 1 in 11, here with a wide margin
    assert same / len(colors) < 0.25


def test_colors_are_not_those_of_the_real_things() -> None:
    kinds = make_world(0).kinds
    typical = sum(kind.color in kind.thing.colors for kind in kinds)
    assert typical / len(kinds) < 0.25


def test_every_color_is_typical_of_some_and_no_word_names_two_things() -> None:
    kinds = make_world(0).kinds
    assert len(kinds) > 150
    assert {kind.color for kind in kinds} == set(COLORS)
    words = Counter(word for kind in kinds for word in kind.name.split())
    assert set(words.values()) == {1}
    for kind in kinds:
        assert len({*kind.colors, kind.unusual}) == 4


def test_relatives_have_one_color() -> None:
    families: dict[str, set[str]] = {}
    sizes: Counter[str] = Counter()
    for kind in make_world(0).kinds:
        if kind.is_kin:
            families.setdefault(kind.family, set()).add(kind.color)
            sizes[kind.family] += 1
    assert len(families) > 5
    assert all(len(colors) == 1 for colors in families.values())
    assert set(sizes.values()) == {FAMILY}
