"""The row rules at work: each takes a table and gives one, and says what it left out."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from seesay.data.cells import BadValueError, one_of, split_words
from seesay.data.json_stream import parse_json
from seesay.data.rows import Row
from seesay.data.task_files import row_rules as rules
from seesay.data.task_files.pair_draws import SIDES, draw_pairs, rank_pairs, side_by_side
from seesay.data.task_files.row_rules import Rule, as_number
from seesay.data.task_files.schema_base import as_names
from seesay.data.task_files.tables import Table
from seesay.data.task_files.texts import no_column
from seesay.quantities import quantity
from seesay.questions import BadRow

Cells = dict[str, Any]


def columns_after(rule: Rule, columns: dict[str, None]) -> dict[str, None]:
    """Return the columns that there are once a rule has been applied."""
    match rule:
        case rules.PairUp():
            shared: dict[str, None] = {rule.pair_up: None}
            return shared | _two_sided(columns, shared)
        case rules.DrawPairs():
            return _two_sided(columns)
        case rules.Number():
            return columns | {rule.number: None}
        case rules.RankPairs():
            kinds: dict[str, None] = {"ratio": None}
            if rule.alike:
                kinds["alike"] = None
            return _two_sided(columns) | kinds
        case _:
            names = [*getattr(rule, "spread", ()), *as_names(getattr(rule, "into", ()))]
            return columns | dict.fromkeys(name for name in names if name)


def _two_sided(columns: Iterable[str], shared: Container[str] = ()) -> dict[str, None]:
    """Return the columns of two rows side by side: `x` is there as `x_a` and `x_b`."""
    return {f"{column}{side}": None for side in SIDES for column in columns if column not in shared}


def unknown_in(rule: Rule, columns: dict[str, None]) -> list[tuple[str, str]]:
    """Return what a rule reads that does not exist: the field that names it, and the message."""
    return [
        (field, no_column(column, columns))
        for field, column in rule.columns_read()
        if column not in columns
    ]


def apply(rule: Rule, table: Table) -> Table:
    """Return the table with a rule applied to it; `join` is apart, since it reads a second one."""
    rows = table.rows
    bad = list(table.bad)
    notes = list(table.notes)
    match rule:
        case rules.Drop():
            rows = [row for row in rows if not rule.meets(row.cells.get(rule.drop))]
            what = f"{rule.drop} is {_describe_values(rule)}"
            _note(notes, len(table.rows) - len(rows), what, rule.because)
        case rules.Keep():
            rows = [row for row in rows if rule.meets(row.cells.get(rule.keep))]
            what = f"{rule.keep} is not {_describe_values(rule)}"
            _note(notes, len(table.rows) - len(rows), what, rule.because)
        case rules.Unique():
            rows, repeated = _distinct(rule, rows)
            if rule.refuse:
                bad += [row.bad(f"repeats row {first.number}") for row, first in repeated]
            else:
                what = f"the same {', '.join(rule.unique)} as a row before"
                _note(notes, len(repeated), what, rule.because)
        case rules.PairUp():
            rows = list(_pair_up(rule, rows, bad))
        case rules.DrawPairs():
            rows = list(draw_pairs(rule, rows))
            notes.append(
                f"{len(rows):,} pairs drawn from {len(table.rows):,} rows with seed {rule.seed}"
            )
        case rules.RankPairs():
            rows = rank_pairs(rule, rows, bad)
            if len(rows) < rule.rank_pairs:
                notes.append(f"{len(rows):,} pairs drawn, where {rule.rank_pairs:,} were wanted")
        case rules.BothWays():
            rows = list(_both_ways(rule, rows, bad))
        case _:
            rows = list(_change_rows(rule, rows, bad))
    return Table(rows, columns_after(rule, table.columns), bad, notes)


def _note(
    notes: list[str],
    count: int,
    what: str,
    because: str,
) -> None:
    """Note how many rows a rule left out, and why; a rule that left out none is not noted."""
    if count:
        reason = f" ({because})" if because else ""
        notes.append(f"{quantity(count, 'row')} left out: {what}{reason}")


def _describe_values(rule: rules.RowFilter) -> str:
    """Return the values that a filter means, for a note."""
    if rule.values:
        return " or ".join(rule.values)
    bounds = []
    if rule.at_least is not None:
        bounds.append(f"at least {rule.at_least:g}")
    if rule.at_most is not None:
        bounds.append(f"at most {rule.at_most:g}")
    return " and ".join(bounds)


def as_key(value: Any) -> Any:
    """Return a cell as something that can be the key of a dictionary."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True)


def _distinct(rule: rules.Unique, rows: Sequence[Row]) -> tuple[list[Row], list[tuple[Row, Row]]]:
    """Return the first row of all equal ones, and every other row with the first that it equals."""
    first_rows: dict[Any, Row] = {}
    repeated: list[tuple[Row, Row]] = []
    for row in rows:
        key = tuple(as_key(row.cells.get(column)) for column in rule.unique)
        if rule.any_case:
            key = tuple(part.casefold() if isinstance(part, str) else part for part in key)
        first = first_rows.setdefault(key, row)
        if first is not row:
            repeated.append((row, first))
    return list(first_rows.values()), repeated


def _change_rows(
    rule: Rule,
    rows: Sequence[Row],
    bad: list[BadRow],
) -> Iterator[Row]:
    """Yield what a rule makes of the rows one by one; a row that it cannot take is a bad one."""
    if isinstance(rule, rules.Spread):
        yield from _spread(rule, rows)
        return
    for row in rows:
        try:
            if isinstance(rule, rules.Number):
                row.cells[rule.number] = row.place
            else:
                _CHANGES[type(rule)](rule, row.cells)
        except BadValueError as error:
            bad.append(row.bad(str(error)))
        else:
            yield row


def _rename(rule: rules.Rename, cells: Cells) -> None:
    """Give a cell, or each entry of a list, its other name."""

    def rename(value: Any) -> Any:
        if isinstance(value, str) and value in rule.values:
            return rule.values[value]
        if rule.otherwise is None:
            return value
        return rule.otherwise

    value = cells.get(rule.rename)
    if isinstance(value, list):
        value = [rename(item) for item in value]
    else:
        value = rename(value)
    cells[rule.into or rule.rename] = value


def _name_range(rule: rules.ThresholdRule, cells: Cells) -> None:
    """Name the range that a number is in."""
    number = _number(cells, rule.threshold)
    thresholds_reached = sum(number >= threshold for threshold in rule.at)
    cells[rule.into or rule.threshold] = rule.names[thresholds_reached]


def _cut(rule: rules.Cut, cells: Cells) -> None:
    """Cut a text in two where its mark stands."""
    text = cells.get(rule.cut)
    if not isinstance(text, str):
        text = ""
    times = text.count(rule.at)
    if times != 1:
        raise BadValueError(f"'{rule.cut}' has {times or 'no'} '{rule.at}' where one is needed")
    before, after = rule.into
    cells[before], _, cells[after] = text.partition(rule.at)


def _count(rule: rules.Count, cells: Cells) -> None:
    """Count the entries of a list."""
    values = entries(cells.get(rule.count), rule.separator, rule.count)
    cells[rule.into] = str(len(values))


def _compare(rule: rules.Compare, cells: Cells) -> None:
    """Write the share of pairs of draws in which the first column's number is the larger."""
    first, second = (_number(cells, column) for column in rule.compare)
    spread = 0.0
    if rule.sd:
        spread = math.hypot(*(_number(cells, column) for column in rule.sd))
    if spread > 0:
        # Φ((a − b) / √(sa² + sb²)): the difference of two normal numbers is normal, too.
        share = 0.5 * (1 + math.erf((first - second) / (spread * math.sqrt(2))))
    elif first == second:
        share = 0.5
    else:
        share = float(first > second)
    # Rounded: the last digits of `erf` may differ between machines, and a task's fingerprint
    # covers its gold weights.
    for column, value in zip(rule.into, (share, 1 - share), strict=True):
        cells[column] = repr(round(value, 6))


def _expect(rule: rules.Expect, cells: Cells) -> None:
    """Refuse a row whose cells are empty, or hold other values than they may."""
    for column in rule.expect:
        cell = cells.get(column) or ""
        if cell == "" and "" not in rule.values:
            raise BadValueError(f"'{column}' is empty")
        values: Sequence[Any] = [cell]
        if isinstance(cell, list):
            values = cell
        elif rule.separator and cell:
            values = split_words(cell, column, rule.separator)
        if not rule.values:
            continue
        for value in values:
            one_of(value, rule.values, column)


_CHANGES: dict[type[Rule], Callable[[Any, Cells], None]] = {
    rules.Rename: _rename,
    rules.ThresholdRule: _name_range,
    rules.Cut: _cut,
    rules.Count: _count,
    rules.Compare: _compare,
    rules.Expect: _expect,
}
"""What the rules do that change one row at a time."""


def _both_ways(
    rule: rules.BothWays,
    rows: Sequence[Row],
    bad: list[BadRow],
) -> Iterator[Row]:
    """Yield every row, followed by its reverse where no row of the table is that."""
    consistent: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        reason = _contradiction(rule, row, consistent)
        if reason:
            bad.append(row.bad(reason))
        else:
            consistent.setdefault(_place(rule, row.cells), row)
    for row in consistent.values():
        # A pair and its reverse are one object, whichever of the two the table has.
        pair: dict[str, str] = {}
        if rule.into:
            things = sorted(str(row.cells.get(column)) for column in rule.things)
            pair = {rule.into: "|".join(things)}
        yield row._replace(cells=row.cells | pair)
        reverse = _reverse(rule, row.cells) | pair
        if _place(rule, reverse) not in consistent:
            yield row._replace(cells=reverse)


def _contradiction(
    rule: rules.BothWays,
    row: Row,
    earlier: Mapping[tuple[Any, ...], Row],
) -> str:
    """Return why a row cannot be asked beside the earlier ones; empty where it can."""
    first, second = (row.cells.get(column) for column in rule.things)
    if first == second:
        return f"compares '{first}' with itself"
    reverse = earlier.get(_place(rule, _reverse(rule, row.cells)))
    if reverse is None or not rule.label:
        return ""
    label = reverse.cells.get(rule.label)
    if rule.opposite(str(label)) == row.cells.get(rule.label):
        return ""
    return f"row {reverse.number} says that '{second}' is {label} '{first}'"


def _place(rule: rules.BothWays, cells: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what tells a pair from all others: its scene, say, and its two things in order."""
    return tuple(as_key(cells.get(column)) for column in (*rule.within, *rule.things))


def _reverse(rule: rules.BothWays, cells: Mapping[str, Any]) -> Cells:
    """Return the row with its two things exchanged, and its answer turned into the opposite."""
    reverse = dict(cells)
    for column, counterpart in rule.exchanged.items():
        reverse[column] = cells.get(counterpart)
    if rule.label:
        reverse[rule.label] = rule.opposite(str(cells.get(rule.label)))
    return reverse


def entries(
    value: Any,
    separator: str,
    column: str,
) -> list[str]:
    """Return the entries of a cell that lists something.

    It is a list, a JSON list written as a text, or a text with separators.
    """
    # Tables write lists as texts: VSR's votes are "[2, 10, 1]".
    if isinstance(value, str) and value.startswith("[") and value.endswith("]"):
        try:
            document = parse_json(value)
        except ValueError:
            document = None
        if isinstance(document, list):
            value = document
    if isinstance(value, list):
        return [str(item) for item in value]
    if not isinstance(value, str):
        raise BadValueError(f"'{column}' is not a list")
    if not separator:
        return [value]
    parts = [part.strip() for part in value.split(separator)]
    return [part for part in parts if part]


def _number(cells: Cells, column: str) -> float:
    """Return a cell as a number, which it must be."""
    number = as_number(cells.get(column))
    if math.isnan(number):
        raise BadValueError(f"'{column}' is {cells.get(column)!r}, not a number")
    return number


def _spread(rule: rules.Spread, rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the rows that each row is made into."""
    cases = rule.case_names
    for row in rows:
        for place, case in enumerate(cases):
            cells = {name: row.cells.get(columns[place]) for name, columns in rule.spread.items()}
            following = cases[(place + 1) % len(cases)]
            cells |= zip(rule.into, (case, following), strict=False)
            yield row._replace(cells=row.cells | cells)


def _pair_up(
    rule: rules.PairUp,
    rows: Sequence[Row],
    bad: list[BadRow],
) -> Iterator[Row]:
    """Yield one row for each two that share a value; any other number of rows is bad."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        key = as_key(row.cells.get(rule.pair_up))
        groups.setdefault(key, []).append(row)
    for value, members in groups.items():
        if len(members) == 2 and value is not None:
            yield side_by_side(members[0], members[1], rule.pair_up)
        else:
            reason = f"{len(members)} rows have {value!r} in '{rule.pair_up}' where two make a pair"
            bad += [row.bad(reason) for row in members]
