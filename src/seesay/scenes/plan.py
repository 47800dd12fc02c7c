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
_STREAMS = {"train": 0, "val": 1, "test": 2, "test_seen": 3, "test_unseen": 4, "train unseen": 5}


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
        """The number of items of each split."""
        sizes: dict[str, int] = {}
        for part in self.parts:
            sizes[part.split] = sizes.get(part.split, 0) + part.count
        return sizes

    def items(
        self, split: str, start: int, stop: int
    ) -> Iterator[tuple[int, DesignCell, int, int]]:
        """For items start … stop − 1 of a split: place, class, stream, and index in the stream."""
        first = 0
        for part in self.parts:
            if part.split != split:
                continue
            for place in range(max(start, first), min(stop, first + part.count)):
                yield (
                    place,
                    part.cells[(place - first) % len(part.cells)],
                    part.stream,
                    place - first,
                )
            first += part.count


NAMES = (
    *("sup1", "pos1", "pos", "set+pos", "pos-hard", "set+pos-hard", "comparative", "compositional"),
    *(f"mixture-{unseen}" for unseen in MIXTURES),
)
"""Data sets by name: the tasks themselves, the compositional split of SET+POS, and its small-data
mixtures."""


def default_size(name: str) -> int:
    """How many items the published data set of this name has."""
    if name == "compositional" or name.startswith("mixture-"):
        return 11_000
    return TEST_ITEMS if name.endswith("-hard") else 20_000


def make_plan(name: str, items: int | None = None) -> ScenePlan:
    """The plan of a data set by its name, with `items` over all splits (by default as many as
    published)."""
    name = name.lower()
    name = {"set-pos": "set+pos", "set-pos-hard": "set+pos-hard"}.get(name, name)
    refuse_unknown("scene task", name, NAMES)
    items = default_size(name) if items is None else items
    if not 1 <= items <= LARGEST:
        raise UserError(f"A data set has 1 to {LARGEST:,} items, not {items:,}.")
    if name == "compositional" or name.startswith("mixture-"):
        return _compositional(name, items)
    everything = tuple(design_cells())
    if name.endswith("-hard"):
        return ScenePlan(name, name, (_part("test", everything, items),))
    held_out = _share(items, 10, len(everything))
    sizes = {"train": items - 2 * held_out, "val": held_out, "test": held_out}
    return ScenePlan(
        name, name, tuple(_part(split, everything, size) for split, size in sizes.items() if size)
    )


def test_plan(name: str, items: int) -> ScenePlan:
    """The whole plan's test items alone: of `set+pos`, …, or of `compositional-seen` and
    `compositional-unseen`."""
    if name in ("compositional-seen", "compositional-unseen"):
        split = f"test_{name.partition('-')[2]}"
        cells = tuple(cell for cell in design_cells() if seen(cell) == (split == "test_seen"))
        return ScenePlan(name, "set+pos", (_part(split, cells, items),))
    whole = make_plan(name)
    return ScenePlan(whole.name, whole.task, (_part("test", tuple(design_cells()), items),))


def _compositional(name: str, items: int) -> ScenePlan:
    familiar = tuple(cell for cell in design_cells() if seen(cell))
    new = tuple(cell for cell in design_cells() if not seen(cell))
    held_out = _share(items, 11, len(familiar))
    train = items - 3 * held_out
    parts = [_part("train", familiar, train)]
    if name != "compositional":
        unseen = int(name.removeprefix("mixture-"))
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
        tests = {"val": familiar, "test_seen": familiar, "test_unseen": new}
    else:
        tests = {}
    return ScenePlan(
        name,
        "set+pos",
        (*parts, *(_part(split, cells, held_out) for split, cells in tests.items())),
    )


def _part(split: str, cells: tuple[DesignCell, ...], count: int) -> PlanPart:
    return PlanPart(split, _STREAMS[split], cells, count)


def _share(items: int, parts: int, classes: int) -> int:
    """One of `parts` equal parts, in whole rounds of the classes where there is room for one."""
    share = items // parts
    return share // classes * classes if share >= classes else share
