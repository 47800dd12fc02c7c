"""The page of surprisals.

Every sentence is a strip of words, with one row per model, and shows where two models differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from seesay.language.perplexity.surprisal import SentenceSurprisal
from seesay.reports.charts import heat_map
from seesay.reports.pages.sections import DataTable, Section, write_page

SHOWN = 100
"""Sentences on the page."""

ABOUT = (
    "Surprisal in bits, word by word: the sum over a word's pieces, which the table lists. The "
    "more a model was surprised, the darker the word."
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
    for row in sentences[:SHOWN]:
        sections.append(Section(f"{row.line}. {row.text}", "", _charts(row), _table(row)))
    return write_page(path, f"Surprisal: {' and '.join(models)}", sections)


def _charts(row: SentenceSurprisal) -> list[Markup]:
    """Return the strips of a sentence, and the difference of two models."""
    bits = []
    for words in row.models.values():
        bits.append([word.bits for word in words])
    charts = [heat_map(bits, list(row.models), row.words, title="Surprisal in bits")]
    if len(bits) == 2:
        differences = [a - b for a, b in zip(*bits, strict=True)]
        chart = heat_map(
            [differences],
            ["difference"],
            row.words,
            title="Difference in bits",
            zero=True,
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
