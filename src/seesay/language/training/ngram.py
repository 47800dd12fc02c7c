"""An n-gram baseline: interpolated modified Kneser-Ney (Chen & Goodman 1999, section 3), written as
an ARPA file."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from seesay.errors import UserError
from seesay.language.defaults import NGRAM_ORDER, NGRAM_SMALLEST_COUNT
from seesay.language.training.captions import CaptionSplit, join_phrases
from seesay.language.words.arpa import Gram, Ngrams
from seesay.language.words.vocabulary import BEGIN, END, UNKNOWN, Vocabulary, words

Counts = dict[Gram, int]

FALLBACK = (0.5, 1.0, 1.5)  # for a corpus too small to estimate discounts, as in KenLM's lmplz
IMPOSSIBLE = -99.0  # by convention: the beginning is never predicted


def estimate(
    sentences: Iterable[Sequence[str]], vocabulary: Vocabulary, order: int = NGRAM_ORDER
) -> Ngrams:
    """The model of the sentences. Words outside the vocabulary are read as the unknown word, in
    training and after."""
    if order < 2:
        raise UserError(f"The order of the n-gram model is {order}: give 2 or more.")
    counts = adjusted_counts(
        ([word if word in vocabulary else UNKNOWN for word in sentence] for sentence in sentences),
        order,
    )
    if not counts[0]:
        raise UserError("There is no sentence to estimate an n-gram model from.")
    predicted = [token for token in vocabulary.tokens if token != BEGIN]
    lower: dict[Gram, float] = {(): 1 / len(predicted)}  # the zero-gram: uniform over the words
    for token in predicted:
        counts[0].setdefault((token,), 0)  # an unseen word has its share of the zero-gram's mass
    probabilities: dict[Gram, float] = {(BEGIN,): IMPOSSIBLE}
    backoffs: dict[Gram, float] = {}
    for table in counts:
        discount = discounts(table)
        totals, freed = _contexts(table, discount)
        here = {}
        for gram, count in table.items():
            context = gram[:-1]
            below = lower[gram[1:]] if len(gram) > 1 else lower[()]
            here[gram] = (count - _of(discount, count)) / totals[context] + freed[context] * below
        probabilities |= {gram: math.log10(p) for gram, p in here.items()}
        backoffs |= {context: math.log10(weight) for context, weight in freed.items() if context}
        lower = here
    return Ngrams(probabilities, backoffs, order, ours=True)


def train_ngrams(
    captions: CaptionSplit,
    phrases: Sequence[str] = (),
    *,
    order: int = NGRAM_ORDER,
    smallest_count: int = NGRAM_SMALLEST_COUNT,
) -> tuple[Ngrams, Vocabulary]:
    """An n-gram model of the training captions, with phrases as single words."""
    sentences = [words(text) for text in join_phrases(captions.train, phrases)]
    vocabulary = Vocabulary.of(sentences, smallest=smallest_count)
    return estimate(sentences, vocabulary, order), vocabulary


def adjusted_counts(sentences: Iterable[Sequence[str]], order: int) -> list[Counts]:
    """Counts of the highest order; below it, the number of different words that precede each
    n-gram.

    An n-gram at the beginning of a sentence has no preceding word and keeps its plain count
    (Heafield et al. 2013).
    """
    plain: list[Counter[Gram]] = [Counter() for _ in range(order)]
    for sentence in sentences:
        padded = (BEGIN, *sentence, END)
        plain[-1].update(padded[i : i + order] for i in range(len(padded) - order + 1))
        for n in range(2, min(order, len(padded) + 1)):
            plain[n - 1][padded[:n]] += 1
    counts: list[Counts] = [dict(plain[-1])]
    for n in range(order - 1, 0, -1):
        after = Counter(gram[1:] for gram in counts[0])
        after.update({gram: count for gram, count in plain[n - 1].items() if n > 1})
        counts.insert(0, dict(after))
    return counts


def discounts(counts: Mapping[Gram, int]) -> tuple[float, float, float]:
    """The discounts of counts of one, two, and three or more (equation 17)."""
    seen = Counter(count for count in counts.values() if count <= 4)
    if all(seen[k] for k in (1, 2, 3, 4)):
        y = seen[1] / (seen[1] + 2 * seen[2])
        one, two, three = (k - (k + 1) * y * seen[k + 1] / seen[k] for k in (1, 2, 3))
        if 0 < one <= 1 and 0 < two <= 2 and 0 < three <= 3:
            return one, two, three
    return FALLBACK


def _of(discount: tuple[float, float, float], count: int) -> float:
    return discount[min(count, 3) - 1] if count else 0.0


def _contexts(
    table: Counts, discount: tuple[float, float, float]
) -> tuple[dict[Gram, int], dict[Gram, float]]:
    """For each context the sum of its counts, and the share that discounting leaves to the next
    lower order."""
    totals: dict[Gram, int] = defaultdict(int)
    freed: dict[Gram, float] = defaultdict(float)
    for gram, count in table.items():
        totals[gram[:-1]] += count
        freed[gram[:-1]] += _of(discount, count)
    return totals, {context: freed[context] / total for context, total in totals.items()}
