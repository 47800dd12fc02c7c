"""The page of a perplexity matrix.

It has a heat map in the order of the dendrogram, the dendrogram, clusters, pairs and tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seesay.language.relations.clusters import (
    Dendrogram,
    PairProximity,
    average_linkage,
    pair_proximity,
)
from seesay.language.relations.evaluate import VectorEvaluation, VectorTest
from seesay.language.relations.inventory import NEIGHBOURS
from seesay.language.relations.pvectors import PerplexityMatrix, p_vectors
from seesay.reports.charts import dendrogram, heat_map
from seesay.reports.formatting import brief
from seesay.reports.pages.sections import DataTable, Section, write_page

HEAT_MAP = (
    "Each cell shows how well the word of the row fits the contexts of the relation of the column: "
    "by how many bits per {unit} its perplexity lies below (+) or above (−) the column's geometric "
    "mean, which is left blank. Words and contexts are in the order of the dendrogram below."
)
TESTS = (
    "Accuracy, with that of chance on the same questions; or Spearman's ρ with people, 0 by "
    "chance, with the p-value of shuffled words (Mantel's test). 95 % intervals."
)
MOST_NAMES = 8
"""How many relations that a pair is joined with are named; of more, the number is written."""
SEEN = {
    "no": "The model has never seen these contexts: they were held out of its training.",
    "partly": "The model was trained on most of these captions (contexts of all parts).",
    "yes": "The model was trained on these captions.",
    "other": (
        "The model was trained on other captions, or with another split: it may have seen these "
        "contexts."
    ),
    "unknown": "Whether the model has seen these captions is not known.",
}


def relations_page(
    path: Path,
    matrix: PerplexityMatrix,
    about: Mapping[str, Any],
    evaluations: Sequence[VectorEvaluation],
    clusters: Sequence[Sequence[str]] = (),
    pairs: Sequence[tuple[str, str]] = NEIGHBOURS,
) -> Path:
    """Write the page; `evaluations` are those of the sets of vectors, the P-vectors first."""
    vectors = p_vectors(matrix)
    tree = average_linkage(vectors)
    sections = [
        _heat_map(matrix, tree, str(about.get("level", "token"))),
        _tree(tree, pair_proximity(vectors, pairs, tree)),
    ]
    if clusters:
        rows = [[str(i), ", ".join(cluster)] for i, cluster in enumerate(clusters, 1)]
        table = DataTable(["cluster", "words"], rows)
        sections.append(Section("Clusters", f"k-means with k = {len(clusters)}.", (), table))
    sections.append(Section("Tests", TESTS, (), test_table(evaluations)))
    sections.append(_contexts(matrix, about))
    model = about.get("model")
    title = f"Spatial relations of {model}" if model else "Spatial relations"
    return write_page(path, title, sections)


def _tree(tree: Dendrogram, proximities: Sequence[PairProximity]) -> Section:
    """Return the section of the dendrogram, with the proximity of some pairs."""
    chart = dendrogram(
        tree.merges.tolist(),
        list(tree.words),
        title="P-vectors, cosine distance",
    )
    about = "Average linkage of the cosine distances between P-vectors."
    return Section(
        "Which relations cluster together",
        f"{about}\n\n{proximity_text(proximities)}",
        [chart],
        pair_table(proximities),
    )


def proximity_text(proximities: Sequence[PairProximity]) -> str:
    """Return the proximity of pairs, one paragraph each."""
    paragraphs = []
    for pair in proximities:
        if pair.joined_directly:
            group = "with nothing between"
        else:
            group = f"in a group of {len(pair.joined)}"
        paragraphs.append(
            f"{pair.a} / {pair.b}: nearer than {pair.percentile:.1f} % of the other pairs (rank "
            f"{pair.rank:,} of {pair.pairs:,}), joined at step {pair.merge} of {pair.merges} "
            f"{group}."
        )
    return "\n\n".join(paragraphs)


def test_table(evaluations: Sequence[VectorEvaluation]) -> DataTable:
    """Return the tests by vectors.

    Every cell has its own chance, as the questions depend on the words that have vectors.
    """
    by_test = zip(*(evaluation.tests for evaluation in evaluations), strict=True)
    body = [[tests[0].test, *map(_accuracy, tests)] for tests in by_test]
    descriptions: dict[str, str] = {}
    for evaluation in evaluations:
        for name in evaluation.people:
            description = evaluation.descriptions.get(name, "")
            descriptions[name] = descriptions.get(name) or description
    for name, description in descriptions.items():
        title = f"ρ with {name} ({description})" if description else f"ρ with {name}"
        body.append([title, *(_rho(evaluation, name) for evaluation in evaluations)])
    columns = [f"{evaluation.name} ({evaluation.words} words)" for evaluation in evaluations]
    return DataTable(["test", *columns], body)


def _accuracy(test: VectorTest) -> str:
    """Return the cell of an accuracy."""
    if test.value is None:
        return "no question"
    interval = f"[{test.low:.2f}, {test.high:.2f}]"
    return f"{test.value:.3f} {interval} of {test.questions:,}, chance {test.chance:.2f}"


def _rho(evaluation: VectorEvaluation, name: str) -> str:
    """Return the cell of a correlation with people."""
    result = evaluation.people.get(name)
    if result is None:
        return "too few pairs"
    interval = f"[{result.low:.2f}, {result.high:.2f}]"
    p = f"p (words shuffled) = {result.p_words:.3f}"
    return f"{result.rho:.2f} {interval} of {result.pairs} pairs, {p}"


def _heat_map(
    matrix: PerplexityMatrix,
    tree: Dendrogram,
    unit: str,
) -> Section:
    """Return the section of the heat map, words and contexts in the order of the dendrogram."""
    columns = [word for word in tree.order if word in matrix.contexts]
    # A relation may be a context and yet no word that the model knows.
    columns += [word for word in matrix.contexts if word not in columns]
    bits = np.log2(matrix.take(tree.order, tuple(columns)).perplexity)
    # A context's own difficulty moves a whole column: cells show what is left without it.
    cells = (bits.mean(axis=0) - bits).tolist()
    chart = heat_map(
        cells,
        tree.order,
        columns,
        title="How well each word fits each relation's contexts",
        low_label="worse",
        high_label="better",
        zero=True,
    )
    rows = []
    for word, values in zip(tree.order, cells, strict=True):
        rows.append([word, *(round(value, 3) for value in values)])
    table = DataTable(["word", *columns], rows)
    return Section("Heat map", HEAT_MAP.format(unit=unit), [chart], table)


def pair_table(proximities: Sequence[PairProximity], title: str = "") -> DataTable:
    """Return how near the words of each pair are, by rank: cosines are all close to 1."""
    header = [
        "pair",
        "rank",
        "nearer than",
        "cosine distance",
        "joined at distance",
        "step",
        "joined with",
    ]
    body = []
    for pair in proximities:
        others = [word for word in pair.joined if word not in (pair.a, pair.b)]
        if len(others) > MOST_NAMES:
            others[MOST_NAMES - 1 :] = [f"… ({len(others)})"]
        row = [
            f"{pair.a} / {pair.b}",
            f"{pair.rank:,} of {pair.pairs:,}",
            f"{pair.percentile:.1f} %",
            brief(1 - pair.cosine),
            brief(pair.distance),
            f"{pair.merge} of {pair.merges}",
            ", ".join(others) or "—",
        ]
        body.append(row)
    return DataTable(header, body, title)


def _contexts(matrix: PerplexityMatrix, about: Mapping[str, Any]) -> Section:
    """Return the section of the contexts: how many there are, and how hard they are."""
    counts = about.get("contexts", {})
    body = []
    for column, word in enumerate(matrix.contexts):
        perplexity = ""
        if word in matrix.words:
            row = matrix.words.index(word)
            perplexity = f"{matrix.perplexity[row, column]:.1f}"
        body.append([word, str(counts.get(word, "")), perplexity])
    table = DataTable(["relation", "contexts", "perplexity of the word itself"], body)
    return Section("Contexts", SEEN.get(about.get("seen_in_training", ""), ""), (), table)
