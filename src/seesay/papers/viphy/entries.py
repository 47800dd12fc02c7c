"""The tables and figures of ViPhy, as `seesay paper viphy` goes through them."""

from __future__ import annotations

from seesay.data.catalogue import WORKS
from seesay.data.knowledge import PlaceFact, SizeFact
from seesay.papers.paper import read_paper
from seesay.papers.viphy import distributions, figures, formulas, method, tables, texts
from seesay.tasks.page_analyses import SIZE_SETS
from seesay.tasks.template_files import published_figures

METRICS = {"relaxed_accuracy": "R-Acc", "true_confidence": "Conf"}
COLOR = METRICS | {"macro_f1": "F1"}
SPACE = METRICS | {"macro_f1_space": "F1"}
TASKS = ("viphy-color", "viphy-space", *SIZE_SETS.parts)

PAPER = read_paper(
    "viphy",
    WORKS["singh-2023"],
    {
        "Figure 1": method.drawing("three_questions"),
        "Figure 2": method.drawing("two_stages"),
        "Figure 3": method.drawing("pipeline"),
        "Figure 4": method.drawing("partitions"),
        "Table 1": tables.dataset,
        "Table 2": texts.prompts,
        "Section 4": formulas.scores,
        "Table 3": tables.zero_shot,
        "Table 4": tables.probes(
            "Table 4",
            [("viphy-color", *metric) for metric in COLOR.items()],
            tables.coda_rows,
            tables.CODA_NOTE,
        ),
        "Table 5": tables.probes(
            "Table 5",
            [("viphy-space", *metric) for metric in SPACE.items()],
            tables.example_rows(PlaceFact),
            tables.agreement_note("space"),
        ),
        "Table 6": tables.probes(
            "Table 6",
            [(task, "", part.capitalize()) for task, part in SIZE_SETS.parts.items()],
            tables.example_rows(SizeFact),
            "\n\n".join([tables.averages_note(), tables.TRANSITIVE, tables.agreement_note("size")]),
        ),
        "Appendix A.2": formulas.labels_of_colors,
        "Table 7": texts.color_words,
        "Table 8": texts.categories,
        "Table 9": texts.subtypes,
        "Figure 5": figures.by_cardinality,
        "Figure 6": figures.by_tag("viphy-color", "category", "Figure 6"),
        "Figure 7": method.drawing("relations"),
        "Figure 8": figures.few_shot("viphy-color", "Figure 8"),
        "Figure 9": figures.few_shot("viphy-size", "Figure 9"),
        "Figure 10": distributions.color_shares,
        "Figure 11": distributions.cardinality,
        "Figure 12": method.drawing("names"),
        "Figure 13": figures.by_tag("viphy-space", "scene", "Figure 13"),
        "Figure 14": distributions.kitchen,
        "Figure 15": distributions.category_colors,
        "Figure 16": distributions.ninety_objects,
    },
    figures={task: published_figures(task) for task in TASKS},
)
