"""A study: the items that people judge, how they are presented, and the texts around them."""

from __future__ import annotations

import hashlib
import random
from functools import cached_property
from itertools import zip_longest
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator

from seesay.judge import SliderStart
from seesay.questions import SLOT, BadRow, Task
from seesay.runs.upgrades import upgrade_bad_rows, upgrade_task

ControlKind = Literal["", "distinct", "same", "known"]

CONSENT = """\
## Before you begin

You are asked to judge words or sentences. It takes a few minutes, and you may stop at any time by closing the page.
Some items have an obvious answer: they show that the page is being read.

What is kept: your answers and how long they took. Your name, your address and your browser are not kept.
"""
INSTRUCTIONS = {
    "rating": """\
How similar in meaning are the two words? Move each slider to where you feel it belongs, from *dissimilar* to *similar*.
Go by your first impression. A slider counts once you have moved it or ticked its box.
""",
    "choice": """\
Choose the answer that fits best. Go by what is usual; if several answers fit, take the first that comes to mind.
""",
    "several": """\
Choose every answer that is usual, at least one.
""",
}
SLIDER_MAX = 100
"""The right end of a slider; the left end is 0."""


_FILE_KEYS = {
    "option_texts": "wordings",
    "criteria": "rule",
    "excluded": "dropped",
    "judgements_per_item": "judgements_an_item",
}


class FrozenModel(BaseModel):
    """The base of a study's documents. Files keep the field names of earlier versions (`_FILE_KEYS`)."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, alias_generator=lambda name: _FILE_KEYS.get(name, name)
    )

    def to_json(self, indent: int | None = None) -> str:
        return self.model_dump_json(indent=indent, by_alias=True)


class StudyItem(FrozenModel):
    """One item to judge: a pair of words on a slider, or a sentence with options."""

    id: str = Field(description="Its name in the tables.")
    base: str = Field(description="What it is about; nobody is asked about the same base twice.")
    words: tuple[str, str] | None = Field(default=None, description="The two words of a rating.")
    question: str = Field(default="", description="Id of the task's question.")
    template: str = Field(default="", description="Name of the task's template.")
    text: str = Field(default="", description="The sentence of a choice; [MASK] marks the blank.")
    options: tuple[str, ...] = Field(default=(), description="The task's labels for a choice.")
    option_texts: tuple[str, ...] = Field(default=(), description="The labels as they appear in this sentence.")
    picture: str | None = Field(default=None, description="Path of the picture shown with it.")
    control: ControlKind = Field(default="", description="The kind of control; empty for a measured item.")
    known: tuple[str, ...] = Field(default=(), description="The correct labels of a `known` control.")
    reference: float | None = Field(default=None, description="The similarity of a pair in the file, 0 to 1, if given.")
    several: bool = Field(default=False, description="Whether a participant may name several options.")

    @property
    def parts(self) -> tuple[str, str]:
        """The text before the blank and the text after it."""
        before, _, after = self.text.partition(SLOT)
        return before, after

    @property
    def max_value(self) -> int:
        """The largest value of an answer: the right end of the slider, the index of the last option, or, where several
        may be named, all of their bits."""
        if self.words:
            return SLIDER_MAX
        return (1 << len(self.options)) - 1 if self.several else len(self.options) - 1

    @property
    def min_value(self) -> int:
        """The smallest value of an answer; where several options may be named, one must be."""
        return int(self.several)

    def labels(self, value: int) -> tuple[str, ...]:
        """The options that an answer names: the one of this index, or those whose bits are set (the first is 1)."""
        if not self.several:
            return (self.options[value],)
        return tuple(option for place, option in enumerate(self.options) if value >> place & 1)


class StudyDesign(FrozenModel):
    """How many judgements, participants and pages, and in which order."""

    judgements: int = Field(default=10, ge=1, le=10_000, description="Judgements per item.")
    per_page: int = Field(default=20, ge=1, le=200, description="Items per page, controls not counted.")
    pages: int = Field(default=3, ge=1, le=1000, description="Pages per participant.")
    controls: int = Field(default=2, ge=0, le=20, description="Control items per page.")
    lease_minutes: float = Field(
        default=30, gt=0, le=7 * 24 * 60, description="Minutes of inactivity after which items go to others."
    )
    slider_start: SliderStart = Field(default=SliderStart.MIDDLE, description="The initial position of sliders.")
    low: str = Field(default="dissimilar", max_length=60, description="The label of the slider's left end.")
    high: str = Field(default="similar", max_length=60, description="The label of the slider's right end.")
    completion_code: str = Field(default="", max_length=60, description="The code for all; empty: a code each.")
    return_url: str = Field(default="", max_length=500, description="Link at the end; {code} stands for the code.")
    seed: int = Field(default=0, description="Seed of the order of items, the controls and the slider positions.")


class Study(FrozenModel):
    """Everything that is asked. It never changes once people have begun."""

    name: str = Field(description="A short name, used for the file, the schema and the run.")
    title: str = Field(description="The heading that participants see.")
    kind: Literal["rating", "choice"] = Field(description="`rating`: pairs on a slider; `choice`: options.")
    design: StudyDesign = Field(default_factory=StudyDesign)
    consent: str = Field(default=CONSENT, max_length=50_000, description="Markdown, shown first.")
    instructions: str = Field(default="", max_length=50_000, description="Markdown, shown above every page.")
    items: tuple[StudyItem, ...] = Field(description="Measured items, then controls.")
    task: Task | None = Field(default=None, description="The task that is asked; null for pairs.")
    left_out: tuple[BadRow, ...] = Field(default=(), description="Rows of the file that could not be used, and why.")

    _upgrade_task = field_validator("task", mode="before")(upgrade_task)
    _upgrade_left_out = field_validator("left_out", mode="before")(upgrade_bad_rows)

    @cached_property
    def items_by_id(self) -> dict[str, StudyItem]:
        return {item.id: item for item in self.items}

    @property
    def measured(self) -> tuple[StudyItem, ...]:
        return tuple(item for item in self.items if not item.control)

    @property
    def controls(self) -> tuple[StudyItem, ...]:
        return tuple(item for item in self.items if item.control)

    @property
    def participants_needed(self) -> int:
        """The smallest number of participants who can give all judgements, if each completes all pages."""
        total = len(self.measured) * self.design.judgements
        each = min(self.design.per_page * self.design.pages, len(self.measured))
        return max(-(-total // each), self.design.judgements)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the whole definition."""
        return _digest(self.to_json())

    @classmethod
    def from_json(cls, definition: str) -> Self:
        """Read a definition. Its fingerprint is that of the text, so that fields added later do not change it."""
        study = cls.model_validate_json(definition)
        study.__dict__["fingerprint"] = _digest(definition)  # the cached property
        return study

    def rng(self, *parts: object) -> random.Random:
        """A random generator that depends on the study's seed and the given parts only."""
        return random.Random(f"{self.design.seed}|{'|'.join(map(str, parts))}")

    def controls_for(self, person: int) -> list[StudyItem]:
        """The controls of a participant, alternating between the kinds.

        At most half of the questions with known answers are used, so that each is measured with other participants.
        """
        rng = self.rng("controls", person)
        by_kind = []
        for kind in sorted({item.control for item in self.controls}):
            items = [item for item in self.controls if item.control == kind]
            by_kind.append(rng.sample(items, len(items) // 2 if kind == "known" else len(items)))
        alternating = [item for row in zip_longest(*by_kind) for item in row if item is not None]
        return alternating[: self.design.controls * self.design.pages]

    def initial_position(self, person: int, item: str) -> int:
        """The position of a participant's slider before it is moved."""
        if self.design.slider_start == SliderStart.MIDDLE:
            return SLIDER_MAX // 2
        return self.rng("start", person, item).randint(0, SLIDER_MAX)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
