"""viphy-color: the colours that things typically have (Singh, Qasemi & Chen 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from seesay.data import viphy
from seesay.data.knowledge import COLORS, ColorFact
from seesay.questions import Question, Task
from seesay.tasks.viphy import facts, human


def load(data: Path | None = None) -> Task:
    """Load the test split, from the published files or from mined knowledge."""
    source = facts.load_facts(ColorFact, data)
    path = facts.sibling_file(source, viphy.CATEGORIES)
    categories: dict[str, str] = {}
    if path is not None:
        categories, bad = viphy.categories(path)
        source = replace(source, bad=[*source.bad, *bad])
    return facts.build(
        "viphy-color",
        partial(questions, categories=categories),
        source.split("test"),
        source,
        people=lambda: human.rows(source.rows),
        more_files=[path] if path else [],
    )


def questions(facts: Sequence[ColorFact], categories: Mapping[str, str]) -> list[Question]:
    """Return one question per thing; its typical colours are gold, weighted by their shares."""
    return [_question(fact, categories.get(fact.object)) for fact in facts]


def _question(fact: ColorFact, category: str | None) -> Question:
    """Build the question about one thing."""
    shares = zip(COLORS, fact.shares, strict=True)
    tags = {"labels": str(len(fact.typical))}
    if category is not None:
        tags["category"] = category
    return Question(
        id=fact.object,
        fields={"object": fact.object},
        options=COLORS,
        gold={color: share for color, share in shares if color in fact.typical},
        object=fact.object,
        tags=tags,
    )
