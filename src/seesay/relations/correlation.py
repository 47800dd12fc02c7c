"""Spearman correlation of vectors' similarities with what people say of the same pairs of words.

People's figures come as a square table (the published ones), as a list of pairs, or as the folder that
`seesay judge export` writes: there careless people are already out (Ghanimifard & Dobnik 2019, appendix: above 60 % on
a colour word with a relation or below 90 % on a word with itself) and a pair's figure is the mean of the rest.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from seesay.errors import UserError
from seesay.metrics.base import BoolArray, FloatArray, IntArray
from seesay.relations.vectors import Vectors, cosine

Direction = Literal["max", "mean"]
_VALUES = ("similarity", "association", "mean", "value")


@dataclass(frozen=True)
class Judged:
    """People's figure for each pair of words; `told` says how they came about."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    values: FloatArray
    told: str = ""

    def __len__(self) -> int:
        return len(self.pairs)

    def where(self, kept: Sequence[bool] | BoolArray) -> Judged:
        """A part of the pairs."""
        mask = np.asarray(kept, dtype=np.bool_)
        return replace(
            self, pairs=tuple(p for p, k in zip(self.pairs, mask, strict=True) if k), values=self.values[mask]
        )

    def above_zero(self) -> Judged:
        """The pairs of which people said anything at all."""
        return self.where(self.values > 0)


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's rho over pairs, its interval from a bootstrap over pairs, and two p-values.

    `p` takes the pairs for independent, as papers do; `p_words` shuffles the words instead (Mantel's test), because
    pairs that share a word are not.
    """

    rho: float
    low: float
    high: float
    p: float
    p_words: float
    pairs: int
    words: int


def read_human(path: Path, direction: Direction = "max") -> Judged:
    """A square table, a list of pairs or an exported study. Of two directions of a pair, the stronger or the mean."""
    if path.is_dir():
        return _study(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} cannot be read as a table of people's judgements ({error}).") from error
    if len(rows) < 2:
        raise UserError(f"{path} is empty: give a table of pairs (a, b, similarity) or a square one.")
    header = [cell.strip() for cell in rows[0]]
    if {"a", "b"} <= set(header) and set(header) & set(_VALUES):
        return _pairs(path, header, rows[1:])
    if header[1:] == [row[0].strip() for row in rows[1:]]:
        return _square(path, header[1:], rows[1:], direction)
    raise UserError(
        f"{path} is no table of people's judgements: give the columns a, b and {' or '.join(_VALUES)}, "
        "or a square table with the same words above and at the side."
    )


def correlate(
    vectors: Vectors,
    judged: Judged,
    *,
    similarity: Callable[[FloatArray], FloatArray] = cosine,
    resamples: int = 10_000,
    seed: int = 0,
) -> Correlation | None:
    """Over the pairs that both know; None if they are fewer than three."""
    known = judged.where([a in vectors.place and b in vectors.place for a, b in judged.pairs])
    if len(known) < 3:
        return None
    words = sorted({word for pair in known.pairs for word in pair})
    place = {word: i for i, word in enumerate(words)}
    one, other = np.array([(place[a], place[b]) for a, b in known.pairs]).T
    between = similarity(vectors.take(words).rows)
    near = between[one, other]
    rho = float(spearman(near[None], known.values[None])[0])
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(near), (resamples, len(near)))
    spread = spearman(near[drawn], known.values[drawn])
    spread = spread[~np.isnan(spread)]
    low, high = np.quantile(spread, [0.025, 0.975]) if len(spread) else (math.nan, math.nan)
    shuffled = _shuffled(between, one, other, rng, resamples)
    chance = spearman(shuffled, np.broadcast_to(known.values, shuffled.shape))
    p_words = (1 + np.sum(np.abs(chance) >= abs(rho) - 1e-12)) / (1 + resamples) if not math.isnan(rho) else math.nan
    return Correlation(rho, float(low), float(high), _p(rho, len(near)), float(p_words), len(near), len(words))


def spearman(x: FloatArray, y: FloatArray) -> FloatArray:
    """Spearman's rho, row by row, ties at their mean rank; NaN where either side is constant."""
    from scipy.stats import rankdata

    a, b = rankdata(x, axis=1), rankdata(y, axis=1)
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    scale = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    return np.asarray(np.divide((a * b).sum(axis=1), scale, out=np.full(len(a), np.nan), where=scale > 0))


def _p(rho: float, n: int) -> float:
    """Two-sided, from Student's t with n − 2 degrees of freedom."""
    from scipy.stats import t

    if math.isnan(rho) or n < 3:
        return math.nan
    if abs(rho) >= 1:
        return 0.0
    return float(2 * t.sf(abs(rho) * math.sqrt((n - 2) / (1 - rho * rho)), n - 2))


def _shuffled(
    between: FloatArray, one: IntArray, other: IntArray, rng: np.random.Generator, resamples: int
) -> FloatArray:
    places = rng.permuted(np.tile(np.arange(len(between)), (resamples, 1)), axis=1)
    return np.asarray(between[places[:, one], places[:, other]])


def _pairs(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Judged:
    value = next(header.index(name) for name in _VALUES if name in header)
    a, b = header.index("a"), header.index("b")
    found: dict[tuple[str, str], float] = {}
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise UserError(f"{path}, row {number}, has {len(row)} cells where the header has {len(header)}.")
        if not row[value].strip():
            continue  # a pair that nobody judged
        first, second = sorted((row[a].strip(), row[b].strip()))
        if first == second:
            continue
        if (first, second) in found:
            raise UserError(f"{path}, row {number}, repeats the pair '{first}' and '{second}'.")
        found[first, second] = _number(path, number, row[value])
    return _judged(path, found)


def _square(path: Path, words: Sequence[str], rows: Sequence[Sequence[str]], direction: Direction) -> Judged:
    table = np.array([[_number(path, i, cell) for cell in row[1:]] for i, row in enumerate(rows, 2)], dtype=np.float64)
    if table.shape != (len(words), len(words)):
        raise UserError(f"{path} is not square: {len(words)} words need as many cells in every row.")
    both = np.maximum(table, table.T) if direction == "max" else (table + table.T) / 2
    return _judged(
        path,
        {(words[i], words[j]): float(both[i, j]) for i in range(len(words)) for j in range(i + 1, len(words))},
    )


def _study(folder: Path) -> Judged:
    """What `seesay judge export` wrote: means per pair of those who count, and how far they agree."""
    items = folder / "items.csv"
    if not items.is_file():
        raise UserError(f"'{folder}' holds no items.csv: give the folder that `seesay judge export` wrote.")
    judged = read_human(items)
    path = folder / "agreement.json"
    return replace(judged, name=folder.name, told=_told(path) if path.is_file() else "")


def _told(path: Path) -> str:
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        told = (
            f"{report['people_kept']} of {report['people']} people, "
            f"{report['judgements_an_item']:.1f} judgements a pair"
        )
        halves = report["agreement"].get("split_half_spearman_brown", {}).get("value")
        return told + (f", split-half agreement {halves:.2f}" if halves is not None else "")
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UserError(
            f"{path} is not as `seesay judge export` writes it ({type(error).__name__}: {error}): export again."
        ) from error


def _judged(path: Path, found: dict[tuple[str, str], float]) -> Judged:
    if not found:
        raise UserError(f"{path} holds no pair with a figure.")
    return Judged(path.stem, tuple(found), np.array(list(found.values()), dtype=np.float64))


def _number(path: Path, row: int, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(f"{path}, row {row}: {cell!r} is not a number.")
    return value
