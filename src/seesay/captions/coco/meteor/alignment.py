"""METEOR's search for an alignment: a beam over the reference's words, as version 1.5 does it.

What it does was found by watching its comparisons, and differs from its papers in ways that change
scores:

- A match that is not exact counts for the whole number just below words · weight, so that a single word matched by
  stem, synonym or paraphrase counts for nothing: it is taken where it joins chunks, and `dogs` alone never matches
  `dog` where a second matcher vies with the first.
- The distance of a match is charged not to the path that takes it but to the paths tried after it.
- Words that only one match covers, on both sides, are matched beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from operator import itemgetter
from typing import NamedTuple

BEAM = 40
EXACT, STEM, SYNONYM, PARAPHRASE = range(4)
WEIGHTS = (1.0, 0.6, 0.8, 0.6)
"""Of the four kinds of match."""

# A path's rank is one integer, smaller is better: matched words (negative), then chunks, then
# distance.
_WORDS, _CHUNK = 1 << 48, 1 << 36
_NO_LIMIT = 1 << 62
_SPARE = 10
"""So many paths above the beam are made before the worst are dropped."""


class Match(NamedTuple):
    """A stretch of the reference and the stretch of the hypothesis that stands for it."""

    reference: int
    reference_size: int
    hypothesis: int
    hypothesis_size: int
    module: int


RawMatch = tuple[int, int, int, int, int]
Matches = Sequence[Sequence[RawMatch]]
Path = tuple[int, int, int, int, "Path | None", RawMatch | None]
"""Rank, where the last match ended in the reference and in the hypothesis (−1: a gap since), words
used, the path that took the last match before it did, and that match."""

_rank = itemgetter(0)


def align(matches: Matches, hypothesis_size: int) -> tuple[list[Match], int]:
    """The matches chosen, by place in the reference, and the number of chunks.

    `matches[j]` are those that begin at word j of the reference, in the order in which METEOR finds
    them.
    """
    alone = _unrivalled(matches, hypothesis_size)
    paths: list[Path] = [(0, 0, -1, 0, None, None)]
    for here, row in enumerate(matches):
        if not row:
            paths = [
                p if p[2] < 0 or p[1] > here else (p[0] + _CHUNK, here, -1, *p[3:]) for p in paths
            ]
        elif alone[here]:
            paths = _take(paths, here, row[0])
        else:
            paths = _branch(paths, here, row)
        if len(paths) > 1:
            paths.sort(key=_rank)
            del paths[BEAM:]
    closed = [path[0] if path[2] < 0 else path[0] + _CHUNK for path in paths]
    best = min(closed)
    path = paths[closed.index(best)]
    chosen = []
    before, match = path[4:]
    while before is not None and match is not None:
        chosen.append(Match(*match))
        before, match = before[4:]
    return chosen[::-1], best % _WORDS // _CHUNK


def _unrivalled(matches: Matches, hypothesis_size: int) -> list[bool]:
    """Whether the match that begins here is the only one to cover each of its words."""
    ours = [0] * hypothesis_size
    theirs = [0] * len(matches)
    for row in matches:
        for reference, size, start, length, module in row:
            if module < PARAPHRASE:
                theirs[reference] += 1
                ours[start] += 1
            else:
                for word in range(reference, reference + size):
                    theirs[word] += 1
                for word in range(start, start + length):
                    ours[word] += 1
    alone = [False] * len(matches)
    for here, row in enumerate(matches):
        if len(row) == 1 and theirs[here] == 1:
            reference, size, start, length, _ = row[0]
            alone[here] = (
                sum(theirs[reference : reference + size]) == size
                and sum(ours[start : start + length]) == length
            )
    return alone


def _take(paths: list[Path], here: int, match: RawMatch) -> list[Path]:
    _, size, start, length, module = match
    gain = _gain(size, length, module) + abs(here - start)
    after = here + size
    ended = start + length
    taken: list[Path] = []
    for path in paths:
        rank, position, end, used, _, _ = path
        if position > here:
            taken.append(path)
        elif end < 0 or end == start:
            taken.append((rank + gain, after, ended, used, path, match))
        else:
            taken.append((rank + gain + _CHUNK, after, ended, used, path, match))
    return taken


def _branch(paths: list[Path], here: int, row: Sequence[RawMatch]) -> list[Path]:
    """Every path with each of the matches it has words for, and with none, the match's own distance
    not yet charged.

    Paths come best first, so that once the beam is full most of what the later ones grow into need
    not be made.
    """
    options = [
        (
            ((1 << m[3]) - 1) << m[2],
            m[2],
            _gain(m[1], m[3], m[4]),
            here + m[1],
            m[2] + m[3],
            abs(here - m[2]),
            m,
        )
        for m in row
    ]
    most = min(option[2] for option in options)
    grown: list[Path] = []
    add = grown.append
    limit = _NO_LIMIT
    for path in paths:
        rank, position, end, used, before, taken = path
        if rank + most >= limit:
            break
        if position > here:
            if rank < limit:
                add(path)
            continue
        broken = rank if end < 0 else rank + _CHUNK
        for words, start, gain, after, ended, distance, match in options:
            if not used & words:
                reached = (rank if end == start else broken) + gain
                if reached < limit:
                    add((reached, after, ended, used | words, path, match))
                rank += distance
                broken += distance
        if broken < limit:
            add((broken, here, -1, used, before, taken))
        if len(grown) > BEAM + _SPARE:
            grown.sort(key=_rank)
            del grown[BEAM:]
            limit = grown[-1][0]
    return grown


def _gain(size: int, length: int, module: int) -> int:
    if not module:
        return -_WORDS * (size + length)
    return -_WORDS * (ceil(size * WEIGHTS[module]) + ceil(length * WEIGHTS[module]) - 2)
