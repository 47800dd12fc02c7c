"""What Ghanimifard & Dobnik (2019) report, and the course notes, as `seesay paper
spatial-relations` shows it."""

from __future__ import annotations

from seesay.language.relations.published import SOURCE
from seesay.papers.paper import read_paper
from seesay.papers.spatial_relations.vector_tests import (
    ANALOGY,
    ODD,
    accuracy_table,
    correlations,
    human_judgements,
    perplexities,
    precision,
    printed_table,
)
from seesay.papers.spatial_relations.vectors import (
    PRINTED_CLUSTERS,
    clusters,
    contexts,
    heat_maps,
    templates,
    two_clusters,
)

PAPER = read_paper(
    "spatial_relations",
    SOURCE,
    {
        "Table 1": contexts,
        "Table 2": clusters,
        "Figure 3": two_clusters,
        "Table 3": accuracy_table("analogy", ANALOGY),
        "Table 4": accuracy_table("odd one out", ODD),
        "Figure 4": human_judgements,
        "Table 5": correlations,
        "Appendix C, Figure 3": heat_maps,
        "Spatial templates": templates,
        "Course notes, perplexity": perplexities,
        "Course notes, precision": precision,
    },
    {
        "Table 2": PRINTED_CLUSTERS,
        "Table 3": printed_table("Table 3", "accuracy"),
        "Table 4": printed_table("Table 4", "accuracy"),
        "Table 5": printed_table("Table 5", "Spearman's ρ"),
    },
)
