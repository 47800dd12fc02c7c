"""Small tasks and models for the tests of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from seesay.models.base import Model
from seesay.questions import Prompt, Provenance, Question, Scores, Task, Template

COLORS = ("red", "green", "blue")


def task(count: int = 4, neutral: bool = True) -> Task:
    """Objects with two questions each, in two templates."""
    questions = tuple(
        Question(
            id=f"q{i}",
            fields={"thing": f"thing {i}"},
            options=COLORS,
            gold={COLORS[i % 3]: 1.0},
            object=f"object {i // 2}",
            tags={"half": "odd" if i % 2 else "even"},
        )
        for i in range(count)
    )
    templates = (
        Template("is", "The {thing} is [MASK]."),
        Template("asked", "What colour is {thing}? [MASK]."),
    )
    return Task(
        "made-up",
        "1",
        "Made up",
        templates,
        questions,
        ("accuracy",),
        neutral={"thing": "something"} if neutral else {},
        provenance=Provenance(citation="Nobody 2020"),
    )


@dataclass
class Counting(Model):
    """A model that remembers what it was asked, in batches of three, and may break down."""

    name: str = "counting"
    family: str = "mock"
    fingerprint: str = "f"
    scope: str = "option"
    breaks_after: int = 10**9
    asked: list[str] = field(default_factory=list)

    def plan(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Threes, from the last to the first."""
        order = list(range(len(prompts)))[::-1]
        return [order[i : i + 3] for i in range(0, len(order), 3)]

    def answer(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Scores that depend on the prompt alone."""
        if len(self.asked) >= self.breaks_after:
            raise ConnectionError("the line is dead")
        self.asked += [prompt.text for prompt in prompts]
        return [scores(prompt) for prompt in prompts]


def scores(prompt: Prompt) -> Scores:
    """Made of the text's digest."""
    digits = [int(prompt.key[i], 16) for i in range(len(prompt.options))]
    return Scores(
        tuple(-1.0 - d / 7 for d in digits), (1,) * len(digits), tuple(map(len, prompt.options))
    )
