"""One training loop: seeded, resumable, short. A killed run, resumed, ends with the weights of an
uninterrupted one.

A step depends on earlier steps only through the weights and the optimiser's state: batches are
looked up by epoch and index, and every step seeds the random generators (dropout). So a checkpoint
holds those tensors and a position, in one safetensors file; there is no generator to restore.
"""

from __future__ import annotations

import json
import math
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from seesay.errors import UserError
from seesay.files import lock_folder, read_state, write_text
from seesay.training import checkpoint
from seesay.training.checkpoint import BEST, CHECKPOINT, HISTORY, RESULT
from seesay.training.schedule import Schedule

if TYPE_CHECKING:
    import torch
    from accelerate import Accelerator

B = TypeVar("B")
N = TypeVar("N", bound="torch.nn.Module")
Measurements = dict[str, float]
"""Mean losses, accuracy and the like, by name."""

_CHECKPOINT_EVERY = 60.0  # seconds
_REPORT_EVERY = 0.5  # seconds between two reports of progress


@dataclass(slots=True)
class Position:
    """The state of a training: the batch `index` of the epoch's `size`, and sums of the losses
    since the last validation. The fields are part of the checkpoint's format."""

    step: int = 0
    epoch: int = 0
    index: int = 0
    size: int = 1
    seconds: float = 0.0
    sums: dict[str, float] = field(default_factory=dict)
    summed: int = 0
    best: float | None = None
    best_step: int = 0
    waited: int = 0
    skipped: float = 0.0
    """Epochs left out because patience ran out before the cooldown."""

    @property
    def epochs(self) -> float:
        """Epochs done, with the share of this one."""
        return self.epoch + self.index / self.size

    @classmethod
    def parse(cls, text: str) -> Position:
        """The position in a checkpoint."""
        from pydantic import TypeAdapter

        at = TypeAdapter(cls).validate_json(text, strict=True)
        if json.loads(text).keys() != asdict(at).keys() or not 0 <= at.index <= max(at.size, 1):
            raise ValueError("it holds no position in a training")
        return at

    def means(self) -> Measurements:
        """Mean losses per step since the last validation."""
        return {name: value / self.summed for name, value in self.sums.items()}


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """The share done, the steps behind it, and mean losses since the last validation."""

    done: float
    step: int
    losses: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Result:
    """How a training ended."""

    steps: int
    epochs: float
    seconds: float
    best: float
    best_step: int
    stopped_early: bool


def train(
    network: N,
    batches: Callable[[int], Sequence[B]],
    losses: Callable[[N, B], Mapping[str, torch.Tensor]],
    validate: Callable[[N], Measurements],
    folder: Path,
    schedule: Schedule,
    settings: Mapping[str, Any] | None = None,
    *,
    device: str = "auto",
    progress: Callable[[TrainingProgress], None] | None = None,
    checkpoint_every: float = _CHECKPOINT_EVERY,
) -> Result:
    """Train the network, or resume the folder's training; the network ends with the best weights.

    `batches(epoch)` returns that epoch's batches, always the same, made when they are looked up.
    `losses` returns the mean `loss` of a batch and whatever else is reported (`accuracy`).
    `validate` measures the held-out part. `settings` holds what else determines the result (data,
    architecture): a begun folder refuses others.
    """
    from accelerate import Accelerator

    with lock_folder(folder, hint=checkpoint.OTHER_FOLDER):
        checkpoint.check_settings(folder, schedule.settings() | dict(settings or {}))
        accelerator = Accelerator(cpu=device == "cpu")
        network.to(accelerator.device)
        result = read_result(folder)
        if result is None:
            training = _Training(network, losses, validate, folder, schedule, accelerator)
            with _interrupts() as interrupted:
                training.run(batches, progress, checkpoint_every, interrupted)
            at = training.at
            assert at.best is not None
            early = at.epochs < schedule.epochs
            result = Result(at.step, at.epochs, training.seconds, at.best, at.best_step, early)
            write_text(folder / RESULT, json.dumps(asdict(result), indent=2))
            (folder / CHECKPOINT).unlink(missing_ok=True)  # three times the size of the weights
        checkpoint.load(network, None, folder / BEST)
        network.eval()
        return result


class _Training(Generic[N, B]):
    """A running training: the network, its optimiser, and its position."""

    def __init__(
        self,
        network: N,
        losses: Callable[[N, B], Mapping[str, torch.Tensor]],
        validate: Callable[[N], Measurements],
        folder: Path,
        schedule: Schedule,
        accelerator: Accelerator,
    ) -> None:
        self.network = network
        self.losses = losses
        self.validate = validate
        self.folder = folder
        self.schedule = schedule
        self.accelerator = accelerator
        optimizer = _adam(network, schedule)
        self.at = Position()
        if (folder / CHECKPOINT).is_file():
            stored = checkpoint.load(network, optimizer, folder / CHECKPOINT)
            with checkpoint.damaged_training(folder / CHECKPOINT):
                self.at = Position.parse(stored)
        checkpoint.cut_history(folder, self.at.step)
        self.model, self.optimizer = accelerator.prepare(network, optimizer)
        self.saved = self.shown = time.perf_counter()
        self.started = self.saved - self.at.seconds

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    @property
    def done(self) -> float:
        """The share of the training that is done; epochs that are skipped count."""
        done = self.at.epochs + self.at.skipped
        epochs = self.schedule.epochs
        return done / epochs if done < epochs - 1e-6 else 1.0

    def run(
        self,
        batches: Callable[[int], Sequence[B]],
        progress: Callable[[TrainingProgress], None] | None,
        checkpoint_every: float,
        interrupted: threading.Event,
    ) -> None:
        at = self.at
        every = self.schedule.validate_every
        self.model.train()
        if at.step == 0:
            self.measure()  # the untrained network: the first point of the curve
        while self.done < 1:
            epoch_batches = batches(at.epoch)
            if not len(epoch_batches):
                raise UserError("There is nothing to train on: no batch.")
            at.size = len(epoch_batches)
            while at.index < at.size and self.done < 1:
                self.step(epoch_batches[at.index])
                last = at.index == at.size or self.done >= 1
                if progress and (last or time.perf_counter() - self.shown > _REPORT_EVERY):
                    progress(TrainingProgress(self.done, at.step, at.means()))
                    self.shown = time.perf_counter()
                measured = last or (every is not None and at.step % every == 0)
                if measured:
                    self.measure()
                if (
                    measured
                    or interrupted.is_set()
                    or time.perf_counter() - self.saved >= checkpoint_every
                ):
                    self.save()
                if interrupted.is_set():
                    raise KeyboardInterrupt
            if at.index == at.size:
                at.epoch = at.epoch + 1
                at.index = 0

    def step(self, batch: B) -> None:
        """One step down the gradient."""
        import torch
        from accelerate.utils import send_to_device

        at = self.at
        accelerator = self.accelerator
        torch.manual_seed(_seed(self.schedule.seed, at.step))
        for group in self.optimizer.param_groups:
            group["lr"] = self.schedule.rate(self.done)
        losses = self.losses(self.model, send_to_device(batch, accelerator.device))
        accelerator.backward(losses["loss"])
        if math.isfinite(self.schedule.clip):
            accelerator.clip_grad_norm_(self.model.parameters(), self.schedule.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        at.step = at.step + 1
        at.index = at.index + 1
        at.summed = at.summed + 1
        for name, value in losses.items():
            at.sums[name] = at.sums.get(name, 0.0) + float(value.detach())
        if not math.isfinite(at.sums["loss"]):
            raise UserError(
                f"The loss is not a number at step {at.step}: try a lower learning rate."
            )

    def measure(self) -> None:
        """Validate, write a line of history, and keep the weights if they are the best."""
        import torch

        at = self.at
        schedule = self.schedule
        self.model.eval()
        with torch.no_grad():
            measured = self.validate(self.network)
        self.model.train()
        value = measured[schedule.best_by]
        better = at.best is None or (value > at.best if schedule.highest else value < at.best)
        at.waited = 0 if better else at.waited + 1
        if better:
            at.best = value
            at.best_step = at.step
            checkpoint.save(
                self.folder / BEST, self.network, None, json.dumps({"step": at.step, **measured})
            )
        line = {"step": at.step, "epoch": round(at.epochs, 4), "seconds": round(self.seconds, 2)}
        line |= at.means() | {f"validation_{name}": value for name, value in measured.items()}
        with (self.folder / HISTORY).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        at.sums = {}
        at.summed = 0
        if schedule.is_over(at.best, at.waited):
            at.skipped = max(at.skipped, schedule.epochs * (1 - schedule.cooldown) - at.epochs)

    def save(self) -> None:
        """Write a checkpoint to resume from."""
        self.at.seconds = self.seconds
        checkpoint.save(
            self.folder / CHECKPOINT, self.network, self.optimizer, json.dumps(asdict(self.at))
        )
        self.saved = time.perf_counter()


def mean_losses(
    network: N,
    batches: Iterable[B],
    losses: Callable[[N, B], Mapping[str, torch.Tensor]],
    weigh: Callable[[B], int],
) -> Measurements:
    """The mean losses of all batches, weighted (by the number of words, say)."""
    from accelerate.utils import send_to_device

    device = next(network.parameters()).device
    sums: Measurements = {}
    total = 0
    for batch in batches:
        weight = weigh(batch)
        for name, value in losses(network, send_to_device(batch, device)).items():
            sums[name] = sums.get(name, 0.0) + float(value.detach()) * weight
        total += weight
    return {name: value / total for name, value in sums.items()}


def read_result(folder: Path) -> Result | None:
    """How the training ended, or None while it runs."""
    path = folder / RESULT
    if path.is_file():
        return read_state(path, Result, checkpoint.start_again(path))
    return None


def _seed(*numbers: int) -> int:
    """One seed from several numbers: PyTorch's generator on a CPU uses 32 bits."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])


def _adam(network: torch.nn.Module, schedule: Schedule) -> torch.optim.Optimizer:
    """Adam, or AdamW, by which biases and norms never decay."""
    import torch

    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    if schedule.optimizer == "adam":
        return torch.optim.Adam(
            parameters, schedule.learning_rate, weight_decay=schedule.weight_decay
        )
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": schedule.weight_decay},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([group for group in groups if group["params"]], schedule.learning_rate)


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """Ctrl-C as a flag, so that no step is cut in half; pressed a second time, it interrupts at
    once."""
    flag = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return

    def interrupt(*_: object) -> None:
        flag.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, before)
