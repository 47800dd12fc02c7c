"""What Ghanimifard & Dobnik (2019) report, as `seesay paper spatial-relations` shows it."""

from __future__ import annotations

from seesay.language.relations.published import SOURCE, TABLES
from seesay.papers.paper import read_paper
from seesay.papers.published import PublishedTable
from seesay.papers.spatial_relations.appendix import described_pictures, question_layout
from seesay.papers.spatial_relations.vector_tests import (
    ANALOGY,
    ODD,
    accuracy_table,
    correlations,
    human_judgements,
    perplexities,
)
from seesay.papers.spatial_relations.vectors import (
    clusters,
    contexts,
    heat_maps,
    method,
    small_matrix,
    templates,
    two_clusters,
)

PAPER = read_paper(
    "spatial_relations",
    SOURCE,
    {
        "Table 1": contexts,
        "Figure 1": method,
        "Figure 2": small_matrix,
        "Table 2": clusters,
        "Figure 3": two_clusters,
        "Table 3": accuracy_table("analogy", ANALOGY),
        "Table 4": accuracy_table("odd one out", ODD),
        "Figure 4": human_judgements,
        "Table 5": correlations,
        "Appendix A": perplexities,
        "Appendix B, Figures 1 and 2": described_pictures,
        "Appendix C, Figure 3": heat_maps,
        "Appendix D, Figure 4": question_layout,
        "Spatial templates": templates,
    },
    {name: PublishedTable(**fields) for name, fields in TABLES.items()},
)
