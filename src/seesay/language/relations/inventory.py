"""The spatial relations of Ghanimifard & Dobnik (2019): words, and the tests about them.

`relations.csv` has the 97 relations of the published matrix, the simple word that each of them
varies, and whether the paper's figure shows it as a word (67 of them) and as a context (57).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from seesay.data.cells import Cells, one_of
from seesay.data.rows import parse_table

ANTONYMS = (
    ("left", "right"),
    ("above", "below"),
    ("front", "back"),
    ("with", "without"),
    ("in", "out"),
    ("up", "down"),
)
"""The pairs of the analogies."""

GROUPS = (
    ("left", "right"),
    ("above", "over", "under", "below"),
    ("front", "back"),
    ("in", "out"),
    ("away", "near"),
)
"""The groups of the odd-one-out questions."""

NEIGHBOURS = (
    ("above", "over"),
    ("below", "under"),
    ("above", "below"),
    ("over", "under"),
    ("in", "inside"),
    ("on", "on top of"),
    ("beside", "next to"),
    ("with", "without"),
    ("up", "down"),
)
"""Pairs that should be neighbours, and some that should not."""

Variants = Mapping[str, tuple[str, ...]]
"""The phrases that express a simple word: `to the left of` expresses `left`."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A spatial relation, of one word or several."""

    phrase: str
    simple: str
    shown: bool
    context: bool


@cache
def relations() -> tuple[Relation, ...]:
    """Return all 97 relations, by name."""
    path = Path(__file__).with_name("relations.csv")
    good, bad = parse_table(
        path,
        ("relation", "simple", "shown", "context"),
        _relation,
        key=lambda row: row.phrase,
    )
    if bad:
        raise ValueError(f"{path}, row {bad[0].row}: {bad[0].reason}")
    return tuple(good.values())


def phrases() -> tuple[str, ...]:
    """Return the 97 relations of the published matrix."""
    return tuple(relation.phrase for relation in relations())


def shown_relations() -> tuple[str, ...]:
    """Return the 67 relations of the paper's figure."""
    return tuple(relation.phrase for relation in relations() if relation.shown)


def shown_contexts() -> tuple[str, ...]:
    """Return the 57 contexts of the paper's figure."""
    return tuple(relation.phrase for relation in relations() if relation.context)


def no_variants(words: Iterable[str]) -> Variants:
    """Return the words, each standing for itself alone."""
    return {word: (word,) for word in words}


def variants(words: Iterable[str], simple: Mapping[str, str] | None = None) -> Variants:
    """Return each simple word with those of the words that vary it.

    A word that no list knows varies itself.
    """
    if simple is None:
        simple = {relation.phrase: relation.simple for relation in relations()}
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(simple.get(word, word), []).append(word)
    return {word: tuple(phrases) for word, phrases in groups.items()}


def _relation(cells: Cells) -> Relation:
    """Return the relation of a row."""
    shown = one_of(cells["shown"], ("yes", "no"), "shown")
    context = one_of(cells["context"], ("yes", "no"), "context")
    return Relation(
        phrase=cells["relation"],
        simple=cells["simple"],
        shown=shown == "yes",
        context=context == "yes",
    )
