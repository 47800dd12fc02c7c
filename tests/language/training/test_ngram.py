"""Kneser-Ney: worked by hand, against the recursive definition, and a distribution whatever the
history."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seesay.errors import UserError
from seesay.language.training.ngram import FALLBACK, adjusted_counts, discounts, estimate
from seesay.language.words.arpa import write_arpa
from seesay.language.words.vocabulary import BEGIN, END, SPECIAL, UNKNOWN, Vocabulary
from seesay.models import load_model

corpora = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=6), min_size=1, max_size=12
)


def test_bigrams_by_hand() -> None:
    """ "a b" and "a a"; too few counts for discounts, so 0.5 for a count of one and 1 for two.

    Unigrams count what precedes: a after <s>, a (2), b after a (1), </s> after a, b (2): 5.
    Discounts free 2.5 of 5: half of the mass goes to the 4 words alike: p(a) = (2 - 1)/5 + 0.5/4 =
    0.325, p(b) = 0.225, p(<unk>) = 0.125. After <s> (a twice): p(a) = (2 - 1)/2 + 0.5 · 0.325.
    After a (three words once each): 0.5/3 + 0.5 · p(word).
    """
    model = estimate([["a", "b"], ["a", "a"]], Vocabulary([*SPECIAL, "a", "b"]), order=2)
    expected = {
        ((), "a"): 0.325,
        ((), "b"): 0.225,
        ((), END): 0.325,
        ((), UNKNOWN): 0.125,
        ((BEGIN,), "a"): 0.6625,
        ((BEGIN,), "b"): 0.5 * 0.225,
        (("a",), "b"): 0.5 / 3 + 0.5 * 0.225,
        (("a",), END): 0.5 / 3 + 0.5 * 0.325,
        (("b",), END): 0.5 + 0.5 * 0.325,
        (("b",), "a"): 0.5 * 0.325,
    }
    for (history, word), probability in expected.items():
        assert 10 ** model.logp(history, word) == pytest.approx(probability), (history, word)


def test_discounts_by_hand() -> None:
    """Ten n-grams once, five twice, three three times, two four times: Y = 10/20 (Chen & Goodman
    1999, equation 17)."""
    counts = [1] * 10 + [2] * 5 + [3] * 3 + [4] * 2 + [9]
    values = discounts({(str(i),): count for i, count in enumerate(counts)})
    assert values == pytest.approx((1 - 2 * 0.5 * 5 / 10, 2 - 3 * 0.5 * 3 / 5, 3 - 4 * 0.5 * 2 / 3))
    assert discounts({("a",): 1, ("b",): 2}) == FALLBACK


def test_lower_orders_count_what_precedes() -> None:
    """ "a b" twice: (b,) stands after one word only, but (<s>, a) has nothing before it and counts
    twice."""
    unigrams, bigrams, trigrams = adjusted_counts([["a", "b"], ["a", "b"]], 3)
    assert trigrams == {(BEGIN, "a", "b"): 2, ("a", "b", END): 2}
    assert bigrams == {(BEGIN, "a"): 2, ("a", "b"): 1, ("b", END): 1}
    assert unigrams == {("a",): 1, ("b",): 1, (END,): 1}


@settings(max_examples=60, deadline=None)
@given(
    corpora,
    st.lists(st.sampled_from([BEGIN, "a", "b", "e", UNKNOWN]), max_size=3),
    st.integers(2, 4),
)
def test_every_history_has_a_distribution(
    corpus: list[list[str]], history: list[str], order: int
) -> None:
    vocabulary = Vocabulary([*SPECIAL, "a", "b", "c", "e"])  # "d" is unknown, "e" never seen
    model = estimate(corpus, vocabulary, order)
    total = math.fsum(
        10 ** model.logp(tuple(history), word) for word in vocabulary.tokens if word != BEGIN
    )
    assert total == pytest.approx(1.0, abs=1e-9)


class Recursive:
    """The same smoothing straight from its definition: counted anew for each question, nothing
    backed off."""

    def __init__(
        self, corpus: Sequence[Sequence[str]], vocabulary: Sequence[str], order: int
    ) -> None:
        self.padded = [(BEGIN, *sentence, END) for sentence in corpus]
        self.order, self.vocabulary = order, vocabulary

    def count(self, gram: tuple[str, ...]) -> int:
        n = len(gram)
        places = [
            (s, i) for s in self.padded for i in range(len(s) - n + 1) if s[i : i + n] == gram
        ]
        if n == self.order or gram[0] == BEGIN:
            return len(places)
        return len({s[i - 1] for s, i in places})

    def probability(self, history: tuple[str, ...], word: str) -> float:
        n = len(history) + 1
        everywhere = {s[i : i + n] for s in self.padded for i in range(len(s) - n + 1)} - {(BEGIN,)}
        seen = Counter(self.count(gram) for gram in everywhere)
        d = discounts({(str(i),): c for i, c in enumerate(seen.elements())})
        follows = [self.count((*history, other)) for other in self.vocabulary]
        total = sum(follows)
        below = self.probability(history[1:], word) if history else 1 / len(self.vocabulary)
        if not total:
            return below
        taken = [d[min(count, 3) - 1] if count else 0.0 for count in follows]
        count = self.count((*history, word))
        discounted = count - d[min(count, 3) - 1] if count else 0.0
        return discounted / total + sum(taken) / total * below


@settings(max_examples=40, deadline=None)
@given(corpora, st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4))
def test_trigrams_are_the_recursive_definition(
    corpus: list[list[str]], sentence: list[str]
) -> None:
    vocabulary = Vocabulary([*SPECIAL, "a", "b", "c", "d"])
    model = estimate(corpus, vocabulary, 3)
    reference = Recursive(corpus, [word for word in vocabulary.tokens if word != BEGIN], 3)
    history = (BEGIN, *sentence)[-2:]
    for word in ("a", "d", END, UNKNOWN):
        assert 10 ** model.logp(history, word) == pytest.approx(
            reference.probability(history, word), rel=1e-9
        )


def test_saved_model_scores_texts(tmp_path: Path) -> None:
    model = estimate([["a", "b"], ["a", "a"]], Vocabulary([*SPECIAL, "a", "b"]), order=2)
    write_arpa(tmp_path / "small.arpa", model)
    loaded = load_model(str(tmp_path / "small.arpa"))
    assert "score" in loaded.abilities
    (scored,) = loaded.score(["A, b!"])
    assert scored.tokens == ("a", "b", END)
    expected = [math.log(p) for p in (0.6625, 0.5 / 3 + 0.5 * 0.225, 0.6625)]
    assert scored.logp == pytest.approx(expected, rel=1e-7)


def test_nothing_to_learn_from() -> None:
    with pytest.raises(UserError, match="no sentence"):
        estimate([], Vocabulary(SPECIAL))
    with pytest.raises(UserError, match="2 or more"):
        estimate([["a"]], Vocabulary(SPECIAL), order=1)
