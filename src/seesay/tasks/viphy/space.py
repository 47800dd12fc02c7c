"""viphy-space: what is above what in a scene (Singh, Qasemi & Chen 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seesay.data.knowledge import PLACES, PlaceFact
from seesay.questions import Question, Task
from seesay.tasks.viphy import facts


def load(data: Path | None = None) -> Task:
    """The test split, from the published files or from mined knowledge."""
    source = facts.load_facts(PlaceFact, data)
    return facts.build("viphy-space", questions, source.split("test"), source)


def questions(facts: Sequence[PlaceFact]) -> list[Question]:
    """One question per pair and scene. Gold weights are how often each typical relation was seen,
    where counted."""
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
