"""Which items make a data set: classes, splits, and the indices that seed them.

Every split has its own numbering, and item j of a split depends only on the config, the split and
j: a larger data set begins with the smaller one. Classes take turns, so that any prefix of a split
is balanced.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seesay.errors import UserError, refuse_unknown
from seesay.scenes.config import DesignCell, design_cells, seen
from seesay.scenes.defaults import TEST_ITEMS

MIXTURES = (64, 128, 256, 512, 1024, 2048, 4000)
LARGEST = 10_000_000
# part of every item's seed: a new split takes a new number
_STREAMS = {
    "train": 0,
    "val": 1,
    "test": 2,
    "test_seen": 3,
    "test_unseen": 4,
    "train unseen": 5,
}


@dataclass(frozen=True, slots=True)
class PlanPart:
    """Some items of a split: item j is of class `cells[j % len(cells)]` and draws from `stream`."""

    split: str
    stream: int
    cells: tuple[DesignCell, ...]
    count: int


@dataclass(frozen=True, slots=True)
class ScenePlan:
    """A data set's name, the scene task behind it, and its parts in order."""

    name: str
    task: str
    parts: tuple[PlanPart, ...]

    def splits(self) -> dict[str, int]:
        """Return the number of items of each split."""
        sizes: dict[str, int] = {}
        for part in self.parts:
            sizes[part.split] = sizes.get(part.split, 0) + part.count
        return sizes

    def items(
        self,
        split: str,
        start: int,
        stop: int,
    ) -> Iterator[tuple[int, DesignCell, int, int]]:
        """Yield place, class, stream and index in the stream of items start … stop − 1 of a split.

        Indices count from the first item of the part: how many items come before it in the split
        does not change them.
        """
        first = 0
        for part in self.parts:
            if part.split != split:
                continue
            for place in range(max(start, first), min(stop, first + part.count)):
                index = place - first
                cell = part.cells[index % len(part.cells)]
                yield place, cell, part.stream, index
            first += part.count


NAMES = (
    "sup1",
    "pos1",
    "pos",
    "set+pos",
    "pos-hard",
    "set+pos-hard",
    "comparative",
    "compositional",
    *(f"mixture-{unseen}" for unseen in MIXTURES),
)
"""Data sets by name.

They are the tasks themselves, the compositional split of SET+POS, and its small-data mixtures.
"""


def default_size(name: str) -> int:
    """Return how many items the published data set of this name has."""
    if name == "compositional" or name.startswith("mixture-"):
        return 11_000
    return TEST_ITEMS if name.endswith("-hard") else 20_000


def make_plan(name: str, items: int | None = None) -> ScenePlan:
    """Return the plan of a data set by its name, with `items` over all splits.

    By default there are as many as published.
    """
    name = name.lower()
    name = {"set-pos": "set+pos", "set-pos-hard": "set+pos-hard"}.get(name, name)
    refuse_unknown("scene task", name, NAMES)
    if items is None:
        items = default_size(name)
    if not 1 <= items <= LARGEST:
        raise UserError(f"A data set has 1 to {LARGEST:,} items, not {items:,}.")
    if name == "compositional" or name.startswith("mixture-"):
        return _compositional(name, items)
    cells = tuple(design_cells())
    if name.endswith("-hard"):
        return ScenePlan(name, name, (_part("test", cells, items),))
    # 16,000, 2,000 and 2,000 of the published 20,000
    held_out = _share(items, 10, len(cells))
    sizes = {"train": items - 2 * held_out, "val": held_out, "test": held_out}
    parts = tuple(_part(split, cells, size) for split, size in sizes.items() if size)
    return ScenePlan(name, name, parts)


def test_plan(name: str, items: int) -> ScenePlan:
    """Return a plan of nothing but the test items of a task.

    `name` is `set+pos`, …, or `compositional-seen` and `compositional-unseen`.
    """
    if name in ("compositional-seen", "compositional-unseen"):
        split = f"test_{name.partition('-')[2]}"
        cells = tuple(cell for cell in design_cells() if seen(cell) == (split == "test_seen"))
        return ScenePlan(name, "set+pos", (_part(split, cells, items),))
    whole = make_plan(name)
    return ScenePlan(whole.name, whole.task, (_part("test", tuple(design_cells()), items),))


def _compositional(name: str, items: int) -> ScenePlan:
    """Return the plan of the compositional split, or of a mixture.

    Training and validation have only seen combinations of adjective and shape; a mixture trains on
    some unseen ones too. Each of the two tests has one kind.
    """
    familiar = tuple(cell for cell in design_cells() if seen(cell))
    new = tuple(cell for cell in design_cells() if not seen(cell))
    # 8,000 and three times 1,000 of the published 11,000
    held_out = _share(items, 11, len(familiar))
    train = items - 3 * held_out
    parts = [_part("train", familiar, train)]
    if name != "compositional":
        unseen = int(name.removeprefix("mixture-"))
        # the other training items have seen combinations: at least one must remain
        if unseen >= train:
            raise UserError(
                f"{name} needs more than {unseen} training items: ask for {unseen * 11 // 8 + 40} "
                "or more."
            )
        parts = [
            _part("train", familiar, train - unseen),
            PlanPart("train", _STREAMS["train unseen"], new, unseen),
        ]
    if held_out:
        parts += [
            _part("val", familiar, held_out),
            _part("test_seen", familiar, held_out),
            _part("test_unseen", new, held_out),
        ]
    return ScenePlan(name, "set+pos", tuple(parts))


def _part(split: str, cells: tuple[DesignCell, ...], count: int) -> PlanPart:
    return PlanPart(split, _STREAMS[split], cells, count)


def _share(items: int, parts: int, classes: int) -> int:
    """Return one of `parts` equal parts, in whole rounds of the classes where one fits."""
    share = items // parts
    if share < classes:
        return share
    return share // classes * classes
