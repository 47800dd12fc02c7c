"""The tables and figures of Hagström & Johansson (2022), as `seesay paper memory-colors` goes
through them."""

from __future__ import annotations

from seesay.data.catalogue import WORKS
from seesay.papers.memory_colors.figures import (
    COLORS,
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
from seesay.papers.paper import read_paper
from seesay.tasks.from_file.builtin import read_builtin
from seesay.tasks.template_files import select_figures

PAPER = read_paper(
    "memory_colors",
    WORKS["hagstrom-johansson-2022"],
    {
        "Figure 1": overview,
        "Tables 2 and 3": models,
        "Figures 2 to 5, Memory Colors": memory_colors,
        "Results file": colors_by_template,
        "Table 4": entries_table,
        "Figures 2 to 5, segments": norms_panels(SEGMENTS, by_segment),
        "Figures 2 to 5, templates": norms_panels(IN_TEMPLATES, over_questions),
        "Figures 2 to 5, relations": norms_panels(RELATIONS, over_segments),
        "Figures 2 to 5, colours": norms_panels(COLORS_ONLY, by_segment),
    },
    {"Figure 2a": published_colors()},
    {COLORS: select_figures(read_builtin(COLORS).published, "cloze")},
)
