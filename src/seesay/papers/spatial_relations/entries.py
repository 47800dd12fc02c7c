"""What Ghanimifard & Dobnik (2019) report, and the course notes, as `seesay paper spatial-relations` shows it."""

from __future__ import annotations

from seesay.language.relations.published import SOURCE
from seesay.papers.paper import Paper, PaperEntry, not_here
from seesay.papers.published import published_tables
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

_DATA = "seesay paper spatial-relations --data FOLDER"
_FILES = "the published matrix, embeddings and tables (in one folder, or in the data folder as `spatial-relations`)."
_MATRIX = "seesay relations matrix MODEL CAPTIONS -o relations"
_OWN = f"{_MATRIX} && seesay paper spatial-relations relations --data FOLDER"
_BOTH = f"{_FILES} For a model of your own, captions with enough contexts."
_STUDY = "seesay judge serve relations.csv --links 70"

PAPER = Paper(
    name="spatial-relations",
    title="What a neural language model tells us about spatial relations",
    citation=SOURCE,
    about=(
        "Numbers, captions and printed values are those of the authors' own source of the paper "
        "(github.com/GU-CLASP/mehdi_thesis, studies/splu2019). The appendix came as a document of its own: that it "
        "counts its figures anew is inferred from that. The last three entries are not in the paper: the templates it "
        "compares with, and the course notes on language models and captions."
    ),
    entries=(
        PaperEntry("Table 1", "Examples of context bins; the relations and the substitution table", contexts,
                   "seesay relations find CAPTIONS --examples 5", "captions, Visual Genome's for published counts.",
                   (published_tables("spatial_relations")["Table 1"].as_printed,)),
        PaperEntry("Figure 1", "How P-vectors are made",
                   not_here("A diagram of the method: sentences by relation, relations exchanged, perplexities."),
                   _MATRIX),
        PaperEntry("Figure 2", "P-vectors of 28 relations in 26 contexts",
                   not_here("A part of the matrix. Which 28 relations and 26 contexts it shows can be read off the "
                            "drawing only, which was not at hand; all 67 x 57 are under Appendix C."), _DATA, _FILES),
        PaperEntry("Table 2", "Which relations cluster together", clusters, _DATA, _FILES, (PRINTED_CLUSTERS,)),
        PaperEntry("Figure 3", "P-vectors of two clusters", two_clusters, _DATA, _FILES),
        PaperEntry("Table 3", "Analogies: left is to right as above is to …?", accuracy_table("analogy", ANALOGY),
                   _OWN, _BOTH, (printed_table("Table 3", "accuracy"),)),
        PaperEntry("Table 4", "Odd one out: which of three relations", accuracy_table("odd one out", ODD), _OWN, _BOTH,
                   (printed_table("Table 4", "accuracy"),)),
        PaperEntry("Figure 4", "People's associations and similarity judgements", human_judgements, _DATA, _FILES),
        PaperEntry("Table 5", "Correlation with people", correlations, _OWN, _BOTH,
                   (printed_table("Table 5", "Spearman's ρ"),)),
        PaperEntry("Appendix B, Figures 1 and 2", "Two pictures and their region descriptions",
                   not_here("Photographs of Visual Genome (2367586 and 2320485) that Table 1 has its contexts from."),
                   "seesay relations find CAPTIONS --examples 5", "Visual Genome."),
        PaperEntry("Appendix C, Figure 3", "P-vectors as a heat map, 67 x 57", heat_maps, _DATA, _FILES),
        PaperEntry("Appendix D, Figure 4", "The study of people's similarity judgements",
                   not_here("The layout of the question. The text tells of the study: 66 people judged every pair "
                            "about 10 times on a slider from dissimilar to similar. Control items: a relation with "
                            "`green`, and with itself; whoever was above 60 % on the first or below 90 % on the second "
                            "lost all judgements: 9 people, which left about 7 judgements per pair. `seesay judge "
                            "preview` shows such a slider, and `seesay judge export` applies the same rule."),
                   _STUDY, "people: 66 in print."),
        PaperEntry("Spatial templates", "Where a relation is acceptable around its landmark", templates, _DATA, _FILES),
        PaperEntry("Course notes, perplexity", "Perplexity by token and by sentence", perplexities,
                   "seesay perplexity MODEL FILE"),
        PaperEntry("Course notes, precision", "Unigram precision, plain and clipped", precision,
                   "seesay score captions HYPS REFS"),
    ),
)  # fmt: skip
