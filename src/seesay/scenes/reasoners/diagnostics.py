"""The accuracy of a trained reasoner by sentence type, k and distance, after Pezzelle & Fernández
(2019).

Their own Figures 4 to 7 are on the page of `seesay paper malevic`. Predictions are counted into
rows, each with an interval; the page's charts and `--json` are made of the same rows.
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
    CEILING,
    Prediction,
    SceneTest,
    extract_items,
    predict,
    tests_for,
    trained_on,
)
from seesay.scenes.world import Scene

if TYPE_CHECKING:
    from seesay.scenes.reasoners.model import Reasoner

REASONER = "reasoner"
K_EDGES = (0.20, 0.23, 0.26, 0.29, 0.32, 0.35, 0.38)
"""Edges of the bins of k: its mean is 0.29; each bin has a tenth of the scenes or more, the outer
ones are open."""
DISTANCE_EDGES = tuple(round(0.05 * i, 2) for i in range(1, 15))
"""Edges of the bins of the distance from the threshold, as a share of the reference set's range;
the last is open."""

K = TypeVar("K", bound=Hashable)
Group = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupAccuracy:
    """The accuracy on a group of items, with Wilson's 95 % interval."""

    test: str
    group: Group
    right: int
    items: int
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class BinAccuracy:
    """The accuracy on items whose value is at least `start` and below `end` (None: open), `mean` on
    average; `ceiling` is the accuracy of the fixed k on them."""

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
        """As a program reads it."""
        fields = asdict(replace(self, attention=()))
        return fields | {"attention": [attention.to_json() for attention in self.attention]}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The tables of one reasoner; `own` are the tests of the task that it was trained on.

    `accuracy` has the reasoner and the rules on the same items; `types` groups by adjective, answer
    and shape and `colors` by color; `k` by adjective and answer in bins of k; `distance` has bins
    of the distance from the threshold; `examples` hold the attention maps.
    """

    name: str
    network: str
    task: str
    own: tuple[str, ...]
    accuracy: tuple[GroupAccuracy, ...]
    types: tuple[GroupAccuracy, ...]
    colors: tuple[GroupAccuracy, ...]
    k: tuple[BinAccuracy, ...]
    distance: tuple[BinAccuracy, ...]
    examples: tuple[DiagnosedExample, ...]

    def of(self, test: str, who: str = REASONER) -> GroupAccuracy | None:
        """The accuracy on a test, of the reasoner or of a rule."""
        return next(
            (row for row in self.accuracy if row.test == test and row.group == (who,)), None
        )

    def to_json(self) -> dict[str, Any]:
        """The same rows as a program reads them."""
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
    by_test = {
        test.name: predict(reasoner, test, lambda done: progress(done, total)) for test in tests
    }
    own = [test for test in tests if not test.name.endswith("-hard")] or list(tests)
    each = -(-examples // len(own))
    predictions = [prediction for rows in by_test.values() for prediction in rows]
    return Diagnosis(
        name=reasoner.name,
        network=network,
        task=task,
        own=tuple(test.name for test in own),
        accuracy=tuple(accuracies(predictions)),
        types=tuple(shares(predictions, lambda row: (*sentence_type(row), row.shape))),
        colors=tuple(shares(predictions, lambda row: (row.color,))),
        k=tuple(bins(predictions, lambda row: row.k, K_EDGES, sentence_type)),
        distance=tuple(bins(predictions, lambda row: row.distance, DISTANCE_EDGES, lambda _: ())),
        examples=tuple(
            row for test in own for row in example_items(reasoner, test, by_test[test.name], each)
        ),
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
    """Diagnose the trained reasoner in a folder. `tests` is a cache of tests that several reasoners
    share."""
    from seesay.models.options import ModelOptions
    from seesay.scenes.reasoners.model import load_reasoner

    network, trained_task = trained_on(folder, task)
    reasoner = load_reasoner(str(folder), ModelOptions(device=device))
    tests = {} if tests is None else tests
    names = tests_for(trained_task)
    for name in names:
        if name not in tests:
            tests[name] = SceneTest(name, items, partial(progress, f"scenes of {name}"))
    chosen = [tests[name] for name in names]
    answers = partial(progress, "answers")
    return diagnose(reasoner, network, trained_task, chosen, examples=examples, progress=answers)


def sentence_type(prediction: Prediction) -> Group:
    """The adjective, and whether the sentence is true."""
    return prediction.adjective, "true" if prediction.answer else "false"


def share(test: str, group: Group, right: int, items: int) -> GroupAccuracy:
    """The row of a group."""
    return GroupAccuracy(test, group, right, items, right / items, *wilson(right / items, items))


def accuracies(predictions: Iterable[Prediction]) -> list[GroupAccuracy]:
    """The reasoner and the rules on every test."""
    marks: dict[tuple[str, str], list[bool]] = {}
    for row in predictions:
        marks.setdefault((row.test, REASONER), []).append(row.right)
        for rule, answer in row.rules.items():
            marks.setdefault((row.test, rule), []).append(answer == row.answer)
    return [share(test, (who,), sum(right), len(right)) for (test, who), right in marks.items()]


def shares(
    predictions: Iterable[Prediction], by: Callable[[Prediction], Group]
) -> list[GroupAccuracy]:
    """The accuracy of every group in every test, in the order of their names."""
    groups = _grouped(predictions, lambda row: (row.test, by(row)))
    return [
        share(test, group, sum(row.right for row in rows), len(rows))
        for (test, group), rows in sorted(groups.items())
    ]


def bins(
    predictions: Iterable[Prediction],
    value: Callable[[Prediction], float | None],
    edges: Sequence[float],
    by: Callable[[Prediction], Group],
) -> list[BinAccuracy]:
    """The accuracy of every group in every bin of a value. An item without the value is in no
    bin."""
    valued = [(at, row) for row in predictions if (at := value(row)) is not None]
    groups = _grouped(
        valued,
        lambda pair: (pair[1].test, by(pair[1]), int(np.searchsorted(edges, pair[0], "right"))),
    )
    ends = (None, *edges, None)
    rows = []
    for (test, group, place), pairs in sorted(groups.items()):
        mean = sum(at for at, _ in pairs) / len(pairs)
        ceiling = sum(row.rules[CEILING] == row.answer for _, row in pairs) / len(pairs)
        accuracy = share(test, group, sum(row.right for _, row in pairs), len(pairs))
        rows.append(BinAccuracy(ends[place], ends[place + 1], mean, ceiling, accuracy))
    return rows


def unseen_examples(task: str) -> int | None:
    """The number of training items with unseen combinations; None where all combinations are
    seen."""
    if task == "compositional":
        return 0
    if task.startswith("mixture-"):
        return int(task.removeprefix("mixture-"))
    return None


def mixtures(diagnoses: Iterable[Diagnosis]) -> list[tuple[str, int, GroupAccuracy]]:
    """Network, number of unseen-combination items in training, and accuracy on either test, several
    seeds pooled."""
    totals: dict[tuple[str, int, str], Counter[str]] = {}
    for diagnosis in diagnoses:
        count = unseen_examples(diagnosis.task)
        for row in diagnosis.accuracy:
            if count is not None and row.group == (REASONER,):
                total = totals.setdefault((diagnosis.network, count, row.test), Counter())
                total.update(right=row.right, items=row.items)
    return [
        (network, count, share(test, (REASONER,), total["right"], total["items"]))
        for (network, count, test), total in sorted(totals.items())
    ]


def example_items(
    reasoner: Reasoner,
    test: SceneTest,
    predictions: Sequence[Prediction],
    count: int,
    *,
    borderline: bool = False,
) -> list[DiagnosedExample]:
    """The first right and the first wrong ones, half of each where there are enough; with
    `borderline`, those next to the threshold."""
    order = list(range(len(predictions)))
    if borderline:
        order.sort(
            key=lambda i: math.inf if (distance := predictions[i].distance) is None else distance
        )
    right = [i for i in order if predictions[i].right]
    wrong = [i for i in order if not predictions[i].right]
    half = min(len(wrong), max(count // 2, count - len(right)))
    chosen = [*right[: count - half], *wrong[:half]]
    if not chosen:
        return []
    items = [test.items[i] for i in chosen]
    sentences = [test.sentence(item) for item in items]
    maps = reasoner.attention_maps(extract_items(reasoner, items), sentences)
    return [
        DiagnosedExample(
            test.name, text, item.scene, item.target, row.answer, row.p_yes, row.right, attention
        )
        for row, item, text, attention in zip(
            (predictions[i] for i in chosen), items, sentences, maps, strict=True
        )
    ]


def _grouped(rows: Iterable[Any], key: Callable[[Any], K]) -> dict[K, list[Any]]:
    groups: dict[K, list[Any]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups
