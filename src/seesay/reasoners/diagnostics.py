"""What a trained reasoner gets right, and where it goes wrong (Pezzelle & Fernández 2019, Figures 4 to 7).

Answers are counted into plain rows, each with an interval; the page's figures and `--json` are made of the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from seesay.reasoners.attention_maps import Look, looks
from seesay.reasoners.evaluate import CEILING, Judgement, Progress, Test, judge, seen
from seesay.scenes.world import Scene

if TYPE_CHECKING:
    from seesay.reasoners.model import Reasoner

REASONER = "reasoner"
K_EDGES = (0.20, 0.23, 0.26, 0.29, 0.32, 0.35, 0.38)
"""Between bins of k: 0.29 is its mean, each bin has about a tenth of the scenes or more, the outer ones are open."""
DISTANCE_EDGES = tuple(round(0.05 * i, 2) for i in range(1, 15))
"""Between bins of the distance from the line, in shares of the reference set's range; the last bin is open."""
_Z = 1.959963984540054  # the normal quantile of 97.5 %

K = TypeVar("K", bound=Hashable)
Group = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """How many of a group's items are answered right, with Wilson's 95 % interval."""

    test: str
    group: Group
    right: int
    items: int
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Bin:
    """The share of items whose value is at least `start` and below `end` (None: open), `mean` on average; `ceiling` is
    how often the fixed k is right there."""

    start: float | None
    end: float | None
    mean: float
    ceiling: float
    share: Share


@dataclass(frozen=True, slots=True)
class Example:
    """An item, what was said of it, and where the reasoner looked."""

    test: str
    sentence: str
    scene: Scene
    target: int
    answer: bool
    yes: float
    right: bool
    looks: tuple[Look, ...]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The tables of one reasoner; `own` are the tests of the task that it learnt.

    `accuracy` has the reasoner and the rules on the same items; `types` groups by adjective, answer and shape and
    `colours` by colour (Figure 4); `k` by adjective and answer in bins of k (Figure 5); `distance` has bins of the
    distance from the line (Figure 6); `examples` hold the maps (Figure 7).
    """

    name: str
    network: str
    task: str
    own: tuple[str, ...]
    accuracy: tuple[Share, ...]
    types: tuple[Share, ...]
    colours: tuple[Share, ...]
    k: tuple[Bin, ...]
    distance: tuple[Bin, ...]
    examples: tuple[Example, ...]

    def of(self, test: str, who: str = REASONER) -> Share | None:
        """A test's accuracy, of the reasoner or of a rule."""
        return next((row for row in self.accuracy if row.test == test and row.group == (who,)), None)

    def plain(self) -> dict[str, Any]:
        """The same rows as a program reads them."""
        told = {name: getattr(self, name) for name in ("name", "network", "task", "own")}
        for name in ("accuracy", "types", "colours", "k", "distance"):
            told[name] = [asdict(row) for row in getattr(self, name)]
        told["examples"] = [
            {**asdict(one), "looks": [look.plain() for look in one.looks]} for one in self.examples
        ]  # fmt: skip
        return told


def diagnose(
    reasoner: Reasoner,
    network: str,
    task: str,
    tests: Sequence[Test],
    *,
    examples: int,
    progress: Progress | None = None,
) -> Diagnosis:
    """Ask the reasoner every test, and count."""
    total = sum(len(test.items) for test in tests)
    judged = {
        test.name: judge(reasoner, test, lambda done: progress(done, total) if progress else None) for test in tests
    }
    own = [test for test in tests if not test.hard] or list(tests)
    each = -(-examples // len(own))
    shown = [one for test in own for one in _examples(reasoner, test, judged[test.name], each)]
    every = [one for some in judged.values() for one in some]
    return Diagnosis(
        name=reasoner.name,
        network=network,
        task=task,
        own=tuple(test.name for test in own),
        accuracy=tuple(accuracies(every)),
        types=tuple(shares(every, lambda one: (*sentence_type(one), one.shape))),
        colours=tuple(shares(every, lambda one: (one.colour,))),
        k=tuple(bins(every, lambda one: one.k, K_EDGES, sentence_type)),
        distance=tuple(bins(every, lambda one: one.distance, DISTANCE_EDGES, lambda _: ())),
        examples=tuple(shown),
    )


def sentence_type(one: Judgement) -> Group:
    """The adjective, and whether the sentence is true."""
    return one.adjective, "true" if one.answer else "false"


def wilson(right: int, items: int) -> tuple[float, float]:
    """Wilson's score interval of a share, 95 %, which holds near 0 and 1 too (Newcombe 1998, method 3).

    >>> [round(end, 4) for end in wilson(81, 263)]  # as published there
    [0.2553, 0.3662]
    """
    share, extra = right / items, _Z**2 / items
    middle = (share + extra / 2) / (1 + extra)
    half = _Z * math.sqrt(share * (1 - share) / items + extra / (4 * items)) / (1 + extra)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def share(test: str, group: Group, right: int, items: int) -> Share:
    """The row of a group."""
    return Share(test, group, right, items, right / items, *wilson(right, items))


def accuracies(judged: Iterable[Judgement]) -> list[Share]:
    """The reasoner and the rules on every test."""
    found: dict[tuple[str, str], list[bool]] = {}
    for one in judged:
        found.setdefault((one.test, REASONER), []).append(one.right)
        for rule, said in one.rules.items():
            found.setdefault((one.test, rule), []).append(said == one.answer)
    return [share(test, (who,), sum(right), len(right)) for (test, who), right in found.items()]


def shares(judged: Iterable[Judgement], by: Callable[[Judgement], Group]) -> list[Share]:
    """The accuracy of every group in every test, in the order of their names."""
    groups = _grouped(judged, lambda one: (one.test, by(one)))
    return [
        share(test, group, sum(one.right for one in some), len(some)) for (test, group), some in sorted(groups.items())
    ]


def bins(
    judged: Iterable[Judgement],
    value: Callable[[Judgement], float | None],
    edges: Sequence[float],
    by: Callable[[Judgement], Group],
) -> list[Bin]:
    """The accuracy of every group in every bin of a value. An item without the value is in no bin."""
    known = [(at, one) for one in judged if (at := value(one)) is not None]
    groups = _grouped(known, lambda pair: (pair[1].test, by(pair[1]), int(np.searchsorted(edges, pair[0], "right"))))
    ends = (None, *edges, None)
    found = []
    for (test, group, place), some in sorted(groups.items()):
        mean = sum(at for at, _ in some) / len(some)
        ceiling = sum(one.rules[CEILING] == one.answer for _, one in some) / len(some)
        row = share(test, group, sum(one.right for _, one in some), len(some))
        found.append(Bin(ends[place], ends[place + 1], mean, ceiling, row))
    return found


def pooled(rows: Iterable[Share], by: Callable[[Share], Group]) -> list[Share]:
    """Rows of several groups as one: what is right and what is asked, added up."""
    groups = _grouped(rows, lambda row: (row.test, by(row)))
    return [
        share(test, group, sum(row.right for row in some), sum(row.items for row in some))
        for (test, group), some in groups.items()
    ]


def unseen_examples(task: str) -> int | None:
    """How many items of unseen combinations a task trains on; None where all combinations are seen."""
    if task == "compositional":
        return 0
    return int(task.removeprefix("mixture-")) if task.startswith("mixture-") else None


def mixtures(diagnoses: Iterable[Diagnosis]) -> list[tuple[str, int, Share]]:
    """Network, number of unseen-combination items in training, and accuracy on either test, several seeds as one."""
    known = [(one, count) for one in diagnoses if (count := unseen_examples(one.task)) is not None]
    rows = _grouped(
        ((one.network, count, row) for one, count in known for row in one.accuracy if row.group == (REASONER,)),
        lambda row: (row[0], row[1], row[2].test),
    )
    found = []
    for (network, count, _), some in sorted(rows.items()):
        found.append((network, count, pooled((row for *_, row in some), lambda row: row.group)[0]))
    return found


def _examples(reasoner: Reasoner, test: Test, judged: Sequence[Judgement], count: int) -> list[Example]:
    """The first right and the first wrong ones, half of each where there are so many."""
    right = [i for i, one in enumerate(judged) if one.right]
    wrong = [i for i, one in enumerate(judged) if not one.right]
    half = min(len(wrong), max(count // 2, count - len(right)))
    chosen = [*right[: count - half], *wrong[:half]]
    if not chosen:
        return []
    items = [test.items[i] for i in chosen]
    sentences = [test.sentence(item) for item in items]
    looked = looks(reasoner, seen(reasoner, items), sentences)
    return [
        Example(test.name, text, item.scene, item.target, judged[i].answer, judged[i].yes, judged[i].right, where)
        for i, item, text, where in zip(chosen, items, sentences, looked, strict=True)
    ]


def _grouped(some: Iterable[Any], key: Callable[[Any], K]) -> dict[K, list[Any]]:
    groups: dict[K, list[Any]] = {}
    for one in some:
        groups.setdefault(key(one), []).append(one)
    return groups
