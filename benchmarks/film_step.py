"""Items per second of a FiLM step: the one before (coordinates concatenated, maps copied) against
today's, in one run.

    python benchmarks/film_step.py [--steps 30] [--threads 1] [--json]

Three steps: forward, backward, clipping, Adam, in deterministic mode, of a batch of SET+POS as
training takes it.
- *before*: the network and step of the `cpu` preset before it was replaced (64 pixels, 3 x 3
  stem, no batch norm in the classifier), kept here in its own words;
- *today's network, step as before*: today's layers and weights, but coordinates concatenated, no
  operation in place, ReLU before the maximum, uninitialised memory filled;
- *today's*: what `seesay reasoner train film --preset cpu` does. With the same weights, the last
  two have the same loss to 1e-5, batch by batch. Rounds alternate, and medians are shown, by the
  processor's clock, as other work on the machine then counts less. GFLOP/s are those of
  convolutions and matrix products (PyTorch's FLOP counter), as a share of a product of matrices
  of 1024 x 1024 on the same threads.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import conv2d, cross_entropy
from torch.utils.flop_counter import FlopCounterMode

from seesay.scenes.plan import make_plan
from seesay.scenes.reasoners.config import NetworkConfig, preset_config
from seesay.scenes.reasoners.dataset import ReasonerDataset, from_scenes
from seesay.scenes.reasoners.features.extractor import PixelExtractor
from seesay.scenes.reasoners.networks.film import Film
from seesay.scenes.reasoners.networks.layers import coordinates
from seesay.scenes.reasoners.vocabulary import NULL, SentenceVocabulary

ROUNDS = 5
PRESET = preset_config("film", "cpu")
Logits = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def concatenated(maps: torch.Tensor) -> torch.Tensor:
    """The maps with two channels more."""
    return torch.cat((maps, coordinates(maps).expand(len(maps), -1, -1, -1)), 1)


class Before(nn.Module):
    """FiLM as it was: 64 channels, a 3 x 3 stem with two strides, 256 channels under the
    maximum."""

    def __init__(
        self, words: int, width: int = 64, hidden: int = 128, classifier: int = 256
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, 64, padding_idx=NULL)
        self.recurrent, self.text_norm = nn.GRU(64, hidden, batch_first=True), nn.LayerNorm(hidden)
        self.modulate = nn.Linear(hidden, 4 * 2 * width)
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 3, 2, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, 2, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
        )
        self.narrow = nn.ModuleList(nn.Conv2d(width + 2, width, 1) for _ in range(4))
        self.look = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(4))
        self.norm = nn.ModuleList(nn.BatchNorm2d(width, affine=False) for _ in range(4))
        self.last = nn.Conv2d(width + 2, classifier, 1)
        self.classifier = nn.Sequential(
            nn.Linear(classifier, classifier), nn.ReLU(), nn.Dropout(0.0), nn.Linear(classifier, 2)
        )

    def forward(self, pixels: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        states = self.recurrent(self.embedding(words))[0]
        query = self.text_norm(states[torch.arange(len(words)), (words != NULL).sum(1) - 1])
        scales, shifts = self.modulate(query).view(len(words), 4, 2, -1, 1, 1).unbind(2)
        maps = self.stem((pixels.float() / 255).contiguous(memory_format=torch.channels_last))
        for i, (narrow, look, norm) in enumerate(
            zip(self.narrow, self.look, self.norm, strict=True)
        ):
            maps = torch.relu(narrow(concatenated(maps)))
            maps = maps + torch.relu((1 + scales[:, i]) * norm(look(maps)) + shifts[:, i])
        logits: torch.Tensor = self.classifier(
            torch.relu(self.last(concatenated(maps))).amax((2, 3))
        )
        return logits


def as_before(film: Film) -> Logits:
    """Today's network, computed as before."""

    def logits(pixels: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        scales, shifts = (
            film.modulate(film.reader(words))
            .view(len(words), film.block_count, 2, -1, 1, 1)
            .unbind(2)
        )
        maps = (pixels.float() / 255).contiguous(memory_format=torch.channels_last)
        for layer in film.stem.layers:
            maps = torch.relu(maps) if isinstance(layer, nn.ReLU) else layer(maps)
        for i, block in enumerate(film.blocks):
            narrow, look, norm = (block.get_submodule(name) for name in ("narrow", "look", "norm"))
            maps = torch.relu(
                conv2d(
                    concatenated(maps), narrow.get_parameter("weight"), narrow.get_parameter("bias")
                )
            )
            maps = maps + torch.relu((1 + scales[:, i]) * norm(look(maps)) + shifts[:, i])
        last = conv2d(concatenated(maps), film.last.weight, film.last.bias)
        answers: torch.Tensor = film.classifier(torch.relu(film.last_norm(last)).amax((2, 3)))
        return answers

    return logits


@dataclass
class Step:
    """A step, its items, and the time of each round."""

    name: str
    network: nn.Module
    logits: Logits
    items: ReasonerDataset
    words: torch.Tensor
    fill: bool
    seconds: list[float] = field(default_factory=list)
    steps: int = 0

    def __post_init__(self) -> None:
        self.network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=1e-4, weight_decay=0.0)

    def loss(self, index: int) -> torch.Tensor:
        """The loss of a batch."""
        size = PRESET.batch_size
        rows = np.arange(index * size, (index + 1) * size) % len(self.items)
        pixels, answers = (
            torch.from_numpy(self.items.features[rows]),
            torch.from_numpy(self.items.answers[rows]),
        )
        return cross_entropy(self.logits(pixels, self.words[rows]), answers)

    def __call__(self, index: int) -> None:
        loss = self.loss(index)
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.steps += 1

    def round(self, steps: int) -> None:
        deterministic: Any = torch.utils.deterministic
        deterministic.fill_uninitialized_memory = self.fill
        began = time.process_time()
        for _ in range(steps):
            self(self.steps)
        self.seconds.append((time.process_time() - began) / steps)


@dataclass(frozen=True)
class Row:
    """A line of the table; `times_before` is the rate by that of the first line."""

    step: str
    items_per_second: float
    times_before: float
    gflops: float
    share_of_peak: float


def peak() -> float:
    """GFLOP/s of a product of matrices."""
    a, b = torch.randn(2, 1024, 1024)
    seconds = []
    for _ in range(8):
        began = time.process_time()
        a @ b
        seconds.append(time.process_time() - began)
    return 2 * 1024**3 / min(seconds) / 1e9


def main() -> None:
    """Print one line per step."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=30, help=f"steps of each, in {ROUNDS} rounds")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.use_deterministic_algorithms(True)
    plan = make_plan("set+pos", 640)
    small, large = (
        from_scenes(plan, "train", PixelExtractor(size)) for size in (PRESET.image_size, 64)
    )
    vocabulary = SentenceVocabulary.of(small.sentences)
    words = torch.from_numpy(vocabulary.encode(small.sentences))

    def film() -> Film:
        torch.manual_seed(0)
        return Film(
            NetworkConfig(vocabulary, small.answer_names, small.features.shape[1:], **PRESET.sizes)
        )

    torch.manual_seed(0)
    before, copied, ours = Before(len(vocabulary)), film(), film()
    steps = [
        Step("before", before, before, large, words, fill=True),
        Step("today's network, step as before", copied, as_before(copied), small, words, fill=True),
        Step("today's", ours, ours, small, words, fill=False),
    ]
    rows: list[Row] = []
    top = peak()
    apart = max(
        abs(float(steps[1].loss(i).detach() - steps[2].loss(i).detach())) for i in range(10)
    )
    assert apart < 1e-5, f"the losses differ by {apart:.1e}"
    for step in steps:
        step.round(2)  # warms up
        step.seconds.clear()
    for _ in range(ROUNDS):
        for step in steps:
            step.round(max(1, given.steps // ROUNDS))
    for step in steps:
        rate = PRESET.batch_size / statistics.median(step.seconds)
        with FlopCounterMode(display=False) as counter:
            step(0)
        gflops = counter.get_total_flops() / PRESET.batch_size * rate / 1e9
        first = rows[0].items_per_second if rows else rate
        rows.append(Row(step.name, rate, rate / first, gflops, gflops / top))
    if given.json:
        print(
            json.dumps(
                {
                    "load": os.getloadavg()[0],
                    "peak": top,
                    "apart": apart,
                    "steps": [asdict(row) for row in rows],
                }
            )
        )
        return
    print(
        f"PyTorch {torch.__version__}, {given.threads} threads, load {os.getloadavg()[0]:.1f}, "
        f"peak {top:.0f} GFLOP/s"
    )
    print(
        f"{'FiLM step of ' + str(PRESET.batch_size):<36}{'items/s':>9}{'before':>9}"
        f"{'GFLOP/s':>9}{'of peak':>9}"
    )
    for row in rows:
        speed = f"{row.items_per_second:>9.1f}{row.times_before:>7.2f} x"
        rates = f"{speed}{row.gflops:>9.1f}{row.share_of_peak:>9.0%}"
        print(f"{row.step:<36}{rates}")
    print(f"losses of the last two: at most {apart:.1e} apart over ten batches")


if __name__ == "__main__":
    main()
