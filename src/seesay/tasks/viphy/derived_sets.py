"""The sets that ViPhy derives from its sizes, built by our own code from any table of pairs; and
splits of the pairs that leak nothing from one part into another.

Draws have a seed, and each pair comes once.
Where the published sets were drawn otherwise, the docstrings say so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from seesay.data.knowledge import SizeFact, SubtypeFact
from seesay.data.splits import shuffle_indices, split

TRANSITIVE = 20_000
THING_SHARES = {
    "train": 0.45,
    "val": 0.15,
    "test": 0.4,
}
"""Of the things: 45 % of them are both things of about 20 % of the pairs, the published share."""

Pair = tuple[str, str]


def smaller_pairs(facts: Sequence[SizeFact]) -> dict[Pair, None]:
    """Return every known (smaller, larger), in order; a pair and its mirror image say the same.

    A fact with both labels says nothing about which is the smaller.
    """
    pairs: dict[Pair, None] = {}
    for fact in facts:
        if fact.typical == ("<",):
            pairs[fact.a, fact.b] = None
        elif len(fact.typical) == 1:
            pairs[fact.b, fact.a] = None
    return pairs


def chains(facts: Sequence[SizeFact]) -> Iterator[tuple[str, str, str]]:
    """Yield every a < b < c where a < c is not known.

    This is the pool that the published set was drawn from (548,857 on the published table): it does
    not ask whether the opposite, c < a, is known, which holds of 507 of them.
    """
    smaller = smaller_pairs(facts)
    larger: dict[str, list[str]] = defaultdict(list)
    for a, b in smaller:
        larger[a].append(b)
    for a, b in smaller:
        for c in larger.get(b, ()):
            # A table of many pictures is not free of circles: a < b < a is no chain.
            if (a, c) not in smaller and a != c:
                yield a, b, c


def transitive(
    facts: Sequence[SizeFact],
    size: int = TRANSITIVE,
    seed: int = 0,
) -> list[SizeFact]:
    """Draw pairs never seen together whose order follows from a third thing, with a seed.

    A pair that is known either way round, or that chains put both ways round, is left out. Every
    other pair is asked the other way round. (The published set draws chains, so that a pair may
    come several times, and its answer is always `<`: who always says "smaller" is always right.)
    """
    smaller = smaller_pairs(facts)
    implied = dict.fromkeys((a, c) for a, _, c in chains(facts))
    # Sorted before the draw: the order of the table's rows must not change what a seed gives.
    pairs = sorted((a, c) for a, c in implied if (c, a) not in smaller and (c, a) not in implied)
    derived: list[SizeFact] = []
    for place in shuffle_indices(len(pairs), seed)[:size]:
        a, c = pairs[place]
        # Asked both ways round, so that always saying "smaller" is right half of the time.
        if len(derived) % 2 == 0:
            derived.append(
                SizeFact(
                    a,
                    c,
                    larger=0,
                    smaller=0,
                    typical=("<",),
                )
            )
        else:
            derived.append(
                SizeFact(
                    c,
                    a,
                    larger=0,
                    smaller=0,
                    typical=(">",),
                )
            )
    return derived


def with_subtypes(
    facts: Sequence[SizeFact],
    subtypes: Sequence[SubtypeFact],
    seed: int = 0,
) -> list[SizeFact]:
    """Return pairs with a subtype in each thing's place; the answer stays.

    As published: a pair counts where both things have a subtype other than themselves, and each is
    drawn evenly. A draw that repeats an earlier pair, or sets a thing against itself, is left out.
    """
    subtypes_of: dict[str, list[str]] = defaultdict(list)
    for kind in subtypes:
        if kind.subtype != kind.object:
            subtypes_of[kind.object].append(kind.subtype)
    generator = np.random.RandomState(seed)

    def draw(names: Sequence[str]) -> str:
        return names[generator.randint(len(names))]

    pairs: dict[Pair, SizeFact] = {}
    for fact in facts:
        if fact.a not in subtypes_of or fact.b not in subtypes_of:
            continue
        a = draw(subtypes_of[fact.a])
        b = draw(subtypes_of[fact.b])
        if a != b:
            pairs.setdefault(
                (a, b),
                replace(
                    fact,
                    a=a,
                    b=b,
                    examples=(),
                ),
            )
    return list(pairs.values())


def divide_by_pair(facts: Sequence[SizeFact], seed: int = 0) -> dict[str, list[SizeFact]]:
    """Return the splits in the published shares, a pair and its mirror image in the same one."""
    by_pair: dict[frozenset[str], list[SizeFact]] = defaultdict(list)
    for fact in facts:
        by_pair[frozenset((fact.a, fact.b))].append(fact)
    parts = split(list(by_pair.values()), seed)
    return {name: list(chain.from_iterable(groups)) for name, groups in parts.items()}


def divide_by_thing(facts: Sequence[SizeFact], seed: int = 0) -> dict[str, list[SizeFact]]:
    """Return splits that have no thing in common: the things are divided, and a pair whose things
    are in two parts is in none."""
    # Sorted before the draw: the order of the table's rows must not change what a seed gives.
    things = sorted({thing for fact in facts for thing in (fact.a, fact.b)})
    pairs: dict[str, list[SizeFact]] = {}
    for name, members in split(things, seed, THING_SHARES).items():
        part = set(members)
        pairs[name] = [fact for fact in facts if fact.a in part and fact.b in part]
    return pairs
