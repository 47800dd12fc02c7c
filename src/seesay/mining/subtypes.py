"""Subtypes of objects that have names of their own: "kitchen table" is a table (Singh, Qasemi &
Chen 2023).

A name of several words is a subtype of the name that it ends in; a name that is also written
without its spaces ("tablecloth") is merged into the more frequent spelling. Lexicons (ConceptNet's
IsA, WordNet's hyponyms) can be merged in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from seesay.data.knowledge import SubtypeFact
from seesay.mining.choices import SubtypeRule


def subtypes(
    names: Mapping[str, int],
    *,
    min_parent_count: int = 100,
    min_count: int = 10,
    rule: str = SubtypeRule.PAPER,
    hyponyms: Iterable[Mapping[str, Collection[str]]] = (),
) -> dict[str, dict[str, int]]:
    """Every name seen `min_count` times or more, with its subtypes and how often each is used, the
    most frequent first.

    Only a name seen `min_parent_count` times has subtypes other than itself. In the published map a
    parent is one word, a rarer spelling keeps an entry of its own, and a parent's own count is
    doubled. `hyponyms` are lexicons: names to their hyponyms, of which those that were seen are
    added, in whichever spelling. (The paper merges ConceptNet's.)
    """
    counts = {name: count for name, count in names.items() if count >= min_count}
    result, spelling = (_published if rule == SubtypeRule.PUBLISHED else _paper)(
        counts, min_parent_count
    )
    for lexicon in hyponyms:
        for written, narrower in lexicon.items():
            parent = spelling.get(written)
            if parent is not None and result[parent][parent] >= min_parent_count:
                names_seen = {spelling[name] for name in narrower if name in spelling} - {parent}
                result[parent] |= {name: result[name][name] for name in sorted(names_seen)}
    return {
        parent: dict(sorted(children.items(), key=lambda item: -item[1]))
        for parent, children in result.items()
    }


_SubtypeMap = tuple[dict[str, dict[str, int]], dict[str, str]]
"""The subtypes of names, and the spelling under which each name is counted."""


def _paper(counts: Mapping[str, int], min_parent_count: int) -> _SubtypeMap:
    """Spellings are merged first; then every name is a subtype of all its endings."""
    by_joined = defaultdict(list)
    for name in counts:
        by_joined[name.replace(" ", "")].append(name)
    spelling = {name: name for name in counts}
    total = dict(counts)
    for joined, spellings in by_joined.items():
        if joined in counts:
            common = max(spellings, key=lambda name: (counts[name], " " in name))
            for rare in spellings:
                if rare != common:
                    spelling[rare] = common
                    total[common] += total.pop(rare)
    result = {name: {name: count} for name, count in total.items()}
    for name in counts:
        words = name.split()
        for start in range(1, len(words)):
            parent = spelling.get(" ".join(words[start:]))
            if parent is not None and total[parent] >= min_parent_count:
                result[parent][spelling[name]] = total[spelling[name]]
    return result, spelling


def _published(counts: Mapping[str, int], min_parent_count: int) -> _SubtypeMap:
    """As in the published map, where a parent is merged with itself: its spelling without spaces is
    the same."""
    by_last_word = defaultdict(list)
    for name in counts:
        by_last_word[name.split()[-1]].append(name)
    result: dict[str, dict[str, int]] = {}
    for parent, count in counts.items():
        if count < min_parent_count or " " in parent:
            result[parent] = {parent: count}
            continue
        result[parent] = {}
        for name in by_last_word[parent]:
            joined = name.replace(" ", "")
            other = counts.get(joined, 0)
            result[parent][name if counts[name] >= other else joined] = counts[name] + other
    return result, {name: name for name in counts}


def subtype_facts(subtype_counts: Mapping[str, Mapping[str, int]]) -> list[SubtypeFact]:
    """The subtypes as rows of a knowledge table."""
    return [
        SubtypeFact(parent, name, count)
        for parent, counts in subtype_counts.items()
        for name, count in counts.items()
    ]
