"""An n-gram baseline, written as an ARPA file.

Smoothing is interpolated modified Kneser-Ney (Chen & Goodman 1999, section 3).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from seesay.errors import UserError
from seesay.language.defaults import NGRAM_ORDER, NGRAM_SMALLEST_COUNT
from seesay.language.training.captions import CaptionSplit, join_phrases
from seesay.language.words.arpa import Gram, Ngrams
from seesay.language.words.vocabulary import BEGIN, END, Vocabulary, words

Counts = dict[Gram, int]

FALLBACK = (0.5, 1.0, 1.5)
"""The discounts of a corpus too small to estimate them, as in KenLM's lmplz."""
IMPOSSIBLE = -99.0
"""By convention, the log-probability of the beginning, which is never predicted."""


def estimate(
    sentences: Iterable[Sequence[str]],
    vocabulary: Vocabulary,
    order: int = NGRAM_ORDER,
) -> Ngrams:
    """Estimate the model of the sentences.

    Words outside the vocabulary are read as the unknown word, in training and after.
    """
    if order < 2:
        raise UserError(f"The order of the n-gram model is {order}: give 2 or more.")
    counts = adjusted_counts((vocabulary.replace_unknown(words) for words in sentences), order)
    if not counts[0]:
        raise UserError("There is no sentence to estimate an n-gram model from.")
    predicted = [token for token in vocabulary.tokens if token != BEGIN]
    # The recursion ends with the uniform distribution over the words (the zero-gram), of whose mass
    # an unseen word has its share.
    lower: dict[Gram, float] = {(): 1 / len(predicted)}
    for token in predicted:
        counts[0].setdefault((token,), 0)
    probabilities: dict[Gram, float] = {(BEGIN,): IMPOSSIBLE}
    backoffs: dict[Gram, float] = {}
    for table in counts:
        discount = discounts(table)
        totals, freed = _contexts(table, discount)
        here = {}
        for gram, count in table.items():
            context = gram[:-1]
            # Interpolation: the discounted estimate, and the freed mass by the shorter context.
            discounted = (count - _discount_of(count, discount)) / totals[context]
            here[gram] = discounted + freed[context] * lower[gram[1:]]
        probabilities |= {gram: math.log10(p) for gram, p in here.items()}
        backoffs |= {context: math.log10(weight) for context, weight in freed.items() if context}
        lower = here
    return Ngrams(probabilities, backoffs, order, from_seesay=True)


def train_ngrams(
    captions: CaptionSplit,
    phrases: Sequence[str] = (),
    *,
    order: int = NGRAM_ORDER,
    smallest_count: int = NGRAM_SMALLEST_COUNT,
) -> tuple[Ngrams, Vocabulary]:
    """Train an n-gram model on the training captions, with phrases as single words."""
    sentences = [words(text) for text in join_phrases(captions.train, phrases)]
    vocabulary = Vocabulary.of(sentences, smallest=smallest_count)
    return estimate(sentences, vocabulary, order), vocabulary


def adjusted_counts(sentences: Iterable[Sequence[str]], order: int) -> list[Counts]:
    """Return the counts that each order is estimated from.

    They are the counts of n-grams of the highest order; below it, the number of different words
    that precede each n-gram.

    An n-gram at the beginning of a sentence has no preceding word and keeps its plain count
    (Heafield et al. 2013).
    """
    highest: Counter[Gram] = Counter()
    beginnings: list[Counter[Gram]] = [Counter() for _ in range(order)]
    for sentence in sentences:
        padded = (BEGIN, *sentence, END)
        highest.update(padded[i : i + order] for i in range(len(padded) - order + 1))
        for n in range(2, min(order, len(padded) + 1)):
            beginnings[n][padded[:n]] += 1
    counts: list[Counts] = [dict(highest)]
    for n in range(order - 1, 0, -1):
        # Each n-gram one longer is there once, whatever its count: so this counts first words.
        preceded = Counter(gram[1:] for gram in counts[0])
        preceded.update(beginnings[n])
        counts.insert(0, dict(preceded))
    return counts


def discounts(counts: Mapping[Gram, int]) -> tuple[float, float, float]:
    """Return the discounts of counts of one, two, and three or more (equation 17)."""
    # n_k of the equation: how many n-grams have a count of k.
    seen = Counter(count for count in counts.values() if count <= 4)
    if not all(seen[k] for k in (1, 2, 3, 4)):
        return FALLBACK
    y = seen[1] / (seen[1] + 2 * seen[2])
    one, two, three = (k - (k + 1) * y * seen[k + 1] / seen[k] for k in (1, 2, 3))
    # A small corpus may have more n-grams of a larger count, and then a discount below zero.
    if 0 < one <= 1 and 0 < two <= 2 and 0 < three <= 3:
        return one, two, three
    return FALLBACK


def _discount_of(count: int, discount: tuple[float, float, float]) -> float:
    """Return what a count is discounted by; an n-gram that was never seen has nothing to give."""
    return discount[min(count, 3) - 1] if count else 0.0


def _contexts(
    table: Counts,
    discount: tuple[float, float, float],
) -> tuple[dict[Gram, int], dict[Gram, float]]:
    """Return for each context the sum of its counts and its back-off weight.

    The weight is the share that discounting leaves to the next lower order.
    """
    totals: dict[Gram, int] = defaultdict(int)
    freed: dict[Gram, float] = defaultdict(float)
    for gram, count in table.items():
        context = gram[:-1]
        totals[context] += count
        freed[context] += _discount_of(count, discount)
    return totals, {context: freed[context] / total for context, total in totals.items()}
