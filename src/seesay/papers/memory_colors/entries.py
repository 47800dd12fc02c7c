"""The tables and figures of Hagström & Johansson (2022), as `seesay paper memory-colors` goes
through them."""

from __future__ import annotations

from seesay.data.catalogue import WORKS
from seesay.papers.memory_colors.figures import (
    COLORS,
    colors_by_template,
    datasets,
    models,
    overview,
    published_colors,
    task_numbers,
)
from seesay.papers.memory_colors.findings import both_tasks, pictures_in_place_of_none, sentences
from seesay.papers.memory_colors.norms import (
    COLORS_ONLY,
    RELATIONS,
    by_relation,
    by_segment,
    entries_table,
    example_entries,
    norms_panels,
    templates_written_out,
)
from seesay.papers.paper import read_paper
from seesay.tasks.from_file.builtin import read_builtin
from seesay.tasks.template_files import select_figures

PAPER = read_paper(
    "memory_colors",
    WORKS["hagstrom-johansson-2022"],
    {
        "Figure 1": overview,
        "Section 2": task_numbers,
        "Table 1": example_entries,
        "Figure 2": both_tasks,
        "Section 4": sentences,
        "Section 6": pictures_in_place_of_none,
        "Table 2": models,
        "Table 3": datasets,
        "Table 4": entries_table,
        "Figure 3": norms_panels(RELATIONS, by_relation),
        "Figure 4": templates_written_out,
        "Figure 5": norms_panels(COLORS_ONLY, by_segment),
        "Results file": colors_by_template,
    },
    {"Figure 2a": published_colors()},
    {COLORS: select_figures(read_builtin(COLORS).published, "cloze")},
)
