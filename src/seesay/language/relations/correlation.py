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
from itertools import combinations, compress
from pathlib import Path

import numpy as np

from seesay.data.rows import Row, every_row, read_table
from seesay.defaults import RESAMPLES
from seesay.errors import UserError
from seesay.files import damage_as_user_error, read_json
from seesay.language.relations.vectors import WordVectors, cosine
from seesay.metrics.agreement import rank_correlation
from seesay.metrics.base import BoolArray, FloatArray
from seesay.metrics.rank_correlation import rank_correlations

_VALUE_COLUMNS = ("similarity", "association", "mean", "value")


@dataclass(frozen=True)
class HumanRatings:
    """People's rating of each pair of words; `description` says how many people, and how far they
    agree."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    values: FloatArray
    description: str = ""

    def __len__(self) -> int:
        return len(self.pairs)

    def where(self, mask: Sequence[bool] | BoolArray) -> HumanRatings:
        """The pairs that the mask selects."""
        keep = np.asarray(mask, dtype=np.bool_)
        return replace(self, pairs=tuple(compress(self.pairs, keep)), values=self.values[keep])


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's rho over pairs, its interval from a bootstrap over pairs, and two p-values.

    `p` assumes independent pairs, as papers do; `p_words` shuffles the words instead (Mantel's
    test), because pairs that share a word are not independent.
    """

    rho: float
    low: float
    high: float
    p: float
    p_words: float
    pairs: int
    words: int


def read_human(path: Path) -> HumanRatings:
    """Ratings from a square table, a list of pairs or an exported study.

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
        f"{' or '.join(_VALUE_COLUMNS)}, "
        "or a square table with the same words in its header and first column."
    )


def correlate(
    vectors: WordVectors, ratings: HumanRatings, *, resamples: int = RESAMPLES, seed: int = 0
) -> Correlation | None:
    """The correlation over the pairs whose words all have vectors; None for fewer than three
    pairs."""
    rated = ratings.where([a in vectors.index and b in vectors.index for a, b in ratings.pairs])
    if len(rated) < 3:
        return None
    words = sorted({word for pair in rated.pairs for word in pair})
    index = {word: i for i, word in enumerate(words)}
    first, second = np.array([(index[a], index[b]) for a, b in rated.pairs]).T
    matrix = cosine(vectors.take(words).rows)
    similarities = matrix[first, second]
    rho = rank_correlation(similarities, rated.values)
    rng = np.random.default_rng(seed)
    n = len(rated)
    drawn = rng.integers(0, n, (resamples, n))
    resampled = rank_correlations(similarities[drawn], rated.values[drawn])
    resampled = resampled[~np.isnan(resampled)]
    low, high = np.quantile(resampled, [0.025, 0.975]) if len(resampled) else (math.nan, math.nan)
    order = rng.permuted(np.tile(np.arange(len(words)), (resamples, 1)), axis=1)
    shuffled = matrix[order[:, first], order[:, second]]
    chance = rank_correlations(shuffled, np.broadcast_to(rated.values, shuffled.shape))
    if math.isnan(rho):
        p_words = math.nan
    else:
        p_words = (1 + int(np.sum(np.abs(chance) >= abs(rho) - 1e-12))) / (1 + resamples)
    return Correlation(rho, float(low), float(high), _p(rho, n), p_words, n, len(words))


def _p(rho: float, n: int) -> float:
    """Two-sided, from Student's t with n − 2 degrees of freedom."""
    from scipy.stats import t

    if abs(rho) >= 1:
        return 0.0
    return float(2 * t.sf(abs(rho) * math.sqrt((n - 2) / (1 - rho * rho)), n - 2))


def _read_pairs(path: Path, rows: Sequence[Row]) -> HumanRatings:
    value = next(name for name in _VALUE_COLUMNS if name in rows[0].cells)
    by_pair: dict[tuple[str, str], float] = {}
    for row in rows:
        if not row.cells[value]:
            continue  # a pair that nobody judged
        first, second = sorted((row.cells["a"], row.cells["b"]))
        if first == second:
            continue
        if (first, second) in by_pair:
            raise UserError(f"{path}, row {row.number}, repeats the pair '{first}' and '{second}'.")
        by_pair[first, second] = _number(path, row.number, row.cells[value])
    return _ratings(path, by_pair)


def _read_square(path: Path, words: Sequence[str], rows: Sequence[Row]) -> HumanRatings:
    numbers = [[_number(path, row.number, row.cells[word]) for word in words] for row in rows]
    table = np.array(numbers, dtype=np.float64)
    present = (table != 0).astype(np.float64)
    both = (table + table.T) / np.maximum(present + present.T, 1)
    return _ratings(
        path,
        {(words[i], words[j]): float(both[i, j]) for i, j in combinations(range(len(words)), 2)},
    )


def _read_study(folder: Path) -> HumanRatings:
    """The mean ratings that `seesay judge export` wrote, with the agreement between people."""
    items = folder / "items.csv"
    if not items.is_file():
        raise UserError(
            f"'{folder}' holds no items.csv: give the folder that `seesay judge export` wrote."
        )
    path = folder / "agreement.json"
    return replace(
        read_human(items), name=folder.name, description=_describe(path) if path.is_file() else ""
    )


def _describe(path: Path) -> str:
    with damage_as_user_error(path, "export the study again"):
        report = read_json(path)
        halves = report["agreement"].get("split_half_spearman_brown", {}).get("value")
        agreement = "" if halves is None else f", split-half agreement {halves:.2f}"
        people = f"{report['people_counted']} of {report['people']} people"
        return f"{people}, {report['judgements_per_item']:.1f} judgements per pair{agreement}"


def _ratings(path: Path, by_pair: dict[tuple[str, str], float]) -> HumanRatings:
    if not by_pair:
        raise UserError(f"{path} holds no pair with a rating.")
    return HumanRatings(
        path.stem, tuple(by_pair), np.array(list(by_pair.values()), dtype=np.float64)
    )


def _number(path: Path, row: int, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(f"{path}, row {row}: {cell!r} is not a number.")
    return value
