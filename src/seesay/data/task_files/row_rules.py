"""What may be done to rows before they become questions: declared rules, none of which executes
anything."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, FiniteFloat, Tag, model_validator

from seesay.data.task_files.schema_base import (
    READS,
    Column,
    Columns,
    ListBranch,
    Names,
    OneOrMore,
    Part,
    Text,
    TextBranch,
    as_names,
    kind_of,
)
from seesay.data.task_files.schema_rows import Reading
from seesay.defaults import LARGEST_SEED

SplitName = Literal["train", "validation", "test"]


class Join(Part):
    """Add the columns of another file to the rows, such as labels that are apart from their
    questions.

    A row without a partner is a bad row; a key that the other file has twice is an error.
    """

    join: Annotated[
        TextBranch | Annotated[dict[SplitName, Text], Tag("<mapping>")],
        Discriminator(kind_of),
    ]
    """The other file, or one for each split."""
    on: Annotated[
        TextBranch | ListBranch | Annotated[dict[str, Text], Tag("<mapping>")],
        Discriminator(kind_of),
    ] = ()
    """The columns in which partners are equal; `{column: other}` where the other file calls them
    otherwise. Default: the first row with the first, and so on, as many as there are."""
    take: OneOrMore = ()
    """The columns to add. Default: all of the other file's."""
    read: Reading = Reading()
    """How the other file is written."""

    @property
    def keys(self) -> dict[str, str]:
        """The columns in which partners are equal, each with the other file's name for it."""
        if isinstance(self.on, dict):
            return self.on
        return {column: column for column in as_names(self.on)}

    def columns_read(self) -> Iterator[tuple[str, str]]:
        """Yield the columns of the rows; those of the other file are looked up there."""
        for column in self.keys:
            yield "on", column


class Spread(Part):
    """Make several rows of one, such as a question for each of its pictures.

    `spread: {image: [image_0, image_1]}` makes two rows, whose column `image` is the first and the
    second of these; the columns themselves stay.
    """

    spread: dict[str, Names] = Field(min_length=1)
    """New columns, each with the columns that the rows take it from, one for each row."""
    into: OneOrMore = Field(default=(), max_length=2)
    """A column that says which of the rows it is (1, 2, …), and one that says which is the next; of
    two rows that is the other one."""
    names: Names = ()
    """What `into` says instead of numbers."""

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        """Refuse columns that would make different numbers of rows, and a single one."""
        counts = {len(columns) for columns in self.spread.values()}
        if self.names:
            counts.add(len(self.names))
        if len(counts) > 1 or min(counts) < 2:
            raise ValueError("'spread' needs as many columns for each name, two at least")
        if self.names and not self.into:
            raise ValueError("'names' goes with 'into'")
        return self

    @property
    def case_names(self) -> Names:
        """What the rows are called."""
        count = len(next(iter(self.spread.values())))
        return self.names or tuple(str(number) for number in range(1, count + 1))

    def columns_read(self) -> Iterator[tuple[str, str]]:
        """Yield the columns that values are taken from."""
        for columns in self.spread.values():
            for column in columns:
                yield "spread", column


class Number(Part):
    """Write the number of each row in its file into a column, for rows that nothing else names."""

    number: Text
    """The new column."""


class RowFilter(Part):
    """Which values of a column are meant: some values, or a range of numbers."""

    values: OneOrMore = ()
    """The values that are meant."""
    at_least: FiniteFloat | None = None
    """Numbers from this one on."""
    at_most: FiniteFloat | None = None
    """Numbers up to this one."""
    because: Text = ""
    """Why, for the report."""

    @model_validator(mode="after")
    def _check_range(self) -> Self:
        """Refuse a filter that filters nothing, or by values and by a range at once."""
        if bool(self.values) == (self.at_least is not None or self.at_most is not None):
            raise ValueError("give either 'values' or 'at_least' and 'at_most'")
        return self

    def meets(self, value: Any) -> bool:
        """Return whether a cell is meant. A cell that is not a number is in no range."""
        if self.values:
            return value in self.values
        low = -math.inf if self.at_least is None else self.at_least
        high = math.inf if self.at_most is None else self.at_most
        # NaN, which stands for no number, is within no bounds.
        return low <= as_number(value) <= high


class Drop(RowFilter):
    """Leave out the rows whose value is meant, and report how many."""

    drop: Column
    """The column."""


class Keep(RowFilter):
    """Leave out all rows but those whose value is meant, and report how many."""

    keep: Column
    """The column."""


class Rename(Part):
    """Give values other names, in place or in a new column."""

    rename: Column
    """The column."""
    values: dict[str, Text]
    """The new name of each value."""
    into: Text = ""
    """The new column. Default: the same one."""
    otherwise: Text | None = None
    """What any other value becomes. Default: it stays as it is."""


class ThresholdRule(Part):
    """Name ranges of a number: below the first threshold, from there to the second, and so on."""

    threshold: Column
    """The column with the number."""
    at: Annotated[
        tuple[FiniteFloat, ...],
        Field(min_length=1, description="Where a new range begins, in rising order."),
        BeforeValidator(lambda value: value if isinstance(value, list | tuple) else [value]),
    ]
    names: tuple[Text, ...]
    """A name for each range, one more than there are thresholds."""
    into: Text = ""
    """The column for the names. Default: the same one."""

    @model_validator(mode="after")
    def _check_thresholds(self) -> Self:
        """Refuse thresholds that do not rise, or do not fit the names of their ranges."""
        if len(self.names) != len(self.at) + 1:
            raise ValueError(
                f"{len(self.at)} thresholds make {len(self.at) + 1} ranges, and 'names' has "
                f"{len(self.names)}"
            )
        if list(self.at) != sorted(set(self.at)):
            raise ValueError("'at' must rise")
        return self


class Cut(Part):
    """Cut a text in two where a mark stands, as in a sentence with a blank."""

    cut: Column
    """The column with the text."""
    at: Text = Field(min_length=1)
    """The mark, such as <mask>; it must occur once."""
    into: tuple[Text, Text]
    """The columns for what stands before and after the mark."""


class Count(Part):
    """Count the entries of a list: a JSON list, or a text with separators."""

    count: Column
    """The column with the list."""
    into: Text
    """The column for the number."""
    separator: Text = ";"
    """What separates the entries of a text."""


class Unique(Part):
    """Keep the first of the rows that are equal in these columns, and report the others."""

    unique: Columns
    """The column, or columns."""
    any_case: bool = False
    """Whether capitals make no difference."""
    refuse: bool = False
    """Whether the others are bad rows, listed one by one."""
    because: Text = ""
    """Why, for the report."""


class Expect(Part):
    """Refuse the rows that are not as they should be: they are bad rows, listed one by one with the
    reason."""

    expect: Columns
    """The column, or columns; none may be empty, unless `values` has ""."""
    values: OneOrMore = ()
    """The values that there may be."""
    separator: Text = ""
    """What separates the entries of a list: every one is checked, and none may be there twice."""


class Compare(Part):
    """How likely a number drawn for the first column is larger than one drawn for the second.

    With standard deviations, both are taken as normal: Φ((a − b) / √(sa² + sb²)); without, it is 1,
    0, or ½ for equals.
    """

    compare: Annotated[tuple[Text, Text], READS]
    """The two columns with the means."""
    sd: Annotated[tuple[Text, Text] | None, READS] = None
    """The two columns with the standard deviations."""
    into: tuple[Text, Text]
    """The columns for the share that says larger, and for the rest."""


class PairUp(Part):
    """Make one row of the two rows that are equal in a column; column `x` becomes `x_a` and
    `x_b`."""

    pair_up: Column
    """The column that the two rows share."""


class DrawPairs(Part):
    """Draw pairs of rows with a seed, every row about equally often; column `x` becomes `x_a` and
    `x_b`."""

    draw_pairs: int = Field(ge=1, le=1_000_000)
    """The number of pairs; each is drawn once."""
    seed: int = Field(default=0, ge=0, le=LARGEST_SEED)
    """The seed."""
    differ: Columns = ()
    """Columns in which the two rows must differ."""


class RankPairs(Part):
    """Draw pairs of rows, the larger one first: equally many of every kind, and every row about
    equally often.

    A kind is a range of the ratio of the two numbers and, with `alike`, whether the two rows are
    equal in a column. Column `x` becomes `x_a` and `x_b`; `ratio` is the name of the range, and
    `alike` is "same" or "different".
    """

    rank_pairs: int = Field(ge=1, le=1_000_000)
    """The number of pairs; each is drawn once."""
    by: Column
    """The column with the number, which is above 0."""
    ratios: dict[str, FiniteFloat] = Field(min_length=1)
    """The ranges of the ratio by name: where each begins, in rising order, from above 1."""
    alike: Column = ""
    """The column in which half of the pairs are equal, and half are not."""
    seed: int = Field(default=0, ge=0, le=LARGEST_SEED)
    """The seed."""

    @model_validator(mode="after")
    def _check_ratios(self) -> Self:
        """Refuse ranges of ratios that do not rise from above 1."""
        starts = list(self.ratios.values())
        if starts != sorted(set(starts)) or starts[0] <= 1:
            raise ValueError("'ratios' must rise, and begin above 1")
        return self


class BothWays(Part):
    """Ask about two things in both orders: a row is followed by the one with the two exchanged, if
    that is not there.

    A row that compares a thing with itself, or contradicts an earlier one, is a bad row.
    """

    both_ways: dict[str, Text] = Field(min_length=1)
    """The columns to exchange, each with its counterpart; the first two name the things."""
    within: Columns = ()
    """Columns in which the two rows are equal, such as the scene."""
    label: Column = ""
    """The column with the answer, which `opposites` turn round."""
    opposites: dict[str, Text] = Field(default={})
    """With `label`: answers and their opposites; any other is its own."""
    into: Text = ""
    """A column for the names of the two, in one order for both rows."""

    @model_validator(mode="after")
    def _check_opposites(self) -> Self:
        """Refuse a label that nothing turns round, and opposites of no label."""
        if bool(self.label) != bool(self.opposites):
            raise ValueError(
                "'label' and 'opposites' go together: the column, and what its answers turn into"
            )
        return self

    @property
    def things(self) -> tuple[str, str]:
        """The columns that name the two things."""
        return next(iter(self.both_ways.items()))

    @property
    def exchanged(self) -> dict[str, str]:
        """Every column that is exchanged, with its counterpart."""
        return self.both_ways | _inverse(self.both_ways)

    def columns_read(self) -> Iterator[tuple[str, str]]:
        """Yield the columns that are exchanged, and those that other fields name."""
        for column in self.exchanged:
            yield "both_ways", column
        yield from super().columns_read()

    def opposite(self, answer: str) -> str:
        """Return the answer to the same question the other way round."""
        # What is declared outdoes what is inferred from it.
        opposites = _inverse(self.opposites) | self.opposites
        return opposites.get(answer, answer)


def _inverse(names: Mapping[str, str]) -> dict[str, str]:
    """Return a mapping the other way round."""
    return {second: first for first, second in names.items()}


def as_number(value: Any) -> float:
    """Return a cell as a number, NaN where it is none."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return math.nan
    if math.isinf(number):
        return math.nan
    return number


DRAWING = (DrawPairs, RankPairs)
"""The rules that draw with a seed: with another one, they give other questions of the same kind."""

KINDS: dict[str, type[Part]] = {
    "drop": Drop,
    "keep": Keep,
    "rename": Rename,
    "threshold": ThresholdRule,
    "cut": Cut,
    "count": Count,
    "unique": Unique,
    "expect": Expect,
    "compare": Compare,
    "pair_up": PairUp,
    "draw_pairs": DrawPairs,
    "rank_pairs": RankPairs,
    "both_ways": BothWays,
    "join": Join,
    "spread": Spread,
    "number": Number,
}


def rule_name(rule: Part) -> str:
    """Return what a rule is called in a task file."""
    return next(name for name, kind in KINDS.items() if type(rule) is kind)


def _kind(value: Any) -> str | None:
    """Return the tag of a rule's kind: a rule is known by the field that it begins with."""
    if isinstance(value, Part):
        return f"<{rule_name(value)}>"
    if isinstance(value, dict):
        for name in KINDS:
            if name in value:
                return f"<{name}>"
    return None


Rule = Annotated[
    Annotated[Join, Tag("<join>")]
    | Annotated[Spread, Tag("<spread>")]
    | Annotated[Number, Tag("<number>")]
    | Annotated[Drop, Tag("<drop>")]
    | Annotated[Keep, Tag("<keep>")]
    | Annotated[Rename, Tag("<rename>")]
    | Annotated[ThresholdRule, Tag("<threshold>")]
    | Annotated[Cut, Tag("<cut>")]
    | Annotated[Count, Tag("<count>")]
    | Annotated[Unique, Tag("<unique>")]
    | Annotated[Expect, Tag("<expect>")]
    | Annotated[Compare, Tag("<compare>")]
    | Annotated[PairUp, Tag("<pair_up>")]
    | Annotated[DrawPairs, Tag("<draw_pairs>")]
    | Annotated[RankPairs, Tag("<rank_pairs>")]
    | Annotated[BothWays, Tag("<both_ways>")],
    Discriminator(
        _kind,
        custom_error_type="rule",
        custom_error_message=f"a rule begins with one of {', '.join(KINDS)}",
    ),
]
