"""Subtypes of objects that have names of their own: "kitchen table" is a table.

Follows section 2.1 of ViPhy. A name of several words is a subtype of the name that it ends in; a
name that is also written without its spaces ("tablecloth") is merged into the more frequent
spelling. Lexicons (ConceptNet's IsA, WordNet's hyponyms) can be merged in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from seesay.data.knowledge import SubtypeFact
from seesay.grouping import group_by
from seesay.mining.choices import SubtypeRule

Subtypes = dict[str, dict[str, int]]
"""Names, each with its subtypes and how often each of them is used."""


def subtypes(
    names: Mapping[str, int],
    *,
    min_parent_count: int = 100,
    min_count: int = 10,
    rule: str = SubtypeRule.PAPER,
    hyponyms: Iterable[Mapping[str, Collection[str]]] = (),
) -> Subtypes:
    """Return every name seen `min_count` times or more, with its subtypes, the most frequent first.

    In the published map a parent is one word, a rarer spelling keeps an entry of its own, and a
    parent's own count is doubled.

    `min_parent_count`: a rarer name has no subtypes other than itself.
    `hyponyms`: lexicons, names to their hyponyms, of which those that were seen are added, in
    whichever spelling. (The paper merges ConceptNet's: sections 2.1 and 3.1.)

    >>> subtypes({"table": 120, "kitchen table": 15})["table"]
    {'table': 120, 'kitchen table': 15}
    """
    counts = {name: count for name, count in names.items() if count >= min_count}
    if rule == SubtypeRule.PUBLISHED:
        result, spelling = _by_published_rule(counts, min_parent_count)
    else:
        result, spelling = _by_ending(counts, min_parent_count)
    for lexicon in hyponyms:
        for name, narrower in lexicon.items():
            parent = spelling.get(name)
            if parent is None or result[parent][parent] < min_parent_count:
                continue
            children = {spelling[child] for child in narrower if child in spelling} - {parent}
            # Sorting by count keeps the order of equal counts, and a set has none of its own.
            for child in sorted(children):
                result[parent][child] = result[child][child]
    # The most frequent first.
    return {
        parent: dict(sorted(children.items(), key=lambda item: -item[1]))
        for parent, children in result.items()
    }


def _by_ending(
    counts: Mapping[str, int],
    min_parent_count: int,
) -> tuple[Subtypes, dict[str, str]]:
    """Merge spellings, then make every name a subtype of all its endings.

    The paper's "suffix-based lexical matching" (section 2.1). Returns the subtypes, and the
    spelling under which each name is counted.
    """
    spelling = _common_spellings(counts)
    totals: Counter[str] = Counter()
    for name, count in counts.items():
        totals[spelling[name]] += count
    result = {name: {name: totals[name]} for name in counts if name in totals}
    for name in counts:
        common = spelling[name]
        words = name.split()
        for start in range(1, len(words)):
            ending = " ".join(words[start:])
            parent = spelling.get(ending)
            if parent is not None and totals[parent] >= min_parent_count:
                result[parent][common] = totals[common]
    return result, spelling


def _common_spellings(counts: Mapping[str, int]) -> dict[str, str]:
    """Return for every name the commoner spelling of it, with spaces or without.

    "table cloth" and "tablecloth" are merged; names that differ only in where their spaces are,
    none of them without, are not.
    """
    by_joined = group_by(counts, lambda name: name.replace(" ", ""))
    spelling = {name: name for name in counts}
    for joined, spellings in by_joined.items():
        if joined in counts:
            common = max(spellings, key=lambda name: (counts[name], " " in name))
            spelling.update(dict.fromkeys(spellings, common))
    return spelling


def _by_published_rule(
    counts: Mapping[str, int],
    min_parent_count: int,
) -> tuple[Subtypes, dict[str, str]]:
    """Find subtypes as in the published map; every name keeps its spelling.

    The published code adds to each subtype the count of its spelling without spaces. A parent is
    one word, so it is that spelling itself and is counted twice.
    """
    by_last_word = group_by(counts, lambda name: name.split()[-1])
    result: Subtypes = {}
    for parent, count in counts.items():
        if count < min_parent_count or " " in parent:
            result[parent] = {parent: count}
            continue
        result[parent] = {}
        for name in by_last_word[parent]:
            joined = name.replace(" ", "")
            joined_count = counts.get(joined, 0)
            common = name if counts[name] >= joined_count else joined
            result[parent][common] = counts[name] + joined_count
    return result, {name: name for name in counts}


def subtype_facts(subtype_counts: Mapping[str, Mapping[str, int]]) -> list[SubtypeFact]:
    """Return the subtypes as rows of a knowledge table."""
    return [
        SubtypeFact(parent, name, count)
        for parent, counts in subtype_counts.items()
        for name, count in counts.items()
    ]
