"""The accuracy of a trained reasoner by sentence type, k and distance.

The groups follow Pezzelle & Fernández (2019, section 7.1). Their own Figures 4 to 7 are on the page
of `seesay paper malevic`. Predictions are counted into rows, each with an interval; the page's
charts and `--json` are made of the same rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from seesay.metrics.bootstrap import wilson
from seesay.progress import ProgressCallback, StageProgress
from seesay.scenes.defaults import EXAMPLES, TEST_ITEMS
from seesay.scenes.reasoners.attention_maps import AttentionMap
from seesay.scenes.reasoners.evaluate import (
    Prediction,
    SceneTest,
    extract_items,
    predict,
    read_network_and_task,
    tests_for,
)
from seesay.scenes.world import Scene

if TYPE_CHECKING:
    from seesay.scenes.reasoners.model import Reasoner

REASONER = "reasoner"
K_EDGES = (0.20, 0.23, 0.26, 0.29, 0.32, 0.35, 0.38)
"""Edges of the bins of k, whose mean is 0.29.

Each bin has a tenth of the scenes or more; the outer ones are open.
"""
DISTANCE_EDGES = tuple(round(0.05 * i, 2) for i in range(1, 15))
"""Edges of the bins of the distance from the threshold, as a share of the reference set's range.

The last bin is open.
"""

K = TypeVar("K", bound=Hashable)
Group = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupAccuracy:
    """The accuracy on a group of items, with Wilson's 95 % interval."""

    test: str
    group: Group
    """What the items have in common, such as adjective, answer and shape."""
    right: int
    """The number of items answered right."""
    items: int
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class BinAccuracy:
    """The accuracy on items whose value is at least `start` and below `end` (None: open).

    `mean` is their mean value, and `ceiling` the accuracy of the fixed k on them.
    """

    start: float | None
    end: float | None
    mean: float
    ceiling: float
    share: GroupAccuracy


@dataclass(frozen=True, slots=True)
class DiagnosedExample:
    """An item, its prediction, and what the reasoner attended to."""

    test: str
    sentence: str
    scene: Scene
    target: int
    answer: bool
    p_yes: float
    right: bool
    attention: tuple[AttentionMap, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the example as a program reads it."""
        fields = asdict(replace(self, attention=()))
        return fields | {"attention": [attention.to_json() for attention in self.attention]}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The tables of one reasoner."""

    name: str
    network: str
    task: str
    task_tests: tuple[str, ...]
    """The tests of the task that it was trained on, without the hard one."""
    accuracy: tuple[GroupAccuracy, ...]
    """The reasoner and the rules on the same items."""
    types: tuple[GroupAccuracy, ...]
    """By adjective, answer and shape (as in the paper's Figure 4)."""
    colors: tuple[GroupAccuracy, ...]
    """By color of the target."""
    k: tuple[BinAccuracy, ...]
    """By adjective and answer, in bins of k (as in the paper's Figure 5)."""
    distance: tuple[BinAccuracy, ...]
    """In bins of the distance from the threshold (as in the paper's Figure 6)."""
    examples: tuple[DiagnosedExample, ...]
    """Items with the attention maps of the reasoner (as in the paper's Figure 7)."""

    def of(self, test: str, who: str = REASONER) -> GroupAccuracy | None:
        """Return the accuracy on a test, of the reasoner or of a rule."""
        for row in self.accuracy:
            if row.test == test and row.group == (who,):
                return row
        return None

    def to_json(self) -> dict[str, Any]:
        """Return the tables as a program reads them."""
        fields = asdict(replace(self, examples=()))
        return fields | {"examples": [example.to_json() for example in self.examples]}


def diagnose(
    reasoner: Reasoner,
    network: str,
    task: str,
    tests: Sequence[SceneTest],
    *,
    examples: int,
    progress: ProgressCallback = lambda *_: None,
) -> Diagnosis:
    """Predict every item of the tests, and count."""
    total = sum(len(test.items) for test in tests)
    task_tests = [test for test in tests if not test.name.endswith("-hard")] or list(tests)
    # rounded up: every test shows at least one
    per_test = -(-examples // len(task_tests))
    predictions: list[Prediction] = []
    diagnosed: list[DiagnosedExample] = []
    for test in tests:
        rows = predict(reasoner, test, lambda done: progress(done, total))
        predictions += rows
        if test in task_tests:
            diagnosed += example_items(reasoner, test, rows, per_test)
    return Diagnosis(
        name=reasoner.name,
        network=network,
        task=task,
        task_tests=tuple(test.name for test in task_tests),
        accuracy=tuple(accuracies(predictions)),
        types=tuple(shares(predictions, lambda row: (*sentence_type(row), row.shape))),
        colors=tuple(shares(predictions, lambda row: (row.color,))),
        k=tuple(bins(predictions, lambda row: row.k, K_EDGES, sentence_type)),
        distance=tuple(
            bins(
                predictions,
                lambda row: row.distance,
                DISTANCE_EDGES,
                lambda _: (),
            )
        ),
        examples=tuple(diagnosed),
    )


def diagnose_folder(
    folder: Path,
    *,
    items: int = TEST_ITEMS,
    examples: int = EXAMPLES,
    task: str | None = None,
    device: str = "auto",
    tests: dict[str, SceneTest] | None = None,
    progress: StageProgress = lambda *_: None,
) -> Diagnosis:
    """Diagnose the trained reasoner in a folder.

    `tests` is a cache of tests that several reasoners share.
    """
    from seesay.models.options import ModelOptions
    from seesay.scenes.reasoners.model import load_reasoner

    network, trained_task = read_network_and_task(folder, task)
    reasoner = load_reasoner(str(folder), ModelOptions(device=device))
    if tests is None:
        tests = {}
    names = tests_for(trained_task)
    for name in names:
        if name not in tests:
            tests[name] = SceneTest(name, items, partial(progress, f"scenes of {name}"))
    return diagnose(
        reasoner,
        network,
        trained_task,
        [tests[name] for name in names],
        examples=examples,
        progress=partial(progress, "answers"),
    )


def sentence_type(prediction: Prediction) -> Group:
    """Return the adjective, and whether the sentence is true."""
    return prediction.adjective, "true" if prediction.answer else "false"


def share(test: str, group: Group, right: int, items: int) -> GroupAccuracy:
    """Return the row of a group."""
    accuracy = right / items
    low, high = wilson(accuracy, items)
    return GroupAccuracy(test, group, right, items, accuracy, low, high)


def accuracies(predictions: Iterable[Prediction]) -> list[GroupAccuracy]:
    """Return the accuracy of the reasoner and of the rules on every test."""
    # the same items for all, so that accuracies can be compared
    marks: dict[tuple[str, str], list[bool]] = {}
    for row in predictions:
        marks.setdefault((row.test, REASONER), []).append(row.right)
        for rule, answer in row.rules.items():
            marks.setdefault((row.test, rule), []).append(answer == row.answer)
    return [
        share(
            test,
            (who,),
            sum(right),
            len(right),
        )
        for (test, who), right in marks.items()
    ]


def shares(
    predictions: Iterable[Prediction], by: Callable[[Prediction], Group]
) -> list[GroupAccuracy]:
    """Return the accuracy of every group in every test, in the order of their names."""
    groups = _group(predictions, lambda row: (row.test, by(row)))
    result = []
    for (test, group), rows in sorted(groups.items()):
        right = sum(row.right for row in rows)
        result.append(share(test, group, right, len(rows)))
    return result


def bins(
    predictions: Iterable[Prediction],
    value: Callable[[Prediction], float | None],
    edges: Sequence[float],
    by: Callable[[Prediction], Group],
) -> list[BinAccuracy]:
    """Return the accuracy of every group in every bin of a value.

    An item without the value is in no bin.
    """
    pairs = [(number, row) for row in predictions if (number := value(row)) is not None]

    def bin_of(pair: tuple[float, Prediction]) -> tuple[str, Group, int]:
        number, row = pair
        # a value on an edge belongs to the bin that begins there
        return row.test, by(row), int(np.searchsorted(edges, number, "right"))

    ends = (None, *edges, None)
    result = []
    for (test, group, place), members in sorted(_group(pairs, bin_of).items()):
        rows = [row for _, row in members]
        mean = sum(number for number, _ in members) / len(rows)
        ceiling = sum(row.agrees for row in rows) / len(rows)
        accuracy = share(test, group, sum(row.right for row in rows), len(rows))
        result.append(
            BinAccuracy(
                ends[place],
                ends[place + 1],
                mean,
                ceiling,
                accuracy,
            )
        )
    return result


def unseen_examples(task: str) -> int | None:
    """Return the number of training items with unseen combinations.

    It is None for a task that trains on all combinations.
    """
    if task == "compositional":
        return 0
    if task.startswith("mixture-"):
        return int(task.removeprefix("mixture-"))
    return None


def mixtures(diagnoses: Iterable[Diagnosis]) -> list[tuple[str, int, GroupAccuracy]]:
    """Return network, number of unseen-combination items in training, and accuracy on either test.

    Several seeds are pooled.
    """
    totals: dict[tuple[str, int, str], Counter[str]] = {}
    for diagnosis in diagnoses:
        count = unseen_examples(diagnosis.task)
        for row in diagnosis.accuracy:
            if count is not None and row.group == (REASONER,):
                total = totals.setdefault((diagnosis.network, count, row.test), Counter())
                total.update(right=row.right, items=row.items)
    result = []
    for (network, count, test), total in sorted(totals.items()):
        accuracy = share(test, (REASONER,), total["right"], total["items"])
        result.append((network, count, accuracy))
    return result


def example_items(
    reasoner: Reasoner,
    test: SceneTest,
    predictions: Sequence[Prediction],
    count: int,
    *,
    borderline: bool = False,
) -> list[DiagnosedExample]:
    """Return the first right and the first wrong items, half of each where there are enough.

    With `borderline`, they are those next to the threshold.
    """
    order = list(range(len(predictions)))
    if borderline:
        order.sort(key=lambda i: _distance(predictions[i]))
    right = [i for i in order if predictions[i].right]
    wrong = [i for i in order if not predictions[i].right]
    # right ones take the place of missing wrong ones, and the reverse
    half = min(len(wrong), max(count // 2, count - len(right)))
    return diagnosed_items(reasoner, test, predictions, [*right[: count - half], *wrong[:half]])


def diagnosed_items(
    reasoner: Reasoner,
    test: SceneTest,
    predictions: Sequence[Prediction],
    places: Sequence[int],
) -> list[DiagnosedExample]:
    """Return the items at some places, with what the reasoner attends to."""
    if not places:
        return []
    items = [test.items[i] for i in places]
    sentences = [test.sentence(item) for item in items]
    maps = reasoner.attention_maps(extract_items(reasoner, items), sentences)
    examples = []
    for i, item, text, attention in zip(places, items, sentences, maps, strict=True):
        example = DiagnosedExample(
            test=test.name,
            sentence=text,
            scene=item.scene,
            target=item.target,
            answer=predictions[i].answer,
            p_yes=predictions[i].p_yes,
            right=predictions[i].right,
            attention=attention,
        )
        examples.append(example)
    return examples


def _distance(prediction: Prediction) -> float:
    """Return the distance from the threshold; items without one come last in an order."""
    return math.inf if prediction.distance is None else prediction.distance


def _group(rows: Iterable[Any], key: Callable[[Any], K]) -> dict[K, list[Any]]:
    """Return the rows by their key, in the order in which keys appear."""
    groups: dict[K, list[Any]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups
