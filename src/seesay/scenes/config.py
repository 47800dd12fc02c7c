"""What to generate: the task, its options, and which class every item belongs to."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import lru_cache

import numpy as np

from seesay.digests import json_digest, text_number
from seesay.errors import UserError
from seesay.scenes.adjectives import Adjective, adjective
from seesay.scenes.defaults import ADJECTIVE, OBJECTS, THRESHOLD
from seesay.scenes.task_kinds import TaskKind, task_kind
from seesay.scenes.thresholds import Threshold, threshold
from seesay.scenes.world import SCENE_COLORS, SHAPES

MOST_OBJECTS = 30


@dataclass(frozen=True, slots=True)
class DesignCell:
    """One class of items: the target's color and shape, the adjective, and the answer."""

    color: str
    shape: str
    positive: bool
    """Whether the sentence says big, not small."""
    answer: bool
    """Whether the sentence is true."""

    @property
    def high(self) -> bool:
        """Return whether the target itself is on the adjective's positive side."""
        return self.positive == self.answer


def design_cells() -> list[DesignCell]:
    """Return all 80 classes, in an order in which every prefix is as balanced as possible.

    Colors and shapes run side by side: since 4 and 5 share no factor, every pair comes once in 20
    steps. The four kinds of question (adjective, answer) change with every step, and shift so that
    each pair has had them all after 80.
    """
    pairs = len(SCENE_COLORS) * len(SHAPES)
    cells = []
    for i in range(4 * pairs):
        rounds, pair = divmod(i, pairs)
        # pair // 4 keeps a shape, which returns every 4 steps, from the same question each time
        question = (rounds + pair + pair // 4) % 4
        cell = DesignCell(
            color=SCENE_COLORS[pair % len(SCENE_COLORS)],
            shape=SHAPES[pair % len(SHAPES)],
            positive=question < 2,
            answer=question % 2 == 0,
        )
        cells.append(cell)
    return cells


def seen(cell: DesignCell) -> bool:
    """Return whether the compositional training set has this combination of adjective and shape.

    It has big circles and rectangles, small squares and triangles.
    """
    return cell.positive == (cell.shape in ("circle", "rectangle"))


@dataclass(frozen=True)
class SceneConfig:
    """All that a scene depends on.

    Equal configs give equal scenes, on any machine, with any number of workers.
    """

    task: str
    seed: int = 0
    objects: tuple[int, int] = OBJECTS
    """The fewest and the most objects of a scene."""
    adjective: str = ADJECTIVE
    """The pair of adjectives, by its positive member."""
    threshold: str = THRESHOLD
    """The threshold function, by name."""
    k_mean: float | None = None
    """None: the mean that belongs to the threshold function."""
    k_deviation: float | None = None
    """None: the deviation that belongs to the threshold function."""
    kind: TaskKind = field(init=False, repr=False, compare=False)
    adjectives: Adjective = field(init=False, repr=False, compare=False)
    threshold_fn: Threshold = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # a frozen data class lets nothing else set its derived fields
        put = object.__setattr__
        put(self, "kind", task_kind(self.task))
        put(self, "task", self.kind.name)
        put(self, "adjectives", adjective(self.adjective))
        put(self, "threshold_fn", self._threshold())
        low, high = self.objects
        least = max(self.kind.least, 2)
        if not least <= low <= high <= MOST_OBJECTS:
            raise UserError(
                f"{self.task} takes {least} to {MOST_OBJECTS} objects per scene, not {low} to "
                f"{high}."
            )
        if self.seed < 0:
            raise UserError(f"A seed is 0 or more, not {self.seed}.")

    def _threshold(self) -> Threshold:
        """Return the threshold function with this config's distribution of k."""
        base = threshold(self.threshold)
        mean = base.mean if self.k_mean is None else self.k_mean
        deviation = base.deviation if self.k_deviation is None else self.k_deviation
        if not (np.isfinite(mean) and np.isfinite(deviation) and deviation >= 0):
            raise UserError(
                f"k needs a finite mean and a deviation of 0 or more, not {mean} and {deviation}."
            )
        return replace(base, mean=mean, deviation=deviation)

    def settings(self) -> dict[str, object]:
        """Return what a data set's manifest records: the fields that are not derived."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}

    def word(self, positive: bool) -> str:
        """Return the adjective or its opposite, as the task's sentences use it."""
        return self.adjectives.word(self.kind.degree, positive)

    @property
    def fingerprint(self) -> str:
        """Return a digest of the settings."""
        return json_digest(self.settings(), sort_keys=True)

    def generator(self, stream: int, index: int) -> np.random.Generator:
        """Return the random generator of item `index` of a stream.

        Items are independent of one another, so that any worker can make any of them.
        """
        key = (_number(self.task), stream, index)
        sequence = np.random.SeedSequence(self.seed, spawn_key=key)
        return np.random.Generator(np.random.PCG64(sequence))


@lru_cache(maxsize=64)
def _number(task: str) -> int:
    return text_number(task, 4)
