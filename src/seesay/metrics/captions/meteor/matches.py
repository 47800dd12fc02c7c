"""Which stretches of a hypothesis may stand for which of a reference: METEOR's four matchers over a corpus.

The order of a word's matches decides between equal alignments, so it is METEOR's: exact, stem, synonym, then
paraphrases with the reference as the table's phrase, then with the hypothesis as that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from seesay.metrics.captions.meteor.paraphrases import Paraphrases, Span
from seesay.metrics.captions.meteor.resources import Resources
from seesay.metrics.captions.meteor.stem import stem

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)

RawMatch = tuple[int, int, int, int, int]


@dataclass
class Text:
    """A text's words with what the matchers ask of them."""

    words: list[str]
    stems: list[str]
    places: dict[str, list[int]] = field(default_factory=dict)
    stem_places: dict[str, list[int]] = field(default_factory=dict)
    phrases: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """By state of the paraphrase table: where the phrase stands, and its number of words."""
    sources: list[tuple[int, int, Mapping[int, int]]] = field(default_factory=list)
    """Start and number of words of the phrases that have paraphrases in the corpus, and those."""


class Matcher:
    """Built for the texts of one corpus: what no text of it says is never looked up again."""

    def __init__(self, resources: Resources, texts: Sequence[Sequence[str]]) -> None:
        vocabulary = dict.fromkeys(word for text in texts for word in text)
        self._stems = {word: stem(word) for word in vocabulary}
        self._synonyms = resources.wordnet.synonyms(vocabulary) if resources.wordnet else {}
        self._spans: list[list[Span]] = []
        self._paraphrases: dict[int, dict[int, int]] = {}
        if resources.paraphrases:
            self._look_up(resources.paraphrases, texts)

    def _look_up(self, table: Paraphrases, texts: Sequence[Sequence[str]]) -> None:
        self._spans = table.spans(texts)
        states = {state for spans in self._spans for _, _, state in spans}
        self._paraphrases = table.among(np.fromiter(sorted(states), np.int64, len(states)))

    def text(self, number: int, words: list[str]) -> Text:
        """The corpus's text of that number, prepared."""
        text = Text(words, [self._stems[word] for word in words])
        for i, word in enumerate(words):
            text.places.setdefault(word, []).append(i)
            text.stem_places.setdefault(text.stems[i], []).append(i)
        for start, size, state in self._spans[number] if self._spans else ():
            text.phrases.setdefault(state, []).append((start, size))
            others = self._paraphrases.get(state)
            if others:
                text.sources.append((start, size, others))
        return text

    def matches(self, hypothesis: Text, reference: Text) -> list[list[RawMatch]]:
        """For each word of the reference the matches that begin there."""
        rows: list[list[RawMatch]] = []
        places, stem_places, ours = hypothesis.places, hypothesis.stem_places, hypothesis.words
        synonyms = self._synonyms
        for j, word in enumerate(reference.words):
            row: list[RawMatch] = []
            if word in places:
                row = [(j, 1, i, 1, EXACT) for i in places[word]]
            stemmed = reference.stems[j]
            if stemmed in stem_places:
                row += [(j, 1, i, 1, STEM) for i in stem_places[stemmed] if ours[i] != word]
            related = synonyms.get(word)
            if related and not related.isdisjoint(places):
                row += [(j, 1, i, 1, SYNONYM) for i, other in enumerate(ours) if other in related]
            rows.append(row)
        self._add_paraphrases(rows, hypothesis, reference)
        return rows

    def _add_paraphrases(self, rows: list[list[RawMatch]], hypothesis: Text, reference: Text) -> None:
        ours, theirs = hypothesis.phrases, reference.phrases
        for j, size, others in reference.sources:
            found = others.keys() & ours.keys()
            for state in sorted(found, key=others.__getitem__) if len(found) > 1 else found:
                rows[j] += [(j, size, i, length, PARAPHRASE) for i, length in ours[state]]
        for i, length, others in hypothesis.sources:
            found = others.keys() & theirs.keys()
            for state in sorted(found, key=others.__getitem__) if len(found) > 1 else found:
                for j, size in theirs[state]:
                    rows[j].append((j, size, i, length, PARAPHRASE))
