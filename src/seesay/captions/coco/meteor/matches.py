"""Which stretches of hypotheses may stand for which of their references: METEOR's four matchers,
many captions at once.

The order of a word's matches decides between equal alignments, so it is METEOR's: exact, stem,
synonym, then paraphrases with the reference as the table's phrase, then with the hypothesis as
that.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from seesay.captions.coco.meteor.alignment import EXACT, PARAPHRASE, STEM, SYNONYM, RawMatch
from seesay.captions.coco.meteor.resources import MeteorResources
from seesay.captions.coco.meteor.stem import stem
from seesay.captions.coco.ngrams import Ints, Words, expand, numbering
from seesay.metrics.base import BoolArray

T = TypeVar("T")


@dataclass(frozen=True)
class Texts:
    """Some texts: the words in a row, the text of each and its place there; the length of each
    text."""

    words: Ints
    text: Ints
    place: Ints
    lengths: Ints
    functional: BoolArray
    """Which words are function words."""

    def split(self, values: list[T]) -> list[list[T]]:
        """One value per word, text by text."""
        ends = np.cumsum(self.lengths).tolist()
        return [values[start:end] for start, end in pairwise([0, *ends])]


@dataclass(frozen=True)
class Matches:
    """The matches of some captions with each of their references, by word of the reference.

    `word` counts the words of all the references; places are in the texts.
    """

    ours: Texts
    theirs: Texts
    owner: Ints
    """The caption of each reference."""
    word: Ints
    size: Ints
    hypothesis: Ints
    hypothesis_size: Ints
    module: Ints

    def rows(self) -> list[list[list[RawMatch]]]:
        """For each reference, and each of its words, the matches that begin there."""
        rows: list[list[RawMatch]] = [[] for _ in self.theirs.words]
        place = self.theirs.place[self.word]
        columns = (self.word, place, self.size, self.hypothesis, self.hypothesis_size, self.module)
        for word, *match in zip(*(column.tolist() for column in columns), strict=True):
            rows[word].append(tuple(match))
        return self.theirs.split(rows)


class Matcher:
    """Built for one corpus: captions, then the references of each in turn."""

    def __init__(self, resources: MeteorResources, words: Words, owner: Ints) -> None:
        self._words = words
        self._owner = owner
        self._captions = len(words.lengths) - len(owner)
        self._ends = np.concatenate([[0], np.cumsum(words.lengths)])
        vocabulary = words.vocabulary
        self._functional = np.fromiter(
            (word in resources.function_words for word in vocabulary), bool
        )
        stems = numbering()
        self._stems = np.fromiter(
            (stems[stem(word)] for word in vocabulary), np.int64, len(vocabulary)
        )
        numbers = {word: i for i, word in enumerate(vocabulary)}
        if resources.wordnet:
            synonyms = resources.wordnet.synonyms(vocabulary)
        else:
            synonyms = {}
        related = [
            sorted(numbers[other] for other in synonyms.get(word, ())) for word in vocabulary
        ]
        self._related_counts = np.asarray([len(others) for others in related], np.int64)
        self._related_starts = np.cumsum(self._related_counts) - self._related_counts
        self._related = np.asarray([other for others in related for other in others], np.int64)
        self._table = resources.paraphrases
        if self._table:
            get = self._table.words.get
            self._table_words = np.fromiter(
                (get(word, -1) for word in vocabulary), np.int64, len(vocabulary)
            )

    def _texts(self, first: int, last: int) -> Texts:
        lengths = self._words.lengths[first:last]
        words = self._words.numbers[self._ends[first] : self._ends[last]]
        text = np.repeat(np.arange(last - first), lengths)
        place = np.arange(len(words)) - (np.cumsum(lengths) - lengths)[text]
        return Texts(words, text, place, lengths, self._functional[words])

    def matches(self, captions: range) -> Matches:
        """Of some captions."""
        low, high = np.searchsorted(self._owner, [captions.start, captions.stop]).tolist()
        owner = self._owner[low:high] - captions.start
        ours = self._texts(captions.start, captions.stop)
        theirs = self._texts(self._captions + low, self._captions + high)
        image = owner[theirs.text]
        kinds = np.int64(len(self._words.vocabulary))
        our_keys = ours.text * kinds + ours.words
        their_keys = image * kinds + theirs.words
        exact = join(their_keys, our_keys)
        stemmed = join(
            image * kinds + self._stems[theirs.words], ours.text * kinds + self._stems[ours.words]
        )
        differ = theirs.words[stemmed[0]] != ours.words[stemmed[1]]
        counts = self._related_counts[ours.words]
        source = np.repeat(np.arange(len(counts)), counts)
        others = self._related[expand(self._related_starts[ours.words], counts)]
        query, synonym = join(ours.text[source] * kinds + others, their_keys)
        singles = [exact, (stemmed[0][differ], stemmed[1][differ]), (synonym, source[query])]
        modules = np.repeat([EXACT, STEM, SYNONYM], [len(word) for word, _ in singles])
        word, at = (np.concatenate(part) for part in zip(*singles, strict=True))
        columns = [word, np.ones_like(word), ours.place[at], np.ones_like(word), modules]
        if self._table:
            phrases = self._paraphrases(ours, theirs, image)
            columns = [np.concatenate(part) for part in zip(columns, phrases, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        return Matches(ours, theirs, owner, *(column[order] for column in columns))

    def _paraphrases(self, ours: Texts, theirs: Texts, image: Ints) -> tuple[Ints, ...]:
        assert self._table is not None
        words = self._table_words[np.concatenate([ours.words, theirs.words])]
        spans = self._table.spans(words, np.concatenate([ours.lengths, theirs.lengths]))
        states, state = np.unique(spans.state, return_inverse=True)
        split = int(np.searchsorted(spans.place, len(ours.words)))
        kinds = np.int64(len(states))
        place = spans.place[:split]
        word = spans.place[split:] - len(ours.words)
        size = spans.size[split:]
        length = spans.size[:split]
        their_keys = image[word] * kinds + state[split:]
        phrase, paraphrase, entry = self._table.among(states)
        parts = []
        for source, target in ((paraphrase, phrase), (phrase, paraphrase)):
            by_source = np.argsort(source, kind="stable")
            low, high = np.searchsorted(source[by_source], [state[:split], state[:split] + 1])
            pair = by_source[expand(low, high - low)]
            span = np.repeat(np.arange(split), high - low)
            query, other = join(ours.text[place[span]] * kinds + target[pair], their_keys)
            span = span[query]
            rank = entry[pair[query]]
            # by size in the reference, the table's order, place in the hypothesis
            if source is paraphrase:
                order = np.lexsort((span, rank, size[other], word[other]))
                span = span[order]
                other = other[order]
            parts.append((word[other], size[other], ours.place[place[span]], length[span]))
        columns = tuple(np.concatenate(column) for column in zip(*parts, strict=True))
        return *columns, np.full(len(columns[0]), PARAPHRASE)


def join(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """The places of equal keys, by place on the left and then on the right."""
    if not len(right):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    low = np.searchsorted(ordered, left)
    hits = np.flatnonzero(ordered[np.minimum(low, len(ordered) - 1)] == left)
    low = low[hits]
    counts = np.searchsorted(ordered, left[hits], side="right") - low
    return np.repeat(hits, counts), order[expand(low, counts)]
