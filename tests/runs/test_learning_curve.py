"""Learning curves: probes on parts of the training questions, by the metrics that the task
names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.probes.test_linear import CONFIG, SPLITS
from tests.probes.test_vector_cache import Letters

from seesay.data.splits import sample
from seesay.probes.linear import train_probe
from seesay.probes.linear_layer import ProbeConfig
from seesay.probes.vector_cache import VectorCache
from seesay.runs.ask import Settings, run
from seesay.runs.learning_curve import Point, as_json, bands, curve


def test_learning_curves(tmp_path: Path) -> None:
    vectors = VectorCache(Letters(), tmp_path / "features")
    advances: list[int] = []
    points = curve(
        vectors,
        SPLITS,
        fractions=(0.05, 1.0),
        seeds=(0, 1, 2),
        config=CONFIG,
        progress=lambda n, _: advances.append(n),
    )
    few, whole = bands(points)
    assert len(advances) == len(points) == 6
    assert (few.questions, whole.questions) == (2, len(SPLITS["train"].questions))
    assert few.low <= few.mean <= few.high
    assert few.mean < whole.mean <= whole.high == 1
    table = as_json(points)
    assert [len(table[key]) for key in ("points", "curves")] == [6, 2 * len(SPLITS["test"].metrics)]  # type: ignore[arg-type]
    # in the order that the seed gives
    everything = tuple(sample(SPLITS["train"].questions, 1.0, seed=1))
    train = replace(SPLITS["train"], questions=everything)
    at_full = train_probe(vectors, {**SPLITS, "train": train}, seed=1, config=CONFIG)
    point = next(p for p in points if p.fraction == 1 and p.seed == 1)
    assert point.epoch == at_full.layer.epoch
    done = run(at_full, SPLITS["test"], tmp_path / "runs", Settings(resamples=100))
    figures = {f.metric: f.value for f in done.figures if f.slice is None and f.template is None}
    assert point.figures == pytest.approx(figures, abs=1e-6), "the same figures as the probe's run"


def test_the_task_names_the_metrics(tmp_path: Path) -> None:
    questions = {
        name: tuple(q for q in task.questions if len(q.gold) == 1) for name, task in SPLITS.items()
    }
    splits = {
        name: replace(task, questions=questions[name], metrics=("accuracy", "true_confidence"))
        for name, task in SPLITS.items()
    }
    points = curve(
        VectorCache(Letters(), tmp_path), splits, fractions=(1.0,), seeds=(0,), config=CONFIG
    )
    assert [band.metric for band in bands(points)] == ["accuracy"]
    assert list(points[0].figures) == ["accuracy", "true_confidence"]


def test_bands_of_tasks_with_different_headlines() -> None:
    points = [
        Point(
            "m", "viphy-color", 1.0, 10, 0, 1, {"relaxed_accuracy": 0.5, "true_confidence": 0.25}
        ),
        Point("m", "viphy-size", 1.0, 10, 0, 1, {"accuracy": 0.75}),
    ]
    assert [(b.task, b.metric, b.mean) for b in bands(points)] == [
        ("viphy-color", "relaxed_accuracy", 0.5),
        ("viphy-size", "accuracy", 0.75),
    ]
    assert [b.task for b in bands(points, "true_confidence")] == ["viphy-color"]


def test_without_validation_the_last_epoch_counts(tmp_path: Path) -> None:
    """A probe trained for as many epochs as the best one had is that probe."""
    vectors = VectorCache(Letters(), tmp_path)
    best = train_probe(vectors, SPLITS, config=CONFIG).layer
    assert 1 < best.epoch < CONFIG.epochs
    fixed = replace(CONFIG, epochs=best.epoch, validation=False)
    layer = train_probe(vectors, SPLITS, config=fixed).layer
    assert np.array_equal(layer.weights, best.weights)
    assert layer.epoch == best.epoch
    assert layer.history == ()


def test_curves_of_two_trainings_are_not_mixed(tmp_path: Path) -> None:
    vectors = VectorCache(Letters(), tmp_path)
    once = ProbeConfig(epochs=1, validation=False)
    # without its questions: nothing of them is encoded
    splits = {name: task for name, task in SPLITS.items() if name != "validation"}
    points = curve(vectors, splits, fractions=(1.0,), seeds=(0,), config=once)
    points += curve(vectors, SPLITS, fractions=(1.0,), seeds=(0,))
    brief, ours = bands(points)
    assert brief.mean < ours.mean
    name = points[0].model
    assert (brief.label, ours.label) == (f"{name} (1 epoch, no validation)", name)
