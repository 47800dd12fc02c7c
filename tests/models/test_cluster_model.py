"""Probing on Ray: two workers, killed at random, and the bytes of a run without Ray."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.random_kills import RandomKiller
from tests.tiny import save_tiny

import seesay
from seesay.errors import UserError
from seesay.models.baselines import Mock
from seesay.models.cluster_model import ModelCall, ModelCopy
from seesay.questions import Prompt
from seesay.runs import store

ray = pytest.importorskip("ray", reason="Ray is not installed")


class NotingMock(Mock):
    """Notes what it was asked."""

    def __init__(self) -> None:
        super().__init__("noting")

    def weights(self, prompt: Prompt) -> list[float]:
        self.note(prompt.text)
        return super().weights(prompt)


def contents(run: Path) -> dict[str, bytes]:
    return {
        name: (run / name).read_bytes() for name in (store.ANSWERS, store.FIGURES, store.QUESTIONS)
    }


def test_a_copy_forgets_the_notes_of_a_finished_run() -> None:
    copy = ModelCopy(NotingMock, None)
    for run in range(2):
        prompt = Prompt(f"It is [MASK] {run}.", ("red", "blue"))
        reply = copy(ModelCall("answer", ([prompt],), run=run))
        assert [len(scores.logp) for scores in reply.value] == [2]
        assert reply.notes == [prompt.text]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_killed_workers_batches_are_asked_again_and_the_bytes_are_the_same(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    # 15 by default: on a busy machine they would hardly run
    monkeypatch.setenv("RAY_worker_niceness", "0")
    model = str(save_tiny("gpt2", tmp_path / "gpt2"))
    settings: dict[str, Any] = {
        "limit": 120,
        "batch_size": 512,
        "how": ("cloze", "choice", "cloze")[seed],
    }
    (here,) = seesay.probe(model, "core-color", output=tmp_path / "here", **settings).runs
    killer = RandomKiller(seed)
    try:
        (on_ray,) = seesay.probe(
            model,
            "core-color",
            output=tmp_path / "ray",
            engine="ray",
            workers=2,
            progress=killer.bars,
            **settings,
        ).runs
    finally:
        ray.shutdown()
    assert killer.killed
    assert contents(on_ray.folder) == contents(here.folder)
    assert on_ray.folder.relative_to(tmp_path / "ray") == here.folder.relative_to(tmp_path / "here")


@pytest.mark.slow
def test_sentences_have_the_same_run_on_ray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its key holds how the model scores texts."""
    monkeypatch.setenv("SEESAY_CACHE", str(tmp_path / "cache"))
    rows = ["good,bad", *(f"Snow is white {n}.,Snow is green {n}." for n in range(12))]
    (tmp_path / "pairs.csv").write_text("\n".join(rows))
    (tmp_path / "pairs.yaml").write_text("rows: pairs.csv\npairs: {good: good, bad: bad}\n")
    model, task = str(save_tiny("gpt2", tmp_path / "gpt2")), str(tmp_path / "pairs.yaml")
    (here,) = seesay.probe(model, task, output=tmp_path / "runs").runs
    try:
        (again,) = seesay.probe(model, task, output=tmp_path / "runs", engine="ray").runs
    finally:
        ray.shutdown()
    assert "window:" in here.manifest.signature
    assert again.folder == here.folder


@pytest.mark.slow
def test_what_a_worker_refuses_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    try:
        with pytest.raises(UserError, match="it is not a transformers model"):
            seesay.probe(
                str(tmp_path / "empty"),
                "core-color",
                limit=3,
                output=tmp_path / "runs",
                engine="ray",
            )
    finally:
        ray.shutdown()


def test_what_does_not_go_with_a_cluster_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="trained on this machine"):
        seesay.probe("minilm", "core-color", how="linear", output=tmp_path, engine="ray")
    with pytest.raises(UserError, match="choose one of local, ray"):
        seesay.probe("minilm", "core-color", output=tmp_path, engine="spark")
    with pytest.raises(UserError, match="give a model's name"):
        seesay.probe(
            seesay.load_model("mock"), "core-color", limit=3, output=tmp_path, engine="ray"
        )
