"""One training loop: seeded, resumable, short. A killed run, resumed, ends with the weights of one never killed.

Nothing that a step does depends on the steps before it but through the weights and the optimiser's state: batches are
looked up by epoch and place, and every step seeds the generators anew (dropout). So a checkpoint holds those tensors
and a position, in one safetensors file that is written whole or not at all; there is no generator to restore.
"""

from __future__ import annotations

import json
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import filelock
import numpy as np

from seesay.questions import UserError

if TYPE_CHECKING:
    import torch

B = TypeVar("B")
N = TypeVar("N", bound="torch.nn.Module")
Figures = dict[str, float]

SETTINGS, HISTORY, CHECKPOINT, BEST, RESULT = (
    "settings.json",
    "history.jsonl",
    "checkpoint.safetensors",
    "best.safetensors",
    "result.json",
)
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
    """Where a training stands. `sums` adds up what the steps since the last validation reported."""

    step: int = 0
    epoch: int = 0
    index: int = 0
    seconds: float = 0.0
    sums: dict[str, float] = field(default_factory=dict)
    summed: int = 0
    best: float | None = None
    best_step: int = 0
    waited: int = 0


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
    import torch
    from accelerate import Accelerator
    from accelerate.utils import send_to_device

    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        same_settings(folder, schedule, settings or {})
        accelerator = Accelerator(cpu=device == "cpu")
        network.to(accelerator.device)
        if ended := read_result(folder):
            _load(network, None, folder / BEST)
            return ended
        optimizer = _adam(network, schedule)
        at = Position()
        if (folder / CHECKPOINT).is_file():
            at = Position(**json.loads(_load(network, optimizer, folder / CHECKPOINT)))
        _cut_history(folder / HISTORY, at.step)
        model, optimizer = accelerator.prepare(network, optimizer)
        started = time.perf_counter()
        began, first_step = started - at.seconds, at.step
        first_share: float | None = None
        saved = shown = started

        def checkpoint() -> None:
            at.seconds = time.perf_counter() - began
            _save(folder / CHECKPOINT, network, optimizer, json.dumps(asdict(at)))

        def measure() -> None:
            """Validate, write a line of history, keep the weights if they are the best, and a checkpoint."""
            model.eval()
            with torch.no_grad():
                figures = validate(network)
            model.train()
            value = figures[schedule.best_by]
            better = at.best is None or (value > at.best if schedule.highest else value < at.best)
            at.waited = 0 if better else at.waited + 1
            if better:
                at.best, at.best_step = value, at.step
                _save(folder / BEST, network, None, json.dumps({"step": at.step, **figures}))
            line = {"step": at.step, "epoch": round(at.epoch + share_of_epoch(), 4)}
            line |= {"seconds": round(time.perf_counter() - began, 2)}
            line |= {name: value / max(at.summed, 1) for name, value in at.sums.items()}
            line |= {f"validation_{name}": value for name, value in figures.items()}
            with (folder / HISTORY).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            at.sums, at.summed = {}, 0

        def share_of_epoch() -> float:
            return at.index / len(todays) if todays else 0.0

        model.train()
        stopped_early = False
        with _interrupts() as interrupted:
            todays: Sequence[B] = ()
            if at.step == 0:
                measure()  # what an untrained network does: the curve's first point
            while at.epoch < schedule.epochs and not stopped_early:
                todays = batches(at.epoch)
                if not len(todays):
                    raise UserError("There is nothing to train on: not one batch.")
                while at.index < len(todays) and not stopped_early:
                    done = _share(schedule, at, len(todays))
                    first_share = done if first_share is None else first_share
                    torch.manual_seed(_seed(schedule.seed, at.step))
                    for group in optimizer.param_groups:
                        group["lr"] = schedule.rate(done)
                    said = losses(model, send_to_device(todays[at.index], accelerator.device))
                    accelerator.backward(said["loss"])
                    accelerator.clip_grad_norm_(model.parameters(), schedule.clip)
                    optimizer.step()
                    optimizer.zero_grad()
                    at.step, at.index, at.summed = at.step + 1, at.index + 1, at.summed + 1
                    for name, value in said.items():
                        at.sums[name] = at.sums.get(name, 0.0) + float(value.detach())
                    if not math.isfinite(at.sums["loss"]):
                        raise UserError(f"The loss is no number at step {at.step}: try a lower learning rate.")
                    last = at.index == len(todays)
                    now = time.perf_counter()
                    if progress and (now - shown > _SHOWN or last):
                        shown, done = now, _share(schedule, at, len(todays))
                        left = (now - started) / (done - first_share) * (1 - done)
                        speed = (at.step - first_step) / (now - started)
                        figures = {name: value / at.summed for name, value in at.sums.items()}
                        progress(Progress(done, at.step, now - began, left, speed, figures))
                    if last or (schedule.validate_every and at.step % schedule.validate_every == 0):
                        measure()
                        stopped_early = schedule.patience is not None and at.waited >= schedule.patience
                        checkpoint()
                        saved = time.perf_counter()
                    elif now - saved >= checkpoint_every or interrupted.is_set():
                        checkpoint()
                        saved = time.perf_counter()
                    if interrupted.is_set():
                        raise KeyboardInterrupt
                if not stopped_early:
                    at.epoch, at.index = at.epoch + 1, 0
        assert at.best is not None
        whole = at.epoch + share_of_epoch() if stopped_early else float(at.epoch)
        result = Result(at.step, whole, time.perf_counter() - began, at.best, at.best_step, stopped_early)
        _load(network, None, folder / BEST)
        network.eval()
        write_whole(folder / RESULT, json.dumps(asdict(result), indent=2).encode())
        (folder / CHECKPOINT).unlink(missing_ok=True)  # thrice the size of the weights, and needed no more
        return result


def same_settings(folder: Path, schedule: Schedule, settings: Mapping[str, Any]) -> None:
    """Write down what shapes a training before it begins; one that was begun with other settings is refused."""
    path = folder / SETTINGS
    wanted = json.loads(json.dumps({**asdict(schedule), **settings}))
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(wanted, indent=2).encode())
        return
    begun: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    changed = [name for name in {**begun, **wanted} if begun.get(name) != wanted.get(name)]
    if changed:
        first = changed[0]
        raise UserError(
            f"The training in {folder} was begun with {first} {begun.get(first)}, not {wanted.get(first)}"
            f"{f' (and {len(changed) - 1} more changes)' if len(changed) > 1 else ''}: "
            "give it the same settings, or another folder."
        )


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


def read_history(folder: Path) -> list[Figures]:
    """The lines of a training's history."""
    return [json.loads(line) for line in (folder / HISTORY).read_text(encoding="utf-8").splitlines()]


def read_result(folder: Path) -> Result | None:
    """How the training ended, if it has."""
    path = folder / RESULT
    return Result(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old one or the new one."""
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _seed(*numbers: int) -> int:
    """One seed from several: PyTorch's generator on a CPU heeds 32 bits."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])


def _share(schedule: Schedule, at: Position, batches: int) -> float:
    """How much of the training lies behind."""
    return (at.epoch + at.index / batches) / schedule.epochs


def _adam(network: torch.nn.Module, schedule: Schedule) -> torch.optim.Optimizer:
    """AdamW (Adam where the weights do not decay); biases and norms never decay."""
    import torch

    wanted = [parameter for parameter in network.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in wanted if p.dim() > 1], "weight_decay": schedule.weight_decay},
        {"params": [p for p in wanted if p.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=schedule.learning_rate)


def _tensors(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Weights and buffers, tied ones once."""
    named = [*network.named_parameters(), *network.named_buffers()]
    return {f"network.{name}": tensor.detach() for name, tensor in named}


def _save(path: Path, network: torch.nn.Module, optimizer: Any, position: str) -> None:
    from safetensors.torch import save

    tensors = _tensors(network)
    for number, kept in (optimizer.state_dict()["state"] if optimizer is not None else {}).items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in kept.items()}
    write_whole(path, save({name: t.contiguous().cpu() for name, t in tensors.items()}, {"position": position}))


def _load(network: torch.nn.Module, optimizer: torch.optim.Optimizer | None, path: Path) -> str:
    """Fill the network (and the optimiser) from a file; what it says of the position."""
    import torch
    from safetensors import safe_open

    try:
        with safe_open(path, framework="pt") as file, torch.no_grad():
            for name, tensor in _tensors(network).items():
                tensor.copy_(file.get_tensor(name))
            if optimizer is not None:
                state: dict[int, dict[str, torch.Tensor]] = {}
                for key in file.keys():  # noqa: SIM118 - not a dict
                    kind, _, rest = key.partition(".")
                    if kind == "optimizer":
                        number, _, name = rest.partition(".")
                        state.setdefault(int(number), {})[name] = file.get_tensor(key)
                optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
            return str(file.metadata()["position"])
    except FileNotFoundError:
        raise
    except Exception as error:  # safetensors has errors of its own
        raise UserError(f"{path} is damaged ({error}): delete {path.parent} and begin again.") from error


def _cut_history(path: Path, step: int) -> None:
    """Drop what was written after the checkpoint: those steps are taken again."""
    if not path.is_file():
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line.endswith("}") and json.loads(line)["step"] <= step and step > 0]
    write_whole(path, "".join(f"{line}\n" for line in kept).encode())


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    lock = filelock.FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise UserError(f"Another process is training in {folder}: wait for it, or take another folder.") from None
    try:
        yield
    finally:
        lock.release()


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
