"""Synonyms by WordNet, from METEOR's plain files: words that share a synset, each in its own form
or its lemma."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_DETACHED = (
    ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"),
    ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""), ("er", ""), ("est", ""), ("er", "e"),
    ("est", "e"),
)  # fmt: skip
"""WordNet's morphology without parts of speech. The first detachment that leaves a word of WordNet
counts, alone."""


class WordNet:
    """`synsets` and `exceptions` are METEOR's files: a word on one line, what belongs to it on the
    next."""

    def __init__(self, synsets: str, exceptions: str) -> None:
        lines = synsets.split("\n")
        self._synsets: Mapping[str, str] = dict(zip(lines[::2], lines[1::2], strict=False))
        self._irregular: dict[str, list[str]] = {}
        lines = exceptions.split("\n")
        for lemma, forms in zip(lines[::2], lines[1::2], strict=False):
            for form in forms.split():
                self._irregular.setdefault(form, []).append(lemma)

    def synsets(self, word: str) -> frozenset[str]:
        """The synsets of a word and of its lemma."""
        ids = set(self._synsets.get(word, "").split())
        for lemma in self._lemmas(word):
            ids.update(self._synsets.get(lemma, "").split())
        return frozenset(ids)

    def _lemmas(self, word: str) -> list[str]:
        if word in self._irregular:
            return self._irregular[word]
        if len(word) <= 2 or word.endswith("ss"):
            return []
        for ending, instead in _DETACHED:
            if word.endswith(ending):
                lemma = word[: -len(ending)] + instead
                if lemma in self._synsets:
                    return [lemma]
        return []

    def synonyms(self, words: Iterable[str]) -> dict[str, frozenset[str]]:
        """For each of the words those others among them that share a synset with it; words without
        any are left out."""
        synsets = {word: self.synsets(word) for word in words}
        members: dict[str, list[str]] = {}
        for word, ids in synsets.items():
            for identifier in ids:
                members.setdefault(identifier, []).append(word)
        shared = {identifier: group for identifier, group in members.items() if len(group) > 1}
        synonyms = {}
        for word, ids in synsets.items():
            groups = [shared[identifier] for identifier in ids if identifier in shared]
            if groups:
                synonyms[word] = frozenset().union(*groups) - {word}
        return synonyms
