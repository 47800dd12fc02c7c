"""What Ghanimifard & Dobnik (2019) report, and the course notes, as `seesay paper spatial-relations` shows it."""

from __future__ import annotations

from seesay.relations.published import SOURCE
from seesay.reports.papers.paper import Paper, PaperEntry
from seesay.reports.papers.spatial_relations.vector_tests import (
    ANALOGY,
    ODD,
    accuracy_table,
    association,
    perplexities,
    precision,
    similarity,
    study,
)
from seesay.reports.papers.spatial_relations.vectors import clusters, contexts, heat_maps, templates

_DATA = "seesay paper spatial-relations --data FOLDER"
_FILES = "the published matrix, embeddings and tables (in one folder, or in the data folder as `spatial-relations`)."
_OWN = "seesay relations matrix MODEL CAPTIONS -o relations && seesay paper spatial-relations relations --data FOLDER"
_BOTH = f"{_FILES} For a model of your own, captions with enough contexts."

PAPER = Paper(
    name="spatial-relations",
    title="What a neural language model tells us about spatial relations",
    citation=SOURCE,
    about=(
        "Figure 3 stands under its number; what else the paper reports is named by its section or by what it is "
        "about, since only that is certain here. The last two entries are from the course notes on language models "
        "and captions."
    ),
    entries=(
        PaperEntry("Section 3", "The relations, their contexts and the substitution table", contexts,
                   "seesay relations find CAPTIONS --examples 5", "captions, Visual Genome's for published counts."),
        PaperEntry("Figure 3", "P-vectors as a heat map, 67 x 57", heat_maps, _DATA, _FILES),
        PaperEntry("Section 4, clusters", "Which relations cluster together", clusters, _DATA, _FILES),
        PaperEntry("Section 4, analogies", "left is to right as above is to …?", accuracy_table("analogy", ANALOGY),
                   _OWN, _BOTH),
        PaperEntry("Section 4, odd one out", "Which of three relations is the odd one",
                   accuracy_table("odd one out", ODD), _OWN, _BOTH),
        PaperEntry("Word association", "Correlation with people's associations", association, _OWN, _BOTH),
        PaperEntry("Word similarity", "Correlation with people's similarity judgements", similarity, _OWN, _BOTH),
        PaperEntry("Spatial templates", "Where a relation is acceptable around its landmark", templates, _DATA, _FILES),
        PaperEntry("Appendix", "The study of people's similarity judgements", study,
                   "seesay judge serve relations.csv --links 70", "people: 66 in print."),
        PaperEntry("Course notes, perplexity", "Perplexity by token and by sentence", perplexities,
                   "seesay perplexity MODEL FILE"),
        PaperEntry("Course notes, precision", "Unigram precision, plain and clipped", precision,
                   "seesay score captions HYPS REFS"),
    ),
)  # fmt: skip
