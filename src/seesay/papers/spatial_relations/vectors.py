"""Contexts, P-vectors and their clusters."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from seesay.errors import UserError
from seesay.language.relations import published, pvectors
from seesay.language.relations.clusters import average_linkage, k_means, pair_proximity
from seesay.language.relations.inventory import (
    NEIGHBOURS,
    relations,
    shown_contexts,
    shown_relations,
)
from seesay.language.relations.page import pair_table
from seesay.language.relations.pvectors import PerplexityMatrix, p_vectors
from seesay.language.relations.vectors import WordVectors
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status
from seesay.papers.published import PublishedTable
from seesay.reports.charts import dendrogram, heat_map
from seesay.reports.formatting import number
from seesay.reports.pages.sections import DataTable

RESTARTS = 1000
"""Of k-means, as published."""
PAPER_SOURCE = "the LaTeX source of the paper, github.com/GU-CLASP/mehdi_thesis, studies/splu2019"
"""Where the paper's own tables are from: of its text only the appendix is at hand."""
PRINTED_CLUSTERS = PublishedTable(
    ["cluster", "relations"],
    {str(i): [", ".join(cluster)] for i, cluster in enumerate(published.CLUSTERS, 1)},
    f"k-means, k = {len(published.CLUSTERS)}",
    PAPER_SOURCE,
)


def published_files(material: Material) -> published.PublishedFiles:
    """Return the published matrix and tables."""
    folder = material.data_of("spatial-relations")
    if folder is None:
        raise UserError(
            "The published matrix is not at hand: give the folder of the published files with "
            "--data."
        )
    return material.once("relations", lambda: published.read(folder))


def own_matrices(material: Material) -> list[tuple[str, Path, PerplexityMatrix, dict[str, int]]]:
    """Return the matrices of `seesay relations matrix` at hand.

    Each is given by its model, folder, matrix, and the contexts of each relation.
    """

    def read(folder: Path) -> tuple[str, Path, PerplexityMatrix, dict[str, int]]:
        matrix, about = pvectors.read(folder)
        model = str(about.get("model", folder.name))
        return model, folder, matrix, about.get("contexts", {})

    folders = material.folders["matrix"]
    return material.once("matrices", lambda: [read(folder) for folder in folders])


def contexts(material: Material) -> Rendered:
    """The relations, which of them are words and contexts, and how many contexts ours have."""
    counts_of_models = [(model, counts) for model, _, _, counts in own_matrices(material)]
    body = []
    for relation in relations():
        row = [
            relation.phrase,
            relation.simple,
            "yes" if relation.shown else "",
            "yes" if relation.context else "",
        ]
        for _, counts in counts_of_models:
            row.append(str(counts.get(relation.phrase, "")))
        body.append(row)
    header = ["relation", "varies", "word in Appendix C", "context in Appendix C"]
    header += [f"contexts of {model}" for model, _ in counts_of_models]
    text = (
        f"{len(relations())} relations are in the published matrix; the paper shows "
        f"{len(shown_relations())} of them as words and {len(shown_contexts())} as contexts. A "
        "relation is put in the place of another in the captions that hold exactly that one; the "
        "longest relation wins. `seesay relations find CAPTIONS --examples 5` prints the "
        "substitution table: each of the five most frequent relations in a context of each.\n\nThe "
        "published contexts are Visual Genome's region descriptions, which are not at hand"
        + ("; the counts are those of your own captions." if counts_of_models else ".")
    )
    return Rendered(
        text,
        numbers=DataTable(header, body),
        status=Status.IN_PART,
    )


def heat_maps(material: Material) -> Rendered:
    """Appendix C: the P-vectors of 67 relations over 57 contexts."""
    vectors = published.p_vectors_of(published_files(material), "67 x 57")
    # the 67 words and 57 contexts that Appendix C shows, of 97 that were computed
    charts = [_heat_map(vectors, shown_contexts(), "P-vectors of the published matrix, 67 x 57")]
    for model, _, matrix, _ in own_matrices(material):
        charts.append(_heat_map(p_vectors(matrix), matrix.contexts, f"P-vectors of {model}"))
    text = (
        "Each row is a relation's P-vector: its perplexity in the contexts of every relation, "
        "columns divided by their sum and rows scaled to length 1. White is 0; the darker, the "
        "worse the relation fits the contexts of the column. Computed from the published 97 x 97 "
        "perplexities, rows and columns in the paper's lists."
    )
    return Rendered(text, charts=charts)


def _heat_map(vectors: WordVectors, columns: tuple[str, ...], title: str) -> Markup:
    """Draw vectors as rows over their contexts."""
    return heat_map(
        vectors.rows.tolist(),
        vectors.words,
        columns,
        title=title,
        zero=True,
        low_label="",
        high_label="fits worse",
    )


def two_clusters(material: Material) -> Rendered:
    """Figure 3: the P-vectors of the clusters of above and of left and right."""
    vectors = published.p_vectors_of(published_files(material), "67 x 57")
    charts = []
    for word in ("above", "to the left of"):
        cluster = next(members for members in published.CLUSTERS if word in members)
        title = f"P-vectors of {', '.join(cluster)}"
        charts.append(_heat_map(vectors.take(cluster), shown_contexts(), title))
    text = (
        "Two of the printed clusters. The paper reads off them that `above` and `over` choose "
        "their contexts more than `to the left of` and `to the right of` do. Each chart has a "
        "scale of its own."
    )
    return Rendered(text, charts=charts)


def clusters(material: Material) -> Rendered:
    """Table 2: k-means with the published k, the dendrogram, and which pairs are neighbours."""
    vectors = published.p_vectors_of(published_files(material), "67 x 57")
    printed = {frozenset(cluster) for cluster in published.CLUSTERS}
    # a list says only whether the clusters can be made
    restarts = 20 if material.brief else RESTARTS
    groups = k_means(vectors, len(printed), restarts=restarts)
    as_printed = 0
    body = []
    for i, group in enumerate(groups, 1):
        is_printed = frozenset(group) in printed
        as_printed += is_printed
        body.append(
            [
                str(i),
                ", ".join(group),
                "yes" if is_printed else "",
            ]
        )
    tree = average_linkage(vectors)
    title = f"Ours: k-means, {RESTARTS:,} restarts"
    tables = [
        DataTable(["cluster", "relations", "as printed"], body, title),
        pair_table(pair_proximity(vectors, NEIGHBOURS, tree), "Pairs of relations"),
    ]
    title = "Average linkage of the 67 P-vectors, cosine distance"
    chart = dendrogram(tree.merges.tolist(), list(tree.words), title=title)
    text = (
        f"{as_printed} of our {len(groups)} clusters are as printed. k-means depends on where it "
        "starts, so that the others differ by a few relations. Every cosine between P-vectors is "
        "close to 1: what tells pairs apart is their rank among all pairs."
    )
    return Rendered(text, tables, [chart])


def templates(material: Material) -> Rendered:
    """Logan & Sadler's spatial templates, which the paper compares with."""
    grids = published_files(material).templates
    charts = []
    names = [""] * 7
    for word, row in zip(grids.words, grids.rows, strict=True):
        # a vector has the 7 x 7 places row by row
        chart = heat_map(
            row.reshape(7, 7).tolist(),
            names,
            names,
            title=word,
            low_label="",
            high_label="acceptable",
            zero=True,
        )
        charts.append(chart)
    text = (
        "How acceptable each relation is for a thing in each of 7 x 7 places around the landmark "
        "in the middle (Logan & Sadler 1996), as read off the published figure: good for ranks "
        f"only. Greatest value: {number(float(grids.rows.max()))}."
    )
    return Rendered(text, charts=charts)
