"""The page of surprisals.

Every sentence is a strip of words, with one row per model, and shows where two models differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from seesay.language.perplexity.surprisal import SentenceSurprisal
from seesay.reports.charts import heat_map
from seesay.reports.pages.sections import DataTable, Section, write_page

SHOWN = 100
"""Sentences on the page."""

ABOUT = (
    "Surprisal in bits, word by word: the sum over a word's pieces, which the table lists. The "
    "more a model was surprised, the darker the word, on one scale for all sentences."
)
DIFFERENCE = (
    "The last chart shows how much more the first model was surprised than the second (less, in "
    "the other hue)."
)


def write_surprisals(
    path: Path,
    sentences: Sequence[SentenceSurprisal],
    signatures: Sequence[str],
) -> Path:
    """Write the page of the first sentences."""
    models = list(sentences[0].models)
    about = [ABOUT]
    if len(models) == 2:
        about.append(DIFFERENCE)
    about += [f"`{signature}`" for signature in signatures]
    # Each sentence has its charts: a page of thousands would not open.
    if len(sentences) > SHOWN:
        about.append(f"The first {SHOWN} of {len(sentences):,} sentences.")
    sections = [Section("What is shown", "\n\n".join(about))]
    first_sentences = sentences[:SHOWN]
    scales = _Scales.of(first_sentences)
    for row in first_sentences:
        charts = _charts(row, scales)
        sections.append(Section(f"{row.line}. {row.text}", "", charts, _table(row)))
    return write_page(path, f"Surprisal: {' and '.join(models)}", sections)


@dataclass(frozen=True)
class _Scales:
    """The ends of the shades of bits and of differences, the same for all sentences."""

    bits: tuple[float, float]
    differences: tuple[float, float]

    @classmethod
    def of(cls, sentences: Sequence[SentenceSurprisal]) -> _Scales:
        """Return scales that hold every word of these sentences."""
        bits = [0.0]
        gaps = [0.0]
        for row in sentences:
            strips = _bits(row)
            bits += [value for strip in strips for value in strip if math.isfinite(value)]
            gaps += [abs(gap) for gap in _differences(strips) if math.isfinite(gap)]
        return cls((min(bits), max(bits)), (-max(gaps), max(gaps)))


def _bits(row: SentenceSurprisal) -> list[list[float]]:
    """Return the bits of every word under each model."""
    strips = []
    for words in row.models.values():
        strips.append([word.bits for word in words])
    return strips


def _differences(bits: Sequence[Sequence[float]]) -> list[float]:
    """Return by how much the first of two models was more surprised; none for other numbers."""
    if len(bits) != 2:
        return []
    return [a - b for a, b in zip(*bits, strict=True)]


def _charts(row: SentenceSurprisal, scales: _Scales) -> list[Markup]:
    """Return the strips of a sentence, and the difference of two models."""
    bits = _bits(row)
    charts = [
        heat_map(bits, list(row.models), row.words, title="Surprisal in bits", ends=scales.bits)
    ]
    differences = _differences(bits)
    if differences:
        chart = heat_map(
            [differences],
            ["difference"],
            row.words,
            title="Difference in bits",
            zero=True,
            ends=scales.differences,
        )
        charts.append(chart)
    return charts


def _table(row: SentenceSurprisal) -> DataTable:
    """Return one line per word: its bits under each model, and its pieces."""
    columns = ["word"]
    for name in row.models:
        columns += [f"{name}, bits", "pieces"]
    rows = []
    for i, name in enumerate(row.words):
        cells: list[str | float] = [name]
        for words in row.models.values():
            cells += [words[i].bits, _pieces(words[i].pieces)]
        rows.append(cells)
    return DataTable(columns, rows)


def _pieces(pieces: Sequence[tuple[str, float]]) -> str:
    """Return the cell of a word's pieces, each with its bits."""
    return " ".join(f"{token} {bits:.2f}" for token, bits in pieces)
