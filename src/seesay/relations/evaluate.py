"""All tests of one set of vectors: analogies, odd one out, correlation with people; and the row that chance gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from seesay.data.relations import ANTONYMS, GROUPS, Variants, variants
from seesay.metrics.base import FloatArray
from seesay.metrics.bootstrap import Interval, Resamples
from seesay.relations import analogy, odd_one_out
from seesay.relations.correlation import Correlation, Judged, correlate
from seesay.relations.vectors import Vectors


@dataclass(frozen=True, slots=True)
class Tested:
    """One figure: an accuracy with its interval over the words' pairs, or None where too few words have vectors."""

    test: str
    value: float | None
    low: float | None
    high: float | None
    questions: int
    chance: float | None


def intrinsic(vectors: Vectors, simple: Mapping[str, str] | None = None, *, seed: int = 0) -> list[Tested]:
    """Analogies and odd one out, with the simple words alone and with every phrase that has a vector."""
    phrases = variants(vectors.words, simple)
    own = {word: (word,) for word in vectors.words}
    found = [_analogy("analogy", own, vectors, seed), _analogy("analogy, phrases", phrases, vectors, seed)]
    for name, known in (("odd one out", own), ("odd one out, phrases", phrases)):
        asked = odd_one_out.triples(vectors.words, known)
        for distance, function in odd_one_out.DISTANCES.items():
            title = f"{name}, {distance}"
            if not len(asked.rows):
                found.append(Tested(title, None, None, None, 0, None))
                continue
            credit = odd_one_out.credit(asked, vectors, function)
            odd = [asked.words[row[2]] for row in asked.rows]
            found.append(_tested(title, credit, odd, asked.questions, 1 / 3, seed))
    return found


@dataclass(frozen=True)
class Row:
    """One set of vectors, tested; `people` has the correlation with each table of people's figures, `told` says how
    many people stand behind a table and how far they agree, where it tells."""

    name: str
    words: int
    tested: list[Tested]
    people: dict[str, Correlation | None]
    told: dict[str, str] = field(default_factory=dict)


def evaluate(name: str, vectors: Vectors, judged: Sequence[Judged] = (), *, seed: int = 0) -> Row:
    """All tests of one set of vectors."""
    found = {table.name: correlate(vectors, table, seed=seed) for table in judged}
    told = {table.name: table.told for table in judged if table.told}
    return Row(name, len(vectors.words), intrinsic(vectors, seed=seed), found, told)


def asked_words(words: Sequence[str], judged: Sequence[Judged]) -> tuple[str, ...]:
    """The words to look up in a file of vectors: the matrix's, the tests' and those that people judged."""
    tests = (word for group in (*ANTONYMS, *GROUPS) for word in group)
    people = (word for table in judged for pair in table.pairs for word in pair)
    return tuple(dict.fromkeys((*words, *tests, *people)))


def _analogy(title: str, known: Variants, vectors: Vectors, seed: int) -> Tested:
    asked = analogy.analogies(known)
    if not len(asked):
        return Tested(title, None, None, None, 0, None)
    answered = analogy.answer(asked, vectors)
    words = [word for pair in ANTONYMS for word in pair]
    return _tested(title, answered.credit, [words[i] for i in asked.right], len(asked), answered.chance, seed)


def _tested(title: str, credit: FloatArray, objects: Sequence[str], questions: int, chance: float, seed: int) -> Tested:
    """Questions with the same answer are not independent: the bootstrap draws answers, with all their questions."""
    import numpy as np

    stats = np.stack([credit, np.ones_like(credit)], axis=1)[None]
    found: Interval = Resamples(objects, 10_000, seed).interval(stats, lambda sums: sums[..., 0] / sums[..., 1])
    return Tested(title, found.value, found.low, found.high, questions, chance)
