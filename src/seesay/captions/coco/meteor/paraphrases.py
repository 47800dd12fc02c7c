"""METEOR's paraphrase table, prepared once into arrays that open at once.

Phrases are the states of a trie: state s > 0 is reached from its parent by a word, and `keys[s −
1]` = parent · words + word. States are numbered level by level in the order of their keys, so
`keys` is sorted and one binary search takes every phrase of a corpus a word further.
`targets[starts[s]:starts[s + 1]]` are the paraphrases of phrase s, in the table's order.
"""

from __future__ import annotations

import gzip
import os
import zlib
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seesay.captions.coco.ngrams import Ints, expand
from seesay.data.lines import read_errors
from seesay.digests import text_digest
from seesay.errors import UserError
from seesay.files import atomic_folder

_ARRAYS = ("keys", "starts", "targets", "phrase")


@dataclass(frozen=True)
class Spans:
    """The phrases of many texts: the place of the first word among all words, the number of words,
    and the state."""

    place: Ints
    size: Ints
    state: Ints


@dataclass(frozen=True)
class Paraphrases:
    """An opened table; `phrase` says which states are a phrase of the table, not only the beginning
    of one."""

    words: dict[str, int]
    keys: Ints
    starts: NDArray[np.int32]
    targets: NDArray[np.int32]
    phrase: NDArray[np.bool_]

    def spans(self, words: Ints, lengths: Ints) -> Spans:
        """The phrases of the table that texts hold, by place and then size; words are the table's,
        −1 if not in it."""
        ends = np.repeat(np.cumsum(lengths), lengths)
        at = np.flatnonzero(words >= 0)
        state = np.zeros(len(at), np.int64)
        places = []
        sizes = []
        states = []
        size = 0
        while len(at):
            queries, back = np.unique(
                state * len(self.words) + words[at + size], return_inverse=True
            )
            entry = np.minimum(np.searchsorted(self.keys, queries), len(self.keys) - 1)
            matched = (self.keys[entry] == queries)[back]
            at = at[matched]
            state = (entry[back] + 1)[matched]
            size += 1
            whole = self.phrase[state]
            places.append(at[whole])
            sizes.append(np.full(len(places[-1]), size))
            states.append(state[whole])
            goes_on = at + size < ends[at]
            at = at[goes_on]
            state = state[goes_on]
            inside = words[at + size] >= 0
            at = at[inside]
            state = state[inside]
        place, size_of, state_of = (
            np.concatenate([np.zeros(0, np.int64), *part]) for part in (places, sizes, states)
        )
        order = np.argsort(place, kind="stable")
        return Spans(place[order], size_of[order], state_of[order])

    def among(self, states: Ints) -> tuple[Ints, Ints, Ints]:
        """Pairs of the states, which are sorted, that the table has: places of phrase and
        paraphrase, and its entry."""
        present = np.full(len(self.phrase), -1, np.int32)
        present[states] = np.arange(len(states))
        low = self.starts[states].astype(np.int64)
        sizes = self.starts[states + 1] - low
        entry = expand(low, sizes)
        target = present[self.targets[entry]]
        kept = target >= 0
        return (
            np.repeat(np.arange(len(states)), sizes)[kept],
            target[kept].astype(np.int64),
            entry[kept],
        )


def open_table(
    source: Path, cache: Path, notify: Callable[[str], None] | None = None
) -> Paraphrases:
    """The table of a gzipped file, prepared into `cache` if that has not been done (about half a
    minute)."""
    folder = cache / _fingerprint(source)
    if not folder.is_dir():
        if notify:
            notify(f"Preparing the paraphrase table in {folder}, once: about half a minute.")
        words, phrases, pairs = _read(source)
        with atomic_folder(folder) as unfinished:
            (unfinished / "words.txt").write_text("\n".join(words), encoding="utf-8")
            for name, values in zip(_ARRAYS, _compile(len(words), phrases, pairs), strict=True):
                np.save(unfinished / f"{name}.npy", values)
    try:
        words = (folder / "words.txt").read_text(encoding="utf-8").split("\n")
        keys, starts, targets, phrase = (
            np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS
        )
    except (OSError, ValueError) as error:
        raise UserError(
            f"The prepared paraphrase table {folder} is damaged: delete that folder and retry."
        ) from error
    return Paraphrases({word: i for i, word in enumerate(words)}, keys, starts, targets, phrase)


def _fingerprint(source: Path) -> str:
    """Of the file's size and its two ends: enough to know another table by, and quick."""
    with read_errors(source), source.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        beginning = file.read(1 << 16)
        file.seek(max(0, size - (1 << 16)))
        end = file.read()
    return text_digest(str(size).encode() + beginning + end)


def _read(source: Path) -> tuple[list[str], list[list[int]], Ints]:
    """The vocabulary, the phrases as numbers of words, and the pairs as numbers of phrases."""
    numbers: dict[str, int] = {}
    phrase_ids: dict[str, int] = {}
    pairs = array("q")
    row = 0
    try:
        with gzip.open(source, "rt", encoding="utf-8", newline="\n") as file:
            for row, line in enumerate(file):
                if row % 3:
                    pairs.append(phrase_ids.setdefault(line.rstrip("\n"), len(phrase_ids)))
                else:
                    float(line)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UserError(
            f"{source} cannot be read as a gzipped paraphrase table: {error}."
        ) from error
    except ValueError as error:
        raise UserError(
            f"Line {row + 1} of the paraphrase table {source} is not a probability."
        ) from error
    if not pairs or len(pairs) % 2 or row % 3 != 2:
        raise UserError(
            f"The paraphrase table {source} does not end with a whole entry of three lines."
        )
    spelled = [
        [numbers.setdefault(word, len(numbers)) for word in phrase.split()] for phrase in phrase_ids
    ]
    return list(numbers), spelled, np.frombuffer(pairs, np.int64).reshape(-1, 2)


def _compile(
    vocabulary: int, phrases: list[list[int]], pairs: Ints
) -> tuple[NDArray[np.generic], ...]:
    lengths = np.asarray([len(phrase) for phrase in phrases], np.int64)
    flat = np.fromiter(
        (word for phrase in phrases for word in phrase), np.int64, int(lengths.sum())
    )
    first = np.cumsum(lengths) - lengths
    state_of = np.zeros(len(phrases), np.int64)
    levels: list[Ints] = []
    count = 0
    for depth in range(int(lengths.max())):
        longer = np.flatnonzero(lengths > depth)
        key = state_of[longer] * vocabulary + flat[first[longer] + depth]
        level, back = np.unique(key, return_inverse=True)
        state_of[longer] = count + 1 + back
        levels.append(level)
        count += len(level)
    phrase = np.zeros(count + 1, bool)
    phrase[state_of] = True
    phrase[0] = False
    source = state_of[pairs[:, 0]]
    order = np.argsort(source, kind="stable")
    starts = np.zeros(count + 2, np.int64)
    np.cumsum(np.bincount(source, minlength=count + 1), out=starts[1:])
    targets = state_of[pairs[:, 1]][order]
    return np.concatenate(levels), starts.astype(np.int32), targets.astype(np.int32), phrase
