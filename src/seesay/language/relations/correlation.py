"""Spearman correlation of vectors' similarities with people's ratings of the same pairs of words.

Ratings come as a square table (the published ones), as a list of pairs, or as the folder that
`seesay judge export` writes: careless people are already left out there (Ghanimifard & Dobnik 2019,
appendix D: above 60 % on a colour word with a relation or below 90 % on a word with itself), and a
pair's rating is the mean of the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, compress
from pathlib import Path

import numpy as np

from seesay.data.rows import Row, every_row, read_table
from seesay.defaults import RESAMPLES
from seesay.errors import UserError
from seesay.files import damage_as_user_error, read_json
from seesay.language.relations.vectors import WordVectors, cosine
from seesay.metrics.base import BoolArray, FloatArray
from seesay.metrics.correlation_interval import correlation_interval
from seesay.metrics.rank_correlation import rank_correlations

# The columns that may hold the rating of a pair, in order of preference.
_VALUE_COLUMNS = ("similarity", "association", "mean", "value")


@dataclass(frozen=True)
class HumanRatings:
    """People's rating of each pair of words.

    `description` says how many people there are, and how far they agree.
    """

    name: str
    pairs: tuple[tuple[str, str], ...]
    values: FloatArray
    description: str = ""

    def __len__(self) -> int:
        return len(self.pairs)

    def where(self, mask: Sequence[bool] | BoolArray) -> HumanRatings:
        """Return the pairs that the mask selects."""
        mask = np.asarray(mask, dtype=np.bool_)
        pairs = tuple(compress(self.pairs, mask))
        return replace(self, pairs=pairs, values=self.values[mask])


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's rho over pairs, its interval and its p-value.

    Pairs that share a word are not independent: the interval leaves out words, with all their
    pairs (`metrics.correlation_interval`), and `p_words` shuffles words (Mantel's test).
    """

    rho: float
    low: float
    high: float
    p_words: float
    pairs: int
    words: int


def read_human(path: Path) -> HumanRatings:
    """Read ratings from a square table, a list of pairs or an exported study.

    A square table has both directions of a pair: their mean counts, and where one is 0 (nobody
    named it) the other (Ghanimifard & Dobnik 2019, section 4.3).
    """
    if path.is_dir():
        return _read_study(path)
    rows = list(every_row(path, read_table(path)))
    if not rows:
        raise UserError(
            f"{path} is empty: give a table of pairs (a, b, similarity) or a square one."
        )
    header = list(rows[0].cells)
    if {"a", "b"} <= set(header) and set(header) & set(_VALUE_COLUMNS):
        return _read_pairs(path, rows)
    if header[1:] == [row.cells[header[0]] for row in rows]:
        return _read_square(path, header[1:], rows)
    raise UserError(
        f"{path} is not a table of people's judgements: give the columns a, b and "
        f"{' or '.join(_VALUE_COLUMNS)}, or a square table with the same words in its header and "
        "first column."
    )


def correlate(
    vectors: WordVectors,
    ratings: HumanRatings,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Correlation | None:
    """Return the correlation over the pairs whose words all have vectors.

    It is None for fewer than three pairs. `resamples` are the shuffles behind its p-value.
    """
    rated = ratings.where([vectors.index.keys() >= set(pair) for pair in ratings.pairs])
    if len(rated) < 3:
        return None
    words = sorted(set(chain.from_iterable(rated.pairs)))
    index = {word: i for i, word in enumerate(words)}
    first, second = np.array([(index[a], index[b]) for a, b in rated.pairs]).T
    matrix = cosine(vectors.take(words).rows)
    similarities = matrix[first, second]
    interval = correlation_interval(similarities[None], rated.values[None], things=rated.pairs)
    rho = interval.value
    rng = np.random.default_rng(seed)
    # Mantel's test: a permutation of the words moves all pairs of a word together.
    order = rng.permuted(np.tile(np.arange(len(words)), (resamples, 1)), axis=1)
    shuffled = matrix[order[:, first], order[:, second]]
    chance = rank_correlations(shuffled, np.broadcast_to(rated.values, shuffled.shape))
    p_words = math.nan
    if not math.isnan(rho):
        # The observed order counts as one of the shuffles; equal sums may differ in the last digit.
        extreme = int(np.sum(np.abs(chance) >= abs(rho) - 1e-12))
        p_words = (1 + extreme) / (1 + resamples)
    return Correlation(
        rho=rho,
        low=interval.low,
        high=interval.high,
        p_words=p_words,
        pairs=len(rated),
        words=len(words),
    )


def _read_pairs(path: Path, rows: Sequence[Row]) -> HumanRatings:
    """Read a table with the columns a, b and a rating."""
    value = next(name for name in _VALUE_COLUMNS if name in rows[0].cells)
    by_pair: dict[tuple[str, str], float] = {}
    for row in rows:
        first, second = sorted((row.cells["a"], row.cells["b"]))
        # A pair that nobody judged has no rating; a word with itself is a control item.
        if not row.cells[value] or first == second:
            continue
        if (first, second) in by_pair:
            raise UserError(f"{path}, row {row.number}, repeats the pair '{first}' and '{second}'.")
        by_pair[first, second] = _number(path, row, value)
    return _ratings(path, by_pair)


def _read_square(
    path: Path,
    words: Sequence[str],
    rows: Sequence[Row],
) -> HumanRatings:
    """Read a square table, in which both directions of a pair may be rated."""
    table = np.zeros((len(words), len(words)))
    for i, row in enumerate(rows):
        table[i] = [_number(path, row, word) for word in words]
    present = (table != 0).astype(np.float64)
    means = (table + table.T) / np.maximum(present + present.T, 1)
    by_pair = {}
    for i, j in combinations(range(len(words)), 2):
        by_pair[words[i], words[j]] = float(means[i, j])
    return _ratings(path, by_pair)


def _read_study(folder: Path) -> HumanRatings:
    """Read the mean ratings that `seesay judge export` wrote, with people's agreement."""
    items = folder / "items.csv"
    if not items.is_file():
        raise UserError(
            f"'{folder}' holds no items.csv: give the folder that `seesay judge export` wrote."
        )
    path = folder / "agreement.json"
    description = _describe(path) if path.is_file() else ""
    return replace(read_human(items), name=folder.name, description=description)


def _describe(path: Path) -> str:
    """Say how many people judged, how often, and how far they agree."""
    with damage_as_user_error(path, "export the study again"):
        report = read_json(path)
        parts = [
            f"{report['people_counted']} of {report['people']} people",
            f"{report['judgements_per_item']:.1f} judgements per pair",
        ]
        halves = report["agreement"].get("split_half_spearman_brown", {}).get("value")
        if halves is not None:
            parts.append(f"split-half agreement {halves:.2f}")
        return ", ".join(parts)


def _ratings(path: Path, by_pair: dict[tuple[str, str], float]) -> HumanRatings:
    """Return the ratings of a file, named after it."""
    if not by_pair:
        raise UserError(f"{path} holds no pair with a rating.")
    values = np.array(list(by_pair.values()), dtype=np.float64)
    return HumanRatings(path.stem, tuple(by_pair), values)


def _number(path: Path, row: Row, column: str) -> float:
    """Return the number in a cell."""
    cell = row.cells[column]
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(f"{path}, row {row.number}: {cell!r} is not a number.")
    return value
