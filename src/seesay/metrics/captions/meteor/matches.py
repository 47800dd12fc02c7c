"""Which stretches of a hypothesis may stand for which of a reference: METEOR's four matchers over a corpus.

The order of a word's matches decides between equal alignments, so it is METEOR's: exact, stem, synonym, then
paraphrases with the reference as the table's phrase, then with the hypothesis as that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from seesay.metrics.captions.meteor.alignment import EXACT, PARAPHRASE, STEM, SYNONYM, RawMatch
from seesay.metrics.captions.meteor.paraphrases import Spans
from seesay.metrics.captions.meteor.resources import MeteorResources
from seesay.metrics.captions.meteor.stem import stem


@dataclass(slots=True)
class Text:
    """A text's words, and its phrases of the paraphrase table."""

    words: list[str]
    phrases: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """By state of the table: where the phrase stands, and its number of words."""
    sources: list[tuple[int, int, Mapping[int, int]]] = field(default_factory=list)
    """Start and number of words of the phrases that have paraphrases in the corpus, and those."""


@dataclass(slots=True)
class Hypothesis:
    """A hypothesis with where each word and each stem stands."""

    text: Text
    places: dict[str, list[int]]
    stems: dict[str, list[int]]


class Matcher:
    """Built for the texts of one corpus: what no text of it says is never looked up again."""

    def __init__(self, resources: MeteorResources, texts: Sequence[Sequence[str]]) -> None:
        vocabulary = dict.fromkeys(word for text in texts for word in text)
        self._stems = {word: stem(word) for word in vocabulary}
        self._synonyms = resources.wordnet.synonyms(vocabulary) if resources.wordnet else {}
        self._spans: Spans | None = None
        self._paraphrases: dict[int, dict[int, int]] = {}
        if resources.paraphrases:
            self._spans = resources.paraphrases.spans(texts)
            self._paraphrases = resources.paraphrases.among(np.unique(self._spans.rows[:, 2]))

    def text(self, number: int, words: list[str]) -> Text:
        """The corpus's text of that number, prepared."""
        text = Text(words)
        if self._spans is None:
            return text
        phrases, sources, paraphrases = text.phrases, text.sources, self._paraphrases
        for start, size, state in self._spans.of(number):
            phrases.setdefault(state, []).append((start, size))
            if state in paraphrases:
                sources.append((start, size, paraphrases[state]))
        return text

    def hypothesis(self, number: int, words: list[str]) -> Hypothesis:
        """The same for a hypothesis."""
        places: dict[str, list[int]] = {}
        stems: dict[str, list[int]] = {}
        for i, word in enumerate(words):
            places.setdefault(word, []).append(i)
            stems.setdefault(self._stems[word], []).append(i)
        return Hypothesis(self.text(number, words), places, stems)

    def matches(self, hypothesis: Hypothesis, reference: Text) -> list[list[RawMatch]]:
        """For each word of the reference the matches that begin there."""
        rows: list[list[RawMatch]] = []
        places, stems, ours = hypothesis.places, hypothesis.stems, hypothesis.text.words
        for j, word in enumerate(reference.words):
            row = [(j, 1, i, 1, EXACT) for i in places[word]] if word in places else []
            stemmed = self._stems[word]
            if stemmed in stems:
                row += [(j, 1, i, 1, STEM) for i in stems[stemmed] if ours[i] != word]
            related = self._synonyms.get(word)
            if related and not related.isdisjoint(places):
                row += [(j, 1, i, 1, SYNONYM) for i, other in enumerate(ours) if other in related]
            rows.append(row)
        self._add_paraphrases(rows, hypothesis.text, reference)
        return rows

    def _add_paraphrases(self, rows: list[list[RawMatch]], hypothesis: Text, reference: Text) -> None:
        ours, theirs = hypothesis.phrases, reference.phrases
        for j, size, others in reference.sources:
            if not ours.keys().isdisjoint(others):
                for state in sorted(others.keys() & ours.keys(), key=others.__getitem__):
                    rows[j] += [(j, size, i, length, PARAPHRASE) for i, length in ours[state]]
        for i, length, others in hypothesis.sources:
            if not theirs.keys().isdisjoint(others):
                for state in sorted(others.keys() & theirs.keys(), key=others.__getitem__):
                    for j, size in theirs[state]:
                        rows[j].append((j, size, i, length, PARAPHRASE))
