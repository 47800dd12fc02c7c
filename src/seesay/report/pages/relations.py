"""The page of a perplexity matrix: heat map in the order of the tree, the tree, clusters, pairs, tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seesay.data.relations import NEIGHBOURS
from seesay.metrics.base import FloatArray
from seesay.relations.clusters import Together, Tree, together, tree
from seesay.relations.evaluate import Row, Tested
from seesay.relations.pvectors import Matrix, p_vectors
from seesay.report.charts import dendrogram, heat_map
from seesay.report.pages.sections import DataTable, Section, write_page

READING = (
    "A cell says how well the word at the side fits the contexts of the relation above: bits a {unit} that its "
    "perplexity lies under (+) or over (−) the column's geometric mean. Words and contexts stand in the order of the "
    "tree below."
)

TESTS = (
    "Accuracy, with what chance gives on the same questions; or Spearman's ρ with people, by chance 0, with the "
    "p-value of shuffled words (Mantel's test). 95 % intervals."
)
SEEN = {
    "no": "The model never read these contexts: they were held out of its training.",
    "partly": "The model learnt from most of these captions (contexts of all parts).",
    "yes": "The model learnt from these captions.",
    "other": "The model was trained on other captions, or with another split: it may have read these contexts.",
    "unknown": "Whether the model has read these captions is not known.",
}


def relations_page(
    path: Path,
    matrix: Matrix,
    about: Mapping[str, Any],
    rows: Sequence[Row],
    groups: Sequence[Sequence[str]] = (),
    pairs: Sequence[tuple[str, str]] = NEIGHBOURS,
) -> Path:
    """Write the page; `rows` are the sets of vectors, tested, the P-vectors first."""
    vectors = p_vectors(matrix)
    made = tree(vectors)
    near = together(vectors, pairs, made)
    sections = [
        _heat(matrix, made, str(about.get("level", "token"))),
        Section(
            "Which relations fall together",
            "Average linkage of the cosine distances between P-vectors.\n\n" + sentences(near),
            [dendrogram(made.merges.tolist(), list(made.words), title="P-vectors, cosine distance")],
            _pair_table(near),
        ),
    ]
    if groups:
        listed = [[str(i), ", ".join(group)] for i, group in enumerate(groups, 1)]
        sections.append(
            Section("Clusters", f"k-means with k = {len(groups)}.", (), DataTable(["cluster", "words"], listed))
        )
    sections.append(Section("Tests", TESTS, (), test_table(rows)))
    sections.append(_contexts(matrix, about))
    return write_page(path, _title(about), sections)


def fit(perplexity: FloatArray) -> FloatArray:
    """Bits (a token, or a sentence) under the column's geometric mean."""
    bits = np.log2(perplexity)
    return np.asarray(bits.mean(axis=0) - bits)


def sentences(near: Sequence[Together]) -> str:
    """Whether pairs fall together, in figures."""
    told = []
    for pair in near:
        joined = "with nothing between" if pair.alone else f"in a group of {len(pair.joined)}"
        told.append(
            f"{pair.a} / {pair.b}: cosine {pair.cosine:.3f}, rank {pair.rank} of {pair.pairs} pairs, "
            f"joined at step {pair.merge} of {pair.merges} {joined}."
        )
    return "\n\n".join(told)


def test_table(rows: Sequence[Row]) -> DataTable:
    """Tests by vectors; each cell says what chance gives, as not all vectors are asked the same questions."""
    tests = [found.test for found in rows[0].tested]
    people = list(dict.fromkeys(name for row in rows for name in row.people))
    body: list[list[str]] = []
    for i, test in enumerate(tests):
        body.append([test, *(_cell(row.tested[i]) for row in rows)])
    for name in people:
        told = next((f" ({row.told[name]})" for row in rows if name in row.told), "")
        body.append([f"ρ with {name}{told}", *(_rho(row, name) for row in rows)])
    return DataTable(["test", *(f"{row.name} ({row.words} words)" for row in rows)], body)


def _cell(found: Tested) -> str:
    if found.value is None:
        return "no question"
    return f"{found.value:.3f} [{found.low:.2f}, {found.high:.2f}] of {found.questions:,}, chance {found.chance:.2f}"


def _rho(row: Row, name: str) -> str:
    found = row.people.get(name)
    if found is None:
        return "too few pairs"
    interval = f"[{found.low:.2f}, {found.high:.2f}]"
    return f"{found.rho:.2f} {interval} of {found.pairs} pairs, p (words shuffled) = {found.p_words:.3f}"


def _heat(matrix: Matrix, made: Tree, unit: str) -> Section:
    columns = [word for word in made.order if word in matrix.contexts]
    columns += [word for word in matrix.contexts if word not in columns]
    rows = [matrix.words.index(word) for word in made.order]
    cells = fit(matrix.perplexity)[np.ix_(rows, [matrix.contexts.index(word) for word in columns])]
    chart = heat_map(
        cells.tolist(), list(made.order), columns,
        title="How well each word fits each relation's contexts",
        low_label="worse", high_label="better",
    )  # fmt: skip
    return Section("Heat map", READING.format(unit=unit), [chart])


def _pair_table(near: Sequence[Together]) -> DataTable:
    header = ["pair", "cosine", "rank", "joined at distance", "step", "joined with"]
    return DataTable(
        header,
        [
            [
                f"{pair.a} / {pair.b}", f"{pair.cosine:.4f}", f"{pair.rank} of {pair.pairs}", f"{pair.distance:.4f}",
                f"{pair.merge} of {pair.merges}", ", ".join(w for w in pair.joined if w not in (pair.a, pair.b)) or "—",
            ]
            for pair in near
        ],
    )  # fmt: skip


def _contexts(matrix: Matrix, about: Mapping[str, Any]) -> Section:
    counts = about.get("contexts", {})
    own = {
        word: matrix.perplexity[matrix.words.index(word), i]
        for i, word in enumerate(matrix.contexts)
        if word in matrix.words
    }
    body = [[word, str(counts.get(word, "")), f"{own[word]:.1f}" if word in own else ""] for word in matrix.contexts]
    told = SEEN.get(about.get("seen", ""), "")
    return Section("Contexts", told, (), DataTable(["relation", "contexts", "perplexity of the word itself"], body))


def _title(about: Mapping[str, Any]) -> str:
    model = about.get("model")
    return f"Spatial relations of {model}" if model else "Spatial relations"
