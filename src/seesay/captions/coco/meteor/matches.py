"""METEOR's four matchers: which stretches of hypotheses may stand for which of references.

Many captions are matched at once.

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
    """The words of some texts in a row."""

    words: Ints
    """The number of each word in the vocabulary."""
    text: Ints
    """The text of each word."""
    place: Ints
    """The place of each word in its text."""
    lengths: Ints
    """How many words each text has."""
    functional: BoolArray
    """Which words are function words."""

    def split(self, values: list[T]) -> list[list[T]]:
        """Split a list of one value per word into one list per text."""
        ends = np.cumsum(self.lengths).tolist()
        return [values[start:end] for start, end in pairwise([0, *ends])]


@dataclass(frozen=True)
class Matches:
    """The matches of some captions with each of their references, by word of the reference."""

    hypotheses: Texts
    references: Texts
    owner: Ints
    """The caption of each reference."""
    word: Ints
    """The word, among those of all the references, at which each match begins."""
    size: Ints
    """How many words of the reference it covers."""
    start: Ints
    """Where it begins in the hypothesis."""
    length: Ints
    """How many words of the hypothesis it covers."""
    module: Ints
    """The matcher that found it."""

    def rows(self) -> list[list[list[RawMatch]]]:
        """Return for each reference, and each of its words, the matches that begin there."""
        rows: list[list[RawMatch]] = [[] for _ in self.references.words]
        columns = (
            self.word,
            self.references.place[self.word],
            self.size,
            self.start,
            self.length,
            self.module,
        )
        for word, *match in zip(*(column.tolist() for column in columns), strict=True):
            rows[word].append(tuple(match))
        return self.references.split(rows)


class Matcher:
    """Built for one corpus: captions, then the references of each in turn."""

    def __init__(
        self,
        resources: MeteorResources,
        words: Words,
        owner: Ints,
    ) -> None:
        self._words = words
        self._owner = owner
        self._captions = len(words.lengths) - len(owner)
        self._ends = np.concatenate([[0], np.cumsum(words.lengths)])
        # Everything that depends on a word alone is looked up once for each word of the vocabulary.
        vocabulary = words.vocabulary
        function_words = resources.function_words
        self._functional = np.asarray([word in function_words for word in vocabulary], bool)
        stems = numbering()
        self._stems = np.asarray([stems[stem(word)] for word in vocabulary], np.int64)
        self._number_synonyms(resources)
        self._table = resources.paraphrases
        if self._table:
            get = self._table.words.get
            self._table_words = np.asarray([get(word, -1) for word in vocabulary], np.int64)

    def _number_synonyms(self, resources: MeteorResources) -> None:
        """Keep the synonyms of all words in one array, and where those of each word begin."""
        vocabulary = self._words.vocabulary
        synonyms = resources.wordnet.synonyms(vocabulary) if resources.wordnet else {}
        numbers = {word: i for i, word in enumerate(vocabulary)}
        flat: list[int] = []
        counts = []
        for word in vocabulary:
            related = sorted(numbers[other] for other in synonyms.get(word, ()))
            flat += related
            counts.append(len(related))
        self._synonyms = np.asarray(flat, np.int64)
        self._synonym_counts = np.asarray(counts, np.int64)
        self._synonym_starts = np.cumsum(self._synonym_counts) - self._synonym_counts

    def _texts(self, first: int, last: int) -> Texts:
        """Return the texts from the first to before the last."""
        lengths = self._words.lengths[first:last]
        start = self._ends[first]
        stop = self._ends[last]
        words = self._words.numbers[start:stop]
        text = np.repeat(np.arange(last - first), lengths)
        starts = np.cumsum(lengths) - lengths
        place = np.arange(len(words)) - starts[text]
        return Texts(
            words,
            text,
            place,
            lengths,
            self._functional[words],
        )

    def matches(self, captions: range) -> Matches:
        """Return the matches of some captions with their references."""
        # The references of these captions lie together: they are in the captions' order.
        low, high = np.searchsorted(self._owner, [captions.start, captions.stop]).tolist()
        owner = self._owner[low:high] - captions.start
        hypotheses = self._texts(captions.start, captions.stop)
        references = self._texts(self._captions + low, self._captions + high)
        image = owner[references.text]
        columns: tuple[Ints, ...] = self._single_words(hypotheses, references, image)
        if self._table:
            phrases = self._paraphrases(hypotheses, references, image)
            columns = tuple(
                np.concatenate([singles, multiples])
                for singles, multiples in zip(columns, phrases, strict=True)
            )
        # Stable, so that the matches of a word stay in METEOR's order of matchers.
        order = np.argsort(columns[0], kind="stable")
        return Matches(hypotheses, references, owner, *(column[order] for column in columns))

    def _single_words(
        self,
        hypotheses: Texts,
        references: Texts,
        image: Ints,
    ) -> tuple[Ints, ...]:
        """Return the matches of one word with one word: the five last columns of `Matches`."""
        # A key is the pair of an image and a word, so that only words of one image meet.
        kinds = np.int64(len(self._words.vocabulary))
        caption = hypotheses.text * kinds
        reference_keys = image * kinds + references.words
        exact = join(reference_keys, caption + hypotheses.words)

        stem_keys = image * kinds + self._stems[references.words]
        stemmed, stemmed_at = join(stem_keys, caption + self._stems[hypotheses.words])
        # Equal words have equal stems too, and are exact matches already.
        differ = references.words[stemmed] != hypotheses.words[stemmed_at]

        counts = self._synonym_counts[hypotheses.words]
        source = np.repeat(np.arange(len(counts)), counts)
        synonyms = self._synonyms[expand(self._synonym_starts[hypotheses.words], counts)]
        query, synonymous = join(caption[source] + synonyms, reference_keys)

        words = [exact[0], stemmed[differ], synonymous]
        places = [exact[1], stemmed_at[differ], source[query]]
        word = np.concatenate(words)
        ones = np.ones_like(word)
        start = hypotheses.place[np.concatenate(places)]
        modules = np.repeat([EXACT, STEM, SYNONYM], [len(part) for part in words])
        return word, ones, start, ones, modules

    def _paraphrases(
        self,
        hypotheses: Texts,
        references: Texts,
        image: Ints,
    ) -> tuple[Ints, ...]:
        """Return the matches of phrases by the table: the five last columns of `Matches`."""
        assert self._table is not None
        words = self._table_words[np.concatenate([hypotheses.words, references.words])]
        lengths = np.concatenate([hypotheses.lengths, references.lengths])
        spans = self._table.spans(words, lengths)
        states, state = np.unique(spans.state, return_inverse=True)
        kinds = np.int64(len(states))
        split = int(np.searchsorted(spans.place, len(hypotheses.words)))
        place = spans.place[:split]
        length = spans.size[:split]
        caption_state = state[:split]
        word = spans.place[split:] - len(hypotheses.words)
        size = spans.size[split:]
        reference_keys = image[word] * kinds + state[split:]
        phrase, paraphrase, entry = self._table.pairs_among(states)
        parts = []
        # The table has a direction: first the reference is its phrase, then the hypothesis.
        for source, target in ((paraphrase, phrase), (phrase, paraphrase)):
            by_source = np.argsort(source, kind="stable")
            sources = source[by_source]
            low = np.searchsorted(sources, caption_state)
            counts = np.searchsorted(sources, caption_state + 1) - low
            pair = by_source[expand(low, counts)]
            span = np.repeat(np.arange(split), counts)
            keys = hypotheses.text[place[span]] * kinds + target[pair]
            query, other = join(keys, reference_keys)
            span = span[query]
            if source is paraphrase:
                # METEOR finds these by size in the reference, then in the table's order, then by
                # place in the hypothesis; those of the other direction by that place first.
                rank = entry[pair[query]]
                order = np.lexsort((span, rank, size[other], word[other]))
                span = span[order]
                other = other[order]
            start = hypotheses.place[place[span]]
            parts.append((word[other], size[other], start, length[span]))
        columns = tuple(np.concatenate(both) for both in zip(*parts, strict=True))
        modules = np.full(len(columns[0]), PARAPHRASE)
        return *columns, modules


def join(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """Return the places of equal keys, by place on the left and then on the right."""
    if not len(right):
        empty = np.zeros(0, np.int64)
        return empty, empty
    order = np.argsort(right, kind="stable")
    keys = right[order]
    low = np.searchsorted(keys, left)
    # Beyond the last key no key is equal: compare with the last one there instead.
    candidates = keys[np.minimum(low, len(keys) - 1)]
    hits = np.flatnonzero(candidates == left)
    low = low[hits]
    counts = np.searchsorted(keys, left[hits], side="right") - low
    return np.repeat(hits, counts), order[expand(low, counts)]
