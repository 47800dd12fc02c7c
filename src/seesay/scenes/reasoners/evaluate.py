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
from seesay.scenes.annotation import read
from seesay.scenes.config import DesignCell, SceneConfig
from seesay.scenes.labels import label_objects
from seesay.scenes.lookup import annotation_path
from seesay.scenes.plan import test_plan
from seesay.scenes.published import read_questions
from seesay.scenes.raster import rgb
from seesay.scenes.reasoners.sources import HARD, TASKS
from seesay.scenes.reasoners.vocabulary import SPECIAL
from seesay.scenes.sampling import SceneItem
from seesay.scenes.scene_batches import scene_items
from seesay.scenes.sentences import parse_sentence, sentence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seesay.scenes.reasoners.model import Reasoner

CEILING = "fixed-k"
"""The rule that knows the scene and uses the mean k.

It is about the ceiling, since a scene's own k cannot be seen.
"""
_BATCH = 64
_HIGH = {
    words.word(degree, positive=True)
    for words in ADJECTIVES.values()
    for degree in ("positive", "comparative", "superlative")
}


@dataclass(frozen=True, slots=True)
class Prediction:
    """The prediction for an item, and the facts of its scene."""

    test: str
    adjective: str
    """The word of the sentence, true of the target or not."""
    color: str
    shape: str
    answer: bool
    """Whether the sentence is true."""
    p_yes: float
    """The predicted probability of yes."""
    k: float | None
    """The scene's own k, which cannot be seen in its picture."""
    distance: float | None
    """The target's distance from the threshold, as a share of its set's range."""
    rules: dict[str, bool]
    """The answers of rules that read the scene, by name."""

    @property
    def right(self) -> bool:
        """Return whether the more probable answer is right; a tie is a no."""
        return (self.p_yes > 0.5) == self.answer

    @property
    def is_high(self) -> bool:
        """Return whether "big" is true of the thing, whatever the sentence says."""
        return (self.adjective in _HIGH) == self.answer

    @property
    def predicts_low(self) -> bool:
        """Return whether the prediction amounts to "small": yes to it, or no to "big"."""
        return (self.adjective in _HIGH) != (self.p_yes > 0.5)

    @property
    def agrees(self) -> bool:
        """Return whether the fixed k gives the same answer as the scene's own."""
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

    @classmethod
    def read(cls, name: str, folder: Path, split: str = "test") -> SceneTest:
        """Return the items of a data set in the published layout, whose annotation has scenes.

        An item whose scene or target is not clear is left out.
        """
        test = cls(name, 0)
        scenes = {scene.index: scene.scene for scene in read(annotation_path(folder, split))[0]}
        for question in read_questions(folder / "dataset" / f"{split}.json")[0]:
            scene = scenes.get(str(question.index))
            parsed = parse_sentence(question.question)
            if scene is None or parsed is None:
                continue
            color, shape, _, _, positive, _ = parsed
            targets = scene.places(color, shape)
            if len(targets) == 1:
                cell = DesignCell(color, shape, positive, question.answer)
                test.items.append(SceneItem(scene, cell, targets[0]))
        return test

    def sentence(self, item: SceneItem) -> str:
        """Return the sentence of an item."""
        return sentence(self.config, item)

    def rules(self) -> dict[str, rules.Positive]:
        """Return the rules that differ on this test."""
        kind = self.config.kind
        applicable = dict(rules.RULES)
        # without a named set the whole scene is the set anyway
        if not kind.by_set:
            del applicable["whole-scene"]
        # superlatives need no k: all rules answer alike
        if kind.degree != "positive":
            return {CEILING: applicable[CEILING]}
        return applicable


def tests_for(task: str) -> tuple[str, ...]:
    """Return the tests for a reasoner trained on a task: its own, and a hard one if there is."""
    if task == "compositional" or task.startswith("mixture-"):
        return "compositional-seen", "compositional-unseen"
    if task in HARD:
        return task, HARD[task]
    return (task,)


def read_network_and_task(folder: Path, task: str | None = None) -> tuple[str, str]:
    """Read the network and the task of the training in a folder.

    `task` is that of a reasoner whose items came from a folder of data.
    """
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
    """Return the reasoner's predictions for every item of a test.

    `done` is called with the size of each batch.
    """
    answers = reasoner.config.answers
    # easy-VQA and prior-color have other answers
    if set(answers) - set(SPECIAL) != {"no", "yes"}:
        raise UserError(
            f"{reasoner.name} does not answer yes or no: only reasoners over scenes are diagnosed."
        )
    scene_rules = test.rules()
    predictions: list[Prediction] = []
    for start in range(0, len(test.items), _BATCH):
        batch = test.items[start : start + _BATCH]
        sentences = [test.sentence(item) for item in batch]
        logp = reasoner.log_probabilities(extract_items(reasoner, batch), sentences)
        # networks with the published vocabulary have answers beside these two
        logp_yes = logp[:, answers.index("yes")]
        logp_no = logp[:, answers.index("no")]
        probabilities = np.exp(logp_yes - np.logaddexp(logp_yes, logp_no)).tolist()
        for item, text, p_yes in zip(batch, sentences, probabilities, strict=True):
            by_rule = {}
            for name, rule in scene_rules.items():
                by_rule[name] = rules.holds(rule, item.scene, text)
            predictions.append(_prediction(test, item, p_yes, by_rule))
        done(len(batch))
    return predictions


def extract_items(reasoner: Reasoner, items: list[SceneItem]) -> NDArray[np.generic]:
    """Return the features of the items' pictures."""
    size = reasoner.extractor.image_size
    pictures = np.stack([rgb(item.scene, size) for item in items])
    return reasoner.extractor.extract(pictures)


def _prediction(
    test: SceneTest, item: SceneItem, p_yes: float, by_rule: dict[str, bool]
) -> Prediction:
    config = test.config
    cell = item.cell
    distance = None
    # superlatives and comparatives have no threshold to be distant from
    if config.kind.degree == "positive":
        labels = label_objects(
            item.scene,
            config.kind,
            config.adjectives,
            config.threshold_fn,
        )
        distance = labels[item.target].distance
    return Prediction(
        test=test.name,
        adjective=config.word(cell.positive),
        color=cell.color,
        shape=cell.shape,
        answer=cell.answer,
        p_yes=p_yes,
        k=item.scene.k,
        distance=distance,
        rules=by_rule,
    )
