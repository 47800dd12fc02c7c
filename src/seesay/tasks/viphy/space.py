"""viphy-space: what is above what in a scene (Singh, Qasemi & Chen 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seesay.data.knowledge import PLACES, PlaceFact
from seesay.questions import Question, Task
from seesay.tasks.viphy import facts


def load(data: Path | None = None) -> Task:
    """Load the test split, from the published files or from mined knowledge.

    Pairs that are typically at a similar level are asked, too; the published zero-shot figures
    leave them out.
    """
    source = facts.load_facts(PlaceFact, data)
    ask = facts.tag_mirrored(questions, source)
    return facts.build("viphy-space", ask, source.split("test"), source)


def questions(rows: Sequence[PlaceFact]) -> list[Question]:
    """Return one question per pair and scene.

    Gold weights are how often each typical relation was seen, where it was counted.
    """
    return [_question(fact) for fact in rows]


def _question(fact: PlaceFact) -> Question:
    """Build the question about one pair in one scene."""
    scene = fact.scene.replace("_", " ")
    return Question(
        id=f"{fact.scene}|{fact.a}|{fact.b}",
        fields={
            "scene": scene,
            "a": fact.a,
            "b": fact.b,
        },
        options=PLACES,
        gold=_gold(fact),
        # A pair and its reverse are not independent.
        object="|".join((fact.scene, *sorted((fact.a, fact.b)))),
        tags={
            "scene": scene,
            "labels": str(len(fact.typical)),
            "level": "yes" if "=" in fact.typical else "no",
        },
        twin=f"{fact.scene}|{fact.b}|{fact.a}",
    )


def _gold(fact: PlaceFact) -> dict[str, float]:
    """Return the typical relations with their shares of what was seen."""
    counts = dict(zip(PLACES, (fact.above, fact.level, fact.below), strict=True))
    weights = {label: counts[label] for label in fact.typical}
    # The annotated examples have no counts: their labels weigh the same.
    if not all(weights.values()):
        weights = dict.fromkeys(fact.typical, 1)
    total = sum(weights.values())
    return {label: weight / total for label, weight in weights.items()}
