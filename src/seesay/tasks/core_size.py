"""core-size: which of two things is larger, asked both ways round."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from seesay.data import core
from seesay.data.cells import BadValueError, Cells
from seesay.data.rows import parse_table
from seesay.data.task_files.texts import capital
from seesay.errors import UserError
from seesay.questions import Question, Task, Template
from seesay.tasks._core import core_task, filled, noun_phrase

PAIRS = 300
MOST_THINGS = 2000
RATIOS = (("2-5", 2.0), ("5-20", 5.0), ("20+", 20.0))
KINDS = ("same", "different")

TEMPLATES = (
    Template("than", "{A} is [MASK] than {b}."),
    Template("in-size", "In size, {a} is [MASK] than {b}.", {"larger": "bigger"}),
    Template("space", "{A} takes up [MASK] space than {b}.", {"larger": "more", "smaller": "less"}),
    Template("compared", "Compared with {b}, {a} is [MASK].", {"larger": "large", "smaller": "small"}),
    Template("yes-no", "Is {a} bigger than {b}? Answer: [MASK].", {"larger": "yes", "smaller": "no"}),
)
CHOICE = (Template("question", "What is the size of {a} compared with {b}? [MASK]"),)
LINEAR_TEXT = "the size of {a} compared with {b}"


@dataclass(frozen=True, slots=True)
class _Thing:
    name: str
    phrase: str
    metres: float
    category: str


Pair = tuple[_Thing, _Thing]  # the larger one first


def load(data: Path | None = None) -> Task:
    """The task from the embedded table, or from a table of the same columns."""
    source = data or core.path("sizes")
    rows, bad = parse_table(source, core.COLUMNS["sizes"], _parse, key=lambda thing: thing.name.casefold())
    things = list(rows.values())
    if len(things) > MOST_THINGS:
        raise UserError(
            f"{source} names {len(things):,} things; core-size compares {MOST_THINGS:,} at most: take fewer."
        )
    pairs = _choose(things)
    if not pairs:
        raise UserError(f"{source} names no two things of which one is twice as large as the other: add some.")
    return core_task(
        "core-size",
        [question for pair in pairs for question in _questions(pair)],
        templates=TEMPLATES,
        choice_templates=CHOICE,
        linear_text=LINEAR_TEXT,
        metrics=("accuracy",),
        neutral={"a": "this", "A": "This", "b": "that"},
        bad_rows=tuple(bad),
    )


def _parse(cells: Cells) -> _Thing:
    try:
        metres = float(cells["metres"])
    except ValueError:
        metres = math.nan
    if not 0 < metres < math.inf:
        raise BadValueError(f"'metres' is {cells['metres']!r}, not a number above 0")
    return _Thing(cells["object"], noun_phrase(cells, "object"), metres, filled(cells, "category"))


def _stratum(pair: Pair) -> tuple[str, str]:
    ratio = pair[0].metres / pair[1].metres
    name = [name for name, least in RATIOS if ratio >= least][-1]
    return name, "same" if pair[0].category == pair[1].category else "different"


def _choose(things: Sequence[_Thing]) -> list[Pair]:
    """Equally many pairs of every stratum where the table has them, and every thing about equally often.

    Random(0) draws the order, so the same table always gives the same questions.
    """
    strata: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for a, b in combinations(things, 2):
        larger, smaller = (a, b) if a.metres > b.metres else (b, a)
        if larger.metres >= RATIOS[0][1] * smaller.metres:
            strata[_stratum((larger, smaller))].append((larger, smaller))
    keys = [(ratio, kind) for ratio, _ in RATIOS for kind in KINDS]
    rng = random.Random(0)
    for key in keys:
        rng.shuffle(strata[key])
    quota = PAIRS // len(keys)
    chosen: dict[tuple[str, str], list[Pair]] = {key: [] for key in keys}
    uses: Counter[str] = Counter()
    for limit in range(2 * PAIRS):  # the least used things come first
        for key in keys:
            waiting: list[Pair] = []
            for pair in strata[key]:
                if len(chosen[key]) < quota and uses[pair[0].name] + uses[pair[1].name] <= limit:
                    chosen[key].append(pair)
                    uses.update(thing.name for thing in pair)
                else:
                    waiting.append(pair)
            strata[key] = waiting
        if all(len(chosen[key]) == quota or not strata[key] for key in keys):
            break
    return [pair for key in keys for pair in chosen[key]]


def _questions(pair: Pair) -> list[Question]:
    ratio, kind = _stratum(pair)
    larger, smaller = pair
    return [
        Question(
            id=f"{a.name}|{b.name}",
            fields={"a": a.phrase, "A": capital(a.phrase), "b": b.phrase},
            options=("larger", "smaller"),
            gold={answer: 1.0},
            object="|".join(sorted((a.name, b.name))),
            tags={"ratio": ratio, "category": kind},
        )
        for a, b, answer in ((larger, smaller, "larger"), (smaller, larger, "smaller"))
    ]
