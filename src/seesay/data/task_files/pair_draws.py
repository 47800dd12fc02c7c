"""Pairs of rows, drawn with a seed so that every row occurs about equally often."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

import numpy as np

from seesay.data.rows import Row
from seesay.data.task_files.row_rules import DrawPairs, RankPairs, as_number
from seesay.errors import UserError
from seesay.questions import BadRow

SIDES = ("_a", "_b")
MOST_IDLE = 100
MOST_RANKED = 2_000
"""So many rows have two million pairs, all of which are looked at."""

Pair = tuple[int, int]
Kind = tuple[str, str]


def side_by_side(first: Row, second: Row, shared: str | None = None) -> Row:
    """One row of two: column `x` becomes `x_a` and `x_b`, unless both share it."""
    cells = {} if shared is None else {shared: first.cells[shared]}
    for side, row in zip(SIDES, (first, second), strict=True):
        cells |= {
            f"{column}{side}": value for column, value in row.cells.items() if column != shared
        }
    return Row(first.number, cells, first.file)


def drawn_pairs(rule: DrawPairs, rows: Sequence[Row]) -> Iterator[Row]:
    """Pairs of neighbours in shuffled orders, one order after another, so that every row occurs
    about equally often."""
    generator = np.random.RandomState(rule.seed)
    seen: set[tuple[int, int]] = set()
    wanted = min(rule.draw_pairs, len(rows) * (len(rows) - 1) // 2)
    idle = 0  # orders in a row that gave no new pair: the columns that must differ may leave none
    while len(seen) < wanted and idle < MOST_IDLE:
        order = np.arange(len(rows))
        generator.shuffle(order)
        idle += 1
        for i, j in order[: len(rows) // 2 * 2].reshape(-1, 2).tolist():
            pair = (min(i, j), max(i, j))
            first = rows[i].cells
            second = rows[j].cells
            if pair in seen or any(
                first.get(column) == second.get(column) for column in rule.differ
            ):
                continue
            seen.add(pair)
            idle = 0
            yield side_by_side(rows[i], rows[j])._replace(number=len(seen), file="")
            if len(seen) == wanted:
                return


def ranked_pairs(rule: RankPairs, rows: Sequence[Row], bad: list[BadRow]) -> list[Row]:
    """The pairs that a rule draws; a row without a number above 0 is a bad one."""
    numbered: list[tuple[Row, float]] = []
    for row in rows:
        number = as_number(row.cells.get(rule.by))
        if number > 0:
            numbered.append((row, number))
        else:
            bad.append(row.bad(f"'{rule.by}' is {row.cells.get(rule.by)!r}, not a number above 0"))
    if len(numbered) > MOST_RANKED:
        raise UserError(
            f"There are {len(numbered):,} rows; pairs are ranked of {MOST_RANKED:,} at most: take "
            "fewer."
        )
    by_kind = _pairs_by_kind(rule, numbered)
    if numbered and not any(by_kind.values()):
        least = min(rule.ratios.values())
        raise UserError(
            f"There are no two rows of which one has {least:g} times the '{rule.by}' of the other."
        )
    generator = random.Random(rule.seed)
    for pairs in by_kind.values():
        generator.shuffle(pairs)
    drawn: list[Row] = []
    for (ratio, alike), pairs in _least_used_first(by_kind, rule.rank_pairs).items():
        kind = {"ratio": ratio, "alike": alike} if rule.alike else {"ratio": ratio}
        for larger, smaller in pairs:
            row = side_by_side(numbered[larger][0], numbered[smaller][0])
            drawn.append(Row(len(drawn) + 1, row.cells | kind))
    return drawn


def _pairs_by_kind(
    rule: RankPairs, numbered: Sequence[tuple[Row, float]]
) -> dict[Kind, list[Pair]]:
    """Every pair that may be drawn, by its kind: the places of the larger row and of the
    smaller."""
    names = list(rule.ratios)
    starts = list(rule.ratios.values())
    likeness = ("same", "different") if rule.alike else ("",)
    by_kind: dict[Kind, list[Pair]] = {kind: [] for kind in product(names, likeness)}
    for first, second in combinations(range(len(numbered)), 2):
        (row, number), (other, other_number) = numbered[first], numbered[second]
        is_larger = number > other_number
        ratio = number / other_number if is_larger else other_number / number
        range_number = bisect_right(starts, ratio)
        if range_number == 0:
            continue
        alike = ""
        if rule.alike:
            if row.cells.get(rule.alike) == other.cells.get(rule.alike):
                alike = "same"
            else:
                alike = "different"
        pair = (first, second) if is_larger else (second, first)
        by_kind[names[range_number - 1], alike].append(pair)
    return by_kind


def _least_used_first(
    by_kind: Mapping[Kind, Sequence[Pair]], wanted: int
) -> dict[Kind, list[Pair]]:
    """Equally many pairs of every kind, as far as there are so many; rows that occur the least come
    first."""
    quota = wanted // len(by_kind)
    waiting = {kind: list(pairs) for kind, pairs in by_kind.items()}
    drawn: dict[Kind, list[Pair]] = {kind: [] for kind in by_kind}
    uses: Counter[int] = Counter()
    for limit in range(2 * wanted):
        for kind, pairs in waiting.items():
            passed_over = []
            for pair in pairs:
                if len(drawn[kind]) < quota and uses[pair[0]] + uses[pair[1]] <= limit:
                    drawn[kind].append(pair)
                    uses.update(pair)
                else:
                    passed_over.append(pair)
            waiting[kind] = passed_over
        if all(len(drawn[kind]) == quota or not waiting[kind] for kind in drawn):
            break
    return drawn
