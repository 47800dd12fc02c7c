"""viphy-size: which of two things is typically the larger one (Singh, Qasemi & Chen 2023).

Three sets: the standard pairs; the same pairs with a subtype in each thing's place; and pairs that
were never seen together, known through a third thing only (a < b < c). The published split of the
standard pairs parts many a pair from its mirror image; two splits of ours do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from seesay.data import viphy
from seesay.data.knowledge import SIZES, SizeFact, SubtypeFact
from seesay.errors import UserError
from seesay.questions import Question, Task
from seesay.tasks.viphy import derived_sets, facts

DERIVED = "derived by seesay (seed 0)"
DIVIDED = "divided by seesay (seed 0): not the published split"


def load(data: Path | None = None) -> Task:
    """Load the test split of the standard pairs, from the published files or mined knowledge.

    The table has the mirror image of every pair, which may be in another split: where it is in the
    training split, the tag `mirrored` says yes.
    """
    source = facts.load_facts(SizeFact, data)
    ask = facts.tag_mirrored(questions, source)
    return facts.build("viphy-size", ask, source.split("test"), source)


def load_pairs(data: Path | None = None) -> Task:
    """Load the standard pairs, split so that a pair and its mirror image are in the same part."""
    return _load_divided("viphy-size-pairs", derived_sets.divide_by_pair, data)


def load_things(data: Path | None = None) -> Task:
    """Load the standard pairs, split so that no thing of a part is in another one."""
    return _load_divided("viphy-size-things", derived_sets.divide_by_thing, data)


def load_subtype(data: Path | None = None) -> Task:
    """Load pairs of subtypes.

    They are the published table, or the test split of the pairs with sampled subtypes in their
    place.
    """
    name = "viphy-size-subtype"
    if facts.table_exists(SizeFact, viphy.SIZE_SUBTYPE, data):
        return _load_published(name, viphy.SIZE_SUBTYPE, data)
    source = facts.load_facts(SizeFact, data)
    subtypes = facts.load_facts(SubtypeFact, data)
    # Of the test split only: a probe has seen the pairs of the others with their answers.
    pairs = derived_sets.with_subtypes(source.split("test"), subtypes.rows)
    if not pairs:
        raise UserError(
            "No pair of the test split has subtypes of both things: there is nothing to ask."
        )
    source = replace(
        source,
        bad=[*source.bad, *subtypes.bad],
        files=(*source.files, *subtypes.files),
    )
    return facts.build(name, questions, pairs, source, derived=DERIVED)


def load_transitive(data: Path | None = None) -> Task:
    """Load pairs never seen together: the published table, or one sampled from the pairs."""
    name = "viphy-size-transitive"
    if facts.table_exists(SizeFact, viphy.SIZE_TRANSITIVE, data):
        return _load_published(name, viphy.SIZE_TRANSITIVE, data)
    source = facts.load_facts(SizeFact, data)
    pairs = derived_sets.transitive(source.rows)
    if not pairs:
        raise UserError(
            "No two pairs make a chain a < b < c of things never seen together: there is nothing "
            "to ask."
        )
    return facts.build(name, questions, pairs, source, derived=DERIVED)


def _load_divided(
    name: str,
    divide: Callable[[Sequence[SizeFact]], dict[str, list[SizeFact]]],
    data: Path | None,
) -> Task:
    """Load the standard pairs in a split of ours."""
    source = replace(facts.load_facts(SizeFact, data), divide=divide)
    rows = source.split("test")
    if not rows:
        raise UserError(f"{source.files[0]} has too few pairs for the split of '{name}'.")
    task = facts.build("viphy-size", questions, rows, source, derived=DIVIDED)
    return replace(task, name=name)


def _load_published(
    name: str,
    file: str,
    data: Path | None,
) -> Task:
    """Load a published table that is all test: probes learn from the standard pairs."""
    source = facts.load_facts(SizeFact, data, file)
    standard = partial(facts.load_facts, SizeFact, data)
    return facts.build(name, questions, source.rows, source, training=standard)


def questions(rows: Sequence[SizeFact]) -> list[Question]:
    """Return one question per pair.

    A pair and its mirror image are not independent, so both are one object.
    """
    return [
        Question(
            id=f"{fact.a}|{fact.b}",
            fields={"a": fact.a, "b": fact.b},
            options=SIZES,
            gold={fact.typical[0]: 1.0},
            object="|".join(sorted((fact.a, fact.b))),
            twin=f"{fact.b}|{fact.a}",
        )
        for fact in rows
    ]
