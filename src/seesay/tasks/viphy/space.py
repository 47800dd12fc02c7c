"""viphy-space: what is above what in a scene (Singh, Qasemi & Chen 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seesay.data.knowledge import PLACES, PlaceFact
from seesay.questions import Published, Question, Slice, Task, Template
from seesay.tasks.viphy import facts

TEMPLATES = (
    Template(
        "located",
        "in a {scene}, the {a} is located [MASK] the {b}",
        {">": "above", "=": "beside", "<": "below"},
    ),
)
CHOICE = (
    Template(
        "question",
        "in a {scene}, where is {a} located in comparison to {b}? [MASK]",
        {">": "above", "=": "similar level", "<": "below"},
    ),
)
LINEAR_TEXT = "in a {scene}, the {a} is located in comparison to {b}"

# The published zero-shot figures ask for above or below and leave out what may be at a similar level.
PUBLISHED = (
    *facts.zero_shot_rows(0.2096, 0.1752, 0.0957, 0.6304, headline="relaxed_accuracy", part=Slice.of(level="no")),
    Published("people", "relaxed_accuracy", 0.8824, facts.SOURCE),
)

_LINEAR = (
    ("CapBERT", 0.6993, 0.6209, 0.6078),
    ("BERT-base", 0.6725, 0.5991, 0.6134),
    ("RoBERTa-large", 0.5488, 0.5840, 0.5888),
    ("UnifiedQA-large", 0.6204, None, None),
    ("DeBERTa-xxl", 0.6230, 0.6127, 0.6054),
    ("VisualBERT", 0.6308, 0.5840, 0.5888),
    ("ViLT", 0.6578, 0.6028, 0.5980),
    ("FLAVA", 0.6371, 0.6106, 0.6056),
    ("CLIP", 0.6510, 0.6356, 0.6226),
    ("people", 0.8824, None, 0.8122),
)
LINEAR_PUBLISHED = facts.linear_rows(("relaxed_accuracy", "true_confidence", "macro_f1_space"), _LINEAR)


def load(data: Path | None = None) -> Task:
    """The test split, from the published files or from mined knowledge."""
    source = facts.load_facts(PlaceFact, data)
    return facts.build(
        "viphy-space",
        questions,
        source.split("test"),
        source,
        templates=TEMPLATES,
        choice_templates=CHOICE,
        linear_text=LINEAR_TEXT,
        metrics=("relaxed_accuracy", "true_confidence", "macro_f1_space", "vocabulary_accuracy"),
        neutral={"a": "one thing", "b": "other thing"},
        published=lambda: (PUBLISHED, LINEAR_PUBLISHED),
    )


def questions(facts: Sequence[PlaceFact]) -> list[Question]:
    """One question per pair and scene. Gold weights are how often each typical relation was seen, where counted."""
    return [
        Question(
            id=f"{fact.scene}|{fact.a}|{fact.b}",
            fields={"scene": fact.scene.replace("_", " "), "a": fact.a, "b": fact.b},
            options=PLACES,
            gold=_gold(fact),
            object="|".join((fact.scene, *sorted((fact.a, fact.b)))),
            tags={
                "scene": fact.scene.replace("_", " "),
                "labels": str(len(fact.typical)),
                "level": "yes" if "=" in fact.typical else "no",
            },
        )
        for fact in facts
    ]


def _gold(fact: PlaceFact) -> dict[str, float]:
    counts = dict(zip(PLACES, (fact.above, fact.level, fact.below), strict=True))
    weights = {label: counts[label] for label in fact.typical}
    if not all(weights.values()):
        weights = dict.fromkeys(fact.typical, 1)
    return {label: weight / sum(weights.values()) for label, weight in weights.items()}
