"""One training loop: seeded, resumable, short. A killed run, resumed, ends with the weights of one never killed.

Nothing that a step does depends on the steps before it but through the weights and the optimiser's state: batches are
looked up by epoch and place, and every step seeds the generators anew (dropout). So a checkpoint holds those tensors
and a position, in one safetensors file that is written whole or not at all; there is no generator to restore.
"""

from __future__ import annotations

import json
import math
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from seesay.errors import UserError
from seesay.training import checkpoint
from seesay.training.checkpoint import BEST, CHECKPOINT, HISTORY, RESULT

if TYPE_CHECKING:
    import torch
    from accelerate import Accelerator

B = TypeVar("B")
N = TypeVar("N", bound="torch.nn.Module")
Figures = dict[str, float]

_EVERY = 60.0  # seconds between checkpoints
_SHOWN = 0.5  # seconds between two reports of progress


@dataclass(frozen=True, slots=True)
class Schedule:
    """How a network is trained. The learning rate rises over `warmup` (a share of the whole) and then falls.

    Validation comes after each epoch and, if `validate_every` is given, after so many steps; the weights that are best
    by `best_by` are kept. `patience` stops early, after so many validations without a better one.
    """

    epochs: int
    learning_rate: float
    warmup: float = 0.0
    decay: str = "none"  # none, linear or cosine
    weight_decay: float = 0.0
    clip: float = 1.0
    validate_every: int | None = None
    patience: int | None = None
    best_by: str = "loss"
    highest: bool = False
    seed: int = 0

    def changed(self, **given: Any) -> Schedule:
        """The schedule with what is given and not None."""
        return replace(self, **{name: value for name, value in given.items() if value is not None})

    def rate(self, done: float) -> float:
        """The learning rate when a share `done` of the training lies behind."""
        if done < self.warmup:
            return self.learning_rate * done / self.warmup
        left = (1 - done) / (1 - self.warmup) if self.warmup < 1 else 1.0
        if self.decay == "linear":
            return self.learning_rate * left
        if self.decay == "cosine":
            return self.learning_rate * (1 - math.cos(math.pi * left)) / 2
        return self.learning_rate


@dataclass(slots=True)
class Position:
    """Where a training stands: at which batch of the epoch's `size`. `sums` adds up what the steps since the last
    validation reported."""

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

    @property
    def epochs(self) -> float:
        """Epochs behind, with the share of this one."""
        return self.epoch + self.index / self.size

    def means(self) -> Figures:
        """What the steps since the last validation reported, a step."""
        return {name: value / self.summed for name, value in self.sums.items()}


@dataclass(frozen=True, slots=True)
class Progress:
    """What a step shows: the share done, seconds so far and still to come, the mean loss since the last validation."""

    done: float
    step: int
    seconds: float
    left: float
    steps_a_second: float
    figures: Mapping[str, float]


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
    validate: Callable[[N], Figures],
    folder: Path,
    schedule: Schedule,
    settings: Mapping[str, Any] | None = None,
    *,
    device: str = "auto",
    progress: Callable[[Progress], None] | None = None,
    checkpoint_every: float = _EVERY,
) -> Result:
    """Train the network, or go on where the folder's training stopped; the network ends with the best weights.

    `batches(epoch)` gives that epoch's batches, always the same ones, made when they are looked up. `losses` gives the
    mean `loss` of a batch and whatever else is to be shown (`accuracy`). `validate` gives the figures of the held-out
    part. `settings` is what else shapes the result (data, architecture): a folder takes no others once it is begun.
    """
    from accelerate import Accelerator

    with checkpoint.alone(folder):
        checkpoint.same_settings(folder, asdict(schedule) | dict(settings or {}))
        accelerator = Accelerator(cpu=device == "cpu")
        network.to(accelerator.device)
        result = read_result(folder)
        if result is None:
            training = _Training(network, losses, validate, folder, schedule, accelerator)
            with _interrupts() as interrupted:
                training.run(batches, progress, checkpoint_every, interrupted)
            result = training.result()
            checkpoint.write_whole(folder / RESULT, json.dumps(asdict(result), indent=2).encode())
            (folder / CHECKPOINT).unlink(missing_ok=True)  # thrice the size of the weights, and needed no more
        checkpoint.load(network, None, folder / BEST)
        network.eval()
        return result


class _Training(Generic[N, B]):
    """A training at work: the network, its optimiser, and where it stands."""

    def __init__(
        self,
        network: N,
        losses: Callable[[N, B], Mapping[str, torch.Tensor]],
        validate: Callable[[N], Figures],
        folder: Path,
        schedule: Schedule,
        accelerator: Accelerator,
    ) -> None:
        self.network, self.losses, self.validate = network, losses, validate
        self.folder, self.schedule, self.accelerator = folder, schedule, accelerator
        optimizer, self.at = _adam(network, schedule), Position()
        if (folder / CHECKPOINT).is_file():
            self.at = Position(**json.loads(checkpoint.load(network, optimizer, folder / CHECKPOINT)))
        checkpoint.cut_history(folder / HISTORY, self.at.step)
        self.model, self.optimizer = accelerator.prepare(network, optimizer)
        self.taken_up = replace(self.at)
        self.started = self.saved = self.shown = time.perf_counter()

    @property
    def seconds(self) -> float:
        return self.taken_up.seconds + time.perf_counter() - self.started

    @property
    def in_vain(self) -> bool:
        return self.schedule.patience is not None and self.at.waited >= self.schedule.patience

    def run(
        self,
        batches: Callable[[int], Sequence[B]],
        progress: Callable[[Progress], None] | None,
        checkpoint_every: float,
        interrupted: threading.Event,
    ) -> None:
        at, every = self.at, self.schedule.validate_every
        self.model.train()
        if at.step == 0:
            self.measure()  # what an untrained network does: the curve's first point
        while at.epoch < self.schedule.epochs:
            todays = batches(at.epoch)
            if not len(todays):
                raise UserError("There is nothing to train on: not one batch.")
            at.size = len(todays)
            while at.index < at.size:
                if self.in_vain:
                    return
                self.step(todays[at.index])
                last = at.index == at.size
                if progress and (last or time.perf_counter() - self.shown > _SHOWN):
                    progress(self.progress())
                    self.shown = time.perf_counter()
                measured = last or (every is not None and at.step % every == 0)
                if measured:
                    self.measure()
                if measured or interrupted.is_set() or time.perf_counter() - self.saved >= checkpoint_every:
                    self.save()
                if interrupted.is_set():
                    raise KeyboardInterrupt
            if self.in_vain:
                return
            at.epoch, at.index = at.epoch + 1, 0

    def step(self, batch: B) -> None:
        """One step down the gradient."""
        import torch
        from accelerate.utils import send_to_device

        at, accelerator = self.at, self.accelerator
        torch.manual_seed(_seed(self.schedule.seed, at.step))
        for group in self.optimizer.param_groups:
            group["lr"] = self.schedule.rate(at.epochs / self.schedule.epochs)
        said = self.losses(self.model, send_to_device(batch, accelerator.device))
        accelerator.backward(said["loss"])
        accelerator.clip_grad_norm_(self.model.parameters(), self.schedule.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        at.step, at.index, at.summed = at.step + 1, at.index + 1, at.summed + 1
        for name, value in said.items():
            at.sums[name] = at.sums.get(name, 0.0) + float(value.detach())
        if not math.isfinite(at.sums["loss"]):
            raise UserError(f"The loss is no number at step {at.step}: try a lower learning rate.")

    def measure(self) -> None:
        """Validate, write a line of history, and keep the weights if they are the best."""
        import torch

        at, schedule = self.at, self.schedule
        self.model.eval()
        with torch.no_grad():
            figures = self.validate(self.network)
        self.model.train()
        value = figures[schedule.best_by]
        better = at.best is None or (value > at.best if schedule.highest else value < at.best)
        at.waited = 0 if better else at.waited + 1
        if better:
            at.best, at.best_step = value, at.step
            checkpoint.save(self.folder / BEST, self.network, None, json.dumps({"step": at.step, **figures}))
        line = {"step": at.step, "epoch": round(at.epochs, 4), "seconds": round(self.seconds, 2)}
        line |= at.means() | {f"validation_{name}": value for name, value in figures.items()}
        with (self.folder / HISTORY).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        at.sums, at.summed = {}, 0

    def save(self) -> None:
        """A checkpoint to go on from."""
        self.at.seconds = self.seconds
        checkpoint.save(self.folder / CHECKPOINT, self.network, self.optimizer, json.dumps(asdict(self.at)))
        self.saved = time.perf_counter()

    def progress(self) -> Progress:
        """How far it is; the time left goes by what this process has done."""
        at, whole, spent = self.at, self.schedule.epochs, time.perf_counter() - self.started
        left = spent * (whole - at.epochs) / (at.epochs - self.taken_up.epochs)
        speed = (at.step - self.taken_up.step) / spent
        return Progress(at.epochs / whole, at.step, self.seconds, left, speed, at.means())

    def result(self) -> Result:
        """How it ended."""
        at = self.at
        assert at.best is not None
        return Result(at.step, at.epochs, self.seconds, at.best, at.best_step, at.epochs < self.schedule.epochs)


def mean_losses(
    network: N, batches: Iterable[B], losses: Callable[[N, B], Mapping[str, torch.Tensor]], weigh: Callable[[B], int]
) -> Figures:
    """What `losses` says of all batches, each batch by its weight (the words in it)."""
    from accelerate.utils import send_to_device

    device = next(network.parameters()).device
    sums: Figures = {}
    total = 0
    for batch in batches:
        weight = weigh(batch)
        for name, value in losses(network, send_to_device(batch, device)).items():
            sums[name] = sums.get(name, 0.0) + float(value.detach()) * weight
        total += weight
    return {name: value / total for name, value in sums.items()}


def read_result(folder: Path) -> Result | None:
    """How the training ended, if it has."""
    path = folder / RESULT
    return Result(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


def _seed(*numbers: int) -> int:
    """One seed from several: PyTorch's generator on a CPU heeds 32 bits."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])


def _adam(network: torch.nn.Module, schedule: Schedule) -> torch.optim.Optimizer:
    """AdamW (Adam where the weights do not decay); biases and norms never decay."""
    import torch

    wanted = [parameter for parameter in network.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in wanted if p.dim() > 1], "weight_decay": schedule.weight_decay},
        {"params": [p for p in wanted if p.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=schedule.learning_rate)


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """Ctrl-C as a flag, so that no step is cut in half; pressed a second time, it works as ever."""
    flag = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return

    def note(*_: object) -> None:
        flag.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, before)
