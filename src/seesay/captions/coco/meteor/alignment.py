"""METEOR's search for an alignment: a beam over the reference's words, as version 1.5 does it.

What it does was found by watching its comparisons, and differs from its papers in ways that change
scores:

- A match that is not exact counts for the whole number just below words · weight, so that a single
  word matched by stem, synonym or paraphrase counts for nothing: it is taken where it joins chunks,
  and `dogs` alone never matches `dog` where a second matcher vies with the first.
- The distance of a match is charged not to the path that takes it but to the paths tried after it.
- Words that only one match covers, on both sides, are matched beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from operator import itemgetter
from typing import NamedTuple

BEAM = 40
"""Paths that survive each word of the reference, as in METEOR 1.5."""
EXACT, STEM, SYNONYM, PARAPHRASE = range(4)
WEIGHTS = (1.0, 0.6, 0.8, 0.6)
"""The weights of the four kinds of match: METEOR 1.5's English ranking parameters."""

# A path's rank is one integer, smaller is better, so that one comparison decides by matched words
# (negative), then by chunks, then by distance. Each field has room for the longest caption taken.
_WORDS = 1 << 48
_CHUNK = 1 << 36
_NO_LIMIT = 1 << 62
_SPARE = 10
"""How many paths above the beam are grown before the worst are dropped.

Sorting less often is faster, and the beam stays the same.
"""


class Match(NamedTuple):
    """A stretch of the reference and the stretch of the hypothesis that stands for it."""

    reference: int
    """Where it begins in the reference."""
    reference_size: int
    """How many words of the reference it covers."""
    hypothesis: int
    """Where it begins in the hypothesis."""
    hypothesis_size: int
    """How many words of the hypothesis it covers."""
    module: int
    """The matcher that found it."""


# Plain tuples in the fields' order: the search makes so many that named ones would be felt.
RawMatch = tuple[int, int, int, int, int]
Matches = Sequence[Sequence[RawMatch]]
Path = tuple[int, int, int, int, "Path | None", RawMatch | None]
"""A path of the search, as a plain tuple.

Its rank; where the last match ended in the reference and in the hypothesis (−1: a gap since); bits
of the hypothesis's used words; the path before the last match; and that match.
"""

_rank = itemgetter(0)


def align(matches: Matches, hypothesis_size: int) -> tuple[list[Match], int]:
    """Return the best alignment, by place in the reference, and its number of chunks.

    `matches[j]` are those that begin at word j of the reference, in the order in which METEOR finds
    them.
    """
    unrivalled = _find_unrivalled(matches, hypothesis_size)
    paths: list[Path] = [(0, 0, -1, 0, None, None)]
    for here, row in enumerate(matches):
        if not row:
            paths = _skip(paths, here)
        elif unrivalled[here]:
            paths = _take(paths, here, row[0])
        else:
            paths = _branch(paths, here, row)
        if len(paths) > 1:
            # A stable sort: of equal paths METEOR keeps the one that it made first.
            paths.sort(key=_rank)
            del paths[BEAM:]
    # The beam was sorted without the chunk that is still open at the end; the result counts it.
    ranks = [path[0] if path[2] < 0 else path[0] + _CHUNK for path in paths]
    best = min(ranks)
    alignment = _trace(paths[ranks.index(best)])
    return alignment, best % _WORDS // _CHUNK


def _trace(path: Path) -> list[Match]:
    """Return the matches that a path took, the first one first."""
    alignment = []
    before, match = path[4:]
    while before is not None and match is not None:
        alignment.append(Match(*match))
        before, match = before[4:]
    return alignment[::-1]


def _find_unrivalled(matches: Matches, hypothesis_size: int) -> list[bool]:
    """Return for each word of the reference whether its match has no rival.

    The match that begins there is then the only one to cover any of its words, on both sides.
    """
    hypothesis_covers = [0] * hypothesis_size
    reference_covers = [0] * len(matches)
    for row in matches:
        for reference, size, start, length, module in row:
            if module < PARAPHRASE:
                reference_covers[reference] += 1
                hypothesis_covers[start] += 1
            else:
                for word in range(reference, reference + size):
                    reference_covers[word] += 1
                for word in range(start, start + length):
                    hypothesis_covers[word] += 1
    unrivalled = [False] * len(matches)
    for here, row in enumerate(matches):
        if len(row) == 1 and reference_covers[here] == 1:
            reference, size, start, length, _ = row[0]
            # Every word is covered at least once, by this match: the sum shows any other cover.
            unrivalled[here] = (
                sum(reference_covers[reference : reference + size]) == size
                and sum(hypothesis_covers[start : start + length]) == length
            )
    return unrivalled


def _skip(paths: list[Path], here: int) -> list[Path]:
    """Return the paths past a word that nothing matches: it ends the chunk that was open."""
    skipped: list[Path] = []
    for path in paths:
        if path[2] < 0 or path[1] > here:
            skipped.append(path)
        else:
            skipped.append((path[0] + _CHUNK, here, -1, *path[3:]))
    return skipped


def _take(paths: list[Path], here: int, match: RawMatch) -> list[Path]:
    """Return every path with the match, unless a longer match covers the word already."""
    _, size, start, length, module = match
    gain = _gain(size, length, module) + abs(here - start)
    after = here + size
    end = start + length
    extended: list[Path] = []
    for path in paths:
        rank, position, last_end, used, _, _ = path
        if position > here:
            extended.append(path)
        elif last_end < 0 or last_end == start:
            extended.append((rank + gain, after, end, used, path, match))
        else:
            extended.append((rank + gain + _CHUNK, after, end, used, path, match))
    return extended


def _branch(
    paths: list[Path],
    here: int,
    row: Sequence[RawMatch],
) -> list[Path]:
    """Return every path with each of the matches it has words for, and with none.

    A match's own distance is not yet charged to the path that takes it.

    Paths come best first, so that once the beam is full most of what the later ones grow into need
    not be made.
    """
    options = [_option(here, match) for match in row]
    best_gain = min(option[2] for option in options)
    grown: list[Path] = []
    add = grown.append
    limit = _NO_LIMIT
    for path in paths:
        rank, position, last_end, used, before, last_match = path
        if rank + best_gain >= limit:
            break
        if position > here:
            if rank < limit:
                add(path)
            continue
        broken = rank if last_end < 0 else rank + _CHUNK
        for words, start, gain, after, end, distance, match in options:
            if not used & words:
                new_rank = (rank if last_end == start else broken) + gain
                if new_rank < limit:
                    add((new_rank, after, end, used | words, path, match))
                # METEOR's order: what follows pays for this match's distance, not the match itself.
                rank += distance
                broken += distance
        if broken < limit:
            add((broken, here, -1, used, before, last_match))
        if len(grown) > BEAM + _SPARE:
            grown.sort(key=_rank)
            del grown[BEAM:]
            limit = grown[-1][0]
    return grown


def _option(here: int, match: RawMatch) -> tuple[int, int, int, int, int, int, RawMatch]:
    """Return what every path needs to know of a match.

    These are the bits of its words in the hypothesis, its start there, its gain, its ends in both
    texts, its distance, and itself.
    """
    _, size, start, length, module = match
    words = ((1 << length) - 1) << start
    gain = _gain(size, length, module)
    after = here + size
    end = start + length
    distance = abs(here - start)
    return words, start, gain, after, end, distance, match


def _gain(size: int, length: int, module: int) -> int:
    """Return what the words of a match add to a rank."""
    if module == EXACT:
        return -_WORDS * (size + length)
    # The whole number strictly below words · weight, on each side: METEOR truncates.
    weight = WEIGHTS[module]
    return -_WORDS * (ceil(size * weight) + ceil(length * weight) - 2)
