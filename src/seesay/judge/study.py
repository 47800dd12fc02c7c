"""A study: the items that people judge, how they are laid out, and the texts around them."""

from __future__ import annotations

import hashlib
import random
from functools import cached_property
from itertools import zip_longest
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from seesay.questions import SLOT, Task

Control = Literal["", "distinct", "same", "known"]

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
}
TOP = 100
"""The slider's right end; it begins at 0."""


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Item(_Document):
    """One thing to judge: a pair of words on a slider, or a sentence with options."""

    id: str = Field(description="Its name in the tables.")
    base: str = Field(description="What it is about; a person never meets the same base twice.")
    words: tuple[str, str] | None = Field(default=None, description="The two words of a rating.")
    question: str = Field(default="", description="Id of the task's question.")
    template: str = Field(default="", description="Name of the task's wording.")
    text: str = Field(default="", description="The sentence of a choice, [MASK] marking the blank.")
    options: tuple[str, ...] = Field(default=(), description="The task's labels for a choice.")
    wordings: tuple[str, ...] = Field(default=(), description="The labels as they stand in this sentence.")
    picture: str | None = Field(default=None, description="Path of the picture shown with it.")
    control: Control = Field(
        default="", description="What kind of control it is: distinct, same, known; empty for an item that is measured."
    )
    known: tuple[str, ...] = Field(default=(), description="The right labels of a `known` control.")
    reference: float | None = Field(default=None, description="A pair's similarity in the file, 0 to 1, if it has one.")

    @property
    def parts(self) -> tuple[str, str]:
        """What stands before the blank and what stands after it."""
        before, _, after = self.text.partition(SLOT)
        return before, after


class Design(_Document):
    """How many, how long, in which order."""

    judgements: int = Field(default=10, ge=1, le=10_000, description="Judgements wanted for every item.")
    per_page: int = Field(default=20, ge=1, le=200, description="Items on a page, without controls.")
    pages: int = Field(default=3, ge=1, le=1000, description="Pages for one person.")
    controls: int = Field(default=2, ge=0, le=20, description="Control items mixed into every page.")
    lease_minutes: float = Field(
        default=30,
        gt=0,
        le=7 * 24 * 60,
        description="After so long without a sign, a person's open items go to others.",
    )
    slider_start: Literal["middle", "random"] = Field(
        default="middle", description="Where a slider stands before it is moved."
    )
    low: str = Field(default="dissimilar", max_length=60, description="The slider's left end.")
    high: str = Field(default="similar", max_length=60, description="The slider's right end.")
    completion_code: str = Field(
        default="", max_length=60, description="The code shown at the end; empty for one of its own for each person."
    )
    return_url: str = Field(
        default="", max_length=500, description="Where the end page leads back to; {code} stands for the code."
    )
    seed: int = Field(default=0, description="Seed of the order of items, of controls and of slider starts.")


class Study(_Document):
    """All that is asked. It never changes once people have begun."""

    name: str = Field(description="A short name: the file, the schema and the run are named after it.")
    title: str = Field(description="What people read at the top.")
    kind: Literal["rating", "choice"] = Field(description="`rating`: pairs on a slider; `choice`: options.")
    design: Design = Field(default_factory=Design)
    consent: str = Field(default=CONSENT, max_length=50_000, description="Markdown, shown first.")
    instructions: str = Field(default="", max_length=50_000, description="Markdown, shown above every page.")
    items: tuple[Item, ...] = Field(description="Measured items, then controls.")
    task: Task | None = Field(default=None, description="The task that was asked; null for pairs.")
    left_out: tuple[str, ...] = Field(default=(), description="Rows of the file that could not be used, and why.")

    @cached_property
    def by_id(self) -> dict[str, Item]:
        return {item.id: item for item in self.items}

    @property
    def measured(self) -> tuple[Item, ...]:
        return tuple(item for item in self.items if not item.control)

    @property
    def controls(self) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.control)

    @property
    def people_needed(self) -> int:
        """How few people can give all judgements, if each does all pages."""
        wanted = len(self.measured) * self.design.judgements
        each = min(self.design.per_page * self.design.pages, len(self.measured))
        return max(-(-wanted // each), self.design.judgements)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all of it."""
        return hashlib.blake2b(self.model_dump_json().encode(), digest_size=8).hexdigest()

    def rng(self, *parts: object) -> random.Random:
        """Chance that is the same every time for the same parts of the same study."""
        return random.Random(f"{self.design.seed}|{'|'.join(map(str, parts))}")

    def controls_for(self, person: int) -> list[Item]:
        """The controls that a person meets, the kinds in turn.

        Of the questions with known answers it is half at most, so that each of them is measured with the others.
        """
        chance = self.rng("controls", person)
        piles = []
        for kind in sorted({item.control for item in self.controls}):
            same = [item for item in self.controls if item.control == kind]
            piles.append(chance.sample(same, len(same) // 2 if kind == "known" else len(same)))
        turns = [item for row in zip_longest(*piles) for item in row if item is not None]
        return turns[: self.design.controls * self.design.pages]

    def start(self, person: int, item: str) -> int:
        """Where this person's slider for this item stands at first."""
        if self.design.slider_start == "middle":
            return TOP // 2
        return self.rng("start", person, item).randint(0, TOP)
