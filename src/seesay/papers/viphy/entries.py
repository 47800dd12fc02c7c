"""The tables and figures of ViPhy, as `seesay paper viphy` goes through them."""

from __future__ import annotations

from seesay.data.catalogue import WORKS
from seesay.data.knowledge import PlaceFact, SizeFact
from seesay.papers.paper import read_paper
from seesay.papers.viphy import figures, tables
from seesay.tasks.page_analyses import SIZE_SETS
from seesay.tasks.template_files import published_figures

COLOR = figures.METRICS | {"macro_f1": "macro F1"}
SPACE = figures.METRICS | {"macro_f1_space": "macro F1"}
TASKS = ("viphy-color", "viphy-space", *SIZE_SETS.parts)

PAPER = read_paper(
    "viphy",
    WORKS["singh-2023"],
    {
        "Table 1": tables.dataset,
        "Table 3": tables.zero_shot,
        "Table 4": tables.probes(
            [("viphy-color", *metric) for metric in COLOR.items()],
            tables.coda_rows,
            tables.CODA_NOTE,
        ),
        "Table 5": tables.probes(
            [("viphy-space", *metric) for metric in SPACE.items()],
            tables.example_rows(PlaceFact),
            tables.agreement_note("space"),
        ),
        "Table 6": tables.probes(
            [(task, "", part) for task, part in SIZE_SETS.parts.items()],
            tables.example_rows(SizeFact),
            f"{tables.TRANSITIVE}\n\n{tables.agreement_note('size')}",
        ),
        "Table 8": tables.categories,
        "Figure 5": figures.by_cardinality,
        "Figure 6": figures.by_tag("viphy-color", "category", "Figure 6"),
        "Figure 8": figures.few_shot("viphy-color", "Figure 8"),
        "Figure 9": figures.few_shot("viphy-size", "Figure 9"),
        "Figures 10 and 11": figures.cardinality,
        "Figure 13": figures.by_tag("viphy-space", "scene", "Figure 13"),
        "Figure 14": figures.kitchen,
        "Figure 15": figures.category_colors,
        "Figure 16": figures.ninety_objects,
    },
    figures={task: published_figures(task) for task in TASKS},
)
