"""Training steps: seconds of 1,000 items in each network's step, as `seesay reasoner train --preset
cpu` takes it (forward, backward, clipping, Adam, in deterministic mode), the networks in turn.

    python benchmarks/training_steps.py [--steps 20] [--threads 1] [--compile] [--profile NETWORK]

`--compile`: beside them the same networks through `torch.compile`, with how long it compiles, after
how many items that is paid back, and how far the losses are apart. `--profile`: what one network's
step spends its time in.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

from seesay.scenes.plan import make_plan
from seesay.scenes.reasoners.config import NetworkConfig, preset_config
from seesay.scenes.reasoners.dataset import from_scenes
from seesay.scenes.reasoners.experiment import with_features
from seesay.scenes.reasoners.networks.registry import NAMES, build
from seesay.scenes.reasoners.train import ReasonerBatches, losses
from seesay.scenes.reasoners.vocabulary import SentenceVocabulary

ROUNDS = 5
ITEMS = 640


@dataclass
class Training:
    """A network with its batches, and the seconds of 1,000 items in every round."""

    name: str
    network: Any
    batches: ReasonerBatches
    steps: int = 0
    last_loss: float = 0.0
    seconds: list[float] = field(default_factory=list)
    processor_seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=1e-4, weight_decay=0.0)

    def step(self) -> None:
        """As the training loop's."""
        batch = self.batches[self.steps % (ITEMS // self.batches.size)]
        loss = losses(self.network, batch)["loss"]
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.last_loss = float(loss.detach())
        self.steps += 1

    def round(self, steps: int) -> None:
        thousands = steps * self.batches.size / 1000
        start, processor_start = time.perf_counter(), time.process_time()
        for _ in range(steps):
            self.step()
        self.seconds.append((time.perf_counter() - start) / thousands)
        self.processor_seconds.append((time.process_time() - processor_start) / thousands)


def training(name: str, *, compiled: bool) -> Training:
    """A network of the `cpu` preset with its first weights, and pictures of SET+POS."""
    config, extractor = with_features(preset_config(name, "cpu"))
    items = from_scenes(make_plan("set+pos", ITEMS * 5 // 4), "train", extractor)
    vocabulary = SentenceVocabulary.of(items.sentences)
    words = vocabulary.encode(items.sentences)
    torch.manual_seed(0)
    network: Any = build(
        name,
        NetworkConfig(vocabulary, items.answer_names, items.features.shape[1:], **config.sizes),
    )
    network.to(memory_format=torch.channels_last)
    if compiled:
        network.compile()
    order = np.random.default_rng(0).permutation(ITEMS)
    label = f"{name}, compiled" if compiled else name
    return Training(label, network, ReasonerBatches(items, words, order, config.batch_size))


def main() -> None:
    """Print one line per network."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=20, help=f"steps of each, in {ROUNDS} rounds")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--networks", default=",".join(NAMES))
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--profile", choices=NAMES, metavar="NETWORK")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.use_deterministic_algorithms(True)
    deterministic: Any = torch.utils.deterministic
    deterministic.fill_uninitialized_memory = False
    if given.profile:
        show_profile(training(given.profile, compiled=False), given.steps)
        return
    names = given.networks.split(",")
    trainings = {name: training(name, compiled=False) for name in names}
    compiled = {name: training(name, compiled=True) for name in names if given.compile}
    first_steps: dict[str, float] = {}
    for name, both in ((name, (trainings[name], compiled.get(name))) for name in names):
        for one in filter(None, both):
            start = time.perf_counter()
            one.step()  # warms up, and compiles
            one.step()
            if one is compiled.get(name):
                first_steps[name] = time.perf_counter() - start
    for _ in range(ROUNDS):
        for one in [*trainings.values(), *compiled.values()]:
            one.round(max(1, given.steps // ROUNDS))
    print(f"PyTorch {torch.__version__}, {given.threads} threads, load {os.getloadavg()[0]:.1f}")
    for one in trainings.values():
        print(
            f"{one.name}: 1,000 items in {statistics.median(one.seconds):.2f} s "
            f"({statistics.median(one.processor_seconds):.2f} s of the processor), "
            f"loss {one.last_loss:.7f} after {one.steps} steps"
        )
    for name, one in compiled.items():
        plain = statistics.median(trainings[name].processor_seconds)
        fast = statistics.median(one.processor_seconds)
        saved = plain - fast
        paid = "never paid back"
        if saved > 0:
            paid = f"paid back after {1000 * first_steps[name] / saved:,.0f} items"
        print(
            f"{one.name}: {plain / fast:.2f} x, compiled in {first_steps[name]:.0f} s, {paid}; "
            f"losses {abs(one.last_loss - trainings[name].last_loss):.1e} apart"
        )


def show_profile(one: Training, steps: int) -> None:
    """Print the operations that take most of the processor's time."""
    one.step()
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        for _ in range(steps):
            one.step()
    print(profiled.key_averages().table(sort_by="self_cpu_time_total", row_limit=14))


if __name__ == "__main__":
    main()
