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
    "training figure beside "
    "them is the mean over the steps since the previous mark."
)


def write_curve(
    folder: Path, output: Path | None = None, *, command: str = "pretrain"
) -> list[Path]:
    """Write the learning curve of the model in a folder, trained by `seesay pretrain` or `seesay
    reasoner`."""
    training = folder / "training"
    if not (training / HISTORY).is_file():
        raise UserError(
            f"There is no training in {folder}: give a folder that `seesay {command}` made."
        )
    history = read_history(training)
    if not history:
        raise UserError(
            f"The training in {folder} has measured nothing yet: wait for its first validation."
        )
    labels = CAPTIONS if command == "pretrain" else ANSWERS
    path = output or training / "curve.html"
    return training_page(path, folder.resolve().name, history, read_result(training), labels)


def training_page(
    path: Path,
    name: str,
    history: Sequence[Mapping[str, float]],
    result: Result | None,
    labels: CurveLabels = CAPTIONS,
) -> list[Path]:
    """Write the page, and beside it each chart as a file (`curve.html`, `curve-loss.svg`); the
    paths written."""
    charts = curves(history, labels)
    keys = [*PLACE, *dict.fromkeys(key for line in history for key in line if key not in PLACE)]
    table = DataTable(keys, [[_cell(key, line.get(key)) for key in keys] for line in history])
    sections = [
        Section(
            "Curves",
            f"{_ended(history, result)}\n\n{EXPLANATION.format(labels.held_out)}",
            list(charts.values()),
        ),
        Section("Numbers", "", (), table),
    ]
    written = [write_page(path, f"Learning curve of {name}", sections)]
    return written + [
        write_svg(path.with_name(f"{path.stem}-{key}.svg"), chart) for key, chart in charts.items()
    ]


def curves(
    history: Sequence[Mapping[str, float]], labels: CurveLabels = CAPTIONS
) -> dict[str, Markup]:
    """One chart per measurement, but none for perplexity beside the loss, of which it is the
    exponential."""
    measured = dict.fromkeys(
        key.removeprefix(HELD_OUT) for line in history for key in line if key.startswith(HELD_OUT)
    )
    charts = {}
    for name in measured:
        if name == "perplexity" and "loss" in measured:
            continue
        keys = [("held out" if name in labels.axes else name, HELD_OUT + name), ("training", name)]
        series = [
            Series(
                label,
                [line["step"] for line in history],
                [line.get(key, math.nan) for line in history],
            )
            for label, key in keys
            if any(key in line for line in history)
        ]
        y_label = labels.axes.get(name, name)
        charts[name] = lines(
            series, title=f"{name} over training", x_label="steps", y_label=y_label
        )
    return charts


def _cell(key: str, value: float | None) -> str | None:
    """Losses with four decimals, steps and whole epochs as integers."""
    if value is None:
        return None
    if key == "seconds":
        return f"{value:,.0f}"
    if key == "epoch":
        return _epochs(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def _epochs(epoch: float) -> str:
    """
    >>> _epochs(2.999), _epochs(0.25)
    ('3', '0.25')
    """
    if abs(epoch - round(epoch)) < 0.005:
        return f"{round(epoch):,}"
    return f"{epoch:,.2f}"


def _ended(history: Sequence[Mapping[str, float]], result: Result | None) -> str:
    last = history[-1]
    so_far = f"{last['step']:,} steps, {_epochs(last['epoch'])} epochs, {last['seconds'] / 60:.1f} minutes"
    if result is None:
        return f"So far: {so_far}; the training has not ended."
    early = ", stopped early" if result.stopped_early else ""
    return f"{so_far}{early}; the weights kept are those of step {result.best_step:,}."
