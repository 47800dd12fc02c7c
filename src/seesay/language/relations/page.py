"""The page of a perplexity matrix: heat map in the order of the dendrogram, dendrogram, clusters,
pairs, tests."""

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
    "by how many bits "
    "per {unit} its perplexity lies below (+) or above (−) the column's geometric mean, which is "
    "left blank. Words and "
    "contexts are in the order of the dendrogram below."
)
TESTS = (
    "Accuracy, with that of chance on the same questions; or Spearman's ρ with people, 0 by "
    "chance, with the p-value "
    "of shuffled words (Mantel's test). 95 % intervals."
)
NAMED = 8
"""Of more relations than this that a pair is joined with, the number is written."""
SEEN = {
    "no": "The model has never seen these contexts: they were held out of its training.",
    "partly": "The model was trained on most of these captions (contexts of all parts).",
    "yes": "The model was trained on these captions.",
    "other": "The model was trained on other captions, or with another split: it may have seen these contexts.",
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
    proximities = pair_proximity(vectors, pairs, tree)
    sections = [
        _heat_map(matrix, tree, str(about.get("level", "token"))),
        Section(
            "Which relations cluster together",
            "Average linkage of the cosine distances between P-vectors.\n\n"
            + proximity_text(proximities),
            [
                dendrogram(
                    tree.merges.tolist(), list(tree.words), title="P-vectors, cosine distance"
                )
            ],
            pair_table(proximities),
        ),
    ]
    if clusters:
        rows = [[str(i), ", ".join(cluster)] for i, cluster in enumerate(clusters, 1)]
        table = DataTable(["cluster", "words"], rows)
        sections.append(Section("Clusters", f"k-means with k = {len(clusters)}.", (), table))
    sections.append(Section("Tests", TESTS, (), test_table(evaluations)))
    sections.append(_contexts(matrix, about))
    model = about.get("model")
    return write_page(
        path, f"Spatial relations of {model}" if model else "Spatial relations", sections
    )


def proximity_text(proximities: Sequence[PairProximity]) -> str:
    """The proximity of pairs, one paragraph each."""
    paragraphs = []
    for pair in proximities:
        if pair.joined_directly:
            group = "with nothing between"
        else:
            group = f"in a group of {len(pair.joined)}"
        paragraphs.append(
            f"{pair.a} / {pair.b}: nearer than {pair.percentile:.1f} % of the other pairs (rank "
            f"{pair.rank:,} of "
            f"{pair.pairs:,}), joined at step {pair.merge} of {pair.merges} {group}."
        )
    return "\n\n".join(paragraphs)


def test_table(evaluations: Sequence[VectorEvaluation]) -> DataTable:
    """Tests by vectors; every cell has its own chance, as the questions depend on the words that
    have vectors."""
    by_test = zip(*(evaluation.tests for evaluation in evaluations), strict=True)
    body = [[tests[0].test, *map(_accuracy, tests)] for tests in by_test]
    for name in dict.fromkeys(name for evaluation in evaluations for name in evaluation.people):
        description = next(
            (f" ({e.descriptions[name]})" for e in evaluations if name in e.descriptions), ""
        )
        body.append(
            [f"ρ with {name}{description}", *(_rho(evaluation, name) for evaluation in evaluations)]
        )
    return DataTable(["test", *(f"{e.name} ({e.words} words)" for e in evaluations)], body)


def _accuracy(test: VectorTest) -> str:
    if test.value is None:
        return "no question"
    return f"{test.value:.3f} [{test.low:.2f}, {test.high:.2f}] of {test.questions:,}, chance {test.chance:.2f}"


def _rho(evaluation: VectorEvaluation, name: str) -> str:
    result = evaluation.people.get(name)
    if result is None:
        return "too few pairs"
    interval = f"[{result.low:.2f}, {result.high:.2f}]"
    return f"{result.rho:.2f} {interval} of {result.pairs} pairs, p (words shuffled) = {result.p_words:.3f}"


def _heat_map(matrix: PerplexityMatrix, tree: Dendrogram, unit: str) -> Section:
    columns = [word for word in tree.order if word in matrix.contexts]
    columns += [word for word in matrix.contexts if word not in columns]
    bits = np.log2(matrix.take(tree.order, tuple(columns)).perplexity)
    cells = (bits.mean(axis=0) - bits).tolist()
    title = "How well each word fits each relation's contexts"
    chart = heat_map(
        cells, tree.order, columns, title=title, low_label="worse", high_label="better", zero=True
    )
    rows = [
        [word, *(round(value, 3) for value in line)]
        for word, line in zip(tree.order, cells, strict=True)
    ]
    return Section(
        "Heat map", HEAT_MAP.format(unit=unit), [chart], DataTable(["word", *columns], rows)
    )


def pair_table(proximities: Sequence[PairProximity], title: str = "") -> DataTable:
    """How near the words of each pair are, by rank: cosines are all close to 1."""
    body = []
    for pair in proximities:
        words = [word for word in pair.joined if word not in (pair.a, pair.b)]
        if len(words) <= NAMED:
            named = words
        else:
            named = [*words[: NAMED - 1], f"… ({len(words)})"]
        others = ", ".join(named) or "—"
        ranks = [
            f"{pair.rank:,} of {pair.pairs:,}",
            f"{pair.percentile:.1f} %",
            brief(1 - pair.cosine),
        ]
        joined = [brief(pair.distance), f"{pair.merge} of {pair.merges}", others]
        body.append([f"{pair.a} / {pair.b}", *ranks, *joined])
    header = [
        "pair",
        "rank",
        "nearer than",
        "cosine distance",
        "joined at distance",
        "step",
        "joined with",
    ]
    return DataTable(header, body, title)


def _contexts(matrix: PerplexityMatrix, about: Mapping[str, Any]) -> Section:
    counts = about.get("contexts", {})
    body = []
    for column, word in enumerate(matrix.contexts):
        if word in matrix.words:
            own = f"{matrix.perplexity[matrix.words.index(word), column]:.1f}"
        else:
            own = ""
        body.append([word, str(counts.get(word, "")), own])
    table = DataTable(["relation", "contexts", "perplexity of the word itself"], body)
    return Section("Contexts", SEEN.get(about.get("seen_in_training", ""), ""), (), table)
