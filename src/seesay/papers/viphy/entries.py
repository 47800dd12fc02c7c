"""The tables and figures of ViPhy, as `seesay paper viphy` goes through them."""

from __future__ import annotations

from seesay.data.catalogue import WORKS
from seesay.data.knowledge import PlaceFact, SizeFact
from seesay.papers.paper import Paper, PaperEntry, not_here
from seesay.papers.published import published_tables
from seesay.papers.viphy import figures, tables
from seesay.tasks.page_analyses import SIZE_SETS
from seesay.tasks.wording import wording

_PAPER = "&& seesay paper viphy runs"
_DATA = "seesay data add viphy FOLDER && seesay paper viphy"
_CODA = "seesay data add viphy FOLDER && seesay data fetch coda && seesay paper viphy"
_FILES = "the published files (clone https://github.com/Axe--/ViPhy)."
_ZERO_SHOT = f"seesay probe bert-large-uncased roberta-large --task viphy-color,viphy-size,viphy-space -o runs {_PAPER}"
_LINEAR = "seesay probe bert-base-uncased openai/clip-vit-base-patch32 --how linear --task"
_MODELS = "the models, from the Hugging Face Hub, and the published files; `minilm` and `smollm2` need no Hub."
_METRICS = {"relaxed_accuracy": "relaxed accuracy", "true_confidence": "confidence"}
_COLOR, _SPACE = _METRICS | {"macro_f1": "macro F1"}, _METRICS | {"macro_f1_space": "macro F1"}
_PRINTED = {number: table.as_printed for number, table in published_tables("viphy").items()}


def _curve(task: str) -> str:
    return f"seesay probe minilm --how learning-curve --task {task} -o runs/{task}.html {_PAPER}"


PAPER = Paper(
    name="viphy",
    title="ViPhy: visible physical commonsense",
    citation=WORKS["singh-2023"],
    about=(
        "Published values are those of the paper's tables and of the authors' notebooks (github.com/Axe--/ViPhy), in "
        "percent. Ours are made of the published files and of the runs given. Means of language models are those of "
        "BERT, RoBERTa, UnifiedQA and DeBERTa, of vision-language models those of VisualBERT, ViLT, FLAVA and CLIP.\n\n"
        "Not checked against the paper's text, which was not at hand: which of Figures 10 and 11 shows what, and that "
        "typical labels exceed a minimum (`seesay mine --label-rule paper`), which the published code lets them reach."
    ),
    entries=(
        PaperEntry("Table 1", "The data: counts, labels per object, names in ConceptNet", tables.dataset, _DATA, _FILES,
                   (_PRINTED["Table 1"],)),
        PaperEntry("Table 3", "Models asked without training", tables.zero_shot, _ZERO_SHOT, _MODELS,
                   (tables.zero_shot_published(),)),
        PaperEntry("Table 4", "Linear probes: colour",
                   tables.probes([("viphy-color", *metric) for metric in _COLOR.items()], tables.coda_rows,
                                 tables.CODA_NOTE),
                   f"{_LINEAR} viphy-color -o runs {_PAPER}", _MODELS,
                   (tables.with_averages(wording("viphy-color")["linear_published"], _COLOR, "Linear probes"),)),
        PaperEntry("Table 5", "Linear probes: space",
                   tables.probes([("viphy-space", *metric) for metric in _SPACE.items()],
                                 tables.example_rows(PlaceFact), tables.agreement_note("space")),
                   f"{_LINEAR} viphy-space -o runs {_PAPER}", _MODELS,
                   (tables.with_averages(wording("viphy-space")["linear_published"], _SPACE, "Linear probes"),)),
        PaperEntry("Table 6", "Linear probes: size, by inference",
                   tables.probes([(task, "", part) for task, part in SIZE_SETS.parts.items()],
                                 tables.example_rows(SizeFact),
                                 f"{tables.TRANSITIVE}\n\n{tables.agreement_note('size')}"),
                   f"{_LINEAR} viphy-size,viphy-size-subtype,viphy-size-transitive -o runs {_PAPER}", _MODELS,
                   (tables.sizes_published(),)),
        PaperEntry("Table 8", "Categories of objects", tables.categories,
                   "seesay tasks viphy-color --page categories.html --categories minilm", _FILES,
                   (tables.CATEGORY_TEXTS,)),
        PaperEntry("Figure 5", "Scores by the number of typical colours, with people", figures.by_cardinality,
                   f"{_LINEAR} viphy-color -o runs {_PAPER}", _MODELS, figures.published_cardinality()),
        PaperEntry("Figure 6", "Colour by category of objects",
                   figures.by_tag("viphy-color", "category", "Figure 6"),
                   f"{_LINEAR} viphy-color -o runs {_PAPER}", _MODELS,
                   (_PRINTED["Figure 6"],)),
        PaperEntry("Figure 8", "Few-shot: colour", figures.few_shot("viphy-color", "Figure 8"), _curve("viphy-color"),
                   _FILES, (_PRINTED["Figure 8"],)),
        PaperEntry("Figure 9", "Few-shot: size", figures.few_shot("viphy-size", "Figure 9"), _curve("viphy-size"),
                   _FILES, (_PRINTED["Figure 9"],)),
        PaperEntry("Figures 10 and 11", "How many typical colours, and which: ViPhy and CoDa", figures.cardinality,
                   _CODA, _FILES, (_PRINTED["Figures 10 and 11"],)),
        PaperEntry("Figure 13", "Space by scene",
                   figures.by_tag("viphy-space", "scene", "Figure 13"),
                   f"{_LINEAR} viphy-space -o runs {_PAPER}", _MODELS,
                   (_PRINTED["Figure 13"],)),
        PaperEntry("Figure 14", "Pairs of objects in the kitchen", figures.kitchen, _DATA, _FILES),
        PaperEntry("Figure 15", "Colours by category", figures.category_colors, _DATA, _FILES),
        PaperEntry("Figure 16", "Ninety objects, from one colour to many", figures.ninety_objects, _DATA, _FILES),
        PaperEntry("Tables 2 and 7, Figures 1 to 4, 7 and 12", "Method and settings",
                   not_here("These show the method (drawings, prompts, settings) or values that are in none of our "
                            "sources: neither the published files nor the authors' notebooks hold numbers for them. "
                            "The prompts are in docs/tasks/viphy.md."), "seesay tasks viphy"),
    ),
)  # fmt: skip
