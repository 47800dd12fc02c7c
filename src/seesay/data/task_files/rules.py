"""The row rules at work: each takes a table and gives one, and says what it left out."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from seesay.data.cells import BadValueError, one_of, split_words
from seesay.data.json_stream import parse_json
from seesay.data.rows import Row
from seesay.data.task_files import row_rules as rules
from seesay.data.task_files.pair_draws import SIDES, drawn_pairs, ranked_pairs, side_by_side
from seesay.data.task_files.row_rules import Rule, as_number
from seesay.data.task_files.schema_base import as_names
from seesay.data.task_files.tables import Table
from seesay.data.task_files.texts import no_column
from seesay.questions import BadRow


def columns_after(rule: Rule, columns: dict[str, None]) -> dict[str, None]:
    """The columns that there are once a rule has been applied."""
    match rule:
        case rules.PairUp() | rules.DrawPairs():
            shared = {rule.pair_up: None} if isinstance(rule, rules.PairUp) else {}
            return shared | _two_sided(columns, shared)
        case rules.RankPairs():
            return _two_sided(columns) | {"ratio": None} | ({"alike": None} if rule.alike else {})
        case _:
            new = as_names(getattr(rule, "into", ()))
            return columns | dict.fromkeys(column for column in new if column)


def _two_sided(columns: Iterable[str], shared: Container[str] = ()) -> dict[str, None]:
    return {f"{column}{side}": None for side in SIDES for column in columns if column not in shared}


def unknown_in(rule: Rule, columns: dict[str, None]) -> list[tuple[str, str]]:
    """What a rule reads that does not exist: the field that names it, and the message."""
    return [
        (field, no_column(column, columns))
        for field, column in rule.columns_read()
        if column not in columns
    ]


def apply(rule: Rule, table: Table) -> Table:
    """The table with a rule applied to it."""
    columns = columns_after(rule, table.columns)
    rows = table.rows
    bad = list(table.bad)
    notes = list(table.notes)
    match rule:
        case rules.Drop() | rules.Keep():
            column, keep = (rule.keep, True) if isinstance(rule, rules.Keep) else (rule.drop, False)
            rows = [row for row in rows if rule.meets(row.cells.get(column)) is keep]
            meant = f"not {_meant(rule)}" if keep else _meant(rule)
            _note(notes, len(table.rows) - len(rows), f"{column} is {meant}", rule.because)
        case rules.Unique():
            rows, repeated = _distinct(rule, rows)
            if rule.refuse:
                bad += [row.bad(f"repeats row {first.number}") for row, first in repeated]
            else:
                _note(
                    notes,
                    len(repeated),
                    f"the same {', '.join(rule.unique)} as a row before",
                    rule.because,
                )
        case rules.PairUp():
            rows = list(_paired_up(rule, rows, bad))
        case rules.DrawPairs():
            rows = list(drawn_pairs(rule, rows))
            notes.append(
                f"{len(rows):,} pairs drawn from {len(table.rows):,} rows with seed {rule.seed}"
            )
        case rules.RankPairs():
            rows = ranked_pairs(rule, rows, bad)
            if len(rows) < rule.rank_pairs:
                notes.append(f"{len(rows):,} pairs drawn, where {rule.rank_pairs:,} were wanted")
        case rules.BothWays():
            rows = list(_both_ways(rule, rows, bad))
        case _:
            rows = list(_each(partial(_CHANGES[type(rule)], rule), rows, bad))
    return Table(rows, columns, bad, notes)


def _note(notes: list[str], count: int, what: str, because: str) -> None:
    if count:
        notes.append(f"{count:,} rows left out: {what}{f' ({because})' if because else ''}")


def _meant(rule: rules.Condition) -> str:
    if rule.values:
        return " or ".join(rule.values)
    low = [] if rule.at_least is None else [f"at least {rule.at_least:g}"]
    high = [] if rule.at_most is None else [f"at most {rule.at_most:g}"]
    return " and ".join(low + high)


def _key(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True)


def _distinct(rule: rules.Unique, rows: Sequence[Row]) -> tuple[list[Row], list[tuple[Row, Row]]]:
    """The first row of all equal ones, and every other row with the first that it equals."""
    seen: dict[Any, Row] = {}
    repeated: list[tuple[Row, Row]] = []
    for row in rows:
        key = [_key(row.cells.get(column)) for column in rule.unique]
        if rule.any_case:
            key = [part.casefold() if isinstance(part, str) else part for part in key]
        first = seen.setdefault(tuple(key), row)
        if first is not row:
            repeated.append((row, first))
    return list(seen.values()), repeated


def _each(
    change: Callable[[dict[str, Any]], None], rows: Sequence[Row], bad: list[BadRow]
) -> Iterator[Row]:
    """Every row changed; a row that cannot be is a bad one."""
    for row in rows:
        try:
            change(row.cells)
        except BadValueError as error:
            bad.append(row.bad(str(error)))
        else:
            yield row


def _rename(rule: rules.Rename, cells: dict[str, Any]) -> None:
    def renamed(value: Any) -> Any:
        other = value if rule.otherwise is None else rule.otherwise
        if isinstance(value, str):
            return rule.values.get(value, other)
        return other

    value = cells.get(rule.rename)
    cells[rule.into or rule.rename] = (
        [renamed(item) for item in value] if isinstance(value, list) else renamed(value)
    )


def _name_range(rule: rules.ThresholdRule, cells: dict[str, Any]) -> None:
    number = _number(cells, rule.threshold)
    cells[rule.into or rule.threshold] = rule.names[sum(number >= at for at in rule.at)]


def _cut(rule: rules.Cut, cells: dict[str, Any]) -> None:
    text = cells.get(rule.cut)
    times = text.count(rule.at) if isinstance(text, str) else 0
    if not isinstance(text, str) or times != 1:
        raise BadValueError(f"'{rule.cut}' has {times or 'no'} '{rule.at}' where one is needed")
    cells[rule.into[0]], _, cells[rule.into[1]] = text.partition(rule.at)


def _count(rule: rules.Count, cells: dict[str, Any]) -> None:
    cells[rule.into] = str(len(entries(cells.get(rule.count), rule.separator, rule.count)))


def _compare(rule: rules.Compare, cells: dict[str, Any]) -> None:
    first, second = (_number(cells, column) for column in rule.compare)
    if rule.sd:
        spread = math.hypot(*(_number(cells, column) for column in rule.sd))
    else:
        spread = 0.0
    if spread > 0:
        share = 0.5 * (1 + math.erf((first - second) / (spread * math.sqrt(2))))
    else:
        share = 0.5 if first == second else float(first > second)
    for column, value in zip(rule.into, (share, 1 - share), strict=True):
        cells[column] = repr(round(value, 6))


def _expect(rule: rules.Expect, cells: dict[str, Any]) -> None:
    for column in rule.expect:
        cell = cells.get(column) or ""
        if cell == "" and "" not in rule.values:
            raise BadValueError(f"'{column}' is empty")
        values: Sequence[Any] = [cell]
        if isinstance(cell, list):
            values = cell
        elif rule.separator and cell:
            values = split_words(cell, column, rule.separator)
        for value in values if rule.values else ():
            one_of(value, rule.values, column)


_CHANGES: dict[type[Rule], Callable[[Any, dict[str, Any]], None]] = {
    rules.Rename: _rename,
    rules.ThresholdRule: _name_range,
    rules.Cut: _cut,
    rules.Count: _count,
    rules.Compare: _compare,
    rules.Expect: _expect,
}
"""What the rules do that change one row at a time."""


def _both_ways(rule: rules.BothWays, rows: Sequence[Row], bad: list[BadRow]) -> Iterator[Row]:
    """Every row, followed by its other way round where no row of the table is that."""
    consistent: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        reason = _contradiction(rule, row, consistent)
        if reason:
            bad.append(row.bad(reason))
        else:
            consistent.setdefault(_place(rule, row.cells), row)
    for row in consistent.values():
        first, second = (str(row.cells.get(column)) for column in rule.things)
        if rule.into:
            together = {rule.into: "|".join(sorted((first, second)))}
        else:
            together = {}
        yield row._replace(cells=row.cells | together)
        turned = _turned(rule, row.cells) | together
        if _place(rule, turned) not in consistent:
            yield row._replace(cells=turned)


def _contradiction(rule: rules.BothWays, row: Row, earlier: Mapping[tuple[Any, ...], Row]) -> str:
    """Why a row cannot be asked beside the earlier ones; empty where it can."""
    first, second = (row.cells.get(column) for column in rule.things)
    if first == second:
        return f"compares '{first}' with itself"
    other = earlier.get(_place(rule, _turned(rule, row.cells)))
    if other is None or not rule.label:
        return ""
    said = other.cells.get(rule.label)
    agrees = rule.opposite(str(said)) == row.cells.get(rule.label)
    if agrees:
        return ""
    return f"row {other.number} says that '{second}' is {said} '{first}'"


def _place(rule: rules.BothWays, cells: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(_key(cells.get(column)) for column in (*rule.within, *rule.things))


def _turned(rule: rules.BothWays, cells: Mapping[str, Any]) -> dict[str, Any]:
    turned = {**cells, **{column: cells.get(other) for column, other in rule.exchanged.items()}}
    if rule.label:
        turned[rule.label] = rule.opposite(str(cells.get(rule.label)))
    return turned


def entries(value: Any, separator: str, column: str) -> list[str]:
    """The entries of a cell that lists something: a list, a JSON list written as a text, or a text
    with separators."""
    if isinstance(value, str) and value.startswith("[") and value.endswith("]"):
        try:
            loaded = parse_json(value)
        except ValueError:
            loaded = None
        if isinstance(loaded, list):
            return [str(item) for item in loaded]
    if isinstance(value, list):
        return [str(item) for item in value]
    if isinstance(value, str):
        if separator:
            return [part.strip() for part in value.split(separator) if part.strip()]
        return [value]
    raise BadValueError(f"'{column}' is not a list")


def _number(cells: dict[str, Any], column: str) -> float:
    number = as_number(cells.get(column))
    if math.isnan(number):
        raise BadValueError(f"'{column}' is {cells.get(column)!r}, not a number")
    return number


def _paired_up(rule: rules.PairUp, rows: Sequence[Row], bad: list[BadRow]) -> Iterator[Row]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(_key(row.cells.get(rule.pair_up)), []).append(row)
    for value, members in groups.items():
        if len(members) == 2 and value is not None:
            yield side_by_side(members[0], members[1], rule.pair_up)
        else:
            reason = f"{len(members)} rows have {value!r} in '{rule.pair_up}' where two make a pair"
            bad += [row.bad(reason) for row in members]
