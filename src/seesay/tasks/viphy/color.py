"""viphy-color: the colours that things typically have, as pictures teach them (Singh, Qasemi & Chen
2023)."""

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
    """The test split, from the published files or from mined knowledge."""
    source = facts.load_facts(ColorFact, data)
    path = facts.sibling_file(source, viphy.CATEGORIES)
    categories, bad_categories = viphy.categories(path) if path else ({}, [])
    source = replace(source, bad=[*source.bad, *bad_categories])
    return facts.build(
        "viphy-color",
        partial(questions, categories=categories),
        source.split("test"),
        source,
        people=lambda: human.rows(source.rows),
        more_files=[path] if path else [],
    )


def questions(facts: Sequence[ColorFact], categories: Mapping[str, str]) -> list[Question]:
    """One question per thing; its typical colours are gold, weighted by their shares."""
    return [
        Question(
            id=fact.object,
            fields={"object": fact.object},
            options=COLORS,
            gold={
                color: share
                for color, share in zip(COLORS, fact.shares, strict=True)
                if color in fact.typical
            },
            object=fact.object,
            tags={
                "labels": str(len(fact.typical)),
                **({"category": categories[fact.object]} if fact.object in categories else {}),
            },
        )
        for fact in facts
    ]
