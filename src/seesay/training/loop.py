"""One training loop: seeded, resumable, short.

A killed run, resumed, ends with the weights of an uninterrupted one.

A step depends on earlier steps only through the weights and the optimiser's state: batches are
looked up by epoch and index, and every step seeds the random generators (dropout). So a checkpoint
holds those tensors and a position, in one safetensors file; there is no generator to restore.
"""

from __future__ import annotations

import json
import logging
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

log = logging.getLogger(__name__)

B = TypeVar("B")
N = TypeVar("N", bound="torch.nn.Module")
Measurements = dict[str, float]
"""Mean losses, accuracy and the like, by name."""

_CHECKPOINT_EVERY = 60.0  # seconds
_REPORT_EVERY = 0.5  # seconds between two reports of progress


@dataclass(slots=True)
class Position:
    """The state of a training; the fields are part of the checkpoint's format."""

    step: int = 0
    epoch: int = 0
    index: int = 0
    """The next batch of the epoch."""
    size: int = 1
    """The epoch's number of batches."""
    seconds: float = 0.0
    sums: dict[str, float] = field(default_factory=dict)
    """Sums of the losses since the last validation."""
    summed: int = 0
    """The number of steps in the sums."""
    best: float | None = None
    best_step: int = 0
    waited: int = 0
    """Validations since the best one."""
    skipped: float = 0.0
    """Epochs that are skipped because patience ran out before the cooldown."""

    @property
    def epochs(self) -> float:
        """Return the epochs done, with the share of this one."""
        return self.epoch + self.index / self.size

    @classmethod
    def parse(cls, text: str) -> Position:
        """Parse the position in a checkpoint."""
        from pydantic import TypeAdapter

        position = TypeAdapter(cls).validate_json(text, strict=True)
        # validation would fill a missing field with its default
        complete = json.loads(text).keys() == asdict(position).keys()
        if not complete or not 0 <= position.index <= max(position.size, 1):
            raise ValueError("it holds no position in a training")
        return position

    def means(self) -> Measurements:
        """Return the mean losses per step since the last validation."""
        return {name: value / self.summed for name, value in self.sums.items()}


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """The share done, the steps behind it, and mean losses since the last validation."""

    done: float
    step: int
    losses: Mapping[str, float]
    resumed_at: int = 0
    """The step at which this process took over."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a training ended."""

    steps: int
    epochs: float
    """Epochs done; fewer than planned if it stopped early."""
    seconds: float
    best: float
    """The best value of the measurement that decides."""
    best_step: int
    stopped_early: bool
    luck: float | None = None
    """What guesses may reach, where the best value is no better; else None."""

    @property
    def warning(self) -> str:
        """Say why the weights are as good as untrained; empty where something was learnt."""
        if self.steps == 0:
            return "It was not trained: its weights are those it started with."
        if self.best_step == 0:
            return (
                "It learnt nothing: no validation was better than the one before the first step, "
                "so its weights are those it started with."
            )
        if self.luck is not None:
            return (
                f"Nothing shows that it learnt: its best validation, {self.best:.3f}, is within "
                f"what guesses reach by luck (up to {self.luck:.3f})."
            )
        return ""

    def as_json(self) -> dict[str, Any]:
        """Return the fields, whether anything was learnt, and if not, the sentence that says so."""
        return {**asdict(self), "learnt": not self.warning, "warning": self.warning}


def train(  # noqa: PLR0913 - a training is made of these parts
    network: N,
    batches: Callable[[int], Sequence[B]],
    losses: Callable[[N, B], Mapping[str, torch.Tensor]],
    validate: Callable[[N], Measurements],
    folder: Path,
    schedule: Schedule,
    settings: Mapping[str, Any] | None = None,
    *,
    luck: Callable[[int], float] | None = None,
    device: str = "auto",
    progress: Callable[[TrainingProgress], None] | None = None,
    checkpoint_every: float = _CHECKPOINT_EVERY,
) -> Result:
    """Train the network, or resume the folder's training; the network ends with the best weights.

    `batches(epoch)` returns that epoch's batches, always the same, made when they are looked up.
    `losses` returns the mean `loss` of a batch and whatever else is reported (`accuracy`).
    `validate` measures the held-out part. `settings` holds what else determines the result (data,
    architecture): a begun folder refuses others. `luck` returns the value that guesses may reach
    in so many validations: a best value that is no better is reported as nothing learnt.
    """
    from accelerate import Accelerator

    with lock_folder(folder, hint=checkpoint.OTHER_FOLDER):
        checkpoint.check_settings(folder, schedule.settings() | dict(settings or {}))
        accelerator = Accelerator(cpu=device == "cpu")
        network.to(accelerator.device)
        result = read_result(folder)
        if result is None:
            training = _Training(
                network,
                losses,
                validate,
                folder,
                schedule,
                accelerator,
            )
            with _interrupts() as interrupted:
                training.run(batches, progress, checkpoint_every, interrupted)
            result = training.result(luck)
            write_text(folder / RESULT, json.dumps(result.as_json(), indent=2))
            # three times the size of the weights, and no longer needed
            (folder / CHECKPOINT).unlink(missing_ok=True)
            if result.warning:
                log.warning("%s: %s", folder.parent, result.warning)
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
        # steps after the checkpoint are repeated, and write their lines again
        checkpoint.cut_history(folder, self.at.step)
        self.model, self.optimizer = accelerator.prepare(network, optimizer)
        self.saved = self.shown = time.perf_counter()
        self.started = self.saved - self.at.seconds

    @property
    def seconds(self) -> float:
        """Return the seconds of training, those before an interruption among them."""
        return time.perf_counter() - self.started

    @property
    def done(self) -> float:
        """Return the share of the training that is done; epochs that are skipped count."""
        done = self.at.epochs + self.at.skipped
        epochs = self.schedule.epochs
        # sums of shares of epochs may miss a whole number by rounding
        if done < epochs - 1e-6:
            return done / epochs
        return 1.0

    def result(self, luck: Callable[[int], float] | None) -> Result:
        """Return how the training ended."""
        at = self.at
        assert at.best is not None
        reachable = None
        if luck is not None:
            validations = len(checkpoint.read_history(self.folder))
            guessed = luck(validations)
            reachable = None if self.is_better(at.best, guessed) else guessed
        return Result(
            steps=at.step,
            epochs=at.epochs,
            seconds=self.seconds,
            best=at.best,
            best_step=at.best_step,
            stopped_early=at.epochs < self.schedule.epochs,
            luck=reachable,
        )

    def run(
        self,
        batches: Callable[[int], Sequence[B]],
        progress: Callable[[TrainingProgress], None] | None,
        checkpoint_every: float,
        interrupted: threading.Event,
    ) -> None:
        """Train from the position to the end; when `interrupted`, save and raise."""
        at = self.at
        resumed_at = at.step
        every = self.schedule.validate_every
        self.model.train()
        if at.step == 0 and self.schedule.validate_untrained:
            # the untrained network is the first point of the curve
            self.measure()
        while self.done < 1:
            epoch_batches = batches(at.epoch)
            if not len(epoch_batches):
                raise UserError("There is nothing to train on: no batch.")
            at.size = len(epoch_batches)
            while at.index < at.size and self.done < 1:
                self.step(epoch_batches[at.index])
                last = at.index == at.size or self.done >= 1
                if progress and (last or time.perf_counter() - self.shown > _REPORT_EVERY):
                    progress(TrainingProgress(self.done, at.step, at.means(), resumed_at))
                    self.shown = time.perf_counter()
                is_due = every is not None and at.step % every == 0
                ends_epoch = last and self.schedule.validate_epochs
                validates = is_due or ends_epoch or self.done >= 1
                if validates:
                    self.measure()
                overdue = time.perf_counter() - self.saved >= checkpoint_every
                if validates or overdue or interrupted.is_set():
                    self.save()
                if interrupted.is_set():
                    raise KeyboardInterrupt
            if at.index == at.size:
                at.epoch += 1
                at.index = 0

    def step(self, batch: B) -> None:
        """Take one step down the gradient."""
        import torch
        from accelerate.utils import send_to_device

        at = self.at
        accelerator = self.accelerator
        # dropout depends on nothing but the seed and the step: a resumed run draws the same
        torch.manual_seed(_seed(self.schedule.seed, at.step))
        for group in self.optimizer.param_groups:
            group["lr"] = self.schedule.rate(self.done)
        losses = self.losses(self.model, send_to_device(batch, accelerator.device))
        accelerator.backward(losses["loss"])
        if math.isfinite(self.schedule.clip):
            accelerator.clip_grad_norm_(self.model.parameters(), self.schedule.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        at.step += 1
        at.index += 1
        at.summed += 1
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
            measurements = self.validate(self.network)
        self.model.train()
        value = measurements[schedule.best_by]
        # nothing is better than a value that is no number: the first weights would stay the best
        if not math.isfinite(value):
            raise UserError(
                f"The validation's {schedule.best_by} is not a number at step {at.step}: try a "
                "lower learning rate."
            )
        at.waited += 1
        if at.best is None or self.is_better(value, at.best):
            at.waited = 0
            at.best = value
            at.best_step = at.step
            position = json.dumps({"step": at.step, **measurements})
            checkpoint.save(self.folder / BEST, self.network, None, position)
        self.write_history(measurements)
        at.sums = {}
        at.summed = 0
        if schedule.is_over(at.best, at.waited):
            # the training goes on where its cooldown begins; without one, that is its end
            cooldown = schedule.epochs * (1 - schedule.cooldown)
            at.skipped = max(at.skipped, cooldown - at.epochs)

    def is_better(self, value: float, other: float) -> bool:
        """Return whether a value of the measurement that decides is better than another."""
        return value > other if self.schedule.highest else value < other

    def write_history(self, measurements: Measurements) -> None:
        """Append a line of history: the position, mean losses, and the measurements."""
        at = self.at
        line: Measurements = {
            "step": at.step,
            "epoch": round(at.epochs, 4),
            "seconds": round(self.seconds, 2),
            **at.means(),
        }
        for name, value in measurements.items():
            line[f"validation_{name}"] = value
        with (self.folder / HISTORY).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def save(self) -> None:
        """Write a checkpoint to resume from."""
        self.at.seconds = self.seconds
        position = json.dumps(asdict(self.at))
        checkpoint.save(
            self.folder / CHECKPOINT,
            self.network,
            self.optimizer,
            position,
        )
        self.saved = time.perf_counter()


def mean_losses(
    network: N,
    batches: Iterable[B],
    losses: Callable[[N, B], Mapping[str, torch.Tensor]],
    weigh: Callable[[B], int],
) -> Measurements:
    """Return the mean losses of all batches, weighted (by the number of words, say)."""
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
    """Read how the training ended; None while it runs."""
    path = folder / RESULT
    if path.is_file():
        return read_state(path, Result, checkpoint.start_again(path))
    return None


def _seed(*numbers: int) -> int:
    """Return one seed from several numbers: PyTorch's generator on a CPU uses 32 bits."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])


def _adam(network: torch.nn.Module, schedule: Schedule) -> torch.optim.Optimizer:
    """Return Adam, or AdamW, by which biases and norms never decay."""
    import torch

    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    if schedule.optimizer == "adam":
        return torch.optim.Adam(
            parameters, schedule.learning_rate, weight_decay=schedule.weight_decay
        )
    # biases and the scales of norms have one dimension, weights of layers have more
    groups: list[dict[str, Any]] = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": schedule.weight_decay},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    return torch.optim.AdamW(groups, schedule.learning_rate)


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """Turn Ctrl-C into a flag, so that no step is cut in half.

    Pressed a second time, it interrupts at once.
    """
    flag = threading.Event()
    # signals can be handled in the main thread only
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
