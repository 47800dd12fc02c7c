"""The page of figures by layer: a model's and its controls' as curves, and answers under the logit
lens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from markupsafe import Markup

from seesay.condition import How
from seesay.quantities import file_size
from seesay.questions import SLOT
from seesay.reports.charts import Series, heat_map, lines
from seesay.reports.formatting import metric_name
from seesay.reports.in_words import asked_figure, layers_in_words
from seesay.reports.pages.sections import DataTable, Section, write_page, write_svg
from seesay.runs.layers import LayerCurve, LensAnswer
from seesay.runs.records import Figure
from seesay.runs.run import Run

SHOWN = 12
"""Questions whose answers are drawn layer by layer."""

LISTED = 500

UNIT = (0.0, 1.0)
"""The scale of probabilities and of most figures."""

COLUMNS = (
    "layer",
    "value",
    "low",
    "high",
    "spread",
    "control",
    "selectivity",
    "selectivity_low",
    "selectivity_high",
    "second_thing",
    "beyond_second",
    "beyond_second_low",
    "beyond_second_high",
)
"""What the table has of each layer, where it is known."""

PROBES = (
    "A linear probe on each layer's vectors, layer 0 being the embedding. The control probe learns "
    "labels that were drawn for each thing at random (Hewitt & Liang 2019): what it gets right it "
    "has learnt by heart. Selectivity is the difference. Of pairs, a third probe is shown the "
    "second thing alone: it cannot compare, and what both give beyond it (beyond_second) needs "
    "both. Bands are 95 % intervals clustered by object."
)
LENS = (
    "What the model's own output head reads out of each layer (logit lens), layer 0 being the "
    "embedding and the last one the model's answer. Bands are 95 % intervals clustered by object."
)


def write_layers(path: Path, curves: Sequence[LayerCurve]) -> Path:
    """Write the page, and the curves of each task as a file beside it."""
    return write_page(path, "Layer by layer", layer_sections(path, curves))


def layer_sections(
    path: Path, curves: Sequence[LayerCurve], runs: Sequence[Run] = ()
) -> list[Section]:
    """Return the sections of a page, and write the chart of each curve to a file beside it.

    Of the runs, those that asked the same model the same task are drawn for comparison.
    """
    sections = []
    for number, curve in enumerate(curves, start=1):
        answer = asked_figure(curve, runs)
        chart = curve_chart(curve, answer)
        # numbered, as names of models and tasks may be no names of files
        write_svg(path.with_name(f"layers-{number}.svg"), chart)
        sections.append(_figures(curve, chart, layers_in_words(curve, answer)))
        if curve.answers:
            sections.append(_takeovers(curve))
    return sections


def curve_chart(curve: LayerCurve, answer: Figure | None = None) -> Markup:
    """Draw the figure over the layers with its band, its controls, and what the model gets when it
    is asked."""
    first = curve.figures[0]
    reader = "logit lens" if curve.how == How.LENS else "linear probe"
    series = [_series(curve, reader, "value", "low", "high")]
    # selectivity is the distance between the first two lines
    if first.control is not None:
        series.append(_series(curve, "meaningless labels", "control"))
    if first.second_thing is not None:
        series.append(_series(curve, "second thing alone", "second_thing"))
    if answer is not None:
        layers = [figure.layer for figure in curve.figures]
        ends = [[end] * len(layers) for end in (answer.value, answer.low, answer.high)]
        series.append(Series("asked", layers, *ends))
    if first.chance is not None:
        series.append(replace(_series(curve, "chance", "chance"), is_dashed=True))
    title = f"{first.model}, {first.task}: by layer"
    return lines(
        series,
        title=title,
        x_label="layer",
        y_label=metric_name(first.metric),
    )


def _series(curve: LayerCurve, name: str, *fields: str) -> Series:
    """Return one field of the figures over the layers, with those of its band."""
    columns = []
    for field in fields:
        values = [getattr(figure, field) for figure in curve.figures]
        columns.append([math.nan if value is None else value for value in values])
    return Series(
        name,
        [figure.layer for figure in curve.figures],
        *columns,
    )


def _figures(curve: LayerCurve, chart: Markup, words: str) -> Section:
    """Return the curves and the table of a model's layers."""
    first = curve.figures[0]
    columns = []
    for name in COLUMNS:
        if any(getattr(figure, name) is not None for figure in curve.figures):
            columns.append(name)
    rows = [[getattr(figure, name) for name in columns] for figure in curve.figures]
    paragraphs = [words, LENS if curve.how == How.LENS else PROBES, *curve.notes]
    # an empty paragraph where there is none: the page's text is split at blank lines
    size = ""
    if curve.vector_bytes:
        size = f"The kept vectors take {file_size(curve.vector_bytes)}."
    text = "\n\n".join(
        [
            *paragraphs,
            size,
            f"`{curve.signature}`",
        ]
    )
    header = [name.removeprefix("selectivity_").removeprefix("beyond_second_") for name in columns]
    return Section(
        f"{first.model} · {first.task}, {first.n:,} questions",
        text,
        [chart],
        DataTable(header, rows),
    )


def _takeovers(curve: LayerCurve) -> Section:
    """Return where the right answer takes over, question by question."""
    first = curve.figures[0]
    layers = [str(figure.layer) for figure in curve.figures]
    ahead = [answer for answer in curve.answers if answer.takeover is not None]
    earliest_first = sorted(ahead, key=lambda answer: (answer.takeover or 0, answer.question))
    rows: list[list[str | float | None]] = []
    for answer in earliest_first[:LISTED]:
        rows.append(
            [
                _blanked(answer),
                answer.gold,
                answer.takeover,
                answer.rival,
            ]
        )
    text = (
        f"At the last layer the right answer is ahead in {len(ahead):,} of {len(curve.answers):,} "
        "questions and templates. The table names the layer from which on it stays ahead, and the "
        "option that was ahead before; the charts show the probability of each option, among the "
        "options, layer by layer."
    )
    table = None
    if rows:
        table = DataTable(["question", "right answer", "ahead from layer", "instead of"], rows)
    # where no answer is right, the wrong ones are shown all the same
    examples = ahead or list(curve.answers)
    return Section(
        f"{first.model} · {first.task}: where the right answer takes over",
        text,
        [_chart(answer, layers) for answer in examples[:SHOWN]],
        table,
    )


def _chart(answer: LensAnswer, layers: Sequence[str]) -> Markup:
    """Draw the probability of each option of a question, layer by layer."""
    # a row per option, a column per layer
    rows = list(zip(*answer.probabilities, strict=True))
    title = f"{_blanked(answer)} ({answer.gold})"
    return heat_map(
        rows,
        answer.options,
        layers,
        title=title,
        ends=UNIT,
    )


def _blanked(answer: LensAnswer) -> str:
    return answer.text.replace(SLOT, "___")
