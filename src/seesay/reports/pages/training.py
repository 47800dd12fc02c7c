"""The learning curve of a training: losses, accuracy and watched tasks over its steps, from its
history."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from seesay.errors import UserError
from seesay.reports.charts import Series, lines
from seesay.reports.pages.sections import DataTable, Section, write_page, write_svg
from seesay.training.checkpoint import HISTORY, read_history
from seesay.training.loop import Result, read_result

HELD_OUT = "validation_"
PLACE = ("step", "epoch", "seconds")


class CurveLabels(NamedTuple):
    """The axis label of each measurement, and what is held out."""

    axes: Mapping[str, str]
    held_out: str


CAPTIONS = CurveLabels(
    {
        "loss": "Loss (nats per token)",
        "accuracy": "Accuracy (share of tokens predicted)",
        "perplexity": "Perplexity",
    },
    "captions of pictures",
)
ANSWERS = CurveLabels(
    {"loss": "Loss (nats per answer)", "accuracy": "Accuracy (share of answers that are right)"},
    "validation items",
)
EXPLANATION = (
    "Held-out figures are of {} that the network never learns from, measured at each mark; the "
    "training figure beside them is the mean over the steps since the previous mark."
)


def write_curve(
    folder: Path, output: Path | None = None, *, command: str = "pretrain"
) -> list[Path]:
    """Write the learning curve of the model in a folder.

    `seesay pretrain` or `seesay reasoner` trained it.
    """
    training = folder / "training"
    if not (training / HISTORY).is_file():
        raise UserError(
            f"There is no training in {folder}: give a folder that `seesay {command}` made."
        )
    # read while the training may still be running: what is there is drawn
    history = read_history(training)
    if not history:
        raise UserError(
            f"The training in {folder} has measured nothing yet: wait for its first validation."
        )
    labels = CAPTIONS if command == "pretrain" else ANSWERS
    path = output or training / "curve.html"
    return training_page(
        path,
        folder.resolve().name,
        history,
        read_result(training),
        labels,
    )


def training_page(
    path: Path,
    name: str,
    history: Sequence[Mapping[str, float]],
    result: Result | None,
    labels: CurveLabels = CAPTIONS,
) -> list[Path]:
    """Write the page, and beside it each chart as a file; return their paths.

    The files of `curve.html` are called `curve-loss.svg`.
    """
    charts = curves(history, labels)
    # the place in the training first, then measurements as they come up
    keys = list(dict.fromkeys((*PLACE, *(key for line in history for key in line))))
    rows = []
    for line in history:
        rows.append([_cell(key, line.get(key)) for key in keys])
    explanation = EXPLANATION.format(labels.held_out)
    text = f"{_progress(history, result)}\n\n{explanation}"
    sections = [
        Section("Curves", text, list(charts.values())),
        Section("Numbers", "", (), DataTable(keys, rows)),
    ]
    paths = [write_page(path, f"Learning curve of {name}", sections)]
    for key, chart in charts.items():
        paths.append(write_svg(path.with_name(f"{path.stem}-{key}.svg"), chart))
    return paths


def curves(
    history: Sequence[Mapping[str, float]], labels: CurveLabels = CAPTIONS
) -> dict[str, Markup]:
    """Draw one chart per measurement.

    There is none for perplexity beside the loss, of which it is the exponential.
    """
    all_keys = [key for line in history for key in line]
    held_out_keys = [key for key in all_keys if key.startswith(HELD_OUT)]
    measurements = dict.fromkeys(key.removeprefix(HELD_OUT) for key in held_out_keys)
    steps = [line["step"] for line in history]
    charts = {}
    for name in measurements:
        if name == "perplexity" and "loss" in measurements:
            continue
        # a watched task is measured on nothing but held-out questions, and has its own name
        held_out_label = "held out" if name in labels.axes else name
        series = []
        for label, key in ((held_out_label, HELD_OUT + name), ("training", name)):
            if key in all_keys:
                values = [line.get(key, math.nan) for line in history]
                series.append(Series(label, steps, values))
        charts[name] = lines(
            series,
            title=f"{name} over training",
            x_label="steps",
            y_label=labels.axes.get(name, name),
        )
    return charts


def _cell(key: str, value: float | None) -> str | None:
    """Return losses with four decimals, steps and whole epochs as integers."""
    if value is None:
        return None
    if key == "seconds":
        return f"{value:,.0f}"
    if key == "epoch":
        return _epochs(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def _epochs(epoch: float) -> str:
    """Return a number of epochs, whole where a training stopped at the end of one.

    >>> _epochs(2.999), _epochs(0.25)
    ('3', '0.25')
    """
    if abs(epoch - round(epoch)) < 0.005:
        return f"{round(epoch):,}"
    return f"{epoch:,.2f}"


def _progress(history: Sequence[Mapping[str, float]], result: Result | None) -> str:
    """Say how far the training came, and which weights were kept."""
    last = history[-1]
    minutes = last["seconds"] / 60
    so_far = f"{last['step']:,} steps, {_epochs(last['epoch'])} epochs, {minutes:.1f} minutes"
    if result is None:
        return f"So far: {so_far}; the training has not ended."
    if result.stopped_early:
        so_far += ", stopped early"
    ended = f"{so_far}; the weights kept are those of step {result.best_step:,}."
    return f"{ended} {result.warning}".rstrip()
