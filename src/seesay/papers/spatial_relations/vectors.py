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
from seesay.language.relations.lexicon import RelationLexicon
from seesay.language.relations.page import pair_table
from seesay.language.relations.pvectors import PerplexityMatrix, p_vectors
from seesay.language.relations.vectors import WordVectors
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status
from seesay.papers.published import published_tables
from seesay.papers.spatial_relations.diagram import vector_diagram
from seesay.reports.charts import dendrogram, heat_map
from seesay.reports.formatting import number
from seesay.reports.pages.sections import DataTable

RESTARTS = 1000
"""Of k-means, as published."""
DIAGRAM_RELATION = "on the left of"
"""The relation of the authors' diagram."""


def published_files(material: Material) -> published.PublishedFiles:
    """Return the published matrix and tables."""
    files = find_published(material)
    if files is None:
        raise UserError(
            "The published matrix is not at hand: give the folder of the published files with "
            "--data."
        )
    return files


def find_published(material: Material) -> published.PublishedFiles | None:
    """Return the published matrix and tables, if they are at hand."""
    folder = material.data_of("spatial-relations")
    if folder is None:
        return None
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
    examples = []
    for phrase, gaps in example_contexts().items():
        shown = [f"{before} … {after}" for before, after in gaps]
        examples.append([phrase, "; ".join(shown)])
    text = (
        f"{len(relations())} relations are in the published matrix; the paper shows "
        f"{len(shown_relations())} of them as words and {len(shown_contexts())} as contexts. A "
        "relation is put in the place of another in the captions that hold exactly that one; the "
        "longest relation wins. `seesay relations find CAPTIONS --examples 5` prints the "
        "substitution table: each of the five most frequent relations in a context of each.\n\nOur "
        "contexts are what the same rule makes of the six region descriptions that Appendix B "
        "prints; Visual Genome has all of them."
        + (" The counts are those of your own captions." if counts_of_models else "")
    )
    title = "Ours: contexts in the descriptions of Appendix B"
    return Rendered(
        text,
        [DataTable(["relation", "contexts"], examples, title)],
        numbers=DataTable(header, body),
    )


def example_contexts() -> dict[str, list[tuple[str, str]]]:
    """Return what stands before and after each relation in the descriptions of Appendix B."""
    lexicon = RelationLexicon()
    gaps: dict[str, list[tuple[str, str]]] = {}
    for descriptions in published_tables("spatial_relations")["Appendix B"].rows.values():
        for description in descriptions:
            (match,) = lexicon.find(description)
            gap = (match.before.strip(), match.after.strip())
            gaps.setdefault(match.relation, []).append(gap)
    return gaps


def method(material: Material) -> Rendered:
    """Figure 1: from a corpus to the vector of a relation, as a diagram, and step by step for three
    relations."""
    gaps = example_contexts()
    words = tuple(gaps)
    first = [f"in a context of {word}" for word in words]
    exchanged = []
    for word in words:
        sentences = [f"{before} {word} {after}" for ((before, after), *_) in gaps.values()]
        exchanged.append([word, *sentences])
    tables = [DataTable(["relation", *first], exchanged, "1. Relations exchanged")]
    text = (
        "The diagram has the parts and names of the authors' own, and its relation; the tables "
        "have the same steps for three relations. Every relation is put into the contexts of every "
        "relation"
    )
    files = find_published(material)
    values: list[float] = []
    if files is not None:
        # the relation of the diagram is among the 97 of the matrix, though not among the 67
        one_row = files.matrix.take((DIAGRAM_RELATION,), shown_contexts()).perplexity
        values = one_row[0].tolist()
        matrix = files.matrix.take(words, words)
        vectors = p_vectors(matrix)
        for title, table in (
            ("2. Perplexities, from the published matrix", matrix.perplexity),
            ("3. P-vectors: columns divided by their sum, rows scaled to length 1", vectors.rows),
        ):
            rows = []
            for word, row in zip(words, table.tolist(), strict=True):
                rows.append([word, *map(number, row)])
            tables.append(DataTable(["relation", *words], rows, title))
        text += (
            "; the language model's perplexity on all sentences of a relation's contexts is one "
            "cell of a matrix (the darker in the diagram, the higher), of whose 97 x 97 nine are "
            "shown; columns are divided by their sum, and a relation's row, scaled to length 1, is "
            "its P-vector (here of three contexts)."
        )
    else:
        text += "; the perplexities that follow need the published matrix (`--data FOLDER`)."
    chart = vector_diagram(DIAGRAM_RELATION, shown_contexts(), values)
    return Rendered(text, tables, [chart], status=Status.of(files is not None))


def small_matrix(material: Material) -> Rendered:
    """Figure 2: the P-vectors of the 28 relations over the 26 contexts of the authors' drawing."""
    names = published_tables("spatial_relations")["Figure 2"].rows
    words = tuple(names["relations"][0].split(", "))
    columns = tuple(names["contexts"][0].split(", "))
    matrix = published_files(material).matrix.take(words, columns)
    title = f"P-vectors of {len(words)} relations in {len(columns)} contexts"
    text = (
        "Rows and columns are those of the authors' drawing. Its matrix is normalised by itself, "
        "and not cut out of the large one: columns are divided by the sum of these "
        f"{len(words)}, rows scaled to length 1 over these {len(columns)}. By that reading our "
        "values stand in the order of its shades (`docs/relations.md` has the comparison). There "
        "dark is a low perplexity, here a high one."
    )
    return Rendered(text, charts=[_heat_map(p_vectors(matrix), columns, title)])


def heat_maps(material: Material) -> Rendered:
    """Appendix C: the P-vectors of 67 relations over 57 contexts."""
    files = find_published(material)
    charts = []
    origin = ""
    if files is not None:
        vectors = published.p_vectors_of(files, "67 x 57")
        # the 67 words and 57 contexts that Appendix C shows, of 97 that were computed
        title = "P-vectors of the published matrix, 67 x 57"
        charts.append(_heat_map(vectors, shown_contexts(), title))
        origin = (
            " The first is computed from the published 97 x 97 perplexities, rows and columns in "
            "the paper's lists. The caption says 67 relations; the authors' drawing has 63, "
            "without back, front, left and right, and is dark where a relation fits well."
        )
    for model, _, matrix, _ in own_matrices(material):
        charts.append(_heat_map(p_vectors(matrix), matrix.contexts, f"P-vectors of {model}"))
    if not charts:
        raise UserError(
            "There is neither the published matrix (--data) nor a folder of `seesay relations "
            "matrix`."
        )
    text = (
        "Each row is a relation's P-vector: its perplexity in the contexts of every relation, "
        "columns divided by their sum and rows scaled to length 1. White is 0; the darker, the "
        f"worse the relation fits the contexts of the column.{origin}"
    )
    return Rendered(text, charts=charts, status=Status.of(files is not None))


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
        "Two of the clusters of Table 2. The paper reads off them that `above` and `over` choose "
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
        body.append([str(i), ", ".join(group), "yes" if is_printed else ""])
    tree = average_linkage(vectors)
    title = f"Ours: k-means, {RESTARTS:,} restarts"
    tables = [
        DataTable(["cluster", "relations", "in the authors' source"], body, title),
        pair_table(pair_proximity(vectors, NEIGHBOURS, tree), "Pairs of relations"),
    ]
    title = "Average linkage of the 67 P-vectors, cosine distance"
    chart = dendrogram(tree.merges.tolist(), list(tree.words), title=title)
    text = (
        f"{as_printed} of our {len(groups)} clusters are those of the authors' source. k-means "
        "depends on where it starts, so that the others differ by a few relations. Every cosine "
        "between P-vectors is close to 1: what tells pairs apart is their rank among all pairs."
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
