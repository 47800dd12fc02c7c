"""The predictions of a trained reasoner on generated scenes, with the facts of each scene."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seesay.errors import UserError
from seesay.files import read_json
from seesay.progress import ProgressCallback
from seesay.scenes import rules
from seesay.scenes.adjectives import ADJECTIVES
from seesay.scenes.config import SceneConfig
from seesay.scenes.labels import label_objects
from seesay.scenes.plan import test_plan
from seesay.scenes.raster import rgb
from seesay.scenes.reasoners.sources import HARD, TASKS
from seesay.scenes.sampling import SceneItem
from seesay.scenes.scene_batches import scene_items
from seesay.scenes.sentences import sentence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seesay.scenes.reasoners.model import Reasoner

CEILING = "fixed-k"
"""The rule that knows the scene and uses the mean k: about the ceiling, since a scene's own k
cannot be seen."""
_BATCH = 64
_HIGH = {
    pair[0]
    for words in ADJECTIVES.values()
    for pair in (words.positive, words.comparative, words.superlative)
}


@dataclass(frozen=True, slots=True)
class Prediction:
    """The predicted probability of yes for an item, the answer, the facts of its scene, and the
    answers of rules."""

    test: str
    adjective: str
    color: str
    shape: str
    answer: bool
    p_yes: float
    k: float | None
    distance: float | None
    rules: dict[str, bool]

    @property
    def right(self) -> bool:
        """Whether the more probable answer is right; a tie is a no."""
        return (self.p_yes > 0.5) == self.answer

    @property
    def is_high(self) -> bool:
        """Whether "big" is true of the thing, whatever the sentence says."""
        return (self.adjective in _HIGH) == self.answer

    @property
    def said_low(self) -> bool:
        """Whether the answer amounts to "small": yes to it, or no to "big"."""
        return (self.adjective in _HIGH) != (self.p_yes > 0.5)

    @property
    def agrees(self) -> bool:
        """Whether the fixed k gives the same answer as the scene's own."""
        return self.rules[CEILING] == self.answer


class SceneTest:
    """The items of a test, by its name in `seesay.scenes.plan.test_plan`."""

    def __init__(self, name: str, count: int, progress: ProgressCallback | None = None) -> None:
        plan = test_plan(name, count)
        self.name = name
        self.config = SceneConfig(plan.task)
        self.items: list[SceneItem] = []
        for item in scene_items(self.config, plan, plan.parts[0].split):
            self.items.append(item)
            if progress:
                progress(1, count)

    def sentence(self, item: SceneItem) -> str:
        """The sentence of an item."""
        return sentence(self.config, item)

    def rules(self) -> dict[str, rules.Positive]:
        """The rules that differ here: superlatives need no k, and without a named set the whole
        scene is the set."""
        kind = self.config.kind
        if kind.degree != "positive":
            return {CEILING: rules.RULES[CEILING]}
        return {
            name: rule for name, rule in rules.RULES.items() if kind.by_set or name != "whole-scene"
        }


def tests_for(task: str) -> tuple[str, ...]:
    """The tests for a reasoner trained on a task: its own, then the hard one where there is one."""
    if task == "compositional" or task.startswith("mixture-"):
        return "compositional-seen", "compositional-unseen"
    return (task, HARD[task]) if task in HARD else (task,)


def trained_on(folder: Path, task: str | None = None) -> tuple[str, str]:
    """The network and the task of the training in a folder; `task` for items from a folder of
    data."""
    try:
        network = read_json(folder / "config.json")["network"]
        settings = read_json(folder / "training" / "settings.json")
        trained_task = settings.get("task", task)
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            f"There is no trained reasoner in '{folder}': give a folder of `seesay reasoner train`."
        ) from error
    if trained_task is None:
        raise UserError(
            f"The reasoner in '{folder}' was trained on a folder of data: name its task with "
            "--task."
        )
    if trained_task not in TASKS:
        raise UserError(
            f"'{trained_task}', which '{folder}' was trained on, has no test of scenes: choose "
            f"{', '.join(TASKS)}."
        )
    return str(network), str(trained_task)


def predict(
    reasoner: Reasoner, test: SceneTest, done: Callable[[int], None] = lambda _: None
) -> list[Prediction]:
    """The reasoner's predictions for every item of a test; `done` is called with the size of each
    batch."""
    answers = reasoner.config.answers
    if set(answers) != {"no", "yes"}:
        raise UserError(
            f"{reasoner.name} does not answer yes or no: only reasoners over scenes are diagnosed."
        )
    scene_rules = test.rules()
    predictions: list[Prediction] = []
    for start in range(0, len(test.items), _BATCH):
        batch = test.items[start : start + _BATCH]
        sentences = [test.sentence(item) for item in batch]
        logp = reasoner.log_probabilities(extract_items(reasoner, batch), sentences)
        for item, text, p_yes in zip(
            batch, sentences, np.exp(logp[:, answers.index("yes")]).tolist(), strict=True
        ):
            by_rule = {
                name: rules.holds(rule, item.scene, text) for name, rule in scene_rules.items()
            }
            predictions.append(_prediction(test, item, p_yes, by_rule))
        done(len(batch))
    return predictions


def extract_items(reasoner: Reasoner, items: list[SceneItem]) -> NDArray[np.generic]:
    """The features of the items' pictures."""
    return reasoner.extractor.extract(
        np.stack([rgb(item.scene, reasoner.extractor.image_size) for item in items])
    )


def _prediction(
    test: SceneTest, item: SceneItem, p_yes: float, by_rule: dict[str, bool]
) -> Prediction:
    config = test.config
    cell = item.cell
    distance = None
    if config.kind.degree == "positive":
        distance = label_objects(item.scene, config.kind, config.adjectives, config.threshold_fn)[
            item.target
        ].distance
    adjective = config.word(cell.positive)
    return Prediction(
        test.name,
        adjective,
        cell.color,
        cell.shape,
        cell.answer,
        p_yes,
        item.scene.k,
        distance,
        by_rule,
    )
