"""viphy-size: which of two things is typically the larger one (Singh, Qasemi & Chen 2023).

Three sets: the standard pairs; the same pairs with a subtype in each thing's place; and pairs that were never seen
together, known through a third thing only (a < b < c).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from seesay.data import viphy
from seesay.data.knowledge import SIZES, SizeFact, SubtypeFact
from seesay.errors import UserError
from seesay.questions import Published, Question, Task, Template
from seesay.tasks.viphy import derived_sets, facts
from seesay.tasks.viphy.facts import Facts

# One text, two words for `>`: the published rule accepts both as the top word of the vocabulary.
_TEXT = "{a} is [MASK] than {b} in size"
TEMPLATES = (
    Template("bigger", _TEXT, {">": "bigger", "<": "smaller"}),
    Template("larger", _TEXT, {">": "larger", "<": "smaller"}),
    Template("code", "the {a} is [MASK] than {b} in size", {">": "bigger", "<": "smaller"}),
)
"""The paper's prompt (`bigger`, `larger`), and that of its published code (`code`), which has an article."""
CHOICE = (
    Template("question", "what is the size of {a} in comparison to {b}? [MASK]", {">": "larger", "<": "smaller"}),
)
DERIVED = "derived by seesay (seed 0)"
LINEAR_TEXT = "the size of {a} in comparison to {b}"

PUBLISHED = (
    *facts.zero_shot_rows(0.4461, 0.4701, 0.2491, 0.5176, headline="accuracy"),
    Published("people", "accuracy", 0.9012, facts.SOURCE),
)

_LINEAR = (
    ("CapBERT", 0.8369, 0.7914, 0.9182),
    ("BERT-base", 0.7835, 0.7228, 0.7729),
    ("RoBERTa-large", 0.6523, 0.5712, 0.6931),
    ("UnifiedQA-large", 0.6220, 0.6066, 0.9078),
    ("DeBERTa-xxl", 0.7473, 0.6688, 0.6979),
    ("VisualBERT", 0.7699, 0.6400, 0.7769),
    ("ViLT", 0.7854, 0.5732, 0.8618),
    ("FLAVA", 0.8267, 0.6954, 0.8178),
    ("CLIP", 0.7543, 0.6656, 0.7248),
)
LINEAR_PUBLISHED, LINEAR_PUBLISHED_SUBTYPE, LINEAR_PUBLISHED_TRANSITIVE = (
    facts.linear_rows(("accuracy",), [(model, values[column]) for model, *values in _LINEAR]) for column in range(3)
)
LINEAR_PUBLISHED += facts.linear_rows(("accuracy",), [("people", 0.9012)])


def load(data: Path | None = None) -> Task:
    """The test split of the standard pairs, from the published files or from mined knowledge."""
    source = facts.load_facts(SizeFact, data)
    return _task("viphy-size", source.split("test"), source, PUBLISHED, LINEAR_PUBLISHED)


def load_subtype(data: Path | None = None) -> Task:
    """Pairs of subtypes: the published table, or the test split of the pairs with sampled subtypes in their place."""
    name = "viphy-size-subtype"
    if facts.table_exists(SizeFact, viphy.SIZE_SUBTYPE, data):
        standard = partial(facts.load_facts, SizeFact, data)
        source = facts.load_facts(SizeFact, data, viphy.SIZE_SUBTYPE)
        return _task(name, source.rows, source, (), LINEAR_PUBLISHED_SUBTYPE, training=standard)
    source, subtypes = facts.load_facts(SizeFact, data), facts.load_facts(SubtypeFact, data)
    pairs = derived_sets.with_subtypes(source.split("test"), subtypes.rows)
    if not pairs:
        raise UserError("No pair of the test split has subtypes of both things: there is nothing to ask.")
    source = replace(source, bad=[*source.bad, *subtypes.bad], files=(*source.files, *subtypes.files))
    return _task(name, pairs, source, derived=DERIVED)


def load_transitive(data: Path | None = None) -> Task:
    """Pairs never seen together: the published table, or one sampled from the pairs."""
    name = "viphy-size-transitive"
    if facts.table_exists(SizeFact, viphy.SIZE_TRANSITIVE, data):
        standard = partial(facts.load_facts, SizeFact, data)
        source = facts.load_facts(SizeFact, data, viphy.SIZE_TRANSITIVE)
        return _task(name, source.rows, source, (), LINEAR_PUBLISHED_TRANSITIVE, training=standard)
    source = facts.load_facts(SizeFact, data)
    pairs = derived_sets.transitive(source.rows)
    if not pairs:
        raise UserError("No two pairs make a chain a < b < c of things never seen together: there is nothing to ask.")
    return _task(name, pairs, source, derived=DERIVED)


def _task(
    name: str,
    pairs: Sequence[SizeFact],
    source: Facts[SizeFact],
    zero_shot: tuple[Published, ...] = (),
    linear: tuple[Published, ...] = (),
    *,
    training: Callable[[], Facts[SizeFact]] | None = None,
    derived: str = "",
) -> Task:
    return facts.build(
        name,
        questions,
        pairs,
        source,
        templates=TEMPLATES,
        choice_templates=CHOICE,
        linear_text=LINEAR_TEXT,
        metrics=("accuracy", "true_confidence", "vocabulary_accuracy"),
        neutral={"a": "one thing", "b": "another thing"},
        published=lambda: (zero_shot, linear),
        training=training,
        derived=derived,
    )


def questions(facts: Sequence[SizeFact]) -> list[Question]:
    """One question per pair. A pair and its mirror image are not independent, so both are one object."""
    return [
        Question(
            id=f"{fact.a}|{fact.b}",
            fields={"a": fact.a, "b": fact.b},
            options=SIZES,
            gold={fact.typical[0]: 1.0},
            object="|".join(sorted((fact.a, fact.b))),
        )
        for fact in facts
    ]
