"""METEOR's paraphrase table, prepared once into arrays that open at once.

Phrases are the states of a trie: state s > 0 is reached from its parent by a word, and `keys[s −
1]` = parent · words + word. States are numbered level by level in the order of their keys, so
`keys` is sorted and one binary search takes every phrase of a corpus a word further.
`targets[starts[s]:starts[s + 1]]` are the paraphrases of phrase s, in the table's order.
"""

from __future__ import annotations

import os
import zlib
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seesay.captions.coco.ngrams import Ints, expand
from seesay.data.lines import open_bytes, read_errors
from seesay.digests import text_digest
from seesay.errors import UserError
from seesay.files import atomic_folder

_ARRAYS = ("keys", "starts", "targets", "phrase")


@dataclass(frozen=True)
class Spans:
    """The phrases of the table that many texts hold."""

    place: Ints
    """The place of the first word among all words."""
    size: Ints
    """The number of words."""
    state: Ints
    """The state of the trie, which is the phrase."""


@dataclass(frozen=True)
class Paraphrases:
    """An opened table."""

    words: dict[str, int]
    """The words of the table by number."""
    keys: Ints
    """Parent and word of each state but the root."""
    starts: NDArray[np.int32]
    """Where the paraphrases of each state begin."""
    targets: NDArray[np.int32]
    """The paraphrases of all states."""
    phrase: NDArray[np.bool_]
    """Which states are a phrase of the table, not only the beginning of one."""

    def spans(self, words: Ints, lengths: Ints) -> Spans:
        """Return the phrases of the table that texts hold, by place and then size.

        `words` are numbers of the table's words, −1 for a word that it does not have.
        """
        # Spans of all places grow by a word at a time, and so does the state of each in the trie.
        ends = np.repeat(np.cumsum(lengths), lengths)
        at = np.flatnonzero(words >= 0)
        state = np.zeros(len(at), np.int64)
        empty = np.zeros(0, np.int64)
        places = [empty]
        sizes = [empty]
        states = [empty]
        size = 0
        while len(at):
            keys = state * len(self.words) + words[at + size]
            # Captions repeat their phrases: each key is searched once.
            queries, back = np.unique(keys, return_inverse=True)
            entry = np.minimum(np.searchsorted(self.keys, queries), len(self.keys) - 1)
            matched = (self.keys[entry] == queries)[back]
            at = at[matched]
            state = (entry[back] + 1)[matched]
            size += 1
            whole = self.phrase[state]
            places.append(at[whole])
            sizes.append(np.full(len(places[-1]), size))
            states.append(state[whole])
            # A span ends with its text; only then may the next word be looked at.
            goes_on = at + size < ends[at]
            at = at[goes_on]
            state = state[goes_on]
            in_table = words[at + size] >= 0
            at = at[in_table]
            state = state[in_table]
        place = np.concatenate(places)
        order = np.argsort(place, kind="stable")
        return Spans(place[order], np.concatenate(sizes)[order], np.concatenate(states)[order])

    def pairs_among(self, states: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the table's pairs of some sorted states.

        They are the places of phrase and paraphrase among the states, and the entry of the table.
        """
        place = np.full(len(self.phrase), -1, np.int32)
        place[states] = np.arange(len(states))
        low = self.starts[states].astype(np.int64)
        sizes = self.starts[states + 1] - low
        entry = expand(low, sizes)
        phrase = np.repeat(np.arange(len(states)), sizes)
        paraphrase = place[self.targets[entry]]
        present = paraphrase >= 0
        return phrase[present], paraphrase[present].astype(np.int64), entry[present]


def open_table(
    source: Path,
    cache: Path,
    notify: Callable[[str], None] | None = None,
) -> Paraphrases:
    """Open the table of a gzipped file.

    It is prepared into `cache` if that has not been done, which takes about half a minute.
    """
    folder = cache / _fingerprint(source)
    if not folder.is_dir():
        if notify:
            notify(f"Preparing the paraphrase table in {folder}, once: about half a minute.")
        words, phrases, pairs = _read(source)
        arrays = _compile(len(words), phrases, pairs)
        with atomic_folder(folder) as unfinished:
            (unfinished / "words.txt").write_text("\n".join(words), encoding="utf-8")
            for name, values in zip(_ARRAYS, arrays, strict=True):
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
    """Return a digest of the file's size and its two ends.

    That is enough to tell tables apart, and quick for 62 MB.
    """
    block = 1 << 16
    with read_errors(source), source.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        beginning = file.read(block)
        file.seek(max(0, size - block))
        end = file.read()
    return text_digest(str(size).encode() + beginning + end)


def _read(source: Path) -> tuple[list[str], list[list[int]], Ints]:
    """Read the vocabulary, the phrases and the pairs of a table.

    Phrases are numbers of words, pairs are numbers of phrases.
    """
    phrase_numbers: dict[str, int] = {}
    pairs = array("q")
    row = 0
    try:
        with TextIOWrapper(open_bytes(source), encoding="utf-8", newline="\n") as file:
            for row, line in enumerate(file):
                # An entry has three lines: a probability, a phrase, its paraphrase.
                if row % 3:
                    phrase = line.rstrip("\n")
                    pairs.append(phrase_numbers.setdefault(phrase, len(phrase_numbers)))
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
    numbers: dict[str, int] = {}
    phrases = []
    for phrase in phrase_numbers:
        phrases.append([numbers.setdefault(word, len(numbers)) for word in phrase.split()])
    return list(numbers), phrases, np.frombuffer(pairs, np.int64).reshape(-1, 2)


def _compile(
    vocabulary: int,
    phrases: list[list[int]],
    pairs: Ints,
) -> tuple[NDArray[np.generic], ...]:
    """Return the arrays of `_ARRAYS`.

    They hold the trie of the phrases, level by level, and the pairs by state.
    """
    lengths = np.asarray([len(phrase) for phrase in phrases], np.int64)
    words = np.fromiter(chain.from_iterable(phrases), np.int64, int(lengths.sum()))
    first = np.cumsum(lengths) - lengths
    states = np.zeros(len(phrases), np.int64)
    levels: list[Ints] = []
    count = 0
    for depth in range(int(lengths.max())):
        longer = np.flatnonzero(lengths > depth)
        keys = states[longer] * vocabulary + words[first[longer] + depth]
        # Deeper states have larger parents, so the levels one after the other are sorted as well.
        level, back = np.unique(keys, return_inverse=True)
        states[longer] = count + 1 + back
        levels.append(level)
        count += len(level)
    is_phrase = np.zeros(count + 1, bool)
    is_phrase[states] = True
    # An empty line would be the root, which every phrase begins with.
    is_phrase[0] = False
    sources = states[pairs[:, 0]]
    # Stable: the paraphrases of a phrase stay in the table's order, which the alignment depends on.
    order = np.argsort(sources, kind="stable")
    targets = states[pairs[:, 1]][order]
    starts = np.zeros(count + 2, np.int64)
    np.cumsum(np.bincount(sources, minlength=count + 1), out=starts[1:])
    return np.concatenate(levels), starts.astype(np.int32), targets.astype(np.int32), is_phrase
