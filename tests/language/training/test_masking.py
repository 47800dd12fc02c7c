"""Laws of the masks and of the batches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tiny import wordpiece

from seesay.language.training.masking import (
    SPECIAL,
    MaskedBatches,
    TokenizedTexts,
    encode,
    mask_pieces,
    mask_words,
)
from seesay.language.training.ragged import Ragged, concatenate_rows, cut, draw


@st.composite
def word_numbers(draw: st.DrawFn) -> np.ndarray:
    """Texts as word numbers: [CLS], words of one to four pieces, [SEP], padding."""
    texts = draw(
        st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=12), min_size=1, max_size=8)
    )
    rows = [[SPECIAL, *np.repeat(np.arange(len(pieces)), pieces), SPECIAL] for pieces in texts]
    longest = max(map(len, rows))
    return np.array([[*row, *[SPECIAL] * (longest - len(row))] for row in rows])


@given(word_numbers(), st.floats(0.01, 0.9), st.integers(0, 2**32))
def test_masks_are_whole_words_in_the_right_number(
    words: np.ndarray, rate: float, seed: int
) -> None:
    masked = mask_words(words, rate, np.random.default_rng(seed))
    assert not masked[words == SPECIAL].any()
    for row, mask in zip(words, masked, strict=True):
        all_words, masked_words = set(row[row != SPECIAL]), set(row[mask])
        assert (
            set(row[~mask & (row != SPECIAL)]) == all_words - masked_words
        )  # no word is masked in part
        expected = rate * len(all_words)
        assert max(1, np.floor(expected)) <= len(masked_words) <= max(1, np.ceil(expected))


def test_every_word_is_masked_at_the_rate() -> None:
    words = np.tile([SPECIAL, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, SPECIAL], (20_000, 1))
    share = mask_words(words, 0.25, np.random.default_rng(0)).mean(0)
    assert share[0] == share[-1] == 0
    # 0.25 ± 4 standard errors of sqrt(0.25 · 0.75 / 20,000)
    assert np.abs(share[1:-1] - 0.25).max() < 4 * 0.00306


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.integers(1, 100))
def test_batches_hold_every_row_once_within_the_budget(lengths: list[int], budget: int) -> None:
    table = np.array(lengths)
    batches = cut(table, np.random.default_rng(0).permutation(len(table)), tokens=budget)
    assert sorted(np.concatenate(batches)) == list(range(len(table)))
    assert all(len(batch) == 1 or len(batch) * table[batch].max() <= budget for batch in batches)
    assert all(len(batch) <= 7 for batch in cut(table, np.arange(len(table)), texts=7))


def test_a_weight_says_how_often_a_row_is_read() -> None:
    weights = np.repeat([1.0, 0.5, 2.0], 10_000)
    times = np.bincount(draw(weights, np.random.default_rng(0)), minlength=len(weights))
    assert (times[:10_000] == 1).all()
    assert (times[20_000:] == 2).all()
    assert abs(times[10_000:20_000].mean() - 0.5) < 0.02


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=6), min_size=1, max_size=8),
    st.integers(0, 8),
)
def test_ragged_rows_come_back_padded(rows: list[list[int]], middle: int) -> None:
    table = concatenate_rows([Ragged.of(rows[:middle]), Ragged.of(rows[middle:])])
    matrix = table.matrix(np.arange(len(rows)), -7)
    assert [[n for n in row if n != -7] for row in matrix.tolist()] == rows


def test_a_long_text_is_cut_between_words() -> None:
    tokenizer = wordpiece()
    corpus = encode(tokenizer, ["the sky is turquoise and the grass is green ."], 8)
    pieces = [
        tokenizer.convert_ids_to_tokens(row.tolist())
        for row in (
            corpus.ids.values[a:b]
            for a, b in zip(corpus.ids.offsets, corpus.ids.offsets[1:], strict=False)
        )
    ]
    assert all(row[0] == "[CLS]" and row[-1] == "[SEP]" and len(row) <= 8 for row in pieces)
    # the word of nine pieces is longer than six: it alone is cut within
    assert [row[1] for row in pieces] == ["the", "t", "##i", "is"]
    assert (
        "".join(piece for row in pieces for piece in row[1:-1])
        .replace("##", "")
        .startswith("theskyisturquoiseand")
    )


def test_pieces_are_masked_by_berts_rule() -> None:
    """15 % of the pieces, of which 80 % are masks, 10 % any piece and 10 % themselves; every piece
    of a word has its own lot."""
    tokenizer = wordpiece()
    vocabulary = len(tokenizer)
    corpus = encode(tokenizer, ["the sky is turquoise and the apple is red ."] * 4_000, 128)
    batch = MaskedBatches(
        corpus,
        [np.arange(4_000)],
        0.15,
        int(tokenizer.mask_token_id),
        int(tokenizer.pad_token_id),
        (0,),
        vocabulary,
    )[0]
    ids = corpus.ids.matrix(np.arange(4_000), int(tokenizer.pad_token_id))
    words = corpus.words.matrix(np.arange(4_000), SPECIAL)
    shown, predicted = batch.ids.numpy(), batch.masked.numpy()
    real = words != SPECIAL
    assert not predicted[~real].any()
    # some 68,000 pieces: three standard errors are below 0.005
    assert predicted[real].mean() == pytest.approx(0.15, abs=0.005)
    assert (shown[~predicted] == ids[~predicted]).all()
    assert (batch.gold.numpy() == ids[predicted]).all()
    is_mask = shown[predicted] == tokenizer.mask_token_id
    is_itself = shown[predicted] == ids[predicted]
    by_chance = 0.1 / vocabulary
    assert is_mask.mean() == pytest.approx(0.8 + by_chance, abs=0.015)
    assert is_itself.mean() == pytest.approx(0.1 + by_chance, abs=0.012)
    # a word of several pieces is masked in part, which whole-word masks never are
    long_word = words == np.bincount(words[0][words[0] >= 0]).argmax()
    some = predicted[long_word].reshape(4_000, -1)
    assert (some.any(axis=1) & ~some.all(axis=1)).any()


def test_a_batch_of_few_pieces_has_one_to_predict() -> None:
    words = np.array([[SPECIAL, 0, SPECIAL]])
    for seed in range(20):
        masked = mask_pieces(words, 0.01, np.random.default_rng(seed))
        assert masked.tolist() == [[False, True, False]]


def test_masks_depend_on_the_epoch_and_not_on_repeated_lookups() -> None:
    tokenizer = wordpiece()
    corpus = encode(
        tokenizer, ["the sky is blue .", "snow is white .", "the apple is red and green ."], 128
    )
    rows = [np.array([0, 1, 2])]

    def batches(epoch: int, corpus: TokenizedTexts = corpus) -> MaskedBatches:
        return MaskedBatches(
            corpus,
            rows,
            0.5,
            int(tokenizer.mask_token_id),
            int(tokenizer.pad_token_id),
            (0, epoch),
        )

    first, again, others = (
        batches(0)[0],
        batches(0)[0],
        [batches(epoch)[0] for epoch in range(1, 6)],
    )
    assert (first.ids == again.ids).all()
    assert (first.gold == again.gold).all()
    assert any((first.ids != other.ids).any() for other in others)
    assert (first.ids[first.masked] == tokenizer.mask_token_id).all()
    whole = first.ids.clone()
    whole[first.masked] = first.gold
    assert whole.tolist() == corpus.ids.matrix(rows[0], int(tokenizer.pad_token_id)).tolist()
    assert first.attention is not None
    assert (first.attention == (whole != tokenizer.pad_token_id)).all()
