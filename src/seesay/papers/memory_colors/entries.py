"""The tables and figures of Hagström & Johansson (2022), as `seesay paper memory-colors` goes through them."""

from __future__ import annotations

from seesay.data.catalogue import WORKS
from seesay.papers.memory_colors.figures import (
    colors_by_template,
    memory_colors,
    models,
    overview,
    published_colors,
)
from seesay.papers.memory_colors.norms import (
    COLORS_ONLY,
    IN_TEMPLATES,
    RELATIONS,
    SEGMENTS,
    by_segment,
    entries_table,
    norms_panels,
    over_questions,
    over_segments,
)
from seesay.papers.paper import Paper, PaperEntry, not_here
from seesay.papers.published import published_tables

_COLORS = "seesay probe MODEL… --task memory-colors -o runs && seesay paper memory-colors runs"
_NORMS = "seesay probe MODEL… --task property-norms -o runs && seesay paper memory-colors runs"
_MODELS = (
    "runs of the models: bert-base-uncased, uclanlp/visualbert-vqa-coco-pre, unc-nlp/lxmert-base-uncased and "
    "CLIP-BERT, from the Hub or from folders; `seesay pretrain` trains BERT on captions."
)
_CSLB = "the CSLB norms (`seesay data add cslb-norms norms.dat`), which their owners give out on request"
_BOTH = f"{_CSLB}, and {_MODELS}"

PAPER = Paper(
    name="memory-colors",
    title="Memory Colors and Visual Property Norms",
    citation=WORKS["hagstrom-johansson-2022"],
    about=(
        "Not checked against the paper's text, which was not at hand. What the tables and figures hold is after the "
        "authors' repository (github.com/lovhag/measure-visual-commonsense-knowledge): it draws the results five times "
        "(Memory Colors; Property Norms over all templates, in each, by relation, and for colours). In the paper these "
        "are Figures 2 to 5; which number each drawing has is not known here, so that they are named by what they show."
    ),
    entries=(
        PaperEntry("Figure 1", "What the two tasks ask", overview, "seesay tasks memory-colors"),
        PaperEntry("Table 1", "Not known here",
                   not_here("What it holds is in none of our sources: neither the published files nor the authors' "
                            "repository have it."), "seesay tasks memory-colors"),
        PaperEntry("Tables 2 and 3", "The models, their data and objectives", models, _COLORS, _MODELS,
                   (published_tables("memory_colors")["Tables 2 and 3"].as_printed,)),
        PaperEntry("Figures 2 to 5, Memory Colors", "Accuracy of every model, mean and sd over templates",
                   memory_colors, _COLORS, _MODELS, (published_colors(),)),
        PaperEntry("Results file", "Memory Colors in each of the 13 templates", colors_by_template, _COLORS,
                   f"{_MODELS} The authors' `results.csv` beside the data gives the published columns."),
        PaperEntry("Table 4", "Entries by segment and relation", entries_table, "seesay tasks property-norms",
                   f"{_CSLB}."),
        PaperEntry("Figures 2 to 5, segments", "Property Norms by production frequency",
                   norms_panels(SEGMENTS, by_segment), _NORMS, _BOTH),
        PaperEntry("Figures 2 to 5, templates", "Property Norms in each template",
                   norms_panels(IN_TEMPLATES, over_questions), _NORMS, _BOTH),
        PaperEntry("Figures 2 to 5, relations", "Property Norms by relation",
                   norms_panels(RELATIONS, over_segments), _NORMS, _BOTH),
        PaperEntry("Figures 2 to 5, colours", "Property Norms whose answers are colours",
                   norms_panels(COLORS_ONLY, by_segment), _NORMS, _BOTH),
        PaperEntry("Norlund et al. 2021", "The paper that introduced Memory Colors: its tables and figures",
                   not_here("None of our sources has them: its text was not at hand. Its data (109 things, their "
                            "colours and 13 templates) are the task `memory-colors`, its model is CLIP-BERT."),
                   "seesay tasks memory-colors"),
    ),
)  # fmt: skip
