"""What the paper says of its figures, in the runs at hand; and what it leaves open: do models that
see suffer for want of a picture?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from markupsafe import Markup

from seesay.condition import label_without_seed
from seesay.defaults import RESAMPLES
from seesay.errors import UserError
from seesay.grouping import group_by
from seesay.papers.material import Material
from seesay.papers.memory_colors.figures import (
    COLORS,
    NORMS,
    few,
    memory_colors,
    text_runs,
)
from seesay.papers.memory_colors.norms import (
    COLORS_ONLY,
    IN_TEMPLATES,
    SEGMENTS,
    PanelFigure,
    by_segment,
    norms_panels,
    overall,
    panel_figures,
    relation_scores,
)
from seesay.papers.paper import Rendered, Status, noting
from seesay.quantities import quantity
from seesay.reports.formatting import number
from seesay.reports.groups import LabelledRun
from seesay.reports.pages.sections import DataTable
from seesay.runs.compare import compare
from seesay.runs.records import Comparison
from seesay.runs.run import Run
from seesay.tasks.from_file.builtin import read_builtin

MADE_OF = "is made of"
QUESTION_AND_ANSWER = "q-a"
"""How the names of the templates begin that have a question and an answer."""
FEW_RESAMPLES = 200
"""For a list of what can be shown, which prints no p-value."""


def both_tasks(material: Material) -> Rendered:
    """Figure 2: accuracy on Memory Colors, and scores on Property Norms by segment."""
    parts: list[Rendered] = []
    missing: list[str] = []
    for render in (memory_colors, norms_panels(SEGMENTS, by_segment)):  # 2a and 2b
        with noting(missing):
            parts.append(render(material))
    if not parts:
        raise UserError(" ".join(missing))
    tables: list[DataTable] = []
    charts: list[Markup] = []
    for part in parts:
        tables += part.tables
        charts += part.charts
    return Rendered(
        "\n\n".join([*(part.text for part in parts), *missing]),
        tables,
        charts,
        # the second part alone has numbers that are folded
        numbers=parts[-1].numbers,
        status=Status.of(not missing),
    )


def sentences(material: Material) -> Rendered:
    """Section 4: what the paper says of its figures, in the authors' file and in the runs."""
    published = {row.model: row.value for row in read_builtin(COLORS).published}
    best, second = _ranking(published)[:2]
    rows = [
        ["Figure 2a, best", f"{best} in results.csv"],
        ["Figure 2a, second", f"{second} in results.csv"],
    ]
    entries = [entry for group in material.groups_of(NORMS) for entry in text_runs(group)]
    if entries:
        rising = [entry.label for entry in entries if _rises(panel_figures([entry], SEGMENTS))]
        made_of = [entry.label for entry in entries if _is_best_at_made_of(entry)]
        rows += [
            ["Figure 2b", f"rises from segment to segment in {_share(rising, entries)}"],
            ["Figure 3", f"best for is made of in {_share(made_of, entries)}"],
        ]
    # the last two are about the best of several models
    is_compared = len(entries) > 1
    if is_compared:
        rows += _best_of_models(entries)
        text = "Whichever of your models is best, the paper's sentences are about its own by name."
    else:
        text = "The sentences on Figures 4 and 5 compare models: give runs of two or more."
    table = DataTable(["figure", "here"], rows, "From the authors' file, and ours")
    is_sample = any(entry.run.manifest.limit for entry in entries)
    status = Status.of(is_compared and not is_sample)
    return Rendered(text + few(material, NORMS), [table], status=status)


def _best_of_models(entries: Sequence[LabelledRun]) -> list[list[str]]:
    """Return what Figures 4 and 5 show of these models: which is best without the templates of
    question and answer, and which for colours, each beside the best in all."""
    everything = {}
    without = {}
    colors = {}
    for entry in entries:
        in_templates = panel_figures([entry], IN_TEMPLATES)
        others = [cell for cell in in_templates if not cell.panel.startswith(QUESTION_AND_ANSWER)]
        color_cells = panel_figures([entry], COLORS_ONLY)
        everything[entry.label] = overall(in_templates)
        # a run may have been asked in some templates only, and of no colour
        if others:
            without[entry.label] = overall(others)
        if color_cells:
            colors[entry.label] = overall(color_cells)
    of_all = _ranking(everything)[0]
    rows = []
    for figure, part, scores in (
        ("Figure 4", "without the templates of q: and a:", without),
        ("Figure 5", "for answers that are colours", colors),
    ):
        best = _ranking(scores)[0] if scores else "none"
        rows.append([figure, f"best {part} is {best}; of all questions and templates {of_all}"])
    return rows


def _ranking(scores: Mapping[str, float]) -> list[str]:
    """Return the models with their scores, the best first."""
    order = sorted(scores, key=lambda model: -scores[model])
    return [f"{model} ({scores[model]:.3f})" for model in order]


def _share(labels: Sequence[str], entries: Sequence[LabelledRun]) -> str:
    return f"{len(labels)} of {quantity(len(entries), 'model')}: {', '.join(labels) or 'none'}"


def _rises(cells: Sequence[PanelFigure]) -> bool:
    """Return whether every segment has a higher score than the one before it."""
    values = [cell.figure.value for cell in sorted(cells, key=lambda cell: cell.segment)]
    return all(a < b for a, b in pairwise(values))


def _is_best_at_made_of(entry: LabelledRun) -> bool:
    scores = {relation: fmean(values) for relation, values in relation_scores(entry.run).items()}
    return max(scores, key=scores.__getitem__) == MADE_OF


def pictures_in_place_of_none(material: Material) -> Rendered:
    """Section 6: runs beside a blank, a mean or a random picture, with paired tests against the
    text alone."""
    rows = []
    for test in _tests(material):
        segment = test.slice["segment"].removeprefix("pf>=") if test.slice else ""
        low = number(test.low, sign=True)
        high = number(test.high, sign=True)
        rows.append(
            [
                test.task,
                segment and f"PF ≥ {segment}",
                test.a,
                number(test.value_b),
                number(test.value_a),
                number(test.difference, sign=True),
                f"{low} to {high}",
                number(test.p_holm),
                f"{test.n:,}",
            ]
        )
    if not rows:
        raise UserError(
            "There is no run beside a picture and without one of the same model among the folders "
            "given."
        )
    header = [
        "task",
        "segment",
        "model and picture",
        "text alone",
        "beside the picture",
        "difference",
        "95 % interval",
        "p (Holm)",
        "questions",
    ]
    text = (
        "The paper's open question: the same questions with a text alone, and beside a picture "
        "that tells nothing. A model that does better beside such a picture suffers for want of "
        "one. Accuracy on memory-colors, mean average precision on property-norms; the tests are "
        "paired, by sign flips of things. Of several random pictures the first is shown."
    )
    text += few(material, COLORS) + few(material, NORMS)
    return Rendered(text, [DataTable(header, rows, "Ours")])


def _tests(material: Material) -> Iterator[Comparison]:
    """Return the paired tests of each picture with none, model by model; of several random
    pictures the first."""
    resamples = FEW_RESAMPLES if material.brief else RESAMPLES
    for task in (COLORS, NORMS):
        runs = [run for run in material.runs if run.manifest.task == task]
        for members in group_by(runs, _without_picture).values():
            plain = [run for run in members if run.manifest.condition.picture is None]
            shown = [run for run in members if run.manifest.condition.picture_seed in (None, 0)]
            if plain and len(shown) > len(plain):
                tests = compare(
                    shown, against=plain[0].label, headline_only=True, resamples=resamples
                )
                # runs come in the order of their folders, which says nothing
                yield from sorted(tests, key=lambda test: test.a)


def _without_picture(run: Run) -> tuple[object, ...]:
    """Return what runs share that differ in their picture alone."""
    manifest = run.manifest
    condition = manifest.condition.replace(picture=None, picture_seed=None, regions=None)
    return label_without_seed(manifest.model, condition), condition, manifest.limit
