"""METEOR's paraphrase table, prepared once into arrays that open at once.

Phrases are the states of a trie: state s > 0 is reached from its parent by a word, and `keys[s − 1]` = parent · words +
word. States are numbered level by level in the order of their keys, so `keys` is sorted and one binary search takes
every phrase of a corpus a word further. `targets[starts[s]:starts[s + 1]]` are the paraphrases of phrase s, in the
table's order.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seesay.errors import UserError
from seesay.files import atomic_folder

Ints = NDArray[np.int64]
_FORMAT = 1
_ARRAYS = ("keys", "starts", "targets", "phrase")


@dataclass(frozen=True)
class Spans:
    """The phrases of many texts: rows of start, number of words and state; those of text i end at `ends[i]`."""

    rows: Ints
    ends: Ints

    def of(self, text: int) -> list[list[int]]:
        """One text's rows, by start and then length."""
        first = int(self.ends[text - 1]) if text else 0
        rows: list[list[int]] = self.rows[first : int(self.ends[text])].tolist()
        return rows


@dataclass(frozen=True)
class Paraphrases:
    """An opened table; `phrase` says which states are a phrase of the table, not only the beginning of one."""

    words: dict[str, int]
    keys: Ints
    starts: NDArray[np.int32]
    targets: NDArray[np.int32]
    phrase: NDArray[np.bool_]

    def spans(self, texts: Sequence[Sequence[str]]) -> Spans:
        """The phrases of the table that each text holds, by start and then length."""
        flat = np.fromiter((self.words.get(word, -1) for text in texts for word in text), np.int64)
        lengths = np.asarray([len(text) for text in texts], np.int64)
        ends = np.repeat(np.cumsum(lengths), lengths)
        at = np.flatnonzero(flat >= 0)
        state = np.zeros(len(at), np.int64)
        found = []
        size = 0
        while len(at):
            queries, back = np.unique(state * len(self.words) + flat[at + size], return_inverse=True)
            place = np.minimum(np.searchsorted(self.keys, queries), len(self.keys) - 1)
            matched = (self.keys[place] == queries)[back]
            at, state = at[matched], (place[back] + 1)[matched]
            size += 1
            whole = self.phrase[state]
            found.append(np.column_stack([at[whole], np.full(int(whole.sum()), size), state[whole]]))
            goes_on = at + size < ends[at] if len(at) else np.zeros(0, bool)
            at, state = at[goes_on], state[goes_on]
            inside = flat[at + size] >= 0
            at, state = at[inside], state[inside]
        rows = np.concatenate(found) if found else np.zeros((0, 3), np.int64)
        rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
        last = np.cumsum(lengths)
        spans = Spans(rows, np.searchsorted(rows[:, 0], last))
        rows[:, 0] -= (last - lengths)[np.searchsorted(last, rows[:, 0], side="right")]
        return spans

    def among(self, states: Ints) -> dict[int, dict[int, int]]:
        """For each of the states its paraphrases among them, with their places in the table."""
        present = np.zeros(len(self.phrase), bool)
        present[states] = True
        low, high = self.starts[states].astype(np.int64), self.starts[states + 1].astype(np.int64)
        sizes = high - low
        place = np.repeat(low - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        target = self.targets[place]
        kept = present[target]
        table: dict[int, dict[int, int]] = {}
        sources = np.repeat(states, sizes)[kept].tolist()
        for source, other, rank in zip(sources, target[kept].tolist(), place[kept].tolist(), strict=True):
            table.setdefault(source, {})[other] = rank
        return table


def open_table(source: Path, cache: Path, notify: Callable[[str], None] | None = None) -> Paraphrases:
    """The table of a gzipped file, prepared into `cache` if that has not been done (about half a minute)."""
    folder = cache / f"paraphrases-{_FORMAT}-{_fingerprint(source)}"
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
        keys, starts, targets, phrase = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS)
    except (OSError, ValueError) as error:
        raise UserError(f"The prepared paraphrase table {folder} is damaged: delete that folder and retry.") from error
    return Paraphrases({word: i for i, word in enumerate(words)}, keys, starts, targets, phrase)


def _fingerprint(source: Path) -> str:
    """Of the file's size and its two ends: enough to know another table by, and quick."""
    try:
        with source.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            digest = hashlib.blake2b(f"{size}".encode(), digest_size=8)
            digest.update(file.read(1 << 16))
            file.seek(max(0, size - (1 << 16)))
            digest.update(file.read())
    except OSError as error:
        raise UserError(f"Cannot read the paraphrase table {source}: {error.strerror or error}.") from error
    return digest.hexdigest()


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
        raise UserError(f"{source} cannot be read as a gzipped paraphrase table: {error}.") from error
    except ValueError as error:
        raise UserError(f"Line {row + 1} of the paraphrase table {source} is not a probability.") from error
    if not pairs or len(pairs) % 2 or row % 3 != 2:
        raise UserError(f"The paraphrase table {source} does not end with a whole entry of three lines.")
    spelled = [[numbers.setdefault(word, len(numbers)) for word in phrase.split()] for phrase in phrase_ids]
    return list(numbers), spelled, np.frombuffer(pairs, np.int64).reshape(-1, 2)


def _compile(vocabulary: int, phrases: list[list[int]], pairs: Ints) -> tuple[NDArray[np.generic], ...]:
    lengths = np.asarray([len(phrase) for phrase in phrases], np.int64)
    flat = np.fromiter((word for phrase in phrases for word in phrase), np.int64, int(lengths.sum()))
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
