"""A study: the items that people judge, how they are presented, and the texts around them."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import Literal, Self

from pydantic import Field

from seesay.digests import text_digest
from seesay.documents import Document
from seesay.judge import OptionOrder, SliderStart
from seesay.judge.items import Kind, StudyItem
from seesay.judge.messages import mark
from seesay.judge.texts import ContactDetails, StudyTexts
from seesay.questions import BadRow, Task

CONSENT = mark("""\
## Before you begin

You are asked to judge words or sentences. You may stop at any time by closing the page.
Some items have an obvious answer: they show that the page is being read.

What is kept: your answers and how long they took. Your name, your address and your browser \
are not kept.
""")
INSTRUCTIONS = {
    "rating": mark("""\
How similar in meaning are the two words? Move each slider to where you feel it belongs, \
from *dissimilar* to *similar*.
Go by your first impression. A slider counts once you have moved it or ticked its box.
"""),
    "choice": mark("""\
Choose the answer that fits best. Go by what is usual; if several answers fit, take the first \
that comes to mind.
"""),
    "several": mark("""\
Choose every answer that is usual, at least one.
"""),
    "number": mark("""\
Type the number that fits best. Go by what is usual.
"""),
    "text": mark("""\
Type the answer that fits best, in a word or two. Go by what is usual, and take the first \
that comes to mind.
"""),
}


class StudyDesign(Document):
    """How many judgements, participants and pages, and in which order."""

    judgements: int = Field(default=10, ge=1, le=10_000)
    """Judgements per item."""
    per_page: int = Field(default=20, ge=1, le=200)
    """Items per page, controls not counted."""
    pages: int = Field(default=3, ge=1, le=1000)
    """Pages per participant."""
    controls: int = Field(default=2, ge=0, le=20)
    """Control items per page."""
    allocation: Literal["fixed", "adaptive"] = "fixed"
    """The same number of judgements for each item, or more where people disagree."""
    min_judgements: int = Field(default=5, ge=2, le=10_000)
    """Adaptive: judgements that every item gets."""
    width: float = Field(default=0.4, gt=0, le=1)
    """Adaptive: width of the 95 % interval that is enough."""
    lease_minutes: float = Field(default=30, gt=0, le=7 * 24 * 60)
    """Minutes of inactivity after which items go to others."""
    slider_start: SliderStart = SliderStart.MIDDLE
    """The initial position of sliders."""
    option_order: OptionOrder = OptionOrder.AUTO
    """The order of options: of each participant's own, or as the task gives them."""
    low: str = Field(default=mark("dissimilar"), max_length=60)
    """The label of the slider's left end."""
    high: str = Field(default=mark("similar"), max_length=60)
    """The label of the slider's right end."""
    completion_code: str = Field(default="", max_length=60)
    """The code for all; empty: a code each."""
    return_url: str = Field(default="", max_length=500)
    """Link at the end; {code} stands for the code."""
    languages: tuple[str, ...] = Field(default=("en",), min_length=1)
    """The languages that participants choose from, the default first."""
    minutes: float | None = Field(default=None, gt=0, le=600)
    """The time it takes, from a pilot."""
    seed: int = 0
    """Seed of the order of items and options, the controls and the slider positions."""


class Study(Document):
    """Everything that is asked. It never changes once people have begun."""

    name: str
    """A short name, used for the file, the schema and the run."""
    title: str
    """The heading that participants see."""
    kind: Kind
    """The kind of all items: pairs on a slider, or sentences with a blank."""
    design: StudyDesign = Field(default_factory=StudyDesign)
    consent: str = Field(default=CONSENT, max_length=50_000)
    """Markdown, shown first."""
    instructions: str = Field(default="", max_length=50_000)
    """Markdown, shown above every page."""
    contact: ContactDetails = Field(default_factory=ContactDetails)
    texts: Mapping[str, StudyTexts] = Field(default_factory=dict)
    """The texts by language."""
    items: tuple[StudyItem, ...]
    """Measured items, then controls."""
    task: Task | None = None
    """The task that is asked; null for pairs."""
    bad_rows: tuple[BadRow, ...] = ()
    """Rows of the file that could not be used, and why."""

    @cached_property
    def items_by_id(self) -> dict[str, StudyItem]:
        return {item.id: item for item in self.items}

    @cached_property
    def measured(self) -> tuple[StudyItem, ...]:
        return tuple(item for item in self.items if not item.control)

    @cached_property
    def controls(self) -> tuple[StudyItem, ...]:
        return tuple(item for item in self.items if item.control)

    @property
    def participants_needed(self) -> int:
        """Return how few participants can give all judgements, if each completes all pages."""
        total = len(self.measured) * self.design.judgements
        # Nobody judges an item twice.
        return max(math.ceil(total / self.items_per_person), self.design.judgements)

    @property
    def items_per_person(self) -> int:
        """Return how many measured items a participant judges who completes all pages."""
        # As many as for the first participant: others have as many controls.
        available = len(self.measured_for(1))
        return max(min(self.design.per_page * self.max_pages, available), 1)

    @property
    def first_judgements(self) -> int:
        """Return the judgements that every item gets before it is known whether it needs more."""
        design = self.design
        if design.allocation == "fixed":
            return design.judgements
        return min(design.min_judgements, design.judgements)

    @property
    def max_pages(self) -> int:
        """Return the largest number of pages of a participant, none of them without items."""
        return self._pages_of(self.measured)

    @cached_property
    def fingerprint(self) -> str:
        """Return a digest of the whole definition."""
        return text_digest(self.model_dump_json())

    @classmethod
    def from_json(cls, definition: str) -> Self:
        """Read a definition.

        Its fingerprint is that of the text, so that fields added later do not change it.
        """
        study = cls.model_validate_json(definition)
        # The value of the cached property.
        study.__dict__["fingerprint"] = text_digest(definition)
        return study

    def has_step(self, step: str) -> bool:
        """Return whether the study has a `check` or `practice` in any of its languages."""
        return any(getattr(texts, step) for texts in self.texts.values())

    def rng(self, *parts: object) -> random.Random:
        """Return a random generator that depends on the study's seed and these parts only."""
        return random.Random(f"{self.design.seed}|{'|'.join(map(str, parts))}")

    def controls_for(self, person: int) -> list[StudyItem]:
        """Return the controls of a participant, alternating between the kinds.

        At most half of the questions with known answers are used, so that each is measured with
        other participants.
        """
        rng = self.rng("controls", person)
        by_kind = []
        for kind in sorted({item.control for item in self.controls}):
            items = [item for item in self.controls if item.control == kind]
            count = len(items) // 2 if kind == "known" else len(items)
            by_kind.append(rng.sample(items, count))
        # One of each kind in turn, until all kinds have run out.
        alternating = [item for row in zip_longest(*by_kind) for item in row if item is not None]
        return alternating[: self.design.controls * self.max_pages]

    def measured_for(self, person: int) -> list[StudyItem]:
        """Return the items that a participant may be asked besides their controls.

        Controls are about the same things, and nobody is asked about a thing twice.
        """
        reserved = {item.base for item in self.controls_for(person)}
        return [item for item in self.measured if item.base not in reserved]

    def pages_for(self, person: int) -> int:
        """Return the number of pages that a participant gets: no more than there are items for."""
        return self._pages_of(self.measured_for(person))

    def _pages_of(self, items: Sequence[StudyItem]) -> int:
        needed = math.ceil(len(items) / self.design.per_page)
        return min(self.design.pages, max(needed, 1))

    def option_order(self, person: int, item: StudyItem) -> tuple[int, ...]:
        """Return the indices of an item's options in the order in which a participant sees them.

        A participant finds the same options in the same order on every item. Answers hold the
        index of an option, not its place on the page, so that they mean the same for all.
        """
        order = list(range(len(item.names)))
        setting = self.design.option_order
        is_shuffled = setting == OptionOrder.SHUFFLED
        if setting == OptionOrder.AUTO:
            is_shuffled = not item.is_ordered
        if is_shuffled:
            self.rng("options", person, *item.names).shuffle(order)
        return tuple(order)

    def initial_position(self, person: int, item: str) -> int | None:
        """Return where a participant's slider is before it is moved; None where there is none."""
        rng = self.rng("start", person, item)
        return self.items_by_id[item].initial_position(self.design.slider_start, rng)
