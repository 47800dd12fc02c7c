"""Generated scenes keep every rule, repeat exactly, and are distributed as the published ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, ks_2samp
from tests.shared_data import shared

from seesay.errors import UserError
from seesay.scenes.annotation import read
from seesay.scenes.config import Cell, Recipe, cells, seen
from seesay.scenes.labels import askable, judge, measure
from seesay.scenes.raster import paint
from seesay.scenes.sampling import Item, draw
from seesay.scenes.task_kinds import KINDS
from seesay.scenes.world import Scene, Thing

GOLDEN = Thing("circle", "red", 100, 157, 431)
GOLDEN_K = 0.32714104214410616


def check(recipe: Recipe, cell: Cell, item: Item) -> None:
    """Everything that must hold of an item."""
    scene, target = item.scene, item.scene.things[item.target]
    low, high = recipe.objects
    assert low <= len(scene.things) <= high
    assert (target.colour, target.shape) == (cell.colour, cell.shape)
    covered = sum((paint(Scene((thing,))) > 0).astype(int) for thing in scene.things)
    assert np.max(covered) == 1
    if recipe.kind.single:
        assert {thing.shape for thing in scene.things} == {cell.shape}
    if recipe.kind.degree == "comparative":
        assert item.other is not None
        values = measure(scene.things, recipe.words)
        assert (values[item.target] > values[item.other]) == cell.high
        assert values[item.target] != values[item.other]
        names = Counter((thing.colour, thing.shape) for thing in scene.things)
        rival = scene.things[item.other]
        assert names[target.colour, target.shape] == names[rival.colour, rival.shape] == 1
        return
    assert item.target in askable(scene, recipe.kind, recipe.words)
    words = recipe.words.superlative if recipe.kind.degree == "superlative" else recipe.words.positive
    assert judge(scene, recipe.kind, recipe.words, recipe.line)[item.target].word == words[0 if cell.high else 1]


@given(
    st.sampled_from(sorted(KINDS)),
    st.sampled_from(cells()),
    st.integers(0, 2**40),
    st.sampled_from(("big", "tall", "bright")),
    st.sampled_from(("rh-r", "rh-n", "rh-sd")),
    st.sampled_from(((5, 9), (4, 4), (6, 12))),
)
@settings(max_examples=60, deadline=None)
def test_items_keep_the_rules(
    task: str, cell: Cell, seed: int, adjective: str, threshold: str, objects: tuple[int, int]
) -> None:
    if adjective == "tall" and task.startswith("set+pos") and cell.shape in ("circle", "square"):
        objects = (5, 9)
    recipe = Recipe(task, seed, objects, adjective, threshold)
    check(recipe, cell, draw(recipe, cell, recipe.generator(0, seed % 1000)))


def test_scene_depends_on_seed_stream_and_index_alone() -> None:
    recipe = Recipe("set+pos", seed=3)
    cell = cells()[7]
    one = draw(recipe, cell, recipe.generator(0, 5))
    assert draw(Recipe("set-pos", seed=3), cell, recipe.generator(0, 5)) == one
    others = [recipe.generator(1, 5), recipe.generator(0, 6), Recipe("set+pos", seed=4).generator(0, 5)]
    assert all(draw(recipe, cell, rng).scene != one.scene for rng in others)


def test_generated_bytes_do_not_drift() -> None:
    """A golden scene: data sets made with one version can be finished with the next."""
    recipe = Recipe("set+pos", seed=0)
    item = draw(recipe, cells()[0], recipe.generator(0, 0))
    assert item.scene.things[item.target] == GOLDEN
    assert item.scene.k == pytest.approx(GOLDEN_K)


def test_classes() -> None:
    every = cells()
    assert len(set(every)) == 80
    for size in (20, 40, 80):
        for feature in (lambda c: c.answer, lambda c: c.positive):
            assert sum(map(feature, every[:size])) == size // 2
        assert set(Counter(c.colour for c in every[:size]).values()) == {size // 5}
        assert set(Counter(c.shape for c in every[:size]).values()) == {size // 4}
    assert sum(map(seen, every)) == 40
    assert {(c.shape, c.positive) for c in every if seen(c)} == {
        ("circle", True),
        ("rectangle", True),
        ("square", False),
        ("triangle", False),
    }


def test_what_cannot_be_made_is_refused() -> None:
    for bad in ({"objects": (2, 9)}, {"objects": (9, 5)}, {"objects": (5, 99)}, {"seed": -1}, {"k_deviation": -1.0}):
        with pytest.raises(UserError):
            Recipe("set+pos", **bad)
    with pytest.raises(UserError, match="finite"):
        Recipe("set+pos", k_mean=float("nan"))
    impossible = Recipe("pos", threshold="ah", k_mean=1e9, k_deviation=0.0)
    wants_big = next(cell for cell in cells() if cell.high)
    with pytest.raises(UserError, match="another k"):
        draw(impossible, wants_big, impossible.generator(0, 0))


def _p_value(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> float:
    """Chi-squared test that two samples come from one distribution; values too rare to count are put together."""
    a, b = Counter(ours), Counter(theirs)
    rare = {value for value in a | b if a[value] + b[value] < 20}
    table = np.array([[a[v], b[v]] for v in sorted((a | b).keys() - rare, key=str)], dtype=float)
    if rare:
        table = np.vstack([table, [sum(a[v] for v in rare), sum(b[v] for v in rare)]])
    table = table[table.sum(axis=1) > 0]
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return float(chi2.sf(((table - expected) ** 2 / expected).sum(), len(table) - 1))


Property = Callable[[Scene], Sequence[Hashable]]
PROPERTIES: dict[str, Property] = {
    "objects": lambda s: [len(s.things)],
    "radius": lambda s: [t.radius for t in s.things],
    "shape": lambda s: [t.shape for t in s.things],
    "colour": lambda s: [t.colour for t in s.things],
    "shapes of a scene": lambda s: [len({t.shape for t in s.things})],
    "colours of a scene": lambda s: [len({t.colour for t in s.things})],
    "row": lambda s: [t.row // 64 for t in s.things],
    "column": lambda s: [t.column // 64 for t in s.things],
    "same shape pairs": lambda s: [sum(a.shape == b.shape for a, b in combinations(s.things, 2))],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "path", "allowed"),
    [
        ("sup1", "malevic/sup1/annotation/test_annotation.json", cells()),
        (
            "set+pos",
            "malevic/set-pos-compositional/annotation/test_seen_annotation.json",
            [cell for cell in cells() if seen(cell)],
        ),
    ],
)
def test_distributions_are_the_published_ones(task: str, path: str, allowed: list[Cell]) -> None:
    published = [known.scene for known in read(shared(path))[0]]
    recipe = Recipe(task, seed=1)
    ours = [draw(recipe, allowed[i % len(allowed)], recipe.generator(0, i)).scene for i in range(6000)]
    found = {
        name: _p_value([v for s in ours for v in of(s)], [v for s in published for v in of(s)])
        for name, of in PROPERTIES.items()
    }
    if published[0].k is not None:
        found["k"] = float(ks_2samp([s.k for s in ours], [s.k for s in published]).pvalue)
    assert min(found.values()) > 1e-3, found
