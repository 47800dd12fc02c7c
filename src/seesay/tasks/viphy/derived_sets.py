"""The sets that ViPhy derives from its sizes, built by our own code from any table of pairs:
seeded, each pair once.

Where the published sets were drawn otherwise, the docstrings say so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from seesay.data.knowledge import SizeFact, SubtypeFact
from seesay.data.splits import shuffled

TRANSITIVE = 20_000

Pair = tuple[str, str]


def smaller_pairs(facts: Sequence[SizeFact]) -> dict[Pair, None]:
    """Every known (smaller, larger), in order; a pair and its mirror image say the same."""
    return dict.fromkeys(
        (fact.a, fact.b) if fact.typical == ("<",) else (fact.b, fact.a)
        for fact in facts
        if len(fact.typical) == 1
    )


def chains(facts: Sequence[SizeFact]) -> Iterator[tuple[str, str, str]]:
    """Every a < b < c where a < c is not known.

    This is the pool that the published set was drawn from (548,857 on the published table): it does
    not ask whether the opposite, c < a, is known, which holds of 507 of them.
    """
    smaller = smaller_pairs(facts)
    larger: dict[str, list[str]] = defaultdict(list)
    for a, b in smaller:
        larger[a].append(b)
    for a, b in smaller:
        for c in larger.get(b, ()):
            if (a, c) not in smaller and a != c:
                yield a, b, c


def transitive(facts: Sequence[SizeFact], size: int = TRANSITIVE, seed: int = 0) -> list[SizeFact]:
    """Pairs never seen together whose order follows from a third thing, drawn with a seed.

    A pair that is known either way round, or that chains put both ways round, is left out. Every
    other pair is asked the other way round. (The published set draws chains, so that a pair may
    come several times, and its answer is always `<`: who always says "smaller" is always right.)
    """
    smaller = smaller_pairs(facts)
    implied = dict.fromkeys((a, c) for a, _, c in chains(facts))
    pairs = sorted((a, c) for a, c in implied if (c, a) not in smaller and (c, a) not in implied)
    drawn = [pairs[i] for i in shuffled(len(pairs), seed)[:size]]
    return [
        SizeFact(a, c, 0, 0, ("<",)) if place % 2 == 0 else SizeFact(c, a, 0, 0, (">",))
        for place, (a, c) in enumerate(drawn)
    ]


def with_subtypes(
    facts: Sequence[SizeFact], subtypes: Sequence[SubtypeFact], seed: int = 0
) -> list[SizeFact]:
    """Pairs with a subtype in each thing's place; the answer stays.

    As published: a pair counts where both things have a subtype other than themselves, and each is
    drawn evenly. A draw that repeats an earlier pair, or sets a thing against itself, is left out.
    """
    kinds: dict[str, list[str]] = defaultdict(list)
    for kind in subtypes:
        if kind.subtype != kind.object:
            kinds[kind.object].append(kind.subtype)
    draw = np.random.RandomState(seed)
    pairs: dict[Pair, SizeFact] = {}
    for fact in facts:
        if kinds.get(fact.a) and kinds.get(fact.b):
            a, b = (names[draw.randint(len(names))] for names in (kinds[fact.a], kinds[fact.b]))
            if a != b:
                pairs.setdefault((a, b), replace(fact, a=a, b=b, examples=()))
    return list(pairs.values())
