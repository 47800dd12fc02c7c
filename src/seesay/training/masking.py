"""Captions as tokens, in batches with hardly any padding, and whole words masked out of them.

Captions are short and of like length: sorted by length and cut by a budget of tokens, a batch is nearly all words.
(Packing several to a row of 128 with a block-diagonal mask was 8 % slower on a CPU: attention over strangers.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase

SPECIAL = -1  # the word number of a token that belongs to no word
_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts as tokens, end to end; `words` says which word of its text a token belongs to."""

    ids: NDArray[np.int32]
    words: NDArray[np.int16]
    offsets: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens a text."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __add__(self, other: Corpus) -> Corpus:
        return Corpus(
            np.concatenate([self.ids, other.ids]),
            np.concatenate([self.words, other.words]),
            np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]]),
        )

    def rows(self, chosen: NDArray[np.int64], pad: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Tokens and word numbers of the chosen texts as matrices, padded at the end."""
        lengths = self.lengths[chosen]
        places = np.arange(lengths.max())
        real = places < lengths[:, None]
        at = np.where(real, self.offsets[chosen][:, None] + places, 0)
        ids, words = np.where(real, self.ids[at], pad), np.where(real, self.words[at], SPECIAL)
        return ids.astype(np.int64), words.astype(np.int64)


def encode(tokenizer: PreTrainedTokenizerBase, texts: Iterable[str], longest: int) -> Corpus:
    """Tokenise the texts; one that is longer than the network reads is cut between words into several."""
    first, last = _around(tokenizer)
    ids: list[int] = []
    words: list[int] = []
    offsets = [0]
    iterator = iter(texts)
    while some := list(islice(iterator, _AT_ONCE)):
        encoded = tokenizer(some, add_special_tokens=False, verbose=False)
        for index, tokens in enumerate(encoded["input_ids"]):
            numbers = encoded.word_ids(index)
            for start, stop in _cuts(numbers, longest - len(first) - len(last)):
                ids += [*first, *tokens[start:stop], *last]
                words += [*[SPECIAL] * len(first), *(n - numbers[start] for n in numbers[start:stop])]
                words += [SPECIAL] * len(last)
                offsets.append(len(ids))
    return Corpus(np.array(ids, np.int32), np.array(words, np.int16), np.array(offsets, np.int64))


def _around(tokenizer: PreTrainedTokenizerBase) -> tuple[list[int], list[int]]:
    """The special tokens before and after a text ([CLS] and [SEP] for BERT)."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    whole = tokenizer("a")["input_ids"]
    before = next(i for i in range(len(whole)) if whole[i : i + len(bare)] == bare)
    return whole[:before], whole[before + len(bare) :]


def _cuts(words: Sequence[int], longest: int) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(words):
        stop = min(start + longest, len(words))
        while stop < len(words) and stop > start and words[stop] == words[stop - 1]:
            stop -= 1
        if stop == start:  # a word longer than the network reads
            stop = min(start + longest, len(words))
        yield start, stop
        start = stop


def mask_words(
    words: NDArray[np.int64], rate: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Which tokens to mask: whole words, `rate` of a text's words on average and one at least, no special token."""
    starts = (words != SPECIAL) & (words != np.pad(words, ((0, 0), (1, 0)), constant_values=SPECIAL)[:, :-1])
    wanted = np.maximum(1, np.floor(rate * starts.sum(1) + rng.random(len(words))))
    lots = np.where(starts, rng.random(words.shape), np.inf)
    chosen = starts & (lots.argsort(1).argsort(1) < wanted[:, None])
    start_of = np.maximum.accumulate(np.where(starts, np.arange(words.shape[1]), 0), axis=1)
    masked: NDArray[np.bool_] = np.take_along_axis(chosen, start_of, 1) & (words != SPECIAL)
    return masked


class Masked(NamedTuple):
    """A batch: tokens with masks among them, which of them are masked, what stood there, and which are padding."""

    ids: torch.Tensor
    attention: torch.Tensor | None
    masked: torch.Tensor
    gold: torch.Tensor


@dataclass(frozen=True)
class Batches(Sequence[Masked]):
    """Batches of a corpus, masked when they are looked up: the same seed and place give the same masks."""

    corpus: Corpus
    chosen: list[NDArray[np.int64]]
    rate: float
    mask: int
    pad: int
    seed: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.chosen)

    def __getitem__(self, index: int) -> Masked:  # type: ignore[override]
        import torch

        if not 0 <= index < len(self.chosen):
            raise IndexError(index)
        ids, words = self.corpus.rows(self.chosen[index], self.pad)
        masked = mask_words(words, self.rate, np.random.default_rng([*self.seed, index]))
        real = np.arange(ids.shape[1]) < self.corpus.lengths[self.chosen[index]][:, None]
        return Masked(
            ids=torch.from_numpy(np.where(masked, self.mask, ids)),
            attention=None if real.all() else torch.from_numpy(real.astype(np.int64)),
            masked=torch.from_numpy(masked),
            gold=torch.from_numpy(ids[masked]),
        )


def cut(lengths: NDArray[np.int64], rows: NDArray[np.int64], budget: int) -> list[NDArray[np.int64]]:
    """The rows, shortest first (in the given order where equal), in batches of at most `budget` tokens with padding."""
    rows = rows[np.argsort(lengths[rows], kind="stable")]
    batches: list[NDArray[np.int64]] = []
    start = 0
    while start < len(rows):
        # rows get longer: grow the batch until its longest row times its size passes the budget
        stop = min(start + max(1, budget // int(lengths[rows[start]])), len(rows))
        while stop - start > 1 and (stop - start) * int(lengths[rows[stop - 1]]) > budget:
            stop -= 1
        batches.append(rows[start:stop])
        start = stop
    return batches


def draw(weights: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """An epoch's rows in random order: each as often as its weight says, a fraction by lot."""
    times = np.floor(weights + rng.random(len(weights))).astype(np.int64)
    return rng.permutation(np.repeat(np.arange(len(weights)), times))
