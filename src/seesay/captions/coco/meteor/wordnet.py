"""Synonyms by WordNet, from METEOR's plain files: words that share a synset, by form or lemma."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

_DETACHED = (
    ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
    ("men", "man"), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""),
    ("ing", "e"), ("ing", ""), ("er", ""), ("est", ""), ("er", "e"), ("est", "e"),
)  # fmt: skip
"""WordNet's morphology without parts of speech.

The first detachment that leaves a word of WordNet counts, alone.
"""


class WordNet:
    """Synsets and lemmas of words.

    `synsets` and `exceptions` are METEOR's files: a word on one line, what belongs to it on the
    next.
    """

    def __init__(self, synsets: str, exceptions: str) -> None:
        # Synsets stay text until a word is looked up: a corpus needs few of WordNet's words.
        self._synsets: Mapping[str, str] = dict(_entries(synsets))
        self._irregular: dict[str, list[str]] = {}
        for lemma, forms in _entries(exceptions):
            for form in forms.split():
                self._irregular.setdefault(form, []).append(lemma)

    def synsets(self, word: str) -> frozenset[str]:
        """Return the synsets of a word and of its lemma."""
        synsets = set(self._synsets.get(word, "").split())
        for lemma in self._lemmas(word):
            synsets.update(self._synsets.get(lemma, "").split())
        return frozenset(synsets)

    def _lemmas(self, word: str) -> list[str]:
        """Return the lemmas of a form: those of an irregular one, or one by its ending."""
        if word in self._irregular:
            return self._irregular[word]
        if len(word) <= 2 or word.endswith("ss"):
            return []
        for ending, replacement in _DETACHED:
            if word.endswith(ending):
                lemma = word[: -len(ending)] + replacement
                if lemma in self._synsets:
                    return [lemma]
        return []

    def synonyms(self, words: Iterable[str]) -> dict[str, frozenset[str]]:
        """Return for each of the words those others among them that share a synset with it.

        Words without any are left out.
        """
        synsets = {word: self.synsets(word) for word in words}
        # By synset, so that the time grows with the words and not with their pairs.
        members: dict[str, list[str]] = {}
        for word, ids in synsets.items():
            for synset in ids:
                members.setdefault(synset, []).append(word)
        synonyms = {}
        for word, ids in synsets.items():
            groups = [members[synset] for synset in ids if len(members[synset]) > 1]
            if groups:
                synonyms[word] = frozenset().union(*groups) - {word}
        return synonyms


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Return the pairs of lines of one of METEOR's files."""
    lines = text.split("\n")
    return zip(lines[::2], lines[1::2], strict=False)
