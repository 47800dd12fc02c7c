"""The page of surprisals: every sentence as a strip of words, one row per model, and where two
models differ."""

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
    "more a model was "
    "surprised, the darker the word."
)
DIFFERENCE = "The last chart shows how much more the first model was surprised than the second (less, in the other hue)."


def write_surprisals(
    path: Path, sentences: Sequence[SentenceSurprisal], signatures: Sequence[str]
) -> Path:
    """Write the page of the first sentences."""
    models = list(sentences[0].models)
    about = [
        ABOUT,
        *([DIFFERENCE] if len(models) == 2 else []),
        *(f"`{signature}`" for signature in signatures),
    ]
    if len(sentences) > SHOWN:
        about.append(f"The first {SHOWN} of {len(sentences):,} sentences.")
    sections = [Section("What is shown", "\n\n".join(about))]
    sections += [
        Section(f"{row.line}. {row.text}", "", _charts(row), _table(row))
        for row in sentences[:SHOWN]
    ]
    return write_page(path, f"Surprisal: {' and '.join(models)}", sections)


def _charts(row: SentenceSurprisal) -> list[Markup]:
    matrix = [[word.bits for word in words] for words in row.models.values()]
    charts = [heat_map(matrix, list(row.models), row.words, title="Surprisal in bits")]
    if len(matrix) == 2:
        more = [a - b for a, b in zip(*matrix, strict=True)]
        charts.append(
            heat_map([more], ["difference"], row.words, title="Difference in bits", zero=True)
        )
    return charts


def _table(row: SentenceSurprisal) -> DataTable:
    """One line per word: its bits under each model, and its pieces."""
    columns = [column for name in row.models for column in (f"{name}, bits", "pieces")]
    rows = [
        [
            name,
            *(
                cell
                for words in row.models.values()
                for cell in (words[i].bits, _pieces(words[i].pieces))
            ),
        ]
        for i, name in enumerate(row.words)
    ]
    return DataTable(["word", *columns], rows)


def _pieces(pieces: Sequence[tuple[str, float]]) -> str:
    return " ".join(f"{token} {bits:.2f}" for token, bits in pieces)
