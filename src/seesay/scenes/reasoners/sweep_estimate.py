"""How long a sweep would take: steps of every network timed here, times the steps to come."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from seesay.scenes.reasoners.config import NetworkConfig, ReasonerConfig
from seesay.scenes.reasoners.dataset import NO_YES
from seesay.scenes.reasoners.features.extractor import open_extractor
from seesay.scenes.reasoners.networks.registry import build
from seesay.scenes.reasoners.sweep import SweepPlan, SweepTraining, results_so_far
from seesay.scenes.reasoners.vocabulary import SentenceVocabulary

_SHAPES = {"resnet101": (1024, 14, 14), "efficientnet-lite0": (112, 14, 14)}
"""Of features that may not be installed here."""
_SENTENCE = "The yellow rectangle is a small rectangle"


@dataclass(frozen=True, slots=True)
class SweepEstimate:
    """The trainings of a network on a task: how many, steps of each at most, and seconds per step.

    Extracting features and validating are not part of it.
    """

    network: str
    task: str
    trainings: int
    steps: int
    seconds_per_step: float

    @property
    def hours_each(self) -> float:
        """Return the hours of one training."""
        return self.steps * self.seconds_per_step / 3600

    @property
    def hours(self) -> float:
        """Return the hours of all, one after the other."""
        return self.trainings * self.hours_each


def remaining_trainings(folder: Path, plan: SweepPlan) -> list[SweepTraining]:
    """Return what a sweep of the plan would train.

    Compositional counts with one configuration, whichever will be the best on SET+POS.
    """
    results = results_so_far(folder)
    trainings = plan.trainings(results)
    if plan.grid == "paper" and "compositional" in plan.tasks:
        compositional = replace(plan, grid="preset", tasks=["compositional"])
        cells = {training.key[:2] for training in trainings}
        for training in compositional.trainings():
            if training.key[:2] not in cells:
                trainings.append(training)
    done = {row.key for row in results if not row.error}
    return [training for training in trainings if training.key not in done]


def estimate(trainings: Sequence[SweepTraining]) -> list[SweepEstimate]:
    """Estimate the trainings of each network and task, in the order of the plan."""
    groups: dict[tuple[str, str], list[SweepTraining]] = {}
    for training in trainings:
        groups.setdefault(training.key[:2], []).append(training)
    seconds: dict[tuple[str, int, int], float] = {}
    lines = []
    for (network, task), group in groups.items():
        config = group[0].config
        # trainings that differ in learning rate or dropout alone take the same time
        setting = network, config.image_size, config.batch_size
        if setting not in seconds:
            seconds[setting] = _seconds_per_step(config)
        # first tasks have as many items
        epochs = config.schedule.epochs * (1 + len(config.curriculum))
        steps = epochs * -(-group[0].source.splits["train"] // config.batch_size)
        lines.append(SweepEstimate(network, task, len(group), steps, seconds[setting]))
    return lines


def cluster_hours(estimates: Iterable[SweepEstimate], workers: int) -> float:
    """Return the hours with this many workers as fast as this machine.

    Each takes the longest training that remains.
    """
    trainings: list[float] = []
    for line in estimates:
        trainings += [line.hours_each] * line.trainings
    busy = [0.0] * workers
    for hours in sorted(trainings, reverse=True):
        soonest = busy.index(min(busy))
        busy[soonest] += hours
    return max(busy)


def _seconds_per_step(config: ReasonerConfig) -> float:
    """Time a step on random features, after one that warms up.

    It is the processor's clock, so that other work on this machine counts less.
    """
    import torch

    shape = _SHAPES.get(config.features)
    if shape is None:
        black = np.zeros((1, config.image_size, config.image_size, 3), dtype=np.uint8)
        shape = open_extractor(config.features, config.image_size).extract(black).shape[1:]
    words = SentenceVocabulary.of([_SENTENCE])
    network = build(config.network, NetworkConfig(words, NO_YES, shape, **config.sizes))
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    network.train()
    optimizer = torch.optim.Adam(network.parameters())
    features = torch.rand(config.batch_size, *shape)
    sentences = torch.from_numpy(words.encode([_SENTENCE] * config.batch_size))
    answers = torch.arange(config.batch_size) % 2
    seconds = 0.0
    # the first step allocates memory: only the second is counted
    for _ in range(2):
        began = time.process_time()
        torch.nn.functional.cross_entropy(network(features, sentences), answers).backward()
        optimizer.step()
        optimizer.zero_grad()
        seconds = (time.process_time() - began) / torch.get_num_threads()
    return seconds
