"""Reared models: raised, asked, resumed, and refused where they learnt nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from seesay.errors import UserError
from seesay.rearing import cells
from seesay.rearing.cells import (
    PICTURES,
    TEXT,
    RearedCell,
    caption_features,
    plan_cells,
    rear,
    result_table,
)
from seesay.rearing.diet import Diet
from seesay.rearing.page import findings, write_findings
from seesay.rearing.texts import write_texts
from seesay.rearing.world import make_world
from seesay.runs.store import find_runs

pytest.importorskip("transformers")

SMALL = Diet(name="small", doses=(0, 2))
WEIGHTS = "model.safetensors"


def test_the_plan_has_every_diet_learner_and_seed() -> None:
    plan = plan_cells([SMALL, Diet(name="other")], [TEXT, PICTURES], 3)
    assert len(plan) == 12
    assert len({cell.folder for cell in plan}) == 12
    assert [cell.seed for cell in plan[:4]] == [0] * 4
    with pytest.raises(UserError, match="Unknown learner 'eyes'"):
        plan_cells([SMALL], ["eyes"], 1)
    with pytest.raises(UserError, match="same name"):
        plan_cells([SMALL, SMALL], [TEXT], 1)


def test_every_line_with_a_picture_has_its_features() -> None:
    texts = write_texts(make_world(), SMALL)
    features = caption_features(texts)
    seen = np.array([line.picture is not None for line in texts.train])
    assert ((features.train >= 0) == seen).all()
    # the same picture is the same row, and another colour is another vector
    rows = dict(zip([line.picture for line in texts.train], features.train, strict=True))
    assert len(set(rows.values())) == len(rows)
    assert np.isfinite(features.vectors).all()


@pytest.mark.seconds
def test_models_are_reared_asked_and_not_repeated(tmp_path: Path) -> None:
    plan = [RearedCell(SMALL, learner, 0, epochs=1) for learner in (TEXT, PICTURES)]
    rows = rear(tmp_path, plan)
    assert [row.error for row in rows] == ["", ""]
    text, pictures = rows
    assert set(text.figures) == {"usual"}
    assert set(pictures.figures) == {"usual", "predicted", "unaided", "here", "prior_pull"}
    runs = find_runs([tmp_path / "runs"])
    assert len(runs) == 5
    for run in runs:
        assert run.manifest.diet["diet"] == "small"
        assert run.manifest.diet["learner"] in (TEXT, PICTURES)
        assert run.manifest.model in ("small text 0", "small pictures 0")
    weights = text.folder / WEIGHTS
    before = weights.stat().st_mtime_ns
    assert rear(tmp_path, plan) == rows
    assert weights.stat().st_mtime_ns == before
    found = findings(tmp_path, rows)
    page = write_findings(tmp_path, found, rows).read_text(encoding="utf-8")
    assert "small, seed 0: every thing" in page
    assert json.dumps(found.as_json(), allow_nan=False)


@pytest.mark.seconds
def test_a_model_that_learnt_nothing_is_a_row_without_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = cells.network

    def too_slow(cell: RearedCell) -> object:
        config = network(cell)
        return replace(config, schedule=config.schedule.override(learning_rate=1e-30))

    monkeypatch.setattr(cells, "network", too_slow)
    cell = RearedCell(SMALL, TEXT, 0, epochs=1)
    (row,) = rear(tmp_path, [cell])
    assert "learnt nothing" in row.error
    assert row.figures == {}
    assert not (tmp_path / "runs").exists()
    assert not result_table(tmp_path).has(cell)
    # the folder remembers: the same command says the same, and never gives a figure
    assert rear(tmp_path, [cell])[0].error == row.error


@pytest.mark.slow
def test_models_reared_on_ray_are_those_reared_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    # 15 by default: on a busy machine they would hardly run
    monkeypatch.setenv("RAY_worker_niceness", "0")
    plan = [RearedCell(SMALL, learner, 0, epochs=1) for learner in (TEXT, PICTURES)]
    here = rear(tmp_path / "here", plan)
    progress: list[tuple[int, int]] = []
    try:
        on_ray = rear(
            tmp_path / "ray",
            plan,
            ray_workers=2,
            progress=lambda done, total: progress.append((done, total)),
        )
    finally:
        ray.shutdown()
    assert progress == [(1, 2)] * 2
    assert [row.error for row in on_ray] == ["", ""]
    for there, row in zip(on_ray, here, strict=True):
        assert (there.key, there.figures) == (row.key, row.figures)
        assert (there.folder / WEIGHTS).read_bytes() == (row.folder / WEIGHTS).read_bytes()
