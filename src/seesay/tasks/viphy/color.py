"""viphy-color: the colours that things typically have, as pictures teach them (Singh, Qasemi & Chen 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from seesay.data import viphy
from seesay.data.knowledge import COLORS, ColorFact
from seesay.questions import Published, Question, Task, Template
from seesay.tasks.viphy import facts, human

TEMPLATES = (Template("color", "{object} is of [MASK] color"),)
CHOICE = (Template("question", "What is the color of {object}? [MASK]"),)
LINEAR_TEXT = "color of {object}"

PUBLISHED = (
    *facts.zero_shot_rows(0.4839, 0.0059, 0.0906, 0.5100, headline="relaxed_accuracy"),
    Published("people (CoDa)", "relaxed_accuracy", 0.9745, f"{facts.SOURCE}: any colour in common"),
)

_LINEAR = (
    ("CapBERT", 0.7045, 0.5855, 0.4091),
    ("BERT-base", 0.6687, 0.5559, 0.3094),
    ("RoBERTa-large", 0.5595, 0.4928, 0.2093),
    ("UnifiedQA-large", 0.6234, None, None),
    ("DeBERTa-xxl", 0.7274, 0.5959, 0.3633),
    ("VisualBERT", 0.6622, 0.5099, 0.2446),
    ("ViLT", 0.6483, 0.5392, 0.3027),
    ("FLAVA", 0.7633, 0.6284, 0.3874),
    ("CLIP", 0.7996, 0.6550, 0.4954),
    ("people (CoDa)", 0.9745, 0.7865, 0.6882),
)
LINEAR_PUBLISHED = facts.linear_rows(("relaxed_accuracy", "true_confidence", "macro_f1"), _LINEAR)


def load(data: Path | None = None) -> Task:
    """The test split, from the published files or from mined knowledge."""
    source = facts.load_facts(ColorFact, data)
    path = facts.sibling_file(source, viphy.CATEGORIES)
    categories, bad_categories = viphy.categories(path) if path else ({}, [])
    source = replace(source, bad=[*source.bad, *bad_categories])

    def published() -> tuple[tuple[Published, ...], tuple[Published, ...]]:
        human_rows = human.rows(source.rows)
        return (*PUBLISHED, *human_rows), (*LINEAR_PUBLISHED, *human_rows)

    return facts.build(
        "viphy-color",
        partial(questions, categories=categories),
        source.split("test"),
        source,
        templates=TEMPLATES,
        choice_templates=CHOICE,
        linear_text=LINEAR_TEXT,
        metrics=("relaxed_accuracy", "true_confidence", "macro_f1", "vocabulary_accuracy"),
        neutral={"object": "this thing"},
        published=published,
        more_files=[path] if path else [],
    )


def questions(facts: Sequence[ColorFact], categories: Mapping[str, str]) -> list[Question]:
    """One question per thing; its typical colours are gold, weighted by their shares."""
    return [
        Question(
            id=fact.object,
            fields={"object": fact.object},
            options=COLORS,
            gold={color: share for color, share in zip(COLORS, fact.shares, strict=True) if color in fact.typical},
            object=fact.object,
            tags={
                "labels": str(len(fact.typical)),
                **({"category": categories[fact.object]} if fact.object in categories else {}),
            },
        )
        for fact in facts
    ]
