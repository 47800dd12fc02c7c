"""The learning curve of a training: losses and watched figures over its steps, from the history that it writes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from seesay.report.charts import Series, lines
from seesay.report.pages.sections import DataTable, Section, write_page, write_svg
from seesay.training.loop import Result

HELD_OUT = "validation_"
PLACE = ("step", "epoch", "seconds")


@dataclass(frozen=True, slots=True)
class Wording:
    """What the figures are figures of: the axis of each, and a sentence on how they were measured."""

    labels: Mapping[str, str]
    held_out: str

    @property
    def reading(self) -> str:
        return (
            f"Held-out figures are of {self.held_out} that the network never learns from, measured at each mark; the "
            "training figure beside them is the mean over the steps since the mark before."
        )


CAPTIONS = Wording(
    {
        "loss": "Loss (nats a token)",
        "accuracy": "Accuracy (share of tokens guessed)",
        "perplexity": "Perplexity",
    },
    "captions of pictures",
)
ANSWERS = Wording(
    {"loss": "Loss (nats an answer)", "accuracy": "Accuracy (share of answers that are right)"}, "validation items"
)


def training_page(
    path: Path,
    name: str,
    history: Sequence[Mapping[str, float]],
    result: Result | None,
    wording: Wording = CAPTIONS,
) -> list[Path]:
    """Write the page, and beside it each chart as a file (`curve.html`, `curve-loss.svg`); what was written."""
    charts = curves(history, wording)
    table = DataTable(_columns(history), [[_cell(line.get(key)) for key in _columns(history)] for line in history])
    sections = [
        Section("Curves", f"{_ended(history, result)}\n\n{wording.reading}", list(charts.values())),
        Section("Numbers", "", (), table),
    ]
    written = [write_page(path, f"Learning curve of {name}", sections)]
    return written + [write_svg(path.with_name(f"{path.stem}-{figure}.svg"), chart) for figure, chart in charts.items()]


def curves(history: Sequence[Mapping[str, float]], wording: Wording = CAPTIONS) -> dict[str, Markup]:
    """A chart for every figure that was measured; perplexity is left out, being the loss's exponential."""
    measured = dict.fromkeys(key.removeprefix(HELD_OUT) for line in history for key in line if key.startswith(HELD_OUT))
    drawn = {}
    for figure in measured:
        if figure == "perplexity" and "loss" in measured:
            continue
        series = [("held out" if figure in wording.labels else figure, HELD_OUT + figure), ("training", figure)]
        drawn[figure] = lines(
            [
                Series(label, [line["step"] for line in history], [line.get(key, math.nan) for line in history])
                for label, key in series
                if any(key in line for line in history)
            ],
            title=f"{figure} over training",
            x_label="steps",
            y_label=wording.labels.get(figure, figure),
        )
    return drawn


def _columns(history: Sequence[Mapping[str, float]]) -> list[str]:
    found = dict.fromkeys(key for line in history for key in line)
    return [*PLACE, *(key for key in found if key not in PLACE)]


def _cell(value: float | None) -> str | None:
    """Losses to four places, steps whole."""
    return None if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def _ended(history: Sequence[Mapping[str, float]], result: Result | None) -> str:
    last = history[-1]
    so_far = f"{last['step']:,} steps, {last['epoch']:.3g} epochs, {last['seconds'] / 60:.1f} minutes"
    if result is None:
        return f"So far: {so_far}; the training has not ended."
    early = ", stopped early" if result.stopped_early else ""
    return f"{so_far}{early}; the weights kept are those of step {result.best_step:,}."
