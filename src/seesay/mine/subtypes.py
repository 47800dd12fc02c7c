"""Kinds of a thing that have names of their own: "kitchen table" is a table (ViPhy, §3.1).

A name of several words is a subtype of what its last words name; a name that is also written without its spaces
("tablecloth") is merged into the commoner spelling. Lexicons that know more (ConceptNet's IsA, WordNet's hyponyms) can
be merged in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from seesay.data.knowledge import SubtypeFact

Variant = Literal["paper", "published"]
VARIANTS: tuple[Variant, ...] = ("paper", "published")


def subtypes(
    names: Mapping[str, int],
    *,
    least_parent: int = 100,
    least: int = 10,
    variant: Variant = "paper",
    hyponyms: Iterable[Mapping[str, Collection[str]]] = (),
) -> dict[str, dict[str, int]]:
    """Every name seen `least` times or more, with its subtypes and how often each is used; the commonest first.

    Only a name seen `least_parent` times has subtypes other than itself. In the published map a parent is one word, a
    rarer spelling keeps an entry of its own, and a parent's own count is doubled. `hyponyms` are lexicons: what the
    kinds of a name are called; those that were seen are added.
    """
    seen = {name: count for name, count in names.items() if count >= least}
    found = (_published if variant == "published" else _paper)(seen, least_parent)
    for lexicon in hyponyms:
        for parent, kinds in found.items():
            if seen[parent] >= least_parent:
                kinds |= {
                    name: found[name][name] for name in lexicon.get(parent, ()) if name in found and name != parent
                }
    return {parent: dict(sorted(kinds.items(), key=lambda item: -item[1])) for parent, kinds in found.items()}


def _paper(seen: Mapping[str, int], least_parent: int) -> dict[str, dict[str, int]]:
    """Spellings are merged first; then every name is a subtype of all its endings."""
    spelt = {name: name for name in seen}
    total = dict(seen)
    for name, count in seen.items():
        joined = name.replace(" ", "")
        if joined != name and joined in seen:
            common, rare = (name, joined) if count >= seen[joined] else (joined, name)
            spelt[rare] = common
            total[common] += total.pop(rare)
    found = {name: {name: count} for name, count in total.items()}
    for name in seen:
        words = name.split()
        for start in range(1, len(words)):
            parent = spelt.get(" ".join(words[start:]))
            if parent is not None and total[parent] >= least_parent:
                found[parent][spelt[name]] = total[spelt[name]]
    return found


def _published(seen: Mapping[str, int], least_parent: int) -> dict[str, dict[str, int]]:
    """As in the published map, where a parent is merged with itself as its own spelling without spaces."""
    ending = defaultdict(list)
    for name in seen:
        ending[name.split()[-1]].append(name)
    found: dict[str, dict[str, int]] = {}
    for parent, count in seen.items():
        if count < least_parent or " " in parent:
            found[parent] = {parent: count}
            continue
        found[parent] = {}
        for name in ending[parent]:
            joined = name.replace(" ", "")
            other = seen.get(joined, 0)
            found[parent][name if seen[name] >= other else joined] = seen[name] + other
    return found


def facts(found: Mapping[str, Mapping[str, int]]) -> list[SubtypeFact]:
    """The subtypes as rows of a knowledge table."""
    return [SubtypeFact(parent, name, count) for parent, kinds in found.items() for name, count in kinds.items()]
