"""Tokenised texts, and masks of whole words or of pieces that are drawn when a batch is looked
up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seesay.language.training.caption_features import UNSEEN
from seesay.language.training.ragged import Ragged, Rows, concatenate_rows

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase

MASKED_SHARE, OTHER_SHARE = 0.8, 0.1
"""Of BERT's predicted pieces, the shares that are masked, and replaced by any other."""
SPECIAL = -1
"""The word number of a token that belongs to no word."""
# Texts tokenised together: enough for the tokeniser's threads, and few enough for the memory.
_BATCH = 10_000


@dataclass(frozen=True, slots=True)
class TokenizedTexts:
    """Token ids of texts; `words` holds the number of the word that each token belongs to, and
    `pictures` the row of the picture that each text describes, or UNSEEN."""

    ids: Ragged
    words: Ragged
    pictures: Rows


def encode(
    tokenizer: PreTrainedTokenizerBase,
    texts: Iterable[str],
    longest: int,
    places: Sequence[int] | None = None,
    pictures: Sequence[int] | Rows | None = None,
) -> TokenizedTexts:
    """Tokenise the texts; one that is too long for the network is cut between words.

    `places` gives a character of each text: only the word there can be masked. `pictures` gives
    the row of the picture that each describes.
    """
    first, last = _special_ids(tokenizer)
    before = [SPECIAL] * len(first)
    after = [SPECIAL] * len(last)
    parts: list[TokenizedTexts] = []
    iterator = iter(texts)
    positions = iter(places or ())
    picture_rows = repeat(UNSEEN) if pictures is None else iter(pictures)
    while batch := list(islice(iterator, _BATCH)):
        encoded = tokenizer(batch, add_special_tokens=False, verbose=False)
        ids: list[list[int]] = []
        words: list[list[int]] = []
        rows: list[int] = []
        for index, tokens in enumerate(encoded["input_ids"]):
            picture = next(picture_rows)
            numbers = all_words = encoded.word_ids(index)
            if places is not None:
                maskable = encoded.char_to_word(index, next(positions))
                numbers = [number if number == maskable else SPECIAL for number in all_words]
            for start, stop in _cuts(all_words, longest - len(first) - len(last)):
                ids.append([*first, *tokens[start:stop], *last])
                words.append([*before, *numbers[start:stop], *after])
                rows.append(int(picture))
        parts.append(TokenizedTexts(Ragged.of(ids), Ragged.of(words), np.array(rows, np.int64)))
    return concatenate(parts)


def concatenate(parts: Sequence[TokenizedTexts]) -> TokenizedTexts:
    """Return the texts of all parts, one part after the other."""
    return TokenizedTexts(
        concatenate_rows([part.ids for part in parts]),
        concatenate_rows([part.words for part in parts]),
        np.concatenate([part.pictures for part in parts]),
    )


def mask_words(
    words: Rows,
    rate: float,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Return which tokens to mask: whole words, and no special token.

    On average it is `rate` of a text's words, and at least one.
    """
    real = words != SPECIAL
    previous = np.pad(words, ((0, 0), (1, 0)), constant_values=SPECIAL)[:, :-1]
    starts = real & (words != previous)
    # Rounded down or up by chance, so that short texts too have the rate on average.
    expected = rate * starts.sum(1)
    number = np.maximum(1, np.floor(expected + rng.random(len(words))))
    # The words of the smallest lots are masked: the second argsort gives each lot its rank.
    lots = np.where(starts, rng.random(words.shape), np.inf)
    ranks = lots.argsort(1).argsort(1)
    masked_starts = starts & (ranks < number[:, None])
    # Every piece of a word does what the word's first piece does.
    places = np.where(starts, np.arange(words.shape[1]), 0)
    start_of = np.maximum.accumulate(places, axis=1)
    masked: NDArray[np.bool_] = np.take_along_axis(masked_starts, start_of, 1) & real
    return masked


def mask_pieces(
    words: Rows,
    rate: float,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Return which tokens to predict: pieces of words, each by itself with the chance `rate`, as in
    BERT; one at least of all texts together."""
    real = words != SPECIAL
    masked: NDArray[np.bool_] = real & (rng.random(words.shape) < rate)
    if real.any() and not masked.any():
        masked.flat[rng.choice(np.flatnonzero(real))] = True
    return masked


def show_pieces(
    ids: Rows,
    masked: NDArray[np.bool_],
    mask: int,
    vocabulary: int,
    rng: np.random.Generator,
) -> Rows:
    """Return what the network is shown of pieces that it has to predict, by BERT's rule (Devlin et
    al. 2019, section 3.1): of ten, eight are masks, one is any piece and one stays."""
    lots = rng.random(ids.shape)
    others = rng.integers(vocabulary, size=ids.shape)
    shown: Rows = np.where(masked & (lots < MASKED_SHARE), mask, ids)
    is_other = masked & (lots >= MASKED_SHARE) & (lots < MASKED_SHARE + OTHER_SHARE)
    return np.where(is_other, others, shown)


def _special_ids(tokenizer: PreTrainedTokenizerBase) -> tuple[list[int], list[int]]:
    """Return the special tokens before and after a text ([CLS] and [SEP] for BERT)."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    whole = tokenizer("a")["input_ids"]
    before = 0
    while whole[before : before + len(bare)] != bare:
        before += 1
    return whole[:before], whole[before + len(bare) :]


class MaskedBatch(NamedTuple):
    """One batch with its masks.

    It has token ids as they are shown, the attention mask (None: all), the positions to predict,
    the tokens there, and one feature per text: an imagined one, or its picture's (None: without).
    """

    ids: torch.Tensor
    attention: torch.Tensor | None
    masked: torch.Tensor
    gold: torch.Tensor
    features: torch.Tensor | None = None
    shown: torch.Tensor | None = None
    """Which texts are read with their feature (None: all)."""
    hidden: torch.Tensor | None = None
    """Which texts have a picture that is not shown, so that it can be predicted."""


@dataclass(frozen=True)
class MaskedBatches(Sequence[MaskedBatch]):
    """Batches that are masked when they are looked up.

    The same seed and index give the same masks.
    """

    corpus: TokenizedTexts
    batch_rows: list[Rows]
    rate: float
    mask: int
    pad: int
    seed: tuple[int, ...]
    vocabulary: int | None = None
    """The number of pieces, where these are masked by BERT's rule; None to mask whole words."""
    imagine: Callable[[Rows, Rows, NDArray[np.bool_]], NDArray[np.float32]] | None = None
    """From masked ids, their words' numbers and the masked positions to one feature per text."""
    vectors: NDArray[np.float32] | None = None
    """The features of pictures, which texts are shown in place of imagined ones."""
    shown_share: float = 1.0
    """The share of texts with a picture that are read with it."""

    def __len__(self) -> int:
        return len(self.batch_rows)

    def __getitem__(self, index: int) -> MaskedBatch:  # type: ignore[override]
        import torch

        rows = self.batch_rows[index]
        ids = self.corpus.ids.matrix(rows, self.pad)
        words = self.corpus.words.matrix(rows, SPECIAL)
        rng = np.random.default_rng([*self.seed, index])
        if self.vocabulary is None:
            masked = mask_words(words, self.rate, rng)
            shown = np.where(masked, self.mask, ids)
        else:
            masked = mask_pieces(words, self.rate, rng)
            shown = show_pieces(ids, masked, self.mask, self.vocabulary, rng)
        real = np.arange(ids.shape[1]) < self.corpus.ids.lengths[rows][:, None]
        # Without padding no attention mask is needed, and attention is faster without one.
        attention = None
        if not real.all():
            attention = torch.from_numpy(real.astype(np.int64))
        features = shown_texts = hidden_texts = None
        if self.vectors is not None:
            pictures = self.corpus.pictures[rows]
            has_picture = pictures != UNSEEN
            is_shown = has_picture & (rng.random(len(rows)) < self.shown_share)
            features = torch.from_numpy(self.vectors[pictures])
            shown_texts = torch.from_numpy(is_shown)
            hidden_texts = torch.from_numpy(has_picture & ~is_shown)
        elif self.imagine:
            features = torch.from_numpy(self.imagine(shown, words, masked))
        return MaskedBatch(
            ids=torch.from_numpy(shown),
            attention=attention,
            masked=torch.from_numpy(masked),
            gold=torch.from_numpy(ids[masked]),
            features=features,
            shown=shown_texts,
            hidden=hidden_texts,
        )


def _cuts(words: Sequence[int], longest: int) -> Iterator[tuple[int, int]]:
    """Return ranges of at most `longest` tokens.

    They are cut between words unless a word is longer than that itself.
    """
    start = 0
    while start < len(words):
        end = min(start + longest, len(words))
        stop = end
        while start < stop < len(words) and words[stop] == words[stop - 1]:
            stop -= 1
        if stop == start:
            stop = end
        yield start, stop
        start = stop
