"""The loop: it learns, it validates, and a stopped training ends as one that was never stopped."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from seesay.errors import UserError
from seesay.training import checkpoint, loop
from seesay.training.schedule import Schedule

WEIGHTS = torch.tensor([[1.0, -2.0, 3.0]])
SCHEDULE = Schedule(
    epochs=3, learning_rate=0.05, warmup=0.1, decay="cosine", weight_decay=0.01, validate_every=4
)


class Batches(Sequence[tuple[torch.Tensor, torch.Tensor]]):
    """Ten batches of a noisy line an epoch, each made from its own seed."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:  # type: ignore[override]
        seeded = torch.Generator().manual_seed(1000 * self.epoch + index)
        x = torch.randn(32, 3, generator=seeded)
        return x, x @ WEIGHTS.T + 0.1 * torch.randn(32, 1, generator=seeded)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Sums come out the same to the last bit with the same number of threads only."""
    torch.set_num_threads(1)


def network() -> torch.nn.Sequential:
    """With what a checkpoint must not forget: dropout's generator, and a batch norm's buffers."""
    torch.manual_seed(7)
    return torch.nn.Sequential(
        torch.nn.Linear(3, 16),
        torch.nn.BatchNorm1d(16),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.2),
        torch.nn.Linear(16, 1),
    )


def losses(
    net: torch.nn.Module, batch: tuple[torch.Tensor, torch.Tensor]
) -> dict[str, torch.Tensor]:
    x, y = batch
    return {"loss": ((net(x) - y) ** 2).mean()}


def validate(net: torch.nn.Module) -> loop.Measurements:
    return {"loss": losses(net, Batches(99)[0])["loss"].item()}


def run(
    folder: Path, schedule: Schedule = SCHEDULE, stop_after: int | None = None
) -> dict[str, torch.Tensor]:
    """Train; with `stop_after` the process is interrupted within that step."""
    taken = 0

    def counted(
        net: torch.nn.Module, batch: tuple[torch.Tensor, torch.Tensor]
    ) -> dict[str, torch.Tensor]:
        nonlocal taken
        taken += 1
        if taken == stop_after:
            os.kill(os.getpid(), signal.SIGINT)
        return losses(net, batch)

    net = network()
    loop.train(net, Batches, counted, validate, folder, schedule, {"data": "a line"}, device="cpu")
    return {name: tensor.clone() for name, tensor in net.state_dict().items()}


def equal(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def untimed(folder: Path) -> list[loop.Measurements]:
    return [
        {name: value for name, value in line.items() if name != "seconds"}
        for line in checkpoint.read_history(folder)
    ]


def test_training_improves_and_records_history(tmp_path: Path) -> None:
    seen: list[loop.TrainingProgress] = []
    net = network()
    result = loop.train(
        net, Batches, losses, validate, tmp_path, SCHEDULE, device="cpu", progress=seen.append
    )
    history = checkpoint.read_history(tmp_path)
    assert result.steps == 30
    assert result.epochs == 3.0
    assert not result.stopped_early
    assert [line["step"] for line in history] == [0, 4, 8, 10, 12, 16, 20, 24, 28, 30]
    assert (
        result.best
        == min(line["validation_loss"] for line in history)
        < history[0]["validation_loss"] / 10
    )
    # the best weights, not the last
    assert validate(net.eval()) == pytest.approx({"loss": result.best})
    assert seen[-1].done == 1.0
    assert seen[-1].step == 30
    assert seen[-1].losses["loss"] > 0


@pytest.mark.parametrize("at", [(1,), (4,), (10,), (13, 5), (29,), (2, 3, 9, 7)])
def test_interrupted_and_resumed_it_ends_with_the_same_weights(
    tmp_path: Path, at: tuple[int, ...]
) -> None:
    whole = run(tmp_path / "whole")
    for stop in at:
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "parts", stop_after=stop)
    assert equal(run(tmp_path / "parts"), whole)
    assert untimed(tmp_path / "parts") == untimed(tmp_path / "whole")
    assert not (tmp_path / "parts" / checkpoint.CHECKPOINT).exists()


def test_killed_and_resumed_it_ends_with_the_same_weights(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole")
    script = f"""
        import sys, time, torch
        torch.set_num_threads(1)
        sys.path.insert(0, {str(Path(__file__).parents[2])!r})
        from pathlib import Path
        from seesay.training import loop
        from tests.training import test_loop as t
        def slow(net, batch):
            time.sleep(0.1)
            return t.losses(net, batch)
        folder = Path({str(tmp_path / "killed")!r})
        loop.train(t.network(), t.Batches, slow, t.validate, folder, t.SCHEDULE,
                   {{"data": "a line"}}, device="cpu", checkpoint_every=0.0)
    """
    kept = tmp_path / "killed" / checkpoint.CHECKPOINT
    for wait in (0.05, 0.12):  # after a checkpoint of its own, so many seconds on
        before = kept.stat().st_mtime_ns if kept.exists() else 0
        with subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)]) as process:
            while (
                not (kept.exists() and kept.stat().st_mtime_ns > before) and process.poll() is None
            ):
                time.sleep(0.01)
            time.sleep(wait)
            assert process.poll() is None  # still at work
            process.kill()
    assert equal(run(tmp_path / "killed"), whole)
    assert untimed(tmp_path / "killed") == untimed(tmp_path / "whole")


def test_a_finished_training_is_read_not_repeated(tmp_path: Path) -> None:
    whole = run(tmp_path)
    assert equal(run(tmp_path, stop_after=1), whole)  # not one step is taken
    best = load_file(tmp_path / checkpoint.BEST)
    assert all(torch.equal(best[f"network.{name}"], tensor) for name, tensor in whole.items())


def test_another_seed_is_another_training(tmp_path: Path) -> None:
    assert not equal(run(tmp_path / "0"), run(tmp_path / "1", SCHEDULE.override(seed=1)))


def test_other_settings_in_the_same_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, stop_after=3)
    with pytest.raises(
        UserError, match=r"was started with learning_rate 0.05, not 0.1.*another folder"
    ):
        run(tmp_path, SCHEDULE.override(learning_rate=0.1))


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, stop_after=3)
    path = tmp_path / checkpoint.CHECKPOINT
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(UserError, match=r"checkpoint.safetensors is damaged"):
        run(tmp_path)


STATE_DAMAGE = {
    "empty": b"",
    "zeros": bytes(64),
    "not UTF-8": b"\xff\xfe\n",
    "a list": b"[]\n",
    "null": b"null\n",
    "no fields": b"{}\n",
    "another type": b'{"step": "many", "steps": "many", "best": null}\n',
    "nested too deep": b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("damage", STATE_DAMAGE)
@pytest.mark.parametrize(
    "name",
    [
        checkpoint.SETTINGS,
        checkpoint.HISTORY,
        checkpoint.RESULT,
        checkpoint.CHECKPOINT,
        checkpoint.BEST,
    ],
)
def test_damaged_state_file_gives_one_sentence(tmp_path: Path, name: str, damage: str) -> None:
    if name in (checkpoint.RESULT, checkpoint.BEST):
        run(tmp_path)
    else:
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, stop_after=5)
    (tmp_path / name).write_bytes(STATE_DAMAGE[damage])
    if name == checkpoint.HISTORY and damage in ("empty", "zeros"):
        return  # a history without a complete line is one that has not begun
    with pytest.raises(UserError, match=rf"{name} is damaged \(|was started with"):
        run(tmp_path)


@pytest.mark.parametrize(
    "position",
    [
        "",
        "[]",
        "{}",
        '{"step": 1}',
        '{"step": "1", "epoch": 0, "index": 0, "size": 1}',
        "[" * 100_000,
    ],
)
def test_checkpoint_without_position_or_with_other_shapes_is_damaged(
    tmp_path: Path, position: str
) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, stop_after=5)
    path = tmp_path / checkpoint.CHECKPOINT
    tensors = load_file(path)
    save_file(tensors, path, {"position": position})
    with pytest.raises(UserError, match=r"checkpoint.safetensors is damaged"):
        run(tmp_path)
    save_file(
        {name: t[:1].clone() if t.dim() else t for name, t in tensors.items()},
        path,
        {"position": position},
    )
    with pytest.raises(UserError, match=r"has another shape"):
        run(tmp_path)


def test_missing_file_of_a_finished_training_gives_one_sentence(tmp_path: Path) -> None:
    run(tmp_path)
    (tmp_path / checkpoint.BEST).unlink()
    with pytest.raises(UserError, match=r"is not complete \(.* is missing\): delete"):
        run(tmp_path)
    with pytest.raises(UserError, match=r"history.jsonl is damaged"):
        checkpoint.best_line(tmp_path, 12345)


def test_it_stops_early_once_validation_gets_no_better(tmp_path: Path) -> None:
    falling = iter([5.0, 4.0, 3.0, 3.5, 3.25, 1.0, 1.0, 1.0])
    schedule = SCHEDULE.override(patience=2)
    result = loop.train(
        network(),
        Batches,
        losses,
        lambda _: {"loss": next(falling)},
        tmp_path,
        schedule,
        device="cpu",
    )
    # validated at steps 0, 4, 8, 10, 12: best at the third, then two in vain
    assert (result.steps, result.best, result.best_step, result.stopped_early) == (12, 3.0, 8, True)


def test_out_of_patience_it_cools_down_and_then_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No validation is better than the first: at steps 4 and 8 patience runs out, and a quarter of
    six epochs is left.

    These are 15 more steps, interrupted in one of them or not.
    """
    monkeypatch.setattr(sys.modules[__name__], "validate", lambda _: {"loss": 1.0})
    schedule = Schedule(epochs=6, learning_rate=0.05, cooldown=0.25, patience=2, validate_every=4)
    whole = run(tmp_path / "whole", schedule)
    result = loop.read_result(tmp_path / "whole")
    assert result is not None
    assert (result.steps, result.stopped_early) == (23, True)
    assert result.epochs == pytest.approx(2.3)
    assert untimed(tmp_path / "whole")[-1]["step"] == 23  # the last weights are validated
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", schedule, stop_after=15)
    assert equal(run(tmp_path / "parts", schedule), whole)


def test_weight_decay_of_adam_is_part_of_the_gradient(tmp_path: Path) -> None:
    """Without a loss to speak of, Adam's first step moves every weight by the rate against its
    sign."""
    schedule = Schedule(
        epochs=1, learning_rate=0.01, optimizer="adam", weight_decay=1.0, clip=math.inf
    )
    net = torch.nn.Linear(3, 1)
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}

    def nothing(net: torch.nn.Module, _: object) -> dict[str, torch.Tensor]:
        return {"loss": 0.0 * sum((p.sum() for p in net.parameters()), torch.zeros(()))}

    size = iter((1.0, 0.0))  # the weights after the only step are the best
    loop.train(
        net,
        lambda _: [None],
        nothing,
        lambda _: {"loss": next(size)},
        tmp_path,
        schedule,
        device="cpu",
    )
    for name, tensor in net.state_dict().items():
        torch.testing.assert_close(
            tensor, before[name] - 0.01 * before[name].sign(), rtol=0, atol=1e-5
        )


def test_nan_loss_ends_the_training(tmp_path: Path) -> None:
    def broken(
        net: torch.nn.Module, batch: tuple[torch.Tensor, torch.Tensor]
    ) -> dict[str, torch.Tensor]:
        return {"loss": losses(net, batch)["loss"] * float("nan")}

    with pytest.raises(UserError, match="not a number at step 1: try a lower learning rate"):
        loop.train(network(), Batches, broken, validate, tmp_path, SCHEDULE, device="cpu")


def test_the_learning_rate_rises_then_falls() -> None:
    linear = Schedule(epochs=1, learning_rate=2.0, warmup=0.2, decay="linear")
    assert [linear.rate(done) for done in (0.0, 0.1, 0.2, 0.6, 1.0)] == pytest.approx(
        [0.0, 1.0, 2.0, 1.0, 0.0]
    )
    cosine = linear.override(decay="cosine")
    assert [cosine.rate(done) for done in (0.1, 0.2, 0.6, 1.0)] == pytest.approx(
        [1.0, 2.0, 1.0, 0.0]
    )
    assert Schedule(epochs=1, learning_rate=2.0).rate(0.7) == 2.0


def test_a_rate_that_stays_up_and_falls_at_the_end() -> None:
    schedule = Schedule(epochs=10, learning_rate=1.0, warmup=0.1, cooldown=0.2)
    shares = (0.05, 0.1, 0.5, 0.8, 0.9, 0.95, 1.0)
    assert [schedule.rate(share) for share in shares] == pytest.approx([0.5, 1, 1, 1, 0.5, 0.25, 0])


def test_a_training_without_clipping_is_resumed_too(tmp_path: Path) -> None:
    """Infinity is no JSON number by the book, and yet one of the settings."""
    schedule = SCHEDULE.override(clip=float("inf"))
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", schedule, stop_after=3)
    assert equal(run(tmp_path / "parts", schedule), run(tmp_path / "whole", schedule))


def train_with_values(
    folder: Path, values: Sequence[float], luck: Callable[[int], float] | None = None
) -> loop.Result:
    """Train by a schedule whose validations measure these values, the highest being the best."""
    accuracies = iter(values)
    schedule = Schedule(
        epochs=len(values) - 1, learning_rate=0.05, best_by="accuracy", highest=True
    )
    return loop.train(
        network(),
        Batches,
        losses,
        lambda _: {"accuracy": next(accuracies)},
        folder,
        schedule,
        luck=luck,
        device="cpu",
    )


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        # no better afterwards, equal, and not trained at all
        ((0.48, 0.45, 0.46), "It learnt nothing: no validation was better"),
        ((0.5, 0.5, 0.5), "It learnt nothing: no validation was better"),
        ((0.48,), "It was not trained"),
        # better than at the start, and yet no better than what guesses reach
        ((0.48, 0.52, 0.51), r"best validation, 0.520, is within .* \(up to 0.600\)"),
        ((0.48, 0.6, 0.51), r"best validation, 0.600, is within .* \(up to 0.600\)"),
    ],
)
def test_training_that_learnt_nothing_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, values: tuple[float, ...], sentence: str
) -> None:
    result = train_with_values(tmp_path / "training", values, lambda validations: 0.2 * validations)
    stored = json.loads((tmp_path / "training" / checkpoint.RESULT).read_text(encoding="utf-8"))
    assert stored["learnt"] is False
    assert re.search(sentence, stored["warning"])
    assert re.search(sentence, caplog.text)
    assert loop.read_result(tmp_path / "training") == result
    assert stored == result.as_json()


def test_training_that_learnt_something_warns_of_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    result = train_with_values(tmp_path, (0.48, 0.61, 0.51), lambda validations: 0.2 * validations)
    assert result.as_json()["learnt"] is True
    assert result.warning == caplog.text == ""


@pytest.mark.parametrize("place", [0, 1])
def test_validation_that_is_no_number_ends_the_training(tmp_path: Path, place: int) -> None:
    """Nothing is better than NaN: the untrained weights stayed the best, and NaN was reported."""
    values = [0.5, 0.6, 0.7]
    values[place] = math.nan
    with pytest.raises(UserError, match=rf"validation's accuracy is not a number at step {place}"):
        train_with_values(tmp_path, values)
    assert not (tmp_path / checkpoint.RESULT).exists()
