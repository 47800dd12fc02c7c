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
"""The most rows to rank: so many have two million pairs, all of which are looked at."""

Pair = tuple[int, int]
Kind = tuple[str, str]


def side_by_side(
    first: Row,
    second: Row,
    shared: str | None = None,
) -> Row:
    """Return one row of two: column `x` becomes `x_a` and `x_b`, unless both share it."""
    cells = {}
    if shared is not None:
        cells[shared] = first.cells[shared]
    for side, row in zip(SIDES, (first, second), strict=True):
        for column, value in row.cells.items():
            if column != shared:
                cells[f"{column}{side}"] = value
    return Row(first.number, cells, first.file)


def draw_pairs(rule: DrawPairs, rows: Sequence[Row]) -> Iterator[Row]:
    """Yield pairs of neighbours in shuffled orders, one order after another.

    In one order every row has one neighbour, so that every row occurs about equally often.
    """
    generator = np.random.RandomState(rule.seed)
    pairs: set[Pair] = set()
    pair_count = min(rule.draw_pairs, len(rows) * (len(rows) - 1) // 2)
    # Orders in a row that gave no new pair: the columns that must differ may leave none.
    idle = 0
    while len(pairs) < pair_count and idle < MOST_IDLE:
        order = np.arange(len(rows))
        generator.shuffle(order)
        idle += 1
        even_count = len(rows) // 2 * 2
        for i, j in order[:even_count].reshape(-1, 2).tolist():
            pair = (min(i, j), max(i, j))
            if pair in pairs or _equal_in_any(rows[i], rows[j], rule.differ):
                continue
            pairs.add(pair)
            idle = 0
            # The number is that of the pair, which is not a row of any file.
            yield side_by_side(rows[i], rows[j])._replace(number=len(pairs), file="")
            if len(pairs) == pair_count:
                return


def _equal_in_any(
    first: Row,
    second: Row,
    columns: Sequence[str],
) -> bool:
    """Return whether two rows are equal in any of these columns."""
    return any(first.cells.get(column) == second.cells.get(column) for column in columns)


def rank_pairs(
    rule: RankPairs,
    rows: Sequence[Row],
    bad: list[BadRow],
) -> list[Row]:
    """Return the pairs that a rule draws; a row without a number above 0 is a bad one."""
    numbered: list[tuple[Row, float]] = []
    for row in rows:
        number = as_number(row.cells.get(rule.by))
        if number > 0:
            numbered.append((row, number))
        else:
            bad.append(row.bad(f"'{rule.by}' is {row.cells.get(rule.by)!r}, not a number above 0"))
    if len(numbered) > MOST_RANKED:
        raise UserError(
            f"There are {len(numbered):,} rows; at most {MOST_RANKED:,} can be ranked in pairs: "
            "take fewer."
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
    pair_rows: list[Row] = []
    for (ratio, alike), pairs in _least_used_first(by_kind, rule.rank_pairs).items():
        kind = {"ratio": ratio}
        if rule.alike:
            kind["alike"] = alike
        for larger, smaller in pairs:
            row = side_by_side(numbered[larger][0], numbered[smaller][0])
            pair_rows.append(Row(len(pair_rows) + 1, row.cells | kind))
    return pair_rows


def _pairs_by_kind(
    rule: RankPairs,
    numbered: Sequence[tuple[Row, float]],
) -> dict[Kind, list[Pair]]:
    """Return every pair that may be drawn, by its kind: the larger row's place, then the other."""
    names = list(rule.ratios)
    starts = list(rule.ratios.values())
    likeness = ("same", "different") if rule.alike else ("",)
    by_kind: dict[Kind, list[Pair]] = {kind: [] for kind in product(names, likeness)}
    numbers = [number for _, number in numbered]
    groups = [row.cells.get(rule.alike) for row, _ in numbered]
    for first, second in combinations(range(len(numbered)), 2):
        pair = (first, second) if numbers[first] > numbers[second] else (second, first)
        larger, smaller = pair
        range_number = bisect_right(starts, numbers[larger] / numbers[smaller])
        # Below the first range the two are too close to ask about.
        if range_number == 0:
            continue
        alike = ""
        if rule.alike:
            alike = "same" if groups[larger] == groups[smaller] else "different"
        by_kind[names[range_number - 1], alike].append(pair)
    return by_kind


def _least_used_first(
    by_kind: Mapping[Kind, Sequence[Pair]],
    pair_count: int,
) -> dict[Kind, list[Pair]]:
    """Return equally many pairs of every kind, as far as there are so many.

    Pairs of rows that occur the least come first.
    """
    quota = pair_count // len(by_kind)
    waiting = {kind: list(pairs) for kind, pairs in by_kind.items()}
    pairs_by_kind: dict[Kind, list[Pair]] = {kind: [] for kind in by_kind}
    uses: Counter[int] = Counter()
    # The limit rises by one a round: a pair is taken only once no pair of fresher rows is left.
    for limit in range(2 * pair_count):
        for kind, candidates in waiting.items():
            passed_over = []
            for pair in candidates:
                has_room = len(pairs_by_kind[kind]) < quota
                if has_room and uses[pair[0]] + uses[pair[1]] <= limit:
                    pairs_by_kind[kind].append(pair)
                    uses.update(pair)
                else:
                    passed_over.append(pair)
            waiting[kind] = passed_over
        if all(len(pairs_by_kind[kind]) == quota or not waiting[kind] for kind in by_kind):
            break
    return pairs_by_kind
