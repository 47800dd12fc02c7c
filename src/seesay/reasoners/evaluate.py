"""Asking a trained reasoner about scenes that are known: what it says of each item, and what is true of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seesay.errors import UserError
from seesay.reasoners.sources import HARD, TASKS
from seesay.scenes import rules
from seesay.scenes.batches import scene_items
from seesay.scenes.config import SceneConfig
from seesay.scenes.labels import label_objects
from seesay.scenes.plan import test_plan
from seesay.scenes.raster import rgb
from seesay.scenes.sampling import SceneItem
from seesay.scenes.sentences import sentence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seesay.reasoners.model import Reasoner

CEILING = "fixed-k"
"""The rule of perfect eyes with the mean k: about the best that anyone can do who does not know a scene's k."""
_AT_ONCE = 64

Progress = Callable[[int, int], None]
"""Takes how many are done now, and of how many."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was said of an item, what holds, and what is known of its scene. `yes` is the probability given to yes."""

    test: str
    adjective: str
    colour: str
    shape: str
    answer: bool
    yes: float
    k: float | None
    distance: float | None
    rules: dict[str, bool]

    @property
    def right(self) -> bool:
        """Whether the answer is what the reasoner takes for more probable; a tie is a no."""
        return (self.yes > 0.5) == self.answer


class Test:
    """Items of a test, by the name that `seesay.scenes.plan.test_plan` knows it by."""

    __test__ = False  # not one of pytest's

    def __init__(self, name: str, count: int, progress: Progress | None = None) -> None:
        plan = test_plan(name, count)
        self.name, self.config = name, SceneConfig(plan.task)
        self.items: list[SceneItem] = []
        for item in scene_items(self.config, plan, plan.parts[0].split):
            self.items.append(item)
            if progress:
                progress(1, count)

    @property
    def hard(self) -> bool:
        """Whether it is one of the two without the largest and the smallest."""
        return self.name.endswith("-hard")

    def sentence(self, item: SceneItem) -> str:
        """What is said of an item."""
        return sentence(self.config, item)

    def rules(self) -> dict[str, rules.Positive]:
        """The rules that differ here: superlatives need no k, and where no set is named the scene is the set."""
        kind = self.config.kind
        if kind.degree != "positive":
            return {CEILING: rules.RULES[CEILING]}
        return {name: rule for name, rule in rules.RULES.items() if kind.by_set or name != "whole-scene"}


def tests_of(task: str) -> tuple[str, ...]:
    """The tests for a reasoner trained on a task: its own, then the hard one where there is one."""
    if task == "compositional" or task.startswith("mixture-"):
        return "compositional-seen", "compositional-unseen"
    return (task, HARD[task]) if task in HARD else (task,)


def trained_on(folder: Path, task: str | None = None) -> tuple[str, str]:
    """The network and the task of a training, as its folder tells them; `task` where the items were another's."""
    try:
        network = json.loads((folder / "config.json").read_text(encoding="utf-8"))["network"]
        settings = json.loads((folder / "training" / "settings.json").read_text(encoding="utf-8"))
        learnt = settings.get("task", task)
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            f"There is no trained reasoner in '{folder}': give a folder of `seesay reasoner train`."
        ) from error
    if learnt is None:
        raise UserError(f"The reasoner in '{folder}' was trained on a folder of data: say what it learnt with --task.")
    if learnt not in TASKS:
        raise UserError(
            f"'{learnt}', which '{folder}' was trained on, has no test of scenes: choose {', '.join(TASKS)}."
        )
    return str(network), str(learnt)


def judge(reasoner: Reasoner, test: Test, done: Callable[[int], None] = lambda _: None) -> list[Judgement]:
    """What the reasoner says of every item of a test."""
    if set(reasoner.shape.answers) != {"no", "yes"}:
        raise UserError(f"{reasoner.name} says other things than yes and no: only reasoners over scenes are diagnosed.")
    yes, asked = reasoner.shape.answers.index("yes"), test.rules()
    found: list[Judgement] = []
    for start in range(0, len(test.items), _AT_ONCE):
        some = test.items[start : start + _AT_ONCE]
        sentences = [test.sentence(item) for item in some]
        said = np.exp(reasoner.log_probabilities(seen(reasoner, some), sentences)[:, yes])
        for item, text, given in zip(some, sentences, said.tolist(), strict=True):
            ruled = {name: rules.holds(rule, item.scene, text) for name, rule in asked.items()}
            found.append(_judgement(test.name, test.config, item, given, ruled))
        done(len(some))
    return found


def seen(reasoner: Reasoner, items: list[SceneItem]) -> NDArray[np.generic]:
    """The items' pictures as the reasoner's eye sees them."""
    return reasoner.eye.look(np.stack([rgb(item.scene, reasoner.eye.side) for item in items]))


def _judgement(test: str, config: SceneConfig, item: SceneItem, yes: float, ruled: dict[str, bool]) -> Judgement:
    words = getattr(config.adjectives, config.kind.degree)
    distance = None
    if config.kind.degree == "positive":
        distance = label_objects(item.scene, config.kind, config.adjectives, config.threshold_fn)[item.target].distance
    cell = item.cell
    return Judgement(
        test, words[0 if cell.positive else 1], cell.color, cell.shape, cell.answer, yes, item.scene.k, distance, ruled
    )
