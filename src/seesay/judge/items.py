"""The kinds of items that people judge.

A kind says what an answer is, how a form holds it, and which labels it names. What is chosen is a
whole number (the position of a slider, the index of an option, the bits of several options); what
is typed is a text. Adding a kind is one class here, one macro in items.html and one entry of
`kinds` in page.js.
"""

from __future__ import annotations

import math
import random
import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from seesay.documents import Document
from seesay.judge import SliderStart
from seesay.judge.numbers import option_number, parse_number
from seesay.judge.rejections import InvalidAnswerError, MistakenAnswerError
from seesay.matching import match
from seesay.questions import SLOT

ControlKind = Literal["", "distinct", "same", "known"]
Kind = Literal["rating", "choice", "several", "number", "text"]

SLIDER_MAX = 100
"""The right end of a slider; the left end is 0."""
MAX_SEVERAL = 50
"""Options of an item where several may be named: their bits fit a number of JavaScript and of a
database."""
MAX_TYPED = 300
"""Characters of a typed answer."""
_POLAR = frozenset({"yes", "no", "true", "false", "maybe", "unknown"})
"""Options that people expect in one order, the positive first."""
_WHOLE = re.compile(r"[0-9]{1,4}")


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """An answer to an item."""

    value: int
    """What was chosen, as a number; 0 where the answer is typed."""
    how: str
    """How it was answered: moved, confirmed, chosen or typed."""
    text: str = ""
    """What was typed."""


class BaseItem(Document):
    """What all kinds share."""

    how: ClassVar[tuple[str, ...]] = ("chosen",)
    is_numeric: ClassVar[bool] = False
    has_labels: ClassVar[bool] = True

    id: str
    """Its name in the tables."""
    base: str
    """What it is about; nobody is asked about the same base twice."""
    picture: str | None = None
    """Path of the picture shown with it."""
    icons: tuple[str | None, ...] = ()
    """Paths of the pictures of its words or options."""
    control: ControlKind = ""
    """The kind of control; empty for a measured item."""
    known: tuple[str, ...] = ()
    """The correct labels of a `known` control."""

    @property
    @abstractmethod
    def line(self) -> str:
        """Return the item in one line of text."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Return the words or options that icons belong to."""

    @property
    @abstractmethod
    def columns(self) -> dict[str, str]:
        """Return what it says, as columns of a table."""

    @property
    def quoted(self) -> str:
        """Return the item as a message names it."""
        return f"'{self.line}'"

    @property
    @abstractmethod
    def max_value(self) -> int:
        """Return the largest value of an answer."""

    @property
    def min_value(self) -> int:
        return 0

    @classmethod
    @abstractmethod
    def read_form(cls, fields: Mapping[str, str]) -> ItemAnswer | None:
        """Return the answer in an item's fields of a form; None where there is none.

        The names of the fields are without the item's place.
        """

    def check(self, answer: ItemAnswer) -> None:
        """Reject an answer that the item does not allow."""
        # A form or a script may send anything, whatever the page offers.
        if answer.how not in self.how:
            raise InvalidAnswerError("'%(how)s' is not a way to answer this item.", how=answer.how)
        if not self.min_value <= answer.value <= self.max_value:
            raise InvalidAnswerError(
                "The answer must be a whole number from %(low)d to %(high)d.",
                low=self.min_value,
                high=self.max_value,
            )
        if answer.text:
            raise InvalidAnswerError("Nothing is typed here.")

    def labels(self, value: int, text: str = "") -> tuple[str, ...]:
        """Return the labels that an answer names."""
        return ()

    def is_correct(self, value: int, text: str = "") -> bool:
        """Return whether an answer to a control or a practice item is right.

        It names a correct label and nothing else.
        """
        labels = set(self.labels(value, text))
        return bool(labels) and labels <= set(self.known)

    def number(self, value: int, text: str = "") -> float | None:
        """Return the number that an answer states, if it states one."""
        return None

    def initial_position(self, start: SliderStart, rng: random.Random) -> int | None:
        """Return the position of its slider before it is moved; None for items without one."""
        return None

    @property
    def is_ordered(self) -> bool:
        """Return whether the order of its names means something."""
        return True


class RatingItem(BaseItem):
    """A pair of words on a slider."""

    kind: Literal["rating"] = "rating"
    how: ClassVar[tuple[str, ...]] = ("moved", "confirmed")
    is_numeric: ClassVar[bool] = True
    has_labels: ClassVar[bool] = False

    words: tuple[str, str]
    """The two words."""
    reference: float | None = None
    """The similarity of a pair in the file, 0 to 1, if given."""
    expected: tuple[float, float] = (0, 1)
    """The part of the slider that is right in practice."""

    @property
    def line(self) -> str:
        return " · ".join(self.words)

    @property
    def quoted(self) -> str:
        return " and ".join(f"'{word}'" for word in self.words)

    @property
    def names(self) -> tuple[str, ...]:
        return self.words

    @property
    def columns(self) -> dict[str, str]:
        return dict(zip("ab", self.words, strict=True))

    @property
    def max_value(self) -> int:
        return SLIDER_MAX

    def number(self, value: int, text: str = "") -> float | None:
        return value / SLIDER_MAX

    def is_correct(self, value: int, text: str = "") -> bool:
        return self.expected[0] <= value / SLIDER_MAX <= self.expected[1]

    @classmethod
    def read_form(cls, fields: Mapping[str, str]) -> ItemAnswer | None:
        """Read a slider, which counts only with its box ticked, by the participant or the script.

        A form sends every slider, whether it was touched or not.
        """
        box = fields.get("ok")
        if "v" not in fields or not box:
            return None
        return ItemAnswer(_whole(fields["v"]), "moved" if box == "moved" else "confirmed")

    def initial_position(self, start: SliderStart, rng: random.Random) -> int | None:
        if start == SliderStart.MIDDLE:
            return SLIDER_MAX // 2
        return rng.randint(0, SLIDER_MAX)


class SentenceItem(BaseItem):
    """A sentence with a blank, and the task's options for it."""

    question: str = ""
    """Id of the task's question."""
    template: str = ""
    """Name of the task's template."""
    text: str = ""
    """The sentence; [MASK] marks the blank."""
    options: tuple[str, ...] = ()
    """The task's labels."""
    option_texts: tuple[str, ...] = ()
    """The labels as they appear in this sentence."""

    @property
    def line(self) -> str:
        return self.text.replace(SLOT, "____")

    @property
    def names(self) -> tuple[str, ...]:
        return self.options

    @property
    def columns(self) -> dict[str, str]:
        return {"text": self.text}

    @property
    def is_ordered(self) -> bool:
        if _POLAR.issuperset(option.lower() for option in self.options):
            return True
        return all(option_number(option) is not None for option in self.options)


class ChoiceItem(SentenceItem):
    """One of the options."""

    kind: Literal["choice"] = "choice"

    @property
    def max_value(self) -> int:
        return len(self.options) - 1

    @classmethod
    def read_form(cls, fields: Mapping[str, str]) -> ItemAnswer | None:
        if "v" in fields:
            return ItemAnswer(_whole(fields["v"]), "chosen")
        return None

    def labels(self, value: int, text: str = "") -> tuple[str, ...]:
        return (self.options[value],)


class SeveralItem(SentenceItem):
    """Every option that fits, at least one.

    An answer is the sum of their bits; the first option is 1.
    """

    kind: Literal["several"] = "several"
    most: int = Field(default=0, ge=0)
    """The largest number of options that may be named; 0: any number."""

    @property
    def min_value(self) -> int:
        return 1

    @property
    def max_value(self) -> int:
        return (1 << len(self.options)) - 1

    @classmethod
    def read_form(cls, fields: Mapping[str, str]) -> ItemAnswer | None:
        # A browser sends the boxes that are ticked, and no others.
        places = [int(name[1:]) for name in fields if re.fullmatch("o[0-9]{1,2}", name)]
        if places:
            return ItemAnswer(sum(1 << place for place in places), "chosen")
        return None

    def check(self, answer: ItemAnswer) -> None:
        super().check(answer)
        if self.most and answer.value.bit_count() > self.most:
            raise MistakenAnswerError("Choose at most %(most)d answers.", most=self.most)

    def labels(self, value: int, text: str = "") -> tuple[str, ...]:
        return tuple(option for place, option in enumerate(self.options) if value >> place & 1)


class TypedItem(SentenceItem):
    """An answer that is typed."""

    how: ClassVar[tuple[str, ...]] = ("typed",)

    @property
    def max_value(self) -> int:
        return 0

    @classmethod
    def read_form(cls, fields: Mapping[str, str]) -> ItemAnswer | None:
        text = fields.get("t", "").strip()
        return ItemAnswer(0, "typed", text) if text else None

    def check(self, answer: ItemAnswer) -> None:
        # Other kinds reject a text.
        super().check(ItemAnswer(answer.value, answer.how))
        if not answer.text.strip():
            raise MistakenAnswerError("Type an answer.")
        if len(answer.text) > MAX_TYPED:
            raise MistakenAnswerError("Type at most %(most)d characters.", most=MAX_TYPED)


class NumberItem(TypedItem):
    """A typed number. It names the option of the same value, where options are numbers."""

    kind: Literal["number"] = "number"
    is_numeric: ClassVar[bool] = True
    unit: str = Field(default="", max_length=40)
    """The unit shown beside the field."""
    low: float | None = None
    """The smallest number that is accepted."""
    high: float | None = None
    """The largest number that is accepted."""

    def check(self, answer: ItemAnswer) -> None:
        super().check(answer)
        number = parse_number(answer.text)
        if number is None:
            raise MistakenAnswerError("Type a number, such as 3 or 2.5.")
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        if low <= number <= high:
            return
        if self.low is not None and self.high is not None:
            raise MistakenAnswerError("Type a number from %(low)g to %(high)g.", low=low, high=high)
        raise MistakenAnswerError("This number is too small or too large.")

    def number(self, value: int, text: str = "") -> float | None:
        return parse_number(text)

    def labels(self, value: int, text: str = "") -> tuple[str, ...]:
        number = parse_number(text)
        # "two" and "2" may both be options.
        return tuple(option for option in self.options if option_number(option) == number)


class TextItem(TypedItem):
    """A free answer. It names the options that `seesay.matching` reads, as it does for models."""

    kind: Literal["text"] = "text"
    aliases: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Further names of options."""

    def labels(self, value: int, text: str = "") -> tuple[str, ...]:
        shown = self.option_texts or self.options
        aliases = {}
        for option, option_text in zip(self.options, shown, strict=True):
            aliases[option] = (option_text, *self.aliases.get(option, ()))
        return match(text, self.options, question=self.text, aliases=aliases).labels


def _whole(text: str) -> int:
    """Return the whole number in a field of a form."""
    if not _WHOLE.fullmatch(text):
        raise InvalidAnswerError("An answer must be a whole number.")
    return int(text)


StudyItem = Annotated[
    RatingItem | ChoiceItem | SeveralItem | NumberItem | TextItem, Field(discriminator="kind")
]
ITEM_TYPES: dict[str, type[ChoiceItem | SeveralItem | NumberItem | TextItem]] = {
    "choice": ChoiceItem,
    "several": SeveralItem,
    "number": NumberItem,
    "text": TextItem,
}
"""The kinds in which a task's sentences can be asked."""
