"""Generated scenes keep every rule, repeat exactly, and are distributed as the published ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, ks_2samp
from tests.shared_data import shared

from seesay.errors import UserError
from seesay.scenes.annotation import read
from seesay.scenes.config import DesignCell, SceneConfig, design_cells, seen
from seesay.scenes.labels import eligible_targets, label_objects, measure
from seesay.scenes.plan import make_plan
from seesay.scenes.raster import paint
from seesay.scenes.sampling import SceneItem, draw
from seesay.scenes.scene_batches import scene_items
from seesay.scenes.task_kinds import TASK_KINDS
from seesay.scenes.world import Scene, SceneObject

GOLDEN = SceneObject("circle", "red", 100, 157, 431)
GOLDEN_K = 0.32714104214410616


def check(config: SceneConfig, cell: DesignCell, item: SceneItem) -> None:
    """Everything that must hold of an item."""
    scene, target = item.scene, item.scene.objects[item.target]
    low, high = config.objects
    assert low <= len(scene.objects) <= high
    assert (target.color, target.shape) == (cell.color, cell.shape)
    covered = sum((paint(Scene((obj,))) > 0).astype(int) for obj in scene.objects)
    assert np.max(covered) == 1
    if config.kind.single:
        assert {obj.shape for obj in scene.objects} == {cell.shape}
    if config.kind.degree == "comparative":
        assert item.other is not None
        values = measure(scene.objects, config.adjectives)
        assert (values[item.target] > values[item.other]) == cell.high
        assert values[item.target] != values[item.other]
        names = Counter((obj.color, obj.shape) for obj in scene.objects)
        rival = scene.objects[item.other]
        assert names[target.color, target.shape] == names[rival.color, rival.shape] == 1
        return
    assert item.target in eligible_targets(scene, config.kind, config.adjectives)
    words = (
        config.adjectives.superlative
        if config.kind.degree == "superlative"
        else config.adjectives.positive
    )
    assert (
        label_objects(scene, config.kind, config.adjectives, config.threshold_fn)[item.target].word
        == words[0 if cell.high else 1]
    )


@given(
    st.sampled_from(sorted(TASK_KINDS)),
    st.sampled_from(design_cells()),
    st.integers(0, 2**40),
    st.sampled_from(("big", "tall", "wide", "bright")),
    st.sampled_from(("rh-r", "rh-n", "rh-sd", "rh-c")),
    st.sampled_from(((5, 9), (4, 4), (6, 12))),
)
@settings(max_examples=60, deadline=None)
def test_items_satisfy_the_task_constraints(
    task: str, cell: DesignCell, seed: int, adjective: str, threshold: str, objects: tuple[int, int]
) -> None:
    has_one_turn = cell.shape in ("circle", "square")
    if adjective in ("tall", "wide") and task.startswith("set+pos") and has_one_turn:
        objects = (5, 9)
    config = SceneConfig(task, seed, objects, adjective, threshold)
    check(config, cell, draw(config, cell, config.generator(0, seed % 1000)))


def test_scene_depends_only_on_seed_stream_and_index() -> None:
    config = SceneConfig("set+pos", seed=3)
    cell = design_cells()[7]
    one = draw(config, cell, config.generator(0, 5))
    assert draw(SceneConfig("set-pos", seed=3), cell, config.generator(0, 5)) == one
    others = [
        config.generator(1, 5),
        config.generator(0, 6),
        SceneConfig("set+pos", seed=4).generator(0, 5),
    ]
    assert all(draw(config, cell, rng).scene != one.scene for rng in others)


def test_generated_bytes_do_not_drift() -> None:
    """A golden scene: data sets made with one version can be finished with the next."""
    config = SceneConfig("set+pos", seed=0)
    item = draw(config, design_cells()[0], config.generator(0, 0))
    assert item.scene.objects[item.target] == GOLDEN
    assert item.scene.k == pytest.approx(GOLDEN_K)


def test_classes() -> None:
    every = design_cells()
    assert len(set(every)) == 80
    for size in (20, 40, 80):
        for feature in (lambda c: c.answer, lambda c: c.positive):
            assert sum(map(feature, every[:size])) == size // 2
        assert set(Counter(c.color for c in every[:size]).values()) == {size // 5}
        assert set(Counter(c.shape for c in every[:size]).values()) == {size // 4}
    assert sum(map(seen, every)) == 40
    assert {(c.shape, c.positive) for c in every if seen(c)} == {
        ("circle", True),
        ("rectangle", True),
        ("square", False),
        ("triangle", False),
    }


@pytest.mark.seconds
def test_impossible_scenes_are_refused() -> None:
    for bad in (
        {"objects": (2, 9)},
        {"objects": (9, 5)},
        {"objects": (5, 99)},
        {"seed": -1},
        {"k_deviation": -1.0},
    ):
        with pytest.raises(UserError):
            SceneConfig("set+pos", **bad)
    with pytest.raises(UserError, match="finite"):
        SceneConfig("set+pos", k_mean=float("nan"))
    impossible = SceneConfig("pos", threshold="ah", k_mean=1e9, k_deviation=0.0)
    wants_big = next(cell for cell in design_cells() if cell.high)
    with pytest.raises(UserError, match="another k"):
        draw(impossible, wants_big, impossible.generator(0, 0))


def _p_value(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> float:
    """Chi-squared test that two samples come from one distribution; values too rare to count are
    put together."""
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
    "objects": lambda s: [len(s.objects)],
    "radius": lambda s: [t.radius for t in s.objects],
    "shape": lambda s: [t.shape for t in s.objects],
    "color": lambda s: [t.color for t in s.objects],
    "shapes of a scene": lambda s: [len({t.shape for t in s.objects})],
    "colors of a scene": lambda s: [len({t.color for t in s.objects})],
    "row": lambda s: [t.row // 64 for t in s.objects],
    "column": lambda s: [t.column // 64 for t in s.objects],
    "same shape pairs": lambda s: [sum(a.shape == b.shape for a, b in combinations(s.objects, 2))],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "path", "allowed"),
    [
        ("sup1", "malevic/sup1/annotation/test_annotation.json", design_cells()),
        (
            "set+pos",
            "malevic/set-pos-compositional/annotation/test_seen_annotation.json",
            [cell for cell in design_cells() if seen(cell)],
        ),
    ],
)
def test_distributions_match_the_published_scenes(
    task: str, path: str, allowed: list[DesignCell]
) -> None:
    published = [known.scene for known in read(shared(path))[0]]
    config = SceneConfig(task, seed=1)
    ours = [
        draw(config, allowed[i % len(allowed)], config.generator(0, i)).scene for i in range(6000)
    ]
    distribution = {
        name: _p_value([v for s in ours for v in of(s)], [v for s in published for v in of(s)])
        for name, of in PROPERTIES.items()
    }
    if published[0].k is not None:
        distribution["k"] = float(ks_2samp([s.k for s in ours], [s.k for s in published]).pvalue)
    assert min(distribution.values()) > 1e-3, distribution


@pytest.mark.parametrize(
    ("task", "options"),
    [("set+pos", {}), ("comparative", {"adjective": "bright"}), ("pos", {"objects": (10, 12)})],
)
def test_drawing_together_equals_drawing_one_by_one(task: str, options: dict[str, Any]) -> None:
    config, plan = SceneConfig(task, **options), make_plan(task, 12)
    together = list(scene_items(config, plan, "train"))
    one_by_one = [
        draw(config, cell, config.generator(stream, index))
        for _, cell, stream, index in plan.items("train", 0, 12)
    ]
    assert together == one_by_one
