"""Tokenised texts, and masks of whole words that are drawn when a batch is looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seesay.language.training.ragged import Ragged, Rows, concatenate_rows

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase

SPECIAL = -1  # the word number of a token that belongs to no word
_BATCH = 10_000  # texts tokenised together


@dataclass(frozen=True, slots=True)
class TokenizedTexts:
    """Token ids of texts; `words` holds the number of the word that each token belongs to."""

    ids: Ragged
    words: Ragged


def encode(
    tokenizer: PreTrainedTokenizerBase,
    texts: Iterable[str],
    longest: int,
    places: Sequence[int] | None = None,
) -> TokenizedTexts:
    """Tokenise the texts; one that is too long for the network is cut between words.

    `places` gives a character of each text: only the word there can be masked.
    """
    first, last = _around(tokenizer)
    parts: list[TokenizedTexts] = []
    iterator = iter(texts)
    positions = iter(places or ())
    while batch := list(islice(iterator, _BATCH)):
        encoded = tokenizer(batch, add_special_tokens=False, verbose=False)
        ids: list[list[int]] = []
        words: list[list[int]] = []
        for index, tokens in enumerate(encoded["input_ids"]):
            numbers = all_words = encoded.word_ids(index)
            if places is not None:
                only = encoded.char_to_word(index, next(positions))
                numbers = [number if number == only else SPECIAL for number in all_words]
            for start, stop in _cuts(all_words, longest - len(first) - len(last)):
                ids.append([*first, *tokens[start:stop], *last])
                words.append(
                    [*[SPECIAL] * len(first), *numbers[start:stop], *[SPECIAL] * len(last)]
                )
        parts.append(TokenizedTexts(Ragged.of(ids), Ragged.of(words)))
    return concatenate(parts)


def concatenate(parts: Sequence[TokenizedTexts]) -> TokenizedTexts:
    """The texts of all parts, one part after the other."""
    return TokenizedTexts(
        concatenate_rows([part.ids for part in parts]),
        concatenate_rows([part.words for part in parts]),
    )


def mask_words(words: Rows, rate: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which tokens to mask: whole words, on average `rate` of a text's words and at least one, no
    special token."""
    real = words != SPECIAL
    starts = real & (words != np.pad(words, ((0, 0), (1, 0)), constant_values=SPECIAL)[:, :-1])
    number = np.maximum(1, np.floor(rate * starts.sum(1) + rng.random(len(words))))
    lots = np.where(starts, rng.random(words.shape), np.inf)
    chosen = starts & (lots.argsort(1).argsort(1) < number[:, None])
    start_of = np.maximum.accumulate(np.where(starts, np.arange(words.shape[1]), 0), axis=1)
    masked: NDArray[np.bool_] = np.take_along_axis(chosen, start_of, 1) & real
    return masked


class MaskedBatch(NamedTuple):
    """Token ids with masks, the attention mask (None: all), the masked positions, the tokens to
    predict there, and one imagined feature per text (None: without imagination)."""

    ids: torch.Tensor
    attention: torch.Tensor | None
    masked: torch.Tensor
    gold: torch.Tensor
    features: torch.Tensor | None = None


@dataclass(frozen=True)
class MaskedBatches(Sequence[MaskedBatch]):
    """Batches that are masked when they are looked up: the same seed and index give the same
    masks."""

    corpus: TokenizedTexts
    chosen: list[Rows]
    rate: float
    mask: int
    pad: int
    seed: tuple[int, ...]
    imagine: Callable[[Rows, Rows, NDArray[np.bool_]], NDArray[np.float32]] | None = None
    """From masked ids, their words' numbers and the masked positions to one feature per text."""

    def __len__(self) -> int:
        return len(self.chosen)

    def __getitem__(self, index: int) -> MaskedBatch:  # type: ignore[override]
        import torch

        rows = self.chosen[index]
        ids = self.corpus.ids.matrix(rows, self.pad)
        words = self.corpus.words.matrix(rows, SPECIAL)
        masked = mask_words(words, self.rate, np.random.default_rng([*self.seed, index]))
        real = np.arange(ids.shape[1]) < self.corpus.ids.lengths[rows][:, None]
        shown = np.where(masked, self.mask, ids)
        return MaskedBatch(
            ids=torch.from_numpy(shown),
            attention=None if real.all() else torch.from_numpy(real.astype(np.int64)),
            masked=torch.from_numpy(masked),
            gold=torch.from_numpy(ids[masked]),
            features=torch.from_numpy(self.imagine(shown, words, masked)) if self.imagine else None,
        )


def _around(tokenizer: PreTrainedTokenizerBase) -> tuple[list[int], list[int]]:
    """The special tokens before and after a text ([CLS] and [SEP] for BERT)."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    whole = tokenizer("a")["input_ids"]
    before = next(i for i in range(len(whole)) if whole[i : i + len(bare)] == bare)
    return whole[:before], whole[before + len(bare) :]


def _cuts(words: Sequence[int], longest: int) -> Iterator[tuple[int, int]]:
    """Ranges of at most `longest` tokens, cut between words unless a word is longer than that
    itself."""
    start = 0
    while start < len(words):
        stop = end = min(start + longest, len(words))
        while start < stop < len(words) and words[stop] == words[stop - 1]:
            stop -= 1
        stop = stop if stop > start else end
        yield start, stop
        start = stop
