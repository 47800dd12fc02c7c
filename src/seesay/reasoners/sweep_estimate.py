"""How long a sweep would take: a few steps of every network timed on this machine, times the steps that are left."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from seesay.reasoners.config import NetworkConfig, ReasonerConfig
from seesay.reasoners.dataset import NO_YES
from seesay.reasoners.networks.registry import build
from seesay.reasoners.sweep import SweepTraining
from seesay.reasoners.vocabulary import SentenceVocabulary

_SHAPES = {"resnet101": (1024, 14, 14), "efficientnet-lite0": (112, 14, 14), "objects": (12, 73)}
_SENTENCE = "The yellow rectangle is a small rectangle"
_TIMED = 2


@dataclass(frozen=True, slots=True)
class SweepEstimate:
    """The trainings of a network on a task: how many, steps of each at most, and the seconds that a step takes here.
    Extracting features and validating are not part of it."""

    network: str
    task: str
    trainings: int
    steps: int
    seconds_per_step: float

    @property
    def hours_each(self) -> float:
        """Of one training."""
        return self.steps * self.seconds_per_step / 3600

    @property
    def hours(self) -> float:
        """Of all, one after the other."""
        return self.trainings * self.hours_each


def estimate(trainings: Sequence[SweepTraining]) -> list[SweepEstimate]:
    """One line per network and task, in the order of the plan."""
    groups: dict[tuple[str, str], list[SweepTraining]] = {}
    for training in trainings:
        groups.setdefault(training.key[:2], []).append(training)
    seconds: dict[tuple[str, int, int], float] = {}
    lines = []
    for (network, task), group in groups.items():
        config = group[0].config
        setting = network, config.image_size, config.batch_size
        if setting not in seconds:
            seconds[setting] = _seconds_per_step(config)
        steps = config.schedule.epochs * -(-group[0].source.splits["train"] // config.batch_size)
        lines.append(SweepEstimate(network, task, len(group), steps, seconds[setting]))
    return lines


def cluster_hours(estimates: Iterable[SweepEstimate], workers: int) -> float:
    """Hours with this many workers as fast as this machine: each takes the longest training that is left."""
    busy = [0.0] * workers
    for hours in sorted((line.hours_each for line in estimates for _ in range(line.trainings)), reverse=True):
        soonest = busy.index(min(busy))
        busy[soonest] += hours
    return max(busy)


def _seconds_per_step(config: ReasonerConfig) -> float:
    """The fastest of a few steps on random features: what else runs on the machine makes steps slower, never faster."""
    import torch

    name, size = config.features.partition(":")[0], config.image_size
    shape = (3, size, size) if name == "pixels" else _SHAPES.get(name, _SHAPES["resnet101"])
    words = SentenceVocabulary.of([_SENTENCE])
    network = build(config.network, NetworkConfig(words, NO_YES, shape, **config.sizes)).to(
        memory_format=torch.channels_last  # type: ignore[call-overload]
    )
    network.train()
    optimizer = torch.optim.Adam(network.parameters())
    features = torch.rand(config.batch_size, *shape)
    sentences = torch.from_numpy(words.encode([_SENTENCE] * config.batch_size))
    answers, seconds = torch.arange(config.batch_size) % 2, []
    for _ in range(1 + _TIMED):  # the first one warms up
        began = time.perf_counter()
        torch.nn.functional.cross_entropy(network(features, sentences), answers).backward()
        optimizer.step()
        optimizer.zero_grad()
        seconds.append(time.perf_counter() - began)
    return min(seconds[1:])
